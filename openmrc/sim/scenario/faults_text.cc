// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/faults_text.h"

#include <fmt/format.h>

#include "openmrc/fabric/names.h"
#include "openmrc/sim/scenario/fault_fields.h"
#include "openmrc/text/units.h"

namespace openmrc::sim {
namespace {

bool is_host_link(const LinkFault& fault) { return fault.link.kind == fabric::LinkId::Kind::kHost; }

// All but the link. Whether a NIC sees it means nothing of an uplink.
bool goes_through_the_same(const LinkFault& first, LinkFault second) {
  if (is_host_link(first) != is_host_link(second)) return false;
  second.link = first.link;
  return first == second;
}

std::string what_it_is(const LinkFault& fault) {
  if (fault.down) {
    return fmt::format("kind = \"cut\"\n{}",
                       is_host_link(fault) && !fault.seen_by_nic ? "seen = false\n" : "");
  }
  if (fault.speed_percent < 100) {
    return fmt::format("kind = \"slow\"\nspeed = \"{} %\"\n", fault.speed_percent);
  }
  if (fault.mtu != kAnyMtu) return fmt::format("kind = \"mtu\"\nbytes = {}\n", fault.mtu);
  return fmt::format("kind = \"loss\"\nrate = \"{}.{:09}\"\n",
                     fault.loss_per_billion / text::kShareOne,
                     fault.loss_per_billion % text::kShareOne);
}

std::string fault_text(const LinkFault& fault, const std::string& links) {
  std::string text = fmt::format("[[fault]]\n{}target = [{}]\nat = \"{}\"\n", what_it_is(fault),
                                 links, text::format_duration(fault.from));
  if (fault.to != kNoTime) text += fmt::format("until = \"{}\"\n", text::format_duration(fault.to));
  if (fault.direction != Direction::kBoth) {
    text += fmt::format("direction = \"{}\"\n",
                        kDirectionWords[static_cast<std::size_t>(fault.direction)]);
  }
  return text;
}

}  // namespace

std::string faults_text(std::span<const LinkFault> faults) {
  std::string out;
  while (!faults.empty()) {
    std::string links;
    std::size_t together = 0;
    for (; together < faults.size() && goes_through_the_same(faults.front(), faults[together]);
         ++together) {
      links += fmt::format("{}\"{}\"", together == 0 ? "" : ", ", name_of(faults[together].link));
    }
    out += (out.empty() ? "" : "\n") + fault_text(faults.front(), links);
    faults = faults.subspan(together);
  }
  return out;
}

}  // namespace openmrc::sim
