// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/forwarding.h"

#include <sys/socket.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <type_traits>

namespace openmrc::datapath {
namespace {

static_assert(std::is_trivially_copyable_v<ForwardRecord>);
static_assert(kSlots == 64, "one bit of a word for each");

// A flood of port status updates must not make us ask for slots that do not exist every time.
constexpr Duration kMissingFor = milliseconds(100);

void append(std::vector<std::byte>& to, Plane plane, const Arrival& arrival, ConstBytes datagram) {
  const ForwardRecord record{
      .size = static_cast<std::uint32_t>(datagram.size()), .arrival = arrival, .plane = plane};
  const std::size_t at = to.size();
  to.resize(at + sizeof record + datagram.size());
  std::memcpy(to.data() + at, &record, sizeof record);
  std::memcpy(to.data() + at + sizeof record, datagram.data(), datagram.size());
}

}  // namespace

std::optional<Forwarded> read_forwarded(ConstBytes message, std::size_t at) {
  Forwarded forwarded;
  if (at > message.size() || message.size() - at < sizeof forwarded.record) return std::nullopt;
  std::memcpy(&forwarded.record, message.data() + at, sizeof forwarded.record);
  if (forwarded.record.tag != ForwardRecord::kTag) return std::nullopt;
  if (forwarded.record.arrival.flow_label > kFlowLabelMax) return std::nullopt;
  forwarded.at = at + sizeof forwarded.record;
  if (message.size() - forwarded.at < forwarded.record.size) return std::nullopt;
  forwarded.next = forwarded.at + forwarded.record.size;
  return forwarded;
}

Forwarder::Forwarder(const SlotNames& names, Slot self, int socket, Counters& counters)
    : self_(self), socket_(socket), counters_(counters) {
  for (std::size_t i = 0; i < kSlots; ++i) {
    addresses_.push_back(names.slot(Slot(static_cast<std::uint8_t>(i))));
  }
  copied_.reserve(kRequestSizeMax);
}

void Forwarder::pass_on(Slot to, Plane plane, const Arrival& arrival, ConstBytes datagram) {
  if (datagram.size() > kForwardPacketMax) return counters_.add(Count::kForwardFull);
  Outbox& outbox = outboxes_[to.raw()];
  if (outbox.bytes.size() + sizeof(ForwardRecord) + datagram.size() > kForwardMessageMax) flush(to);
  try {
    append(outbox.bytes, plane, arrival, datagram);
  } catch (const std::bad_alloc&) {
    return counters_.add(Count::kForwardFull);
  }
  ++outbox.packets;
  waiting_ |= std::uint64_t{1} << to.raw();
}

void Forwarder::copy_to_all(Instant now, Plane plane, const Arrival& arrival, ConstBytes datagram) {
  copied_.clear();
  append(copied_, plane, arrival, datagram);
  for (std::size_t i = 0; i < kSlots; ++i) {
    const Slot to(static_cast<std::uint8_t>(i));
    auto& missing_until = outboxes_[i].missing_until;
    if (to == self_ || (missing_until && now < *missing_until)) continue;
    missing_until.reset();
    switch (send_to(to, copied_)) {
      case Outcome::kSent: counters_.add(Count::kRequestsCopied); break;
      case Outcome::kNobody: missing_until = now + kMissingFor; break;
      case Outcome::kFull: counters_.add(Count::kForwardFull); break;
    }
  }
}

void Forwarder::flush() {
  while (waiting_ != 0) flush(Slot(static_cast<std::uint8_t>(std::countr_zero(waiting_))));
}

void Forwarder::flush(Slot to) {
  Outbox& outbox = outboxes_[to.raw()];
  switch (send_to(to, outbox.bytes)) {
    case Outcome::kSent: counters_.add(Count::kForwarded, outbox.packets); break;
    case Outcome::kNobody: counters_.add(Count::kForwardNoOwner, outbox.packets); break;
    case Outcome::kFull: counters_.add(Count::kForwardFull, outbox.packets); break;
  }
  outbox.bytes.clear();
  outbox.packets = 0;
  waiting_ &= ~(std::uint64_t{1} << to.raw());
}

Forwarder::Outcome Forwarder::send_to(Slot to, ConstBytes bytes) const {
  const SlotAddress& address = addresses_[to.raw()];
  if (::sendto(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL, address.get(),
               address.size()) >= 0) {
    return Outcome::kSent;
  }
  return errno == ECONNREFUSED || errno == ENOENT ? Outcome::kNobody : Outcome::kFull;
}

}  // namespace openmrc::datapath
