// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/loopback.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "openmrc/base/check.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/steering.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/header/ipv4.h"

namespace openmrc::datapath {
namespace {

struct InFlight {
  std::vector<std::byte> bytes{};
  std::size_t headers = 0;  // bytes of IP and UDP
  Plane plane{};
};

// What has arrived for one data path.
struct Ring {
  std::vector<wire::Ipv6Address> addresses{};
  Slot slot{};
  std::deque<InFlight> packets{};
  FileDescriptor event{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
};

}  // namespace

class LoopbackNetwork::State {
 public:
  State(const wire::WireSettings& wire, std::size_t ring) : wire_(wire), ring_max_(ring) {}

  [[nodiscard]] const wire::WireSettings& wire() const { return wire_; }

  std::shared_ptr<Ring> join(std::vector<wire::Ipv6Address> addresses) {
    const std::scoped_lock lock(mutex_);
    auto ring = std::make_shared<Ring>();
    OPENMRC_CHECK(ring->event.is_open(), "no eventfd");
    while (is_taken(addresses, ring->slot)) {
      ring->slot = Slot(static_cast<std::uint8_t>(ring->slot.raw() + 1));
    }
    ring->addresses = std::move(addresses);
    rings_.push_back(ring);
    return ring;
  }
  void leave(const std::shared_ptr<Ring>& ring) {
    const std::scoped_lock lock(mutex_);
    std::erase(rings_, ring);
  }

  // Nothing if somebody took it; otherwise what to count.
  std::optional<Count> deliver(const wire::Ipv6Address& to, const InFlight& packet) {
    const std::scoped_lock lock(mutex_);
    const ConstBytes datagram = ConstBytes(packet.bytes).subspan(packet.headers);
    const auto owner = owner_of(datagram);
    const bool is_for_all = is_endpoint_request(datagram);
    std::optional<Count> problem = Count::kSendNoRoute;
    for (const auto& ring : rings_) {
      const std::size_t plane = packet.plane.raw();
      if (plane >= ring->addresses.size() || ring->addresses[plane] != to) continue;
      if (owner && *owner != ring->slot) continue;
      problem = put(*ring, packet);
      if (!is_for_all) return problem;
    }
    return problem;
  }
  std::optional<InFlight> take(Ring& ring) {
    const std::scoped_lock lock(mutex_);
    if (ring.packets.empty()) {
      ::eventfd_t value = 0;
      ::eventfd_read(ring.event.get(), &value);
      return std::nullopt;
    }
    InFlight packet = std::move(ring.packets.front());
    ring.packets.pop_front();
    return packet;
  }

 private:
  [[nodiscard]] bool is_taken(const std::vector<wire::Ipv6Address>& addresses, Slot slot) const {
    return std::ranges::any_of(rings_, [&](const auto& ring) {
      return ring->slot == slot && ring->addresses == addresses;
    });
  }
  std::optional<Count> put(Ring& ring, const InFlight& packet) const {
    if (ring.packets.size() >= ring_max_) return Count::kSendNoMemory;
    ring.packets.push_back(packet);
    ::eventfd_write(ring.event.get(), 1);
    return std::nullopt;
  }

  const wire::WireSettings wire_;
  const std::size_t ring_max_;
  std::mutex mutex_{};
  std::vector<std::shared_ptr<Ring>> rings_{};
};

namespace {

using State = LoopbackNetwork::State;

class LoopbackDatapath final : public Datapath {
 public:
  LoopbackDatapath(std::shared_ptr<State> state, std::vector<wire::Ipv6Address> addresses)
      : state_(std::move(state)),
        ring_(state_->join(std::move(addresses))),
        descriptors_{ring_->event.get()} {}
  LoopbackDatapath(const LoopbackDatapath&) = delete;
  LoopbackDatapath& operator=(const LoopbackDatapath&) = delete;
  ~LoopbackDatapath() override { state_->leave(ring_); }

  void send(std::span<const Outgoing> burst) override {
    for (const Outgoing& outgoing : burst) send(outgoing);
  }
  [[nodiscard]] PlaneBits blocked() const override { return 0; }

  [[nodiscard]] std::size_t receive(Instant now, std::span<Incoming> into) override {
    taken_.clear();
    std::size_t count = 0;
    while (count < into.size()) {
      auto packet = state_->take(*ring_);
      if (!packet) break;
      const std::size_t size = packet->bytes.size() - packet->headers;
      taken_.push_back(*std::move(packet));
      Incoming& incoming = into[count];
      if (const auto decoded =
              wire::decode_ip_into(taken_.back().bytes, state_->wire(), incoming.packet);
          !decoded) {
        counters_.add(decoded.error());
        continue;
      }
      incoming.at = now;
      incoming.plane = taken_.back().plane;
      counters_.add(Count::kPacketsReceived);
      counters_.add(Count::kBytesReceived, size);
      counters_.add(PlaneCount::kReceivedPackets, incoming.plane, 1);
      counters_.add(PlaneCount::kReceivedBytes, incoming.plane, size);
      ++count;
    }
    return count;
  }

  [[nodiscard]] std::span<const int> descriptors() const override { return descriptors_; }
  [[nodiscard]] Slot slot() const override { return ring_->slot; }
  [[nodiscard]] const Counters& counters() const override { return counters_; }
  [[nodiscard]] std::span<const Error> notices() const override { return {}; }

 private:
  // Where it goes, and what the last switch takes off it.
  struct Way {
    wire::Ipv6Address to{};
    std::size_t outer = 0;
    std::size_t headers = 0;
  };
  static Way way_of(const wire::Ipv6Route& route) {
    const auto& encapsulation = route.encapsulation;
    const std::size_t outer = !encapsulation       ? 0
                              : encapsulation->srh ? wire::kIpv6Size + wire::kSrhSize
                                                   : wire::kIpv6Size;
    return {route.destination, outer, wire::kIpv6Size + wire::kUdpSize};
  }
  static Way way_of(const wire::Ipv4Route& route) {
    return {wire::mapped(route.destination), 0, wire::kIpv4Size + wire::kUdpSize};
  }

  void send(const Outgoing& outgoing) {
    const wire::Packet& packet = *outgoing.packet;
    const Way way = std::visit([](const auto& route) { return way_of(route); }, packet.route);
    std::vector<std::byte> bytes(wire::encoded_size(packet));
    const std::size_t size = wire::encode_packet(packet, state_->wire(), bytes);
    bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(way.outer));
    if (outgoing.is_spoilt) bytes.back() ^= std::byte{1};
    const auto problem = state_->deliver(
        way.to, {.bytes = std::move(bytes), .headers = way.headers, .plane = outgoing.plane});
    if (problem) return counters_.add(*problem);
    counters_.add(Count::kPacketsSent);
    counters_.add(Count::kBytesSent, size - way.outer - way.headers);
    counters_.add(PlaneCount::kSentPackets, outgoing.plane, 1);
    counters_.add(PlaneCount::kSentBytes, outgoing.plane, size - way.outer - way.headers);
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<Ring> ring_;
  std::array<int, 1> descriptors_;
  std::deque<InFlight> taken_{};  // a deque, so that what is in it stays where it is
  Counters counters_{};
};

}  // namespace

LoopbackNetwork::LoopbackNetwork(const wire::WireSettings& wire, std::size_t ring)
    : state_(std::make_shared<State>(wire, ring)) {}

LoopbackNetwork::~LoopbackNetwork() = default;

std::unique_ptr<Datapath> LoopbackNetwork::add(std::vector<wire::Ipv6Address> addresses) {
  return std::make_unique<LoopbackDatapath>(state_, std::move(addresses));
}

}  // namespace openmrc::datapath
