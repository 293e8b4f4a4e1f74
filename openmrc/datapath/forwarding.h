// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/ids.h"
#include "openmrc/base/time.h"
#include "openmrc/datapath/arrival.h"
#include "openmrc/datapath/counters.h"
#include "openmrc/datapath/port_sharing.h"
#include "openmrc/datapath/slot.h"

// Packets passed on from the shard that received them to the one that they are for (steering.h).
namespace openmrc::datapath {

// Precedes each packet in a message from shard to shard. Both run on one machine, but perhaps not
// from one build: the tag changes when this does.
struct ForwardRecord {
  static constexpr std::uint32_t kTag = 0x4d524301;

  std::uint32_t tag = kTag;
  std::uint32_t size = 0;  // of the packet, from BTH on
  Arrival arrival{};
  Plane plane{};
};
static_assert(sizeof(ForwardRecord) >= kRoomInFront, "packets behind it are decoded in place");

// A message has at most this many bytes; several packets share one, because a UNIX socket holds
// few.
inline constexpr std::size_t kForwardMessageMax = 65536;
inline constexpr std::size_t kForwardPacketMax = kForwardMessageMax - sizeof(ForwardRecord);

// The packet at `at` of a message that came from another shard. Nothing if the bytes are no such
// thing.
struct Forwarded {
  ForwardRecord record{};
  std::size_t at = 0;    // where the packet lies
  std::size_t next = 0;  // where the next record does
};
std::optional<Forwarded> read_forwarded(ConstBytes message, std::size_t at);

class Forwarder {
 public:
  // Sends from `socket`, which is the slot's own.
  Forwarder(const SlotNames& names, Slot self, int socket, Counters& counters);

  void pass_on(Slot to, Plane plane, const Arrival& arrival, ConstBytes datagram);
  // To all slots but our own.
  void copy_to_all(Instant now, Plane plane, const Arrival& arrival, ConstBytes datagram);
  // Sends what has been gathered.
  void flush();

 private:
  struct Outbox {
    std::vector<std::byte> bytes{};
    std::size_t packets = 0;
    std::optional<Instant> missing_until{};  // no such process; not asked again before
  };
  enum class Outcome : std::uint8_t { kSent, kNobody, kFull };
  static constexpr std::size_t kRequestSizeMax = 1024;  // an endpoint request is shorter

  [[nodiscard]] Outcome send_to(Slot to, ConstBytes bytes) const;
  void flush(Slot to);

  std::vector<SlotAddress> addresses_{};  // by slot
  Slot self_;
  int socket_;
  Counters& counters_;
  std::array<Outbox, kSlots> outboxes_{};
  std::vector<std::byte> copied_{};  // what is sent to all
  std::uint64_t waiting_ = 0;        // one bit for each outbox with something in it
};

}  // namespace openmrc::datapath
