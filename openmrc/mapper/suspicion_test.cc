// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/suspicion.h"

#include <gtest/gtest.h>

#include "openmrc/base/rng.h"

namespace openmrc::mapper {
namespace {

constexpr JudgementRules kRules{.near_candidates = 2, .peer_candidates = 8};
constexpr Duration kBatch = milliseconds(125);
constexpr std::uint64_t kProbes = 12;  // of a batch, over one uplink
constexpr std::uint64_t kPeers = 7;

// An uplink of a host whose own link is good, and the other uplinks.
class Uplink {
 public:
  Uplink(double own, double of_others) : loss(own), others(of_others) {}

  double loss;
  double others;

  void run(Duration span) {
    for (Duration passed{}; passed < span; passed += kBatch) {
      const Observation seen{.own = draw(kProbes, loss),
                             .near = {.sent = 2 * kProbes},
                             .peers = draw(kPeers * kProbes, others)};
      watch_.add(seen, kRules, now_, now_ + kBatch);
      now_ = now_ + kBatch;
      batches_bad_ += watch_.is_bad() ? 1U : 0U;
    }
  }
  [[nodiscard]] bool is_bad() const { return watch_.is_bad(); }

  // Whether it was called bad all the time.
  bool is_bad_for(Duration span) {
    const std::uint32_t before = batches_bad_;
    run(span);
    return kBatch * static_cast<std::int64_t>(batches_bad_ - before) >= span;
  }
  bool is_bad_at_all_in(Duration span) {
    const std::uint32_t before = batches_bad_;
    run(span);
    return batches_bad_ > before;
  }

 private:
  Tally draw(std::uint64_t sent, double part) {
    constexpr std::uint64_t kMillion = 1'000'000;
    Tally tally{.sent = sent};
    for (std::uint64_t i = 0; i < sent; ++i) {
      tally.lost += rng_.below(kMillion) < static_cast<std::uint64_t>(part * kMillion) ? 1U : 0U;
    }
    return tally;
  }

  LinkWatch watch_{};
  Rng rng_{3};
  Instant now_{1};
  std::uint32_t batches_bad_ = 0;
};

TEST(LinkWatch, IsGoodAgainIfItLosesNoMoreThanOthers) {
  for (const double others : {0.002, 0.01, 0.02}) {
    Uplink uplink(others, others);
    uplink.run(seconds(10));
    uplink.loss = others * 5;
    uplink.run(seconds(200));
    EXPECT_TRUE(uplink.is_bad()) << others;
    uplink.loss = others;
    uplink.run(seconds(static_cast<std::int64_t>(0.6 / others)));
    EXPECT_FALSE(uplink.is_bad_at_all_in(seconds(300))) << others;
  }
}

TEST(LinkWatch, StaysBadWhileOthersLoseSome) {
  for (const double times : {4, 6, 20}) {
    Uplink uplink(times * 0.02, 0.02);
    uplink.run(seconds(30));
    EXPECT_TRUE(uplink.is_bad_for(seconds(1'000))) << times;
    uplink.others = 0;
    EXPECT_TRUE(uplink.is_bad_for(seconds(600))) << times;
  }
}

TEST(LinkWatch, OneThatIsFullerThanOthersIsNotBad) {
  Uplink uplink(0.02, 0.01);
  uplink.run(seconds(30));
  EXPECT_FALSE(uplink.is_bad_at_all_in(seconds(600)));
}

}  // namespace
}  // namespace openmrc::mapper
