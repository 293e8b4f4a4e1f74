// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/exchange_server.h"
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

// Why a server has no session with a client.
struct ServeFailure {
  host::Error error{};
  bool is_own = false;  // this host's configuration or ports; no client can be served
};

// Two processes that have found each other: connected queue pairs, memory on both sides, and the
// control connection over which the test is arranged.
class PerfSession {
 public:
  // The secret of the options; null if they name none.
  static Result<std::unique_ptr<host::ExchangeSecret>, host::Error> load_secret(
      const PerfOptions& options);
  // How many lines a client sends to complete its handshake: the plan, its queue pairs, its memory.
  static constexpr std::size_t kHandshakeLines = 3;
  // Whether this server may follow the plan of a client.
  [[nodiscard]] static Result<PerfPlan, host::ExchangeError> check_plan(const PerfOptions& options,
                                                                        const std::string& line);

  // With a client that has completed its handshake, or by connecting to a server. The plan is the
  // client's.
  static Result<std::unique_ptr<PerfSession>, ServeFailure> serve(const PerfOptions& options,
                                                                  host::ExchangeRequest client);
  static Result<std::unique_ptr<PerfSession>, host::Error> connect(const PerfOptions& options);

  [[nodiscard]] const PerfPlan& plan() const { return plan_; }
  // Of the messages from now on; no larger than that of the plan that was agreed on.
  void set_size(std::uint32_t size) { plan_.size = size; }
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
  // A signal ends the test before its end: tells the peer, and is the reason.
  [[nodiscard]] host::Error interrupted();
  // The peer has ended it.
  [[nodiscard]] host::Error ended_by_peer(std::string_view reason) const;

 private:
  PerfSession() = default;
  [[nodiscard]] Result<void, host::Error> open_host(const PerfOptions& options);
  [[nodiscard]] Result<void, host::Error> make_lanes();
  // What the peer must know of our lanes, as two lines, and what we must know of its own.
  [[nodiscard]] std::array<std::string, 2> own_info() const;
  [[nodiscard]] Result<void, host::Error> join(const std::string& queue_pairs,
                                               const std::string& memories);
  // For a peer to connect all queue pairs of the test.
  [[nodiscard]] Duration connect_max() const;
  // A line of the server's answer; kRefused with its reason instead.
  [[nodiscard]] Result<std::string, host::ExchangeError> receive_answer(Duration timeout);
  // Without a secret if that is null.
  [[nodiscard]] Result<void, host::ExchangeError> request(const host::ExchangeSecret* secret,
                                                          std::span<const std::string> info);

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
