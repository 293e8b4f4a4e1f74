// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/fault.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/datapath/decorator.h"
#include "openmrc/wire/packet.h"

namespace openmrc::datapath {
namespace {

Ratio ratio_of(double chance) {
  constexpr std::uint64_t kWhole = std::uint64_t{1} << 32;
  const double bounded = std::clamp(chance, 0.0, 1.0);
  return {static_cast<std::uint64_t>(bounded * static_cast<double>(kWhole)), kWhole};
}

class FaultDatapath final : public Decorator {
 public:
  FaultDatapath(std::unique_ptr<Datapath> inner, const FaultSettings& settings)
      : Decorator(std::move(inner)), settings_(settings), rng_(settings.seed) {}

  void send(std::span<const Outgoing> burst) override {
    changed_.clear();
    for (const Outgoing& outgoing : burst) {
      if (concerns(outgoing)) {
        add(outgoing);
      } else {
        changed_.push_back(outgoing);
      }
    }
    Decorator::send(changed_);
  }

 private:
  [[nodiscard]] bool concerns(const Outgoing& outgoing) const {
    if (settings_.plane && *settings_.plane != outgoing.plane) return false;
    return !settings_.ev || *settings_.ev == wire::ev_of(*outgoing.packet);
  }

  // Always draws three numbers, so that one chance does not change what the others give.
  void add(Outgoing outgoing) {
    const bool is_dropped = rng_.chance(drop_);
    const bool is_duplicated = rng_.chance(duplicate_);
    const bool is_corrupted = rng_.chance(corrupt_);
    if (is_dropped) return shared_counters().add(Count::kFaultsDropped);
    if (is_corrupted) {
      shared_counters().add(Count::kFaultsCorrupted);
      outgoing.is_spoilt = true;
    }
    changed_.push_back(outgoing);
    if (!is_duplicated) return;
    shared_counters().add(Count::kFaultsDuplicated);
    changed_.push_back(outgoing);
  }

  FaultSettings settings_;
  Ratio drop_ = ratio_of(settings_.drop);
  Ratio duplicate_ = ratio_of(settings_.duplicate);
  Ratio corrupt_ = ratio_of(settings_.corrupt);
  Rng rng_;
  std::vector<Outgoing> changed_{};
};

}  // namespace

std::unique_ptr<Datapath> with_faults(std::unique_ptr<Datapath> inner,
                                      const FaultSettings& settings) {
  return std::make_unique<FaultDatapath>(std::move(inner), settings);
}

}  // namespace openmrc::datapath
