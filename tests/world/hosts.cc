// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/hosts.h"

#include "openmrc/base/result.h"

namespace openmrc::test {

core::EndpointLimits small_limits() {
  return {.queue_pairs = 4096,
          .memory_regions = 64,
          .sends_outstanding = 4096,
          .receives_outstanding = 4096,
          .early_immediates = 4096,
          .held_packets = 64,
          .packets_in_flight = 65536};
}

wire::Ipv6Address path_overlay() { return wire::Ipv6Address::of({0, 0, 0, 0x200, 0x300, 0, 0, 0}); }

std::vector<wire::Ipv6Address> addresses_of(const WorldOptions& options, Side side) {
  std::vector<wire::Ipv6Address> list;
  for (std::size_t plane = 0; plane < options.planes; ++plane) {
    const auto host = static_cast<std::uint16_t>(1 + index_of(side));
    list.push_back(
        wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, static_cast<std::uint16_t>(plane), host}));
  }
  return list;
}

core::EvProfile profile_of(const WorldOptions& options) {
  const core::EvProfileOptions evs{.min_active = options.min_active,
                                   .active_per_plane = options.active_per_plane};
  core::EvFormat format;
  std::vector<core::EvField> fields;
  // MRC 9.3.4, or MRC 9.2, 9.3.5: a world has one kind of path or the other.
  if (options.srv6) {  // block, plane-less uSID chosen by the EV, and the rest left to the overlay
    format = {.mode = core::EvFormatMode::kSrv6, .slot_widths = {32, 16, 16, 16, 16, 16, 16}};
    fields = {{.width = 32, .init = 0xfcbbbb00, .min = 0, .max = 0, .mask = 0},
              {.width = 16, .init = 0x0100, .min = 0, .max = 0xff, .mask = 0x00ff}};
  } else {
    format = {.mode = core::EvFormatMode::kStev, .slot_widths = {16, 16}};
    fields = {{.width = 16, .init = 0, .min = 0, .max = 0xffff, .mask = 0xffff},
              {.width = 16, .init = 0xc000, .min = 0, .max = 0x3fff, .mask = 0x3fff}};
  }
  auto profile = core::EvProfile::generated({.format = format,
                                             .fields = fields,
                                             .count = options.planes * options.evs_per_plane,
                                             .planes = options.planes,
                                             .seed = options.seed,
                                             .options = evs});
  OPENMRC_CHECK(profile.has_value(), "the profile of a world is valid");
  return std::move(*profile);
}

bool excuses_failure(const WorldOptions& options) {
  const std::int64_t unit = std::int64_t{1024} << options.send.timeout;
  const std::int64_t shortest =
      unit * (options.send.linear_retries + (std::int64_t{2} << options.send.exponential_retries)) /
      4;
  for (const Fault& fault : options.faults) {
    const bool lasts = fault.to.raw() - fault.from.raw() >= shortest;
    // A burst may take one packet's retransmissions, all of them.
    const bool harsh = fault.chance.denominator < 50 * fault.chance.numerator ||
                       fault.kind == FaultKind::kBurstLoss;
    if (fault.kind == FaultKind::kForge) continue;
    // One dead path among many is what this protocol is for.
    const bool is_one_path = fault.kind == FaultKind::kBlackHole && fault.ev.has_value();
    if (is_one_path && options.faults.size() == 1 && options.evs_per_plane >= 4) continue;
    if ((fault.kind < kFirstState && harsh) || lasts) return true;
  }
  return false;
}

}  // namespace openmrc::test
