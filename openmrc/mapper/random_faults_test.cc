// SPDX-License-Identifier: BSD-3-Clause
// Faults drawn by seed, on links of the host's rack and elsewhere, with stops of the process: what
// is named is what was broken.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/fabric/names.h"
#include "openmrc/mapper/test_network.h"

namespace openmrc::mapper {
namespace {

using fabric::LinkId;
using test::kMillion;
using test::Rig;

constexpr std::uint64_t kSeeds = 40;

fabric::Shape random_shape(Rng& rng) {
  return {.planes = static_cast<std::uint32_t>(rng.between(2, 4)),
          .racks = static_cast<std::uint32_t>(rng.between(2, 6)),
          .hosts_per_rack = static_cast<std::uint32_t>(rng.between(1, 4)),
          .uplinks = static_cast<std::uint32_t>(rng.between(2, 4))};
}

struct Broken {
  LinkId link{};
  bool up = true;
  bool down = true;
  std::uint64_t loss = kMillion;
};

Broken random_fault(Rng& rng, const fabric::Shape& shape, std::uint32_t rack) {
  constexpr std::array<std::uint64_t, 3> kLosses{kMillion, 200'000, 50'000};
  Broken fault{.link = {.kind = LinkId::Kind::kUplink,
                        .plane = Plane(static_cast<std::uint8_t>(rng.below(shape.planes))),
                        .rack = rack,
                        .port = static_cast<std::uint32_t>(rng.below(shape.uplinks))},
               .loss = kLosses[rng.below(kLosses.size())]};
  const std::uint64_t ways = rng.below(3);
  fault.up = ways != 1;
  fault.down = ways != 2;
  return fault;
}

void inflict(test::Network& network, const Broken& fault) {
  if (fault.up) network.losses[{fault.link, true}] = fault.loss;
  if (fault.down) network.losses[{fault.link, false}] = fault.loss;
}

Direction direction_of(const Broken& fault) {
  if (fault.up && fault.down) return Direction::kBoth;
  return fault.up ? Direction::kUp : Direction::kDown;
}

class RandomFaults : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomFaults, AreNamedRightly) {
  Rng rng(GetParam());
  const fabric::Shape shape = random_shape(rng);
  const std::uint64_t host = rng.below(std::uint64_t{shape.racks} * shape.hosts_per_rack);
  Rig rig(shape, GetParam(), static_cast<std::uint32_t>(host));
  const std::uint32_t rack = rig.mapper.plan().rack();
  rig.run(seconds(3));

  std::vector<Broken> own;
  for (std::uint64_t i = rng.below(3); i > 0; --i) {
    const Broken fault = random_fault(rng, shape, rack);
    const auto same = [&](const Broken& other) { return other.link == fault.link; };
    if (std::ranges::any_of(own, same)) continue;
    own.push_back(fault);
    inflict(rig.network, fault);
  }
  const Broken far = random_fault(rng, shape, (rack + 1) % shape.racks);  // not for us to judge
  inflict(rig.network, far);
  for (int i = 0; i < 20; ++i) {
    rig.run(seconds(1));
    rig.stop(milliseconds(static_cast<std::int64_t>(rng.below(400))));
  }

  std::set<std::string> expected;
  for (const Broken& fault : own) expected.insert(name_of(fault.link));
  std::set<std::string> found;
  for (const Verdict& verdict : rig.mapper.judge().verdicts()) {
    found.insert(name_of(verdict.link));
    const auto fault = std::ranges::find(own, verdict.link, &Broken::link);
    if (fault == own.end() || verdict.direction == Direction::kUnknown) continue;
    // All far probes over this T1 are turned around by a rack whose link to it is bad as well.
    const bool only_by_far =
        rig.mapper.plan().partners() == 1 && far.link.plane == verdict.link.plane;
    if (only_by_far) continue;
    EXPECT_EQ(verdict.direction, direction_of(*fault)) << name_of(verdict.link);
  }
  EXPECT_EQ(found, expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomFaults, ::testing::Range<std::uint64_t>(1, kSeeds + 1));

}  // namespace
}  // namespace openmrc::mapper
