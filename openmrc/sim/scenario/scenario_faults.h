// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/rng.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/fabric/names.h"
#include "openmrc/sim/result/result.h"
#include "openmrc/sim/scenario/faults.h"

// From what breaks, as people say it, to what each link goes through.
namespace openmrc::sim {

// Parts of a fabric that can be drawn from.
enum class ElementGroup : std::uint8_t { kUplinks, kHostLinks, kT0s, kT1s, kT1Uplinks, kT2s };

std::uint64_t size_of(ElementGroup group, const fabric::Fabric& fabric);
fabric::Element element_of(ElementGroup group, std::uint64_t index, const fabric::Fabric& fabric);

// `count` different ones, in the order in which they were drawn.
std::vector<fabric::Element> draw(ElementGroup group, std::uint64_t count, Rng& rng,
                                  const fabric::Fabric& fabric);
std::vector<fabric::Element> all_of(ElementGroup group, const fabric::Fabric& fabric);

// What breaks, and when. The same happens to each of its links.
struct BrokenElement {
  fabric::Element element{};
  Picoseconds from{};
  Picoseconds to = kNoTime;
};

// What being broken means.
struct Breakage {
  bool down = false;
  std::uint32_t loss_per_billion = 0;
  std::uint16_t speed_percent = 100;
  std::uint16_t mtu = kAnyMtu;
  Direction direction = Direction::kBoth;
  bool seen_by_nic = true;  // if it takes a host's link down
};

// One link as it is, a switch or a host with all its links, a plane with all there is in it.
std::vector<fabric::LinkId> links_of(const fabric::Element& element, const fabric::Fabric& fabric);

// Of one scenario: enough for all links of the published fabric to break once.
inline constexpr std::size_t kLinkFaultsMax = 4'000'000;
// Of one fault, for the report.
inline constexpr std::size_t kNotesMax = 50;

// A fault of the scenario file becomes LinkFaults for the links of each element, and a note for
// each stretch of time. False if that makes too many LinkFaults; then some are missing.
bool expand_fault(const std::vector<BrokenElement>& broken, const Breakage& breakage,
                  const fabric::Fabric& fabric, std::vector<LinkFault>& faults,
                  std::vector<FaultNote>& notes);

}  // namespace openmrc::sim
