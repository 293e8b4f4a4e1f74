// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/mapper/mapper.h"
#include "openmrc/mapper/report.h"
#include "openmrc/prober/probe_sockets.h"

namespace openmrc::prober {

// Probes the links of this host from a thread of its own.
class Prober {
 public:
  // The configuration has been checked. Begins at once.
  static Result<std::unique_ptr<Prober>, host::Error> start(const host::Config& config);
  Prober(const Prober&) = delete;
  Prober& operator=(const Prober&) = delete;

  // What has been found, a moment ago; of any thread.
  [[nodiscard]] std::shared_ptr<const mapper::MapReport> report() const;

 private:
  Prober(const host::Config& config, const mapper::ProbePlan& plan,
         std::vector<ProbeSockets> planes);

  void run(const std::stop_token& stop);
  void wait(Instant until);
  void take_replies();
  void look_for_drops();
  void send_round(Instant now);
  void publish(Instant now);

  std::string name_;
  mapper::Mapper mapper_;
  std::vector<ProbeSockets> planes_;
  std::vector<std::uint32_t> dropped_;
  std::uint64_t send_failures_ = 0;
  Instant next_report_{};

  mutable std::mutex mutex_;
  std::shared_ptr<const mapper::MapReport> report_;
  std::jthread thread_;  // the last: it ends before the rest is gone
};

}  // namespace openmrc::prober
