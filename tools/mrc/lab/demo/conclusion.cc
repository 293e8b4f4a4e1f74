// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/demo/conclusion.h"

#include <fmt/format.h>

#include "openmrc/text/numbers.h"

namespace openmrc::lab {
namespace {

// Headers take 4 % of a link. Below this share of their rate something else was the limit.
constexpr double kFullShare = 0.85;

std::string reached(const std::optional<Duration>& after) {
  return after ? fmt::format("less than {} ms", after->raw() / 1'000'000 + 1) : "more than 2 s";
}

}  // namespace

std::string conclusion_of(const DemoResult& result) {
  std::string text = fmt::format(
      "{} planes carried {:.2f} Gb/s. Plane {} was cut: {} later the other {} carried what they "
      "can, {:.2f} Gb/s. It came back: {} later all carried {:.2f} Gb/s again. {} messages of "
      "64 KiB were compared byte by byte, and none was lost or wrong.",
      result.planes, result.before_gbps, result.cut_plane, reached(result.left_after),
      result.planes - 1, result.during_gbps, reached(result.back_after), result.before_gbps,
      text::grouped(result.verified_messages));
  const double links_gbps = result.planes * result.link_gbps;
  if (result.before_gbps < kFullShare * links_gbps) {
    text += fmt::format(
        " The processors of this machine were the limit, not the links ({:.2f} Gb/s): on an idle "
        "machine the cut costs a share of the goodput.",
        links_gbps);
  }
  return text;
}

}  // namespace openmrc::lab
