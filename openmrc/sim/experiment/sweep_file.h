// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/text/file_error.h"

// The file that says what a sweep runs. docs/experiments.md has its keys.
namespace openmrc::sim {

// One combination of what is varied.
struct SweepVariant {
  std::vector<std::string> values{};    // one for each axis, for people
  std::vector<std::string> settings{};  // KEY=VALUE
  std::string transport{};              // "mrc" or "rc"; empty: as the scenario says

  bool operator==(const SweepVariant&) const = default;
};

struct SweepFile {
  std::string title{};
  std::string scenario{};  // the path of its file, seen from the sweep's file
  std::vector<std::string> axes{};
  std::vector<SweepVariant> variants{};
  std::vector<std::uint64_t> seeds{};  // empty: `seed_count` of them, from the scenario's on
  std::size_t seed_count = 1;

  [[nodiscard]] std::size_t runs() const {
    return variants.size() * (seeds.empty() ? seed_count : seeds.size());
  }
};

// More would be a folder that no tool likes.
inline constexpr std::size_t kSweepRunsMax = 100'000;

Result<SweepFile, std::vector<text::FileError>> parse_sweep_file(std::string_view text);

}  // namespace openmrc::sim
