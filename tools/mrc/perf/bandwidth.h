// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "tools/mrc/perf/live.h"
#include "tools/mrc/perf/session.h"

namespace openmrc::tools {

struct BandwidthResult {
  std::uint64_t messages = 0;  // that this side has sent
  std::uint64_t bytes = 0;
  Duration time{};                     // from the first post to the last completion
  double peak_bytes_per_second = 0;    // the best tenth of a second
  std::uint64_t verified = 0;          // messages of the peer that were compared byte by byte
  std::uint64_t verified_by_peer = 0;  // messages of this side that the peer has compared
};

// Keeps a number of writes in flight, on all lanes, and verifies what arrives.
//
// With verification a message ends with an immediate. The receiver compares it and says so with a
// small write of its own, whose immediate is the count of messages compared; only then is the place
// written to again.
class BandwidthRun {
 public:
  BandwidthRun(PerfSession& session, const PerfOptions& options);

  // What went wrong, if anything did.
  [[nodiscard]] Result<void, host::Error> run();
  [[nodiscard]] const BandwidthResult& result() const { return result_; }

 private:
  struct LaneState {
    std::uint64_t posted = 0;
    std::uint64_t completed = 0;
    std::uint32_t compared_by_peer = 0;  // wraps, as immediates do
    std::uint64_t received = 0;
    std::uint32_t credits_out = 0;  // writes of ours that only carry a count
  };

  void post_receives();
  void post_on(std::size_t lane);
  [[nodiscard]] bool has_room(const LaneState& state) const;
  void handle(const host::Completion& completion);
  void on_message(std::size_t lane);
  void on_completed(std::size_t lane);
  void look_around();
  [[nodiscard]] bool gives_up();
  [[nodiscard]] Result<void, host::Error> end_early();
  [[nodiscard]] bool time_is_up() const;
  [[nodiscard]] bool sending_is_over() const;
  void note_peak(Instant at);
  void fail(std::string what, std::string remedy = {});
  void fail(host::Error error);
  void hear_control();

  PerfSession& session_;
  const PerfPlan& plan_;
  bool sends_;
  std::vector<LaneState> lanes_;
  std::uint64_t in_flight_ = 0;
  std::uint64_t not_compared_ = 0;  // messages that the peer has yet to verify
  PerfLive live_;
  BandwidthResult result_{};
  Result<void, host::Error> status_;
  Instant begin_{};
  Instant interrupted_at_{};
  Instant last_look_{};
  Instant peak_from_{};
  std::uint64_t peak_bytes_ = 0;
  bool said_done_ = false;
  bool peer_done_ = false;
};

}  // namespace openmrc::tools
