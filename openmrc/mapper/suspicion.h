// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "openmrc/base/time.h"
#include "openmrc/mapper/probe_plan.h"
#include "openmrc/mapper/tally.h"

namespace openmrc::mapper {

// Far probes that cross a link in one direction only, by the rack that turns them around.
struct OneWay {
  std::array<Tally, kPartnersMax> up{};
  std::array<Tally, kPartnersMax> down{};
};

// What one batch says of a link.
struct Observation {
  Tally own{};    // probes that cross the link and nothing else that is unknown
  Tally near{};   // the same way without the link
  Tally peers{};  // links of its kind that are good
  OneWay one_way{};
};

// What has to be true of a link before it is called bad.
struct JudgementRules {
  std::uint64_t near_candidates = 1;  // that the losses may be of, beside `near`
  std::uint64_t peer_candidates = 1;
  double least_loss = 1e-4;    // what is rarer is nobody's fault
  Duration hold = seconds(1);  // a link without losses for less than this is not yet good again
};

// A time since which losses are rarer than before.
struct Lull {
  Instant since{};
  Tally before{};  // as `Suspicion::own` was then
  Tally own{};
  Tally others{};  // links that it is compared with

  // How much likelier it is that losses have become a third than that they go on as before: the
  // logarithm of a likelihood ratio, which falls with each loss. At 0 the lull is none.
  [[nodiscard]] double evidence() const;
};

// Losses of a link from the first of them on.
struct Suspicion {
  Instant since{};  // the batch of the first loss
  Instant last_loss{};
  Tally total{};
  Tally own{};  // as `total`, but what is long ago counts less; so do those below
  Tally near{};
  Tally peers{};
  OneWay one_way{};
  Lull lull{};
  std::uint32_t batches = 0;  // that have losses
  std::uint64_t sent_until_loss = 0;
  std::uint64_t sent_since_loss = 0;
  bool is_bad = false;

  [[nodiscard]] Direction direction() const;
};

// One link. Losses of all sizes are looked for at once: a cut is not to be lost in the mean of an
// hour, and one loss in ten thousand not in that of a second. So there are several suspicions, each
// of which is dropped if losses get rarer than its own limit; the quickest that holds counts.
class LinkWatch {
 public:
  // `started` and `now` are of the batch.
  void add(const Observation& seen, const JudgementRules& rules, Instant started, Instant now);
  // As `add` of an observation in which nothing was lost, for a link that is not watched.
  void add_sent(std::uint64_t probes) { total_.sent += probes; }
  void forget_directions();

  [[nodiscard]] bool is_watched() const { return suspicions_ != nullptr; }
  [[nodiscard]] bool is_bad() const { return verdict() != nullptr; }
  [[nodiscard]] const Suspicion* verdict() const;
  // Bad, or about to be: it loses much, and it is not yet sure whose fault that is.
  [[nodiscard]] bool is_suspect() const;
  [[nodiscard]] const Tally& total() const { return total_; }

 private:
  static constexpr std::size_t kLevels = 3;
  using Suspicions = std::array<std::optional<Suspicion>, kLevels>;

  static bool update(std::optional<Suspicion>& suspicion, double limit, const Observation& seen,
                     const JudgementRules& rules, Instant started, Instant now);

  Tally total_{};
  std::unique_ptr<Suspicions> suspicions_;  // none: most links never lose anything
};

}  // namespace openmrc::mapper
