// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <array>
#include <string_view>

#include "openmrc/fabric/names.h"
#include "openmrc/sim/scenario/fault_fields.h"
#include "openmrc/sim/search/fault_schedule.h"
#include "openmrc/text/units.h"

namespace openmrc::sim {
namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> kKindWords{"cut", "loss", "slow"};
static_assert(static_cast<int>(SearchedKind::kSlow) == 2);

std::string searched_fault_keys(const SearchedFault& fault, const fabric::Fabric& fabric,
                                std::string_view separator) {
  std::string keys =
      fmt::format("kind = \"{}\"{}target = \"{}\"{}at = \"{}\"{}for = \"{}\"",
                  kKindWords[static_cast<std::size_t>(fault.kind)], separator,
                  name_of(element_of(fault.group, fault.index, fabric)), separator,
                  text::format_duration(fault.at), separator, text::format_duration(fault.length));
  const auto add = [&](const std::string& key) { keys += std::string(separator) + key; };
  if (fault.kind == SearchedKind::kLoss) {
    add(fmt::format("rate = \"{}.{:09}\"", fault.loss_per_billion / text::kShareOne,
                    fault.loss_per_billion % text::kShareOne));
  }
  if (fault.kind == SearchedKind::kSlow) add(fmt::format("speed = \"{} %\"", fault.speed_percent));
  if (fault.direction != Direction::kBoth) {
    add(fmt::format("direction = \"{}\"",
                    kDirectionWords[static_cast<std::size_t>(fault.direction)]));
  }
  return keys;
}

}  // namespace

std::string schedule_text(const Schedule& schedule, const fabric::Fabric& fabric) {
  std::string out;
  for (const SearchedFault& fault : schedule) {
    out += fmt::format("\n[[fault]]\n{}\n", searched_fault_keys(fault, fabric, "\n"));
  }
  return out;
}

std::string schedule_setting(const Schedule& schedule, const fabric::Fabric& fabric) {
  std::string out;
  for (const SearchedFault& fault : schedule) {
    out += fmt::format("{}{{ {} }}", out.empty() ? "" : ", ",
                       searched_fault_keys(fault, fabric, ", "));
  }
  return "fault=[" + out + "]";
}

}  // namespace openmrc::sim
