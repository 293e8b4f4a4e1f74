// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/open.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <array>
#include <limits>
#include <utility>

#include "openmrc/datapath/receiver.h"
#include "openmrc/datapath/sender.h"

namespace openmrc::datapath {
namespace {

class SocketDatapath final : public Datapath {
 public:
  [[nodiscard]] Result<void, Error> open(const Settings& settings) {
    auto sender = Sender::open(settings, counters_, notices_);
    if (!sender) return failure(std::move(sender.error()));
    auto receiver = Receiver::open(settings, counters_, notices_);
    if (!receiver) return failure(std::move(receiver.error()));
    sender_ = *std::move(sender);
    receiver_ = *std::move(receiver);
    descriptors_[0] = receiver_->descriptor();
    return {};
  }

  void send(std::span<const Outgoing> burst) override { sender_->send(burst); }
  [[nodiscard]] PlaneBits blocked() const override { return sender_->blocked(); }
  [[nodiscard]] std::size_t receive(Instant now, std::span<Incoming> into) override {
    return receiver_->receive(now, into);
  }
  [[nodiscard]] std::span<const int> descriptors() const override { return descriptors_; }
  [[nodiscard]] Slot slot() const override { return receiver_->slot(); }
  [[nodiscard]] const Counters& counters() const override { return counters_; }
  [[nodiscard]] std::span<const Error> notices() const override { return notices_; }

 private:
  Counters counters_{};
  std::vector<Error> notices_{};
  std::unique_ptr<Sender> sender_{};
  std::unique_ptr<Receiver> receiver_{};
  std::array<int, 1> descriptors_{-1};
};

Result<void, Error> check(const Settings& settings) {
  constexpr std::size_t kPlanesMax = std::numeric_limits<PlaneBits>::digits;
  if (settings.ports.empty()) {
    return failure(Error{.what = "no port", .remedy = "configure one"});
  }
  if (settings.ports.size() > kPlanesMax) {
    return failure(
        Error{.what = fmt::format("{} ports are more than {}", settings.ports.size(), kPlanesMax),
              .remedy = "use fewer"});
  }
  if (settings.wire.udp_port_alternate) {
    return failure(Error{.what = "sockets receive on one UDP port, not on an alternate one as well",
                         .remedy = "set one udp_port"});
  }
  for (const Port& port : settings.ports) {
    if (wire::is_mapped_ipv4(port.address) && settings.mode != Mode::kUdp) {
      return failure(Error{
          .what = fmt::format("port address {} is IPv4, and paths that name switches need IPv6",
                              wire::to_string(port.address)),
          .remedy = "set mode = \"udp\", or give the port an IPv6 address"});
    }
    if (wire::version_of(port.address) != ip_version(settings)) {
      return failure(Error{.what = fmt::format("port addresses {} and {} are of IPv4 and IPv6",
                                               wire::to_string(settings.ports.front().address),
                                               wire::to_string(port.address)),
                           .remedy = "give all ports addresses of one of the two"});
    }
    if (port.address == wire::Ipv6Address{} || port.address == wire::mapped(wire::Ipv4Address(0))) {
      return failure(Error{.what = "a port has no address", .remedy = "give it one"});
    }
    if (encapsulates(settings.mode) && port.interface.empty()) {
      return failure(
          Error{.what = fmt::format("port {} has no interface, and this mode sends by one",
                                    wire::to_string(port.address)),
                .remedy = "name it"});
    }
  }
  return {};
}

// A plane may need hundreds of sockets; many systems allow 1024 descriptors until one asks.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);  // what is still missing shows when a socket is opened
}

}  // namespace

Result<void, Error> prepare(const Settings& settings) {
  if (auto checked = check(settings); !checked) return checked;
  raise_descriptor_limit();
  return {};
}

Result<std::unique_ptr<Datapath>, Error> open(const Settings& settings) {
  if (auto prepared = prepare(settings); !prepared) return failure(std::move(prepared.error()));
  auto datapath = std::make_unique<SocketDatapath>();
  if (auto opened = datapath->open(settings); !opened) return failure(std::move(opened.error()));
  return datapath;
}

}  // namespace openmrc::datapath
