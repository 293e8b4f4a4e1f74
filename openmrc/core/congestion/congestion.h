// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <variant>

#include "openmrc/base/quantity.h"
#include "openmrc/base/time.h"
#include "openmrc/core/congestion/congestion_signals.h"
#include "openmrc/core/congestion/fixed_window.h"
#include "openmrc/core/congestion/nscc.h"

namespace openmrc::core {

// All algorithms that there are, each by its settings. A new one is a file of its own and a line
// here: settings that name their `Algorithm`, and that class, constructible from them, with the
// methods of FixedWindow.
using CongestionSettings = std::variant<NsccSettings,  //
                                        FixedWindowSettings>;

// How much may be in flight to one destination, over all its queue pairs and paths. The caller
// keeps count of what is in flight, sends while in flight + MTU <= window(), and reports what comes
// back. Reads no clock and is owned by one thread.
class CongestionControl {
 public:
  explicit CongestionControl(const CongestionSettings& settings)
      : algorithm_(std::visit(Start{}, settings)) {
    signal([](const auto&) {});
  }

  // So many send to the same destination at once. Told before anything is sent; later it is known
  // better.
  void expect_senders(std::uint32_t senders) {
    signal([&](auto& algorithm) { algorithm.expect_senders(senders); });
  }
  void on_sack(const SackSignal& sack) {
    signal([&](auto& algorithm) { algorithm.on_sack(sack); });
  }
  void on_trim(const TrimSignal& trim) {
    signal([&](auto& algorithm) { algorithm.on_trim(trim); });
  }
  void on_loss(const LossSignal& loss) {
    signal([&](auto& algorithm) { algorithm.on_loss(loss); });
  }
  // A packet that on_loss told of has arrived after all.
  void on_spurious_loss(ByteCount size) {
    signal([&](auto& algorithm) { algorithm.on_spurious_loss(size); });
  }
  // A round trip in the control class, which no queue of data delays, over one of so many planes.
  void on_base_rtt(Duration rtt, std::size_t planes = 1) {
    signal([&](auto& algorithm) { algorithm.on_base_rtt(rtt, planes); });
  }
  // Whether the base RTT is a guess.
  [[nodiscard]] bool is_learning() const {
    return std::visit([](const auto& algorithm) { return algorithm.is_learning(); }, algorithm_);
  }
  // Takes what was measured since the first signal for it, by on_base_rtt and by data.
  void end_learning() {
    signal([](auto& algorithm) { algorithm.end_learning(); });
  }

  [[nodiscard]] ByteCount window() const { return window_; }
  // Of a packet that meets no queue.
  [[nodiscard]] Duration base_rtt() const {
    return std::visit([](const auto& algorithm) { return algorithm.base_rtt(); }, algorithm_);
  }
  // The shortest round trip that there was, as far as it is known.
  [[nodiscard]] Duration least_rtt() const {
    return std::visit([](const auto& algorithm) { return algorithm.least_rtt(); }, algorithm_);
  }
  // As it has been of late, queues included.
  [[nodiscard]] Duration rtt() const {
    return std::visit([](const auto& algorithm) { return algorithm.rtt(); }, algorithm_);
  }

 private:
  template <class Settings>
  struct AlgorithmsOf;
  template <class... Settings>
  struct AlgorithmsOf<std::variant<Settings...>> {
    using Type = std::variant<typename Settings::Algorithm...>;
  };
  using Algorithm = AlgorithmsOf<CongestionSettings>::Type;

  struct Start {
    template <class Settings>
    Algorithm operator()(const Settings& settings) const {
      return typename Settings::Algorithm(settings);
    }
  };

  template <class Tell>
  void signal(Tell tell) {
    window_ = std::visit(
        [&](auto& algorithm) {
          tell(algorithm);
          return algorithm.window();
        },
        algorithm_);
  }

  ByteCount window_;  // a copy, so that asking for it before every packet is one load
  Algorithm algorithm_;
};

}  // namespace openmrc::core
