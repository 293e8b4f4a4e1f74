// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/sender.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "openmrc/datapath/socket_options.h"
#include "openmrc/datapath/sockets.h"

namespace openmrc::datapath {
namespace {

// What the kernel takes as one message: a UDP datagram's worth, of so many segments.
constexpr std::size_t kMessageBytesMax = 65'000;
constexpr std::size_t kSegmentsMax = 64;

// Appends control messages for sendmsg.
class ControlWriter {
 public:
  explicit ControlWriter(MutableBytes room) : room_(room) {}

  template <class T>
  void add(int level, int type, const T& value) {
    const cmsghdr header{
        .cmsg_len = CMSG_LEN(sizeof value), .cmsg_level = level, .cmsg_type = type};
    OPENMRC_CHECK(used_ + CMSG_SPACE(sizeof value) <= room_.size(), "no room for control data");
    std::memcpy(room_.data() + used_, &header, sizeof header);
    std::memcpy(room_.data() + used_ + CMSG_LEN(0), &value, sizeof value);
    used_ += CMSG_SPACE(sizeof value);
  }
  [[nodiscard]] std::size_t size() const { return used_; }

 private:
  MutableBytes room_;
  std::size_t used_ = 0;
};

Count count_of(int error_number) {
  switch (error_number) {
    case ENETDOWN: return Count::kSendPortDown;
    case ENETUNREACH:
    case EHOSTUNREACH: return Count::kSendNoRoute;
    case ENOBUFS:
    case ENOMEM: return Count::kSendNoMemory;
    case EMSGSIZE: return Count::kSendTooLong;
    case EPERM:
    case EACCES: return Count::kSendRefused;
    case EADDRNOTAVAIL:
    case ENODEV:
    case ENXIO: return Count::kSendNoAddress;
    default: return Count::kSendOtherError;
  }
}

}  // namespace

Result<std::unique_ptr<Sender>, Error> Sender::open(const Settings& settings, Counters& counters,
                                                    std::vector<Error>& notices) {
  std::unique_ptr<Sender> sender(new Sender(settings, counters, notices));
  sender->spare_.reserve(kSpareMax);
  for (const Port& port : sender->settings_.ports) {
    PlanePort& plane = sender->planes_.emplace_back();
    if (settings.mode == Mode::kSrv6) {
      auto socket = open_raw_socket(settings, port);
      if (!socket) return failure(socket.error());
      plane.raw = *std::move(socket);
    } else {
      plane.sources = std::make_unique<SourcePorts>(sender->settings_, port, counters, notices);
      plane.segments_max =
          std::clamp<std::size_t>(datapath::segments_max(settings), 1, kSegmentsMax);
    }
  }
  return sender;
}

Result<void, Error> Sender::reopen(Plane plane) {
  auto socket = open_raw_socket(settings_, settings_.ports[plane.raw()]);
  if (!socket) return failure(std::move(socket.error()));
  planes_[plane.raw()].raw = *std::move(socket);
  return {};
}

void Sender::send(std::span<const Outgoing> burst) {
  if (blocked_ != 0) {
    for (PlanePort& port : planes_) retry(port);
  }
  for (const Outgoing& outgoing : burst) send(outgoing);
  finish();
}

void Sender::send(const Outgoing& outgoing) {
  OPENMRC_CHECK(outgoing.plane.raw() < planes_.size(), "there is no such plane");
  if (used_ == kBatch) finish();
  Envelope& envelope = batch_[used_].envelope;
  if (!fill_envelope(outgoing, settings_, envelope)) return counters_.add(Count::kSendBadRoute);
  if (!fits_batch(envelope)) {
    const Envelope first = envelope;
    finish();
    batch_[0].envelope = first;
    socket_ = socket_for(first);
    if (socket_.descriptor < 0) return counters_.add(Count::kSendNoSocket);
  }
  Frame& frame = frames_[used_];
  write_frame(outgoing, settings_, frame);
  batch_[used_].held = nullptr;
  batch_[used_].size = frame.size();
  ++used_;
}

// Sends what waits, as far as there is room.
void Sender::retry(PlanePort& port) {
  while (!port.held.empty()) {
    socket_ = socket_for(port.held.front().envelope);
    if (socket_.descriptor < 0) {
      counters_.add(Count::kSendNoSocket);
      port.held.pop_front();
      continue;
    }
    for (const Held& held : port.held) {
      if (used_ == kBatch || (used_ > 0 && !fits_batch(held.envelope))) break;
      batch_[used_++] = {.envelope = held.envelope, .held = &held, .size = held.bytes.size()};
    }
    const std::size_t wanted = used_;
    const std::size_t done = transmit();
    for (std::size_t i = 0; i < done; ++i) release_first(port);
    if (done < wanted) return;
  }
  blocked_ &= ~(PlaneBits{1} << (&port - planes_.data()));
}

void Sender::release_first(PlanePort& port) {
  if (spare_.size() < kSpareMax) spare_.push_back(std::move(port.held.front().bytes));
  port.held.pop_front();
}

// Sends the batch; what there is no room for waits.
void Sender::finish() {
  if (used_ == 0) return;
  const std::size_t count = used_;
  const bool is_blocked = (blocked_ >> batch_[0].envelope.plane.raw() & 1) != 0;
  for (std::size_t i = is_blocked ? 0 : transmit(); i < count; ++i) hold(i);
  used_ = 0;
}

SourcePorts::Socket Sender::socket_for(const Envelope& envelope) {
  PlanePort& port = port_of(envelope);
  if (!port.sources) return {.descriptor = port.raw.get()};
  try {
    return port.sources->socket_for(envelope.source_port, envelope.traffic_byte);
  } catch (const std::bad_alloc&) {
    return {};
  }
}

// Whether it goes to the same socket as the packet before.
bool Sender::fits_batch(const Envelope& envelope) const {
  if (used_ == 0) return false;
  const Envelope& last = batch_[used_ - 1].envelope;
  if (envelope.plane != last.plane) return false;
  return settings_.mode == Mode::kSrv6 || envelope.source_port == last.source_port;
}

// Returns how many packets of the batch are done with: sent, or counted as impossible to send. For
// the others there is no room. The batch is empty afterwards, but still readable.
std::size_t Sender::transmit() {
  std::size_t done = 0;
  while (done < used_) {
    const std::size_t messages = form_messages(done);
    const int sent = ::sendmmsg(socket_.descriptor, headers_.data(),
                                static_cast<unsigned>(messages), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      done += count_sent(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) break;
    const std::size_t packets = messages_[0].packets;
    if (packets > 1 && (errno == EINVAL || errno == EIO)) {
      disable_segmentation(port_of(batch_[done].envelope), errno);
      continue;
    }
    count_failure(errno, packets);
    done += packets;
  }
  used_ = 0;
  return done;
}

// Makes messages of the batch from its packet `first` on; returns how many.
std::size_t Sender::form_messages(std::size_t first) {
  std::size_t count = 0;
  pieces_used_ = 0;
  while (first < used_) first = form_message(first, count++);
  return count;
}

// Message `index`, from packet `first` on; returns the first packet that is not in it.
std::size_t Sender::form_message(std::size_t first, std::size_t index) {
  const Packet& head = batch_[first];
  const std::size_t segments_max = port_of(head.envelope).segments_max;
  const std::size_t first_piece = pieces_used_;
  std::size_t bytes = head.size;
  std::size_t end = first + 1;
  add_pieces(first, true);
  while (end < used_ && end - first < segments_max) {
    const Packet& next = batch_[end];
    if (next.size > head.size || bytes + next.size > kMessageBytesMax) break;
    if (next.envelope != head.envelope) break;
    bytes += next.size;
    add_pieces(end++, false);
    if (next.size < head.size) break;  // only the last may be shorter
  }
  if (head.held == nullptr) add_piece(frames_[end - 1].trailer.bytes());
  messages_[index] = {.packets = end - first, .bytes = bytes};
  address(head, index, end - first > 1);
  headers_[index].msg_hdr.msg_iov = &pieces_[first_piece];
  headers_[index].msg_hdr.msg_iovlen = pieces_used_ - first_piece;
  return end;
}

// All but the trailer, which goes with the headers of the packet behind: the kernel takes its time
// for each piece.
void Sender::add_pieces(std::size_t index, bool is_first) {
  if (batch_[index].held != nullptr) return add_piece(batch_[index].held->bytes);
  const Frame& frame = frames_[index];
  if (is_first) {
    add_piece(frame.headers);
  } else {
    const ConstBytes before = frames_[index - 1].trailer.bytes();
    static_assert(kFreeInFront >= sizeof(FrameTrailer::buffer));
    std::byte* const start = frame.headers.data() - before.size();
    if (before.size() == wire::kIcrcSize) [[likely]] {  // known size: no call
      std::memcpy(start, before.data(), wire::kIcrcSize);
    } else {
      std::ranges::copy(before, start);
    }
    add_piece({start, before.size() + frame.headers.size()});
  }
  if (!frame.payload.empty()) add_piece(frame.payload);
}

void Sender::add_piece(ConstBytes piece) {
  // The kernel only reads what it is given to send.
  pieces_[pieces_used_++] = {.iov_base = const_cast<std::byte*>(piece.data()),
                             .iov_len = piece.size()};
}

void Sender::address(const Packet& packet, std::size_t index, bool is_segmented) {
  const Envelope& envelope = packet.envelope;
  const bool is_raw = settings_.mode == Mode::kSrv6;
  msghdr& header = headers_[index].msg_hdr;
  header = {};
  addresses_[index] = SocketAddress(envelope.to, is_raw ? 0 : envelope.udp_port.raw());
  header.msg_name = addresses_[index].get();
  header.msg_namelen = addresses_[index].size();
  if (is_raw) return;
  ControlWriter control(controls_[index].bytes);
  if (envelope.traffic_byte != socket_.traffic_byte) {
    const bool is_ipv4 = addresses_[index].family() == AF_INET;
    control.add(is_ipv4 ? IPPROTO_IP : IPPROTO_IPV6, is_ipv4 ? IP_TOS : IPV6_TCLASS,
                int{envelope.traffic_byte});
  }
  if (envelope.flow_label != 0) {
    control.add(IPPROTO_IPV6, kIpv6FlowInfo, std::uint32_t{htonl(envelope.flow_label)});
  }
  if (is_segmented) {
    control.add(IPPROTO_UDP, kUdpSegment, static_cast<std::uint16_t>(packet.size));
  }
  if (control.size() == 0) return;
  header.msg_control = controls_[index].bytes.data();
  header.msg_controllen = control.size();
}

// Returns how many packets were in these messages.
std::size_t Sender::count_sent(std::size_t messages) {
  std::size_t packets = 0;
  std::size_t bytes = 0;
  for (const Message& message : std::span(messages_).first(messages)) {
    packets += message.packets;
    bytes += message.bytes;
  }
  counters_.add(Count::kSendCalls);
  counters_.add(Count::kMessagesSent, messages);
  counters_.add(Count::kPacketsSent, packets);
  counters_.add(Count::kBytesSent, bytes);
  const Plane plane = batch_[0].envelope.plane;  // of all of them
  counters_.add(PlaneCount::kSentPackets, plane, packets);
  counters_.add(PlaneCount::kSentBytes, plane, bytes);
  return packets;
}

void Sender::count_failure(int error_number, std::size_t packets) {
  counters_.add(count_of(error_number), packets);
  counters_.add(PlaneCount::kFailedPackets, batch_[0].envelope.plane, packets);
}

void Sender::disable_segmentation(PlanePort& port, int error_number) {
  port.segments_max = 1;
  const auto plane = static_cast<std::size_t>(&port - planes_.data());
  notices_.push_back(
      {.what =
           with_reason(fmt::format("plane {}: UDP GSO unavailable: one datagram per send", plane),
                       error_number),
       .remedy = settings_.mode == Mode::kUsid
                     ? "GSO needs UDP checksums, which a uSID path invalidates: set "
                       "segments_max = 1 to silence this, or use mode = \"udp\""
                     : "set segments_max = 1 to silence this"});
}

// Only frames: what was held before stays where it is. Without memory for a copy it is lost, as on
// a network.
void Sender::hold(std::size_t index) {
  PlanePort& port = port_of(batch_[index].envelope);
  blocked_ |= PlaneBits{1} << batch_[index].envelope.plane.raw();
  if (port.held.size() >= kHeldMax) return counters_.add(Count::kHeldOverflow);
  try {
    port.held.push_back(copy_of(index));
    counters_.add(Count::kHeldBack);
  } catch (const std::bad_alloc&) {
    counters_.add(Count::kSendNoMemory);
  }
}

Sender::Held Sender::copy_of(std::size_t index) {
  const Packet& packet = batch_[index];
  const Frame& frame = frames_[index];
  Held held{.envelope = packet.envelope, .bytes = {}};
  if (!spare_.empty()) {
    held.bytes = std::move(spare_.back());
    spare_.pop_back();
    held.bytes.clear();
  }
  held.bytes.reserve(packet.size);
  for (const ConstBytes piece : {ConstBytes(frame.headers), frame.payload, frame.trailer.bytes()}) {
    held.bytes.insert(held.bytes.end(), piece.begin(), piece.end());
  }
  return held;
}

}  // namespace openmrc::datapath
