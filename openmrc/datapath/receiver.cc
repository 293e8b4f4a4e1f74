// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/receiver.h"

#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "openmrc/datapath/sockets.h"
#include "openmrc/datapath/steering.h"

namespace openmrc::datapath {
namespace {

// The longest that a socket can deliver: joined datagrams, a jumbo one, or records of another
// shard.
constexpr std::size_t kMessageSizeMax = 65536;
static_assert(kMessageSizeMax >= kForwardMessageMax);

// So that buffers begin at whole pages and their packets, behind the room in front, where copies
// are fastest.
constexpr std::size_t kBufferStride = kMessageSizeMax + 4096;

}  // namespace

Result<std::unique_ptr<Receiver>, Error> Receiver::open(const Settings& settings,
                                                        Counters& counters,
                                                        std::vector<Error>& notices) {
  const auto names = SlotNames::of(settings.wire.udp_port, ip_version(settings));
  if (!names) return failure(names.error());
  const auto lock = JoinLock::take(*names);
  if (!lock) return failure(lock.error());
  auto claim = claim_slot(*names, *lock);
  if (!claim) return failure(claim.error());
  const PortUse use = claim->is_first ? PortUse::kFirst : PortUse::kJoins;
  std::unique_ptr<Receiver> receiver(new Receiver(settings, *names, *std::move(claim), counters));
  if (!receiver->epoll_.is_open()) {
    return failure(Error{.what = with_reason("cannot open an epoll descriptor", errno),
                         .remedy = "raise the limit of open files: ulimit -n"});
  }
  for (const Port& port : settings.ports) {
    auto socket = open_receive_socket(settings, port, use, notices);
    if (!socket) return failure(socket.error());
    const auto plane = static_cast<std::uint32_t>(receiver->sockets_.size());
    if (auto watched = receiver->watch(socket->get(), plane); !watched) {
      return failure(watched.error());
    }
    receiver->sockets_.push_back(*std::move(socket));
  }
  if (auto watched = receiver->watch(receiver->claim_.socket.get(), kFromShards); !watched) {
    return failure(watched.error());
  }
  return receiver;
}

Receiver::Receiver(const Settings& settings, const SlotNames& names, SlotClaim claim,
                   Counters& counters)
    : wire_(settings.wire),
      claim_(std::move(claim)),
      counters_(counters),
      forwarder_(names, claim_.slot, claim_.socket.get(), counters),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      memory_(kMessages * kBufferStride) {
  for (std::size_t i = 0; i < kMessages; ++i) {
    Buffer& buffer = buffers_[i];
    buffer.bytes = MutableBytes(memory_).subspan(i * kBufferStride, kRoomInFront + kMessageSizeMax);
    buffer.piece = {.iov_base = buffer.bytes.data() + kRoomInFront, .iov_len = kMessageSizeMax};
    prepare(i);
  }
}

Result<bool, Error> Receiver::watch(int socket, std::uint32_t origin) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u32 = origin;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) == 0) return true;
  return failure(Error{.what = with_reason("cannot wait for a socket", errno), .remedy = {}});
}

Result<void, Error> Receiver::reopen(const Settings& settings, Plane plane,
                                     std::vector<Error>& notices) {
  auto socket =
      open_receive_socket(settings, settings.ports[plane.raw()], PortUse::kJoins, notices);
  if (!socket) return failure(std::move(socket.error()));
  if (auto watched = watch(socket->get(), plane.raw()); !watched) {
    return failure(std::move(watched.error()));
  }
  sockets_[plane.raw()] = *std::move(socket);
  return {};
}

std::size_t Receiver::receive(Instant now, std::span<Incoming> into) {
  if (next_ == filled_) fill_buffers();
  std::size_t count = 0;
  while (count < into.size() && next_ < filled_) {
    Received& received = received_[next_];
    if (received.is_done) {
      ++next_;
      continue;
    }
    Incoming& incoming = into[count];
    const MutableBytes buffer = buffers_[next_].bytes.first(received.end);
    const bool taken = received.origin == kFromShards
                           ? take_forwarded(received, buffer, incoming)
                           : take_datagram(now, received, buffer, incoming);
    if (taken) {
      incoming.at = now;
      ++count;
    }
    received.is_done = received.is_done || received.at >= received.end;
  }
  forwarder_.flush();
  counters_.add(Count::kPacketsReceived, count);
  counters_.add(Count::kBytesReceived, std::exchange(bytes_taken_, 0));
  return count;
}

// A socket that alone had something, the last time, is likely to be the one again: it is asked
// without another call to find out.
void Receiver::fill_buffers() {
  const std::size_t room = are_long_ ? kLongMessages : kMessages;
  for (std::size_t i = 0; i < filled_; ++i) prepare(i);
  filled_ = 0;
  next_ = 0;
  if (likely_ && likely_left_ > 0) {
    --likely_left_;
    fill_from(*likely_, room);
  }
  if (filled_ == 0) fill_from_ready(room);
  if (filled_ > 0) are_long_ = received_[0].end >= kLongMessage;
}

// Asks only the sockets that have something, each for its share of the buffers.
void Receiver::fill_from_ready(std::size_t room) {
  std::array<epoll_event, kLongMessages> events;
  const int ready = ::epoll_wait(epoll_.get(), events.data(), kLongMessages, 0);
  for (int i = 0; i < ready; ++i) {
    const auto left = static_cast<std::size_t>(ready - i);
    fill_from(events[static_cast<std::size_t>(i)].data.u32, (room - filled_) / left);
  }
  likely_left_ = kLikelyInARow;
  if (ready <= 0) return;
  likely_.reset();
  const std::uint32_t first = events[0].data.u32;  // a copy: the record is packed
  if (ready == 1) likely_ = first;
}

// What the kernel changes is as it should be for the next message.
void Receiver::prepare(std::size_t index) {
  Buffer& buffer = buffers_[index];
  headers_[index].msg_hdr = {.msg_name = &buffer.from,
                             .msg_namelen = sizeof buffer.from,
                             .msg_iov = &buffer.piece,
                             .msg_iovlen = 1,
                             .msg_control = buffer.control.data(),
                             .msg_controllen = buffer.control.size(),
                             .msg_flags = 0};
}

void Receiver::fill_from(std::uint32_t origin, std::size_t room) {
  const int socket = origin == kFromShards ? claim_.socket.get() : sockets_[origin].get();
  const int got =
      ::recvmmsg(socket, &headers_[filled_], static_cast<unsigned>(room), MSG_DONTWAIT, nullptr);
  if (got < 0) {
    if (errno != EAGAIN && errno != EINTR) counters_.add(Count::kReceiveErrors);
    return;
  }
  counters_.add(Count::kReceiveCalls);
  counters_.add(Count::kMessagesReceived, static_cast<std::uint64_t>(got));
  const std::size_t first = filled_;
  filled_ += static_cast<std::size_t>(got);
  for (std::size_t i = first; i < filled_; ++i) accept(origin, i, headers_[i].msg_len);
}

void Receiver::accept(std::uint32_t origin, std::size_t index, std::size_t size) {
  Received& received = received_[index];
  const msghdr& header = headers_[index].msg_hdr;
  received.origin = origin;
  received.at = kRoomInFront;
  received.end = kRoomInFront + size;
  received.is_done = false;
  if (origin == kFromShards) {
    if (is_from_one_of_us(header)) return;
    counters_.add(Count::kForwardRefused);
  } else {
    if (const auto message = read_message(header)) {
      received.message = *message;
      count_by_plane(Plane(static_cast<std::uint8_t>(origin)), message->segment_size, size);
      received.headers = {};
      return;
    }
    counters_.add(Count::kReceiveTruncated);
  }
  received.is_done = true;
}

// With GRO a datagram carries several packets, all but the last of one size.
void Receiver::count_by_plane(Plane plane, std::size_t segment, std::size_t size) {
  const std::size_t packets = segment == 0 ? 1 : (size + segment - 1) / segment;
  counters_.add(PlaneCount::kReceivedPackets, plane, packets);
  counters_.add(PlaneCount::kReceivedBytes, plane, size);
}

// Whoever passes packets on names their source addresses, so it must be one of the same user, or
// root. Others cannot reach the socket's folder; this holds even if they were handed a socket.
bool Receiver::is_from_one_of_us(const msghdr& message) {
  if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) return false;
  const cmsghdr* control = CMSG_FIRSTHDR(&message);
  if (control == nullptr || control->cmsg_level != SOL_SOCKET ||
      control->cmsg_type != SCM_CREDENTIALS || control->cmsg_len < CMSG_LEN(sizeof(ucred))) {
    return false;
  }
  ucred sender{};
  std::memcpy(&sender, CMSG_DATA(control), sizeof sender);
  return sender.uid == ::geteuid() || sender.uid == 0;
}

bool Receiver::take_datagram(Instant now, Received& received, MutableBytes buffer, Incoming& into) {
  const std::size_t at = received.at;
  const std::size_t left = received.end - at;
  const std::size_t segment = received.message.segment_size;
  const std::size_t size = segment == 0 ? left : std::min(segment, left);
  received.at += size;
  __builtin_prefetch(buffer.data() + at + size);  // the next packet's headers
  const Arrival& arrival = received.message.arrival;
  const ConstBytes datagram = ConstBytes(buffer).subspan(at, size);
  const Plane plane(static_cast<std::uint8_t>(received.origin));
  if (const auto owner = owner_of(datagram); owner && *owner != claim_.slot) [[unlikely]] {
    forwarder_.pass_on(*owner, plane, arrival, datagram);
    return false;
  }
  into.plane = plane;
  if (received.headers.size() != size) [[unlikely]] {
    received.headers = TakenHeaders(arrival, size, wire_.udp_port);
  }
  if (!decode(received.headers, buffer, at, into)) return false;
  if (is_endpoint_request(datagram)) [[unlikely]]
    forwarder_.copy_to_all(now, plane, arrival, datagram);
  return true;
}

bool Receiver::take_forwarded(Received& received, MutableBytes buffer, Incoming& into) {
  const auto forwarded = read_forwarded(buffer, received.at);
  if (!forwarded || forwarded->record.plane.raw() >= sockets_.size()) {
    counters_.add(Count::kForwardRefused);
    received.is_done = true;
    return false;
  }
  received.at = forwarded->next;
  counters_.add(Count::kForwardedIn);
  into.plane = forwarded->record.plane;
  const auto& record = forwarded->record;
  return decode({record.arrival, record.size, wire_.udp_port}, buffer, forwarded->at, into);
}

bool Receiver::decode(const TakenHeaders& headers, MutableBytes buffer, std::size_t at,
                      Incoming& into) {
  if (const auto decoded = decode_in_place(headers, buffer, at, wire_, into.packet); !decoded) {
    counters_.add(decoded.error());
    return false;
  }
  bytes_taken_ += headers.size();
  return true;
}

}  // namespace openmrc::datapath
