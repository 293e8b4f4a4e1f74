// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/wire/field/connection_id.h"
#include "openmrc/wire/field/layout.h"
#include "openmrc/wire/field/reject.h"

namespace openmrc::wire {

// MRC 7.5.6 (Tables 7-14, 7-15): SACK extended transport header; a CC_STATE always follows it.
//
//    0                   1                   2                   3
//    0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//   +-------+---------+---+-----+-+-+-------------------------------+
//   | type  | next hdr| M | res |P|r|   ack PSN offset / probe id   |
//   +-------+---------+---+-----+-+-+-------------------------------+
//   |                  entropy (reflected EV)                       |
//   +-------------------------------+-------------------------------+
//   |            spdcid             |            dpdcid             |
//   +---------------+---------------+-------------------------------+
//   |   reserved    |                   cack PSN                    |
//   +-------+-------+---------------+-------------------------------+
//   |cc type|cc flag|      MPR      |          SACK offset          |
//   +-------+-------+---------------+-------------------------------+
//   |                      SACK bitmap (64)                         |
//   |                                                               |
//   +---------------------------------------------------------------+
//   P (PR) answers a probe (WIRE-59)
struct SethLayout {
  using Type = Bits<"type", 0, 4>;
  using NextHeader = Bits<"nh", 4, 5>;
  using Mark = Bits<"mark", 9, 2>;
  using Reserved1 = Bits<"reserved1", 11, 3>;
  using ProbeResponse = Bits<"pr", 14, 1>;
  using Reserved2 = Bits<"reserved2", 15, 1>;
  using AckPsnOffset = Bits<"ack_psn_offset", 16, 16>;
  using Entropy = Bits<"entropy", 32, 32>;
  using SourceId = Bits<"spdcid", 64, 16>;
  using DestinationId = Bits<"dpdcid", 80, 16>;
  using Reserved3 = Bits<"reserved3", 96, 8>;
  using CumulativePsn = Bits<"cack_psn", 104, 24>;
  using CcType = Bits<"cc_type", 128, 4>;
  using CcFlags = Bits<"cc_flags", 132, 4>;
  using MaxPsnRange = Bits<"mpr", 136, 8>;
  using SackOffset = Bits<"sack_offset", 144, 16>;
  using SackBitmap = Bits<"bitmap", 160, 64>;
  using Fields = FieldList<Type, NextHeader, Mark, Reserved1, ProbeResponse, Reserved2,
                           AckPsnOffset, Entropy, SourceId, DestinationId, Reserved3, CumulativePsn,
                           CcType, CcFlags, MaxPsnRange, SackOffset, SackBitmap>;
};
using SethView = HeaderView<SethLayout>;
inline constexpr std::size_t kSethSize = kWireSize<SethLayout>;

// What the responder says of the path that the triggering packet took (the M field) (WIRE-60).
enum class PathMark : std::uint8_t {
  kNone = 0,
  kSkipOnce = 1,    // the packet was marked by ECN: pass over this path once
  kAlwaysSkip = 2,  // the responder holds the path for bad
};

constexpr std::string_view name(PathMark mark) {
  switch (mark) {
    case PathMark::kNone: return "NONE";
    case PathMark::kSkipOnce: return "SKIP_ONCE";
    case PathMark::kAlwaysSkip: return "ALWAYS_SKIP";
  }
  return {};
}

// What made the responder send a SACK: a packet, named by its distance from cack_psn, or a probe.
// One field of the header holds either; the PR bit says which (WIRE-61).
class SackTrigger {
 public:
  constexpr SackTrigger() = default;
  static constexpr SackTrigger packet(std::int16_t offset_from_cack) {
    return {static_cast<std::uint16_t>(offset_from_cack), false};
  }
  static constexpr SackTrigger probe(ProbeId id) { return {id.raw(), true}; }

  [[nodiscard]] constexpr std::optional<std::int16_t> packet_offset() const {
    if (is_probe_) return std::nullopt;
    return static_cast<std::int16_t>(raw_);
  }
  [[nodiscard]] constexpr std::optional<ProbeId> probe_id() const {
    if (!is_probe_) return std::nullopt;
    return ProbeId(raw_);
  }
  [[nodiscard]] constexpr bool is_probe() const { return is_probe_; }
  [[nodiscard]] constexpr std::uint16_t raw() const { return raw_; }
  bool operator==(const SackTrigger&) const = default;

 private:
  constexpr SackTrigger(std::uint16_t raw, bool is_probe) : raw_(raw), is_probe_(is_probe) {}

  std::uint16_t raw_ = 0;
  bool is_probe_ = false;
};

struct Seth {
  PathMark mark = PathMark::kNone;
  SackTrigger trigger{};
  Ev entropy{};  // of the packet that triggered the SACK
  ConnectionId spdcid{};
  ConnectionId dpdcid{};
  Psn cack_psn{};                // all packets up to and with this one have arrived
  std::uint8_t cc_flags = 0;     // 4 bits
  std::uint8_t mpr = 0;          // in units of 128 PSNs; 0 when dynamic MPR is off
  std::int16_t sack_offset = 0;  // of the bitmap's first PSN from cack_psn
  // WIRE-63
  std::uint64_t sack_bitmap = 0;  // bit i, lowest first: that PSN + i has arrived; 0 says nothing

  bool operator==(const Seth&) const = default;

  [[nodiscard]] constexpr Psn bitmap_base() const { return cack_psn + sack_offset; }

  using View = SethView;
  [[nodiscard]] static constexpr Result<void, Reject> check(SethView view) {
    using L = SethLayout;
    if (name(static_cast<PathMark>(view.get<L::Mark>())).empty()) {
      return failure(Reject::kPathMarkReserved);
    }
    return {};
  }
  // The view has passed `check`.
  static constexpr Seth read(SethView view) {
    using L = SethLayout;
    const std::uint16_t trigger = view.get<L::AckPsnOffset>();
    return {.mark = static_cast<PathMark>(view.get<L::Mark>()),
            .trigger = view.get<L::ProbeResponse>() != 0
                           ? SackTrigger::probe(ProbeId(trigger))
                           : SackTrigger::packet(static_cast<std::int16_t>(trigger)),
            .entropy = Ev(view.get<L::Entropy>()),
            .spdcid = ConnectionId(view.get<L::SourceId>()),
            .dpdcid = ConnectionId(view.get<L::DestinationId>()),
            .cack_psn = Psn(view.get<L::CumulativePsn>()),
            .cc_flags = view.get<L::CcFlags>(),
            .mpr = view.get<L::MaxPsnRange>(),
            .sack_offset = static_cast<std::int16_t>(view.get<L::SackOffset>()),
            .sack_bitmap = view.get<L::SackBitmap>()};
  }

  constexpr void write(std::span<std::byte, kSethSize> out) const {
    using L = SethLayout;
    write_fields<L>(
        out, L::Mark::of(static_cast<std::uint8_t>(mark)), L::ProbeResponse::of(trigger.is_probe()),
        L::AckPsnOffset::of(trigger.raw()), L::Entropy::of(entropy.raw()),
        L::SourceId::of(spdcid.raw()), L::DestinationId::of(dpdcid.raw()),
        L::CumulativePsn::of(cack_psn.raw()), L::CcFlags::of(cc_flags), L::MaxPsnRange::of(mpr),
        L::SackOffset::of(static_cast<std::uint16_t>(sack_offset)), L::SackBitmap::of(sack_bitmap));
  }
};

}  // namespace openmrc::wire
