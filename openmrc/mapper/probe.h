// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "openmrc/base/bytes.h"
#include "openmrc/base/ids.h"
#include "openmrc/base/secret_numbers.h"
#include "openmrc/base/time.h"
#include "openmrc/wire/field/layout.h"

// A probe: a UDP datagram that a host sends to itself along switches that it names.
namespace openmrc::mapper {

// How far it goes: to the host's own T0, on to a T1, or by that to the T0 of another rack; and
// back.
enum class ProbeKind : std::uint8_t { kT0, kT1, kFar };
inline constexpr std::size_t kProbeKinds = 3;

struct ProbePath {
  ProbeKind kind = ProbeKind::kT0;
  Plane plane{};
  std::uint16_t out = 0;       // kT1, kFar: the uplink it leaves the rack by
  std::uint16_t far_rack = 0;  // kFar
  std::uint16_t back = 0;      // kT1, kFar: the uplink it returns by

  auto operator<=>(const ProbePath&) const = default;
};

//    0               2               4       5       6               8
//   +---------------+---------------+-------+-------+---------------+
//   |             magic             | kind  | plane |      out      |
//   |   far rack    |     back      |           reserved            |
//   |                             round                             |
//   |                       sent (ns, own clock)                    |
//   |                              tag                              |
//   +---------------------------------------------------------------+
struct ProbeLayout {
  using Magic = wire::Bits<"magic", 0, 32>;
  using Kind = wire::Bits<"kind", 32, 8>;
  using PlaneNumber = wire::Bits<"plane", 40, 8>;
  using Out = wire::Bits<"out", 48, 16>;
  using FarRack = wire::Bits<"far_rack", 64, 16>;
  using Back = wire::Bits<"back", 80, 16>;
  using Reserved = wire::Bits<"reserved", 96, 32>;
  using Round = wire::Bits<"round", 128, 64>;
  using Sent = wire::Bits<"sent", 192, 64>;
  using Tag = wire::Bits<"tag", 256, 64>;
  using Fields =
      wire::FieldList<Magic, Kind, PlaneNumber, Out, FarRack, Back, Reserved, Round, Sent, Tag>;
};
inline constexpr std::size_t kProbeSize = wire::kWireSize<ProbeLayout>;
inline constexpr std::uint32_t kProbeMagic = 0x4d524350;  // "MRCP"

// All that is known of a probe when it comes back: nothing is kept meanwhile.
struct Probe {
  ProbePath path{};
  std::uint64_t round = 0;
  Instant sent{};

  bool operator==(const Probe&) const = default;
};

using ProbeKey = SecretNumbers::Key;

void write_probe(const Probe& probe, const ProbeKey& key, std::span<std::byte, kProbeSize> out);

// Nothing if its size, magic, kind or tag is wrong: whoever does not have the key cannot make one.
[[nodiscard]] std::optional<Probe> read_probe(ConstBytes bytes, const ProbeKey& key);

}  // namespace openmrc::mapper
