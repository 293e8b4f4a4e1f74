// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/lab/spec.h"

// What was done to the links of a lab, so that it can be looked at, and simulated, afterwards. A
// file beside the lab's others, a line of JSON for each time; it is gone with the lab.
namespace openmrc::lab {

struct JournalEntry {
  enum class Kind : std::uint8_t { kCut, kPort, kLoss, kHealed };
  Kind kind = Kind::kCut;
  std::int64_t at_ns = 0;  // CLOCK_MONOTONIC, when it had taken effect
  std::uint32_t loss = 0;  // kLoss; in ten thousandths of all packets
  std::vector<fabric::LinkId> links{};

  bool operator==(const JournalEntry&) const = default;
};

// Hours of a link that flaps; what comes later is not written.
inline constexpr std::size_t kJournalBytesMax = 16u << 20;

std::string to_line(const JournalEntry& entry);
// Nothing if the line is none of a lab with this fabric.
std::optional<JournalEntry> entry_from(std::string_view line, const fabric::Fabric& fabric);

// Of a lab that is up.
Result<void, std::string> write_journal(const Spec& spec, const JournalEntry& entry);
// All that was done. The error says what is wrong with the file, also that it was too small.
Result<std::vector<JournalEntry>, std::string> read_journal(const Spec& spec);

}  // namespace openmrc::lab
