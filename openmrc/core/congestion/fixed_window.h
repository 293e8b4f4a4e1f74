// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "openmrc/base/quantity.h"
#include "openmrc/base/time.h"
#include "openmrc/core/congestion/congestion_signals.h"

namespace openmrc::core {

struct SackSignal;
struct TrimSignal;
struct LossSignal;
class FixedWindow;

// CC-46
struct FixedWindowSettings {
  using Algorithm = FixedWindow;

  ByteCount window;
  Duration base_rtt;

  bool operator==(const FixedWindowSettings&) const = default;
};

// No congestion control: a window that nothing moves. For networks that cannot be congested, and
// to see what a real algorithm is worth.
class FixedWindow {
 public:
  explicit FixedWindow(const FixedWindowSettings& settings)
      : settings_(settings), least_rtt_(settings.base_rtt) {}

  void expect_senders(std::uint32_t /*senders*/) {}
  void on_sack(const SackSignal& sack) {
    if (sack.rtt) on_base_rtt(*sack.rtt);
  }
  void on_trim(const TrimSignal& /*trim*/) {}
  void on_loss(const LossSignal& /*loss*/) {}
  void on_spurious_loss(ByteCount /*size*/) {}
  void on_base_rtt(Duration rtt, std::size_t /*planes*/ = 1) {
    if (rtt > Duration{}) least_rtt_ = std::min(least_rtt_, rtt);
  }
  static void end_learning() {}

  [[nodiscard]] static bool is_learning() { return false; }
  [[nodiscard]] ByteCount window() const { return settings_.window; }
  [[nodiscard]] Duration base_rtt() const { return settings_.base_rtt; }
  [[nodiscard]] Duration least_rtt() const { return least_rtt_; }
  [[nodiscard]] Duration rtt() const { return settings_.base_rtt; }

 private:
  FixedWindowSettings settings_;
  Duration least_rtt_;
};

}  // namespace openmrc::core
