// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/datapath.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <variant>

#include "openmrc/base/check.h"
#include "openmrc/datapath/frame.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/datapath/steering.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/header/ethernet.h"
#include "openmrc/xdp/frame_parts.h"
#include "openmrc/xdp/open.h"
#include "openmrc/xdp/privileges.h"

namespace openmrc::xdp {
namespace {

using datapath::Count;
using datapath::Error;
using datapath::PlaneBits;
using datapath::PlaneCount;

constexpr PlaneBits bit_of(std::size_t plane) { return PlaneBits{1} << plane; }

}  // namespace

Result<std::unique_ptr<datapath::Datapath>, Error> XdpDatapath::open(
    const datapath::Settings& settings) {
  datapath::Settings own = settings;
  own.mode = datapath::Mode::kSrv6;  // what packets look like, and what the sockets beside us do
  std::unique_ptr<XdpDatapath> datapath(new XdpDatapath(std::move(own)));
  if (auto opened = datapath->open(); !opened) return failure(std::move(opened.error()));
  return datapath;
}

Result<void, Error> XdpDatapath::open() {
  auto sender = datapath::Sender::open(settings_, counters_, notices_);
  if (!sender) return failure(std::move(sender.error()));
  sender_ = *std::move(sender);
  auto receiver = datapath::Receiver::open(settings_, counters_, notices_);
  if (!receiver) return failure(std::move(receiver.error()));
  receiver_ = *std::move(receiver);
  auto changes = NetworkChanges::watch();
  if (!changes) return failure(std::move(changes.error()));
  changes_ = std::make_unique<NetworkChanges>(*std::move(changes));
  was_missing_.resize(ports_.size());
  was_refused_.resize(ports_.size());

  epoll_ = datapath::FileDescriptor(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.is_open() || !watch(receiver_->descriptor()) || !watch(changes_->descriptor())) {
    return failure(Error{.what = datapath::with_reason("cannot wait for sockets", errno),
                         .remedy = "raise the limit of open files: ulimit -n"});
  }
  descriptors_[0] = epoll_.get();
  for (std::size_t plane = 0; plane < ports_.size(); ++plane) {
    if (auto opened = open_port(plane, Patience::kSome); !opened) {
      return failure(std::move(opened.error()));
    }
  }
  return {};
}

bool XdpDatapath::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0;
}

Result<void, Error> XdpDatapath::open_port(std::size_t plane, Patience patience) {
  auto port = Port::open(settings_, settings_.ports[plane], slot(), patience);
  if (!port) return failure(std::move(port.error()));
  if (!*port) return {};
  for (const auto& socket : (*port)->sockets()) {
    if (watch(socket->descriptor())) continue;
    return failure(Error{.what = datapath::with_reason("cannot wait for a socket", errno),
                         .remedy = "raise the limit of open files: ulimit -n"});
  }
  ports_[plane] = *std::move(port);
  return {};
}

void XdpDatapath::send(std::span<const datapath::Outgoing> burst) {
  rest_.clear();
  for (const datapath::Outgoing& outgoing : burst) send(outgoing);
  const PlaneBits to_flush = pushed_ | blocked_;
  for (std::size_t plane = 0; to_flush >> plane != 0; ++plane) {
    if ((to_flush & bit_of(plane)) != 0) flush(plane);
  }
  if (!rest_.empty() || sender_->blocked() != 0) sender_->send(rest_);
}

void XdpDatapath::send(const datapath::Outgoing& outgoing) {
  const std::size_t plane = outgoing.plane.raw();
  OPENMRC_CHECK(plane < ports_.size(), "there is no such plane");
  const auto* route = std::get_if<wire::Ipv6Route>(&outgoing.packet->route);
  if (ports_[plane] == nullptr || route == nullptr || !route->encapsulation) {
    return rest_.push_back(outgoing);
  }
  const auto size = ports_[plane]->send(outgoing, now_);
  if (size) [[likely]] {
    pushed_ |= bit_of(plane);
    return count_sent(outgoing.plane, *size);
  }
  if (size.error() == Port::Unsent::kTooLong) {
    counters_.add(Count::kSendTooLong);
    return counters_.add(PlaneCount::kFailedPackets, outgoing.plane, 1);
  }
  if (size.error() == Port::Unsent::kNoRoom) blocked_ |= bit_of(plane);
  rest_.push_back(outgoing);
}

void XdpDatapath::count_sent(Plane plane, std::size_t size) {
  counters_.add(Count::kFramesSent);
  counters_.add(Count::kMessagesSent);
  counters_.add(Count::kPacketsSent);
  counters_.add(Count::kBytesSent, size);
  counters_.add(PlaneCount::kSentPackets, plane, 1);
  counters_.add(PlaneCount::kSentBytes, plane, size);
}

void XdpDatapath::flush(std::size_t plane) {
  pushed_ &= ~bit_of(plane);
  blocked_ &= ~bit_of(plane);
  if (ports_[plane] == nullptr) return;
  counters_.add(Count::kSendCalls, static_cast<std::uint64_t>(ports_[plane]->flush()));
  if (ports_[plane]->has_unsent()) blocked_ |= bit_of(plane);
}

std::size_t XdpDatapath::receive(Instant now, std::span<datapath::Incoming> into) {
  now_ = now;
  if (now >= network_looked_at_ + kLookAtNetwork) look_at_network(now);
  std::size_t count = 0;
  for (std::size_t i = 0; i < ports_.size() && count < into.size(); ++i) {
    count += receive_frames(now, next_plane_, into.subspan(count));
    next_plane_ = (next_plane_ + 1) % ports_.size();
  }
  const bool is_due = count == 0 || now >= sockets_looked_at_ + kLookAtSockets;
  if (is_due && count < into.size()) {
    sockets_looked_at_ = now;
    count += receiver_->receive(now, into.subspan(count));
  }
  return count;
}

std::size_t XdpDatapath::receive_frames(Instant now, std::size_t plane,
                                        std::span<datapath::Incoming> into) {
  if (ports_[plane] == nullptr) return 0;
  std::array<MutableBytes, kFrames> frames;
  const std::size_t wanted = std::min(into.size(), frames.size());
  const std::size_t got = ports_[plane]->receive(std::span(frames).first(wanted));
  if (got == 0) return 0;
  const Plane number(static_cast<std::uint8_t>(plane));
  std::size_t count = 0;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < got; ++i) {
    if (i + 1 < got) __builtin_prefetch(frames[i + 1].data());
    bytes += frames[i].size();
    if (take_frame(now, number, frames[i], into[count])) ++count;
  }
  counters_.add(Count::kFramesReceived, got);
  counters_.add(Count::kPacketsReceived, count);
  counters_.add(PlaneCount::kReceivedPackets, number, got);
  counters_.add(PlaneCount::kReceivedBytes, number, bytes);
  return count;
}

// Says whether it filled `into`.
bool XdpDatapath::take_frame(Instant now, Plane plane, MutableBytes frame,
                             datapath::Incoming& into) {
  const auto parts = read_frame(frame);
  if (!parts) {
    counters_.add(Count::kReceiveTruncated);
    return false;
  }
  if (const auto owner = datapath::owner_of(parts->datagram); owner && *owner != slot())
      [[unlikely]] {
    receiver_->forwarder().pass_on(*owner, plane, arrival_of(frame, *parts), parts->datagram);
    return false;
  }
  into.plane = plane;
  into.at = now;
  const ConstBytes packet = ConstBytes(frame).subspan(wire::EthernetView::kSize);
  if (const auto decoded = wire::decode_ip_into(packet, settings_.wire, into.packet); !decoded) {
    counters_.add(decoded.error());
    return false;
  }
  counters_.add(Count::kBytesReceived, parts->datagram.size());
  if (datapath::is_endpoint_request(parts->datagram)) [[unlikely]] {
    receiver_->forwarder().copy_to_all(now, plane, arrival_of(frame, *parts), parts->datagram);
  }
  return true;
}

void XdpDatapath::look_at_network(Instant now) {
  network_looked_at_ = now;
  receiver_->forwarder().flush();
  const bool has_changed = changes_->take();
  const bool is_due = now >= ports_looked_at_ + kLookAtPorts;
  if (!has_changed && !is_due) return;
  if (is_due) ports_looked_at_ = now;
  for (std::size_t plane = 0; plane < ports_.size(); ++plane) {
    look_at_port(plane, has_changed, is_due);
  }
}

// An interface may have gone, or come back as another of the same name, or have other queues, of
// which the kernel tells nobody; or the shard that had it is gone.
void XdpDatapath::look_at_port(std::size_t plane, bool has_changed, bool is_due) {
  if (ports_[plane] != nullptr) {
    if (has_changed) ports_[plane]->forget_next_hops();
    if (is_due) count_drops(plane);
    if (!ports_[plane]->is_current()) close_port(plane);
    return;
  }
  const bool is_there = find_interface(settings_.ports[plane].interface).has_value();
  const bool is_back = is_there && was_missing_[plane];
  was_missing_[plane] = !is_there;
  if (is_back) reopen_sockets(plane);
  if (is_there && (is_back || is_due)) try_to_open(plane);
}

// The kernel has done with it a moment later.
void XdpDatapath::close_port(std::size_t plane) {
  count_drops(plane);
  ports_[plane].reset();
  was_missing_[plane] = !find_interface(settings_.ports[plane].interface);
}

// Without waiting. What is in the way may go just now: it is told when it was there the time
// before.
void XdpDatapath::try_to_open(std::size_t plane) {
  auto opened = open_port(plane, Patience::kNone);
  if (!opened && was_refused_[plane]) notice(std::move(opened.error()));
  was_refused_[plane] = !opened;
}

void XdpDatapath::count_drops(std::size_t plane) {
  counters_.add(Count::kFramesDropped, ports_[plane]->take_drops());
}

// Those that were bound to the interface that is gone receive and send nothing more.
void XdpDatapath::reopen_sockets(std::size_t plane) {
  const Plane number(static_cast<std::uint8_t>(plane));
  if (auto opened = sender_->reopen(number); !opened) notice(std::move(opened.error()));
  if (auto opened = receiver_->reopen(settings_, number, notices_); !opened) {
    notice(std::move(opened.error()));
  }
}

// Once.
void XdpDatapath::notice(Error error) {
  if (std::ranges::find(notices_, error) == notices_.end()) notices_.push_back(std::move(error));
}

Result<std::unique_ptr<datapath::Datapath>, Error> open(const datapath::Settings& settings) {
  if (auto checked = datapath::prepare(settings); !checked) {
    return failure(std::move(checked.error()));
  }
  if (auto checked = check_privileges(); !checked) return failure(std::move(checked.error()));
  return XdpDatapath::open(settings);
}

Result<PortCheck, Error> check_port(const datapath::Settings& settings,
                                    const datapath::Port& port) {
  if (auto checked = check_privileges(); !checked) return failure(std::move(checked.error()));
  const auto opened = Port::open(settings, port, datapath::Slot(0), Patience::kSome);
  if (!opened) return failure(opened.error());
  if (*opened == nullptr) return PortCheck{.is_taken = true};
  const auto& sockets = (*opened)->sockets();
  return PortCheck{.queues = static_cast<std::uint32_t>(sockets.size()),
                   .is_zero_copy = sockets.front()->is_zero_copy()};
}

}  // namespace openmrc::xdp
