// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/host.h"
#include "tools/mrc/perf/options.h"

namespace openmrc::tools {

// One queue pair of a test and its memory.
struct PerfLane {
  std::unique_ptr<host::QueuePair> qp;
  std::span<std::byte> outgoing;  // `slots` messages
  std::span<std::byte> incoming;  // the same
  std::uint64_t remote = 0;       // where our messages go at the peer
  RKey remote_key{};
};

// Two processes that have found each other: connected queue pairs, memory on both sides, and the
// control connection over which the test is arranged.
class PerfSession {
 public:
  // Waits for a client, or connects to the server, and agrees on the plan, which is the client's.
  static Result<std::unique_ptr<PerfSession>, host::Error> serve(const PerfOptions& options,
                                                                 host::ExchangeListener& listener,
                                                                 Duration wait);
  static Result<std::unique_ptr<PerfSession>, host::Error> connect(const PerfOptions& options);

  [[nodiscard]] const PerfPlan& plan() const { return plan_; }
  [[nodiscard]] bool is_server() const { return is_server_; }
  [[nodiscard]] const std::string& peer_name() const { return peer_name_; }
  [[nodiscard]] host::Host& host() { return *host_; }
  [[nodiscard]] host::CompletionQueue& completions() { return *completions_; }
  [[nodiscard]] std::vector<PerfLane>& lanes() { return lanes_; }
  // How many messages a lane's memory holds.
  [[nodiscard]] std::size_t slots() const { return slots_; }
  [[nodiscard]] std::span<std::byte> slot(std::span<std::byte> memory,
                                          std::uint64_t message) const {
    return memory.subspan(message % slots_ * plan_.size, plan_.size);
  }
  [[nodiscard]] host::ExchangeConnection& control() { return *control_; }
  // Both sides come here before either goes on.
  [[nodiscard]] Result<void, host::Error> barrier(Duration timeout);

 private:
  PerfSession() = default;
  [[nodiscard]] Result<void, host::Error> open_host(const PerfOptions& options);
  [[nodiscard]] Result<void, host::Error> make_lanes();
  [[nodiscard]] std::string own_info() const;
  [[nodiscard]] Result<void, host::Error> join(const std::string& infos);

  PerfPlan plan_{};
  bool is_server_ = false;
  std::string peer_name_;
  std::size_t slots_ = 1;
  std::unique_ptr<host::ExchangeConnection> control_;
  std::vector<std::byte> memory_;
  // In this order they may go: lanes, region and queue before the host.
  std::unique_ptr<host::Host> host_;
  std::unique_ptr<host::CompletionQueue> completions_;
  std::unique_ptr<host::MemoryRegion> region_;
  std::vector<PerfLane> lanes_;
};

}  // namespace openmrc::tools
