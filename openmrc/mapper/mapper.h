// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/time.h"
#include "openmrc/mapper/delay.h"
#include "openmrc/mapper/judge.h"
#include "openmrc/mapper/probe.h"
#include "openmrc/mapper/probe_plan.h"
#include "openmrc/mapper/round_window.h"

namespace openmrc::mapper {

struct MapperSettings {
  std::uint32_t rounds_per_second = 10;
  Duration timeout = milliseconds(250);  // a probe that takes longer is lost
  double least_loss = 1e-4;
  Duration hold = seconds(1);
};

// That are judged together.
std::uint32_t rounds_per_batch(const MapperSettings& settings);

struct MapperCounters {
  std::uint64_t rounds = 0;
  std::uint64_t sent = 0;
  std::uint64_t replied = 0;
  std::uint64_t late = 0;      // replies that came after the timeout
  std::uint64_t repeated = 0;  // came once more
  std::uint64_t foreign = 0;   // packets that are no probe of ours
  std::uint64_t rounds_judged = 0;
  std::uint64_t rounds_host_late = 0;   // left out: this host was late
  std::uint64_t rounds_all_planes = 0;  // left out: all planes lost packets at once
};

// The mapper of one host: sends probes, takes those that return, and says which links are bad. It
// performs no I/O and reads no clock; one thread owns it. Its owner takes in what has arrived
// before it calls `tick`, so that nothing is counted as lost that waits in a socket.
class Mapper {
 public:
  struct Outgoing {
    ProbePath path{};
    wire::UsidCarrier to{wire::Ipv6Address{}};
    std::array<std::byte, kProbeSize> bytes{};
  };

  // `key` is drawn by the caller; only probes made with it are taken.
  Mapper(const ProbePlan& plan, const MapperSettings& settings, const ProbeKey& key);

  // What has come in by a port of this plane; any bytes.
  void receive(Plane plane, ConstBytes bytes, Instant now);
  // Packets that had come in were lost in this host.
  void lost_here() { window_.spoil(); }
  // To be called at `next_tick` or before.
  void tick(Instant now);
  [[nodiscard]] Instant next_tick() const;

  // The probes of the next round; none if it is not time yet.
  std::span<const Outgoing> round(Instant now);
  // One of them has left, or would have if its link were up.
  void sent(const ProbePath& path);

  [[nodiscard]] const ProbePlan& plan() const { return plan_; }
  [[nodiscard]] const MapperSettings& settings() const { return settings_; }
  [[nodiscard]] const MapperCounters& counters() const { return counters_; }
  [[nodiscard]] const Judge& judge() const { return judge_; }
  [[nodiscard]] const DelayJudge& delays() const { return delays_; }

 private:
  void close(const Batch& batch, Instant now);
  [[nodiscard]] Duration interval() const;

  ProbePlan plan_;
  MapperSettings settings_;
  ProbeKey key_;
  RoundWindow window_;
  Judge judge_;
  DelayJudge delays_;
  MapperCounters counters_{};
  std::uint64_t next_round_ = 0;
  bool has_begun_ = false;
  Instant last_tick_{};
  Instant round_at_{};
  std::vector<Outgoing> outgoing_;
};

}  // namespace openmrc::mapper
