// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/probe.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>

namespace openmrc::mapper {
namespace {

constexpr ProbeKey kKey{0x0123456789abcdef, 0xfedcba9876543210};
const Probe kProbe{.path = {.kind = ProbeKind::kFar,
                            .plane = Plane(3),
                            .out = 0x102,
                            .far_rack = 0x304,
                            .back = 0x506},
                   .round = 0x1122334455667788,
                   .sent = Instant(987'654'321)};

std::array<std::byte, kProbeSize> bytes_of(const Probe& probe, const ProbeKey& key) {
  std::array<std::byte, kProbeSize> bytes{};
  write_probe(probe, key, bytes);
  return bytes;
}

TEST(Probe, ComesBackAsItWasSent) { EXPECT_EQ(read_probe(bytes_of(kProbe, kKey), kKey), kProbe); }

TEST(Probe, WithAnyBitFlippedIsNotOurs) {
  const auto good = bytes_of(kProbe, kKey);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= std::byte{0x80} >> bit % 8;
    EXPECT_FALSE(read_probe(bad, kKey)) << bit;
  }
}

TEST(Probe, OfAnotherKeyOrSizeIsNotOurs) {
  const auto bytes = bytes_of(kProbe, kKey);
  EXPECT_FALSE(read_probe(bytes, {kKey[0], kKey[1] + 1}));
  EXPECT_FALSE(read_probe(ConstBytes(bytes).first(kProbeSize - 1), kKey));
  EXPECT_FALSE(read_probe({}, kKey));
}

}  // namespace
}  // namespace openmrc::mapper
