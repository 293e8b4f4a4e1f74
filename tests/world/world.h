// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/settings.h"
#include "tests/world/checkers.h"
#include "tests/world/forger.h"
#include "tests/world/network.h"
#include "tests/world/world_options.h"

namespace openmrc::test {

struct WorldResult {
  std::optional<std::string> violation;
  Duration when{};  // of the violation, or the end
  std::uint64_t digest = 0;
  std::uint64_t packets = 0;
  std::size_t writes_succeeded = 0;
  std::size_t writes_failed = 0;
  std::array<core::Counters, 2> counters{};
};

// Two hosts, a network with faults between them, and judges around them; time passes only in steps
// from one event to the next.
class World {
 public:
  explicit World(const WorldOptions& options);
  ~World();

  // To the end: all work done and all faults over, or a rule broken.
  WorldResult run();

  // For tests that look inside: advances to `until`, or until a rule is broken.
  void run_until(Instant until);
  [[nodiscard]] Instant now() const { return now_; }
  [[nodiscard]] core::Endpoint& endpoint(Side side) { return *hosts_[index_of(side)].endpoint; }
  [[nodiscard]] Qpn qpn(Side side, std::size_t queue_pair) const {
    return hosts_[index_of(side)].qpns[queue_pair];
  }
  [[nodiscard]] const Verdict& verdict() const { return verdict_; }
  [[nodiscard]] bool all_done() const;
  // Called for each packet that a host sends, before anything happens to it.
  using Observer = void (*)(void* context, Instant now, Side side, const core::Transmit& transmit);
  void observe(Observer observer, void* context) {
    observer_ = observer;
    observer_context_ = context;
  }

 private:
  struct Host {
    std::unique_ptr<core::Endpoint> endpoint;
    core::EvProfileId ev_profile{};
    core::CcProfileId cc_profile{};
    core::ProtectionDomain domain{};
    RKey rkey{};
    std::vector<Qpn> qpns;
    std::unique_ptr<MemoryChecker> memory;  // that the other side writes to
    // Of which it may not write to any: of another domain, and one that is not for peers.
    std::unique_ptr<MemoryChecker> foreign;
    std::unique_ptr<MemoryChecker> local;
    std::unique_ptr<SendingChecker> sending;
    std::vector<StreamChecker> streams;  // of what it sends, by queue pair
    std::vector<Delivery> held;          // arrived while it was paused
    bool paused = false;
    unsigned incarnation = 0;
    core::PlaneMask ports;
  };
  struct Write {
    const PlannedWrite* plan = nullptr;
    std::size_t slice = 0;
    wire::Immediate immediate{};
  };
  // A fault that hosts have to be told of, as it begins or ends.
  struct Action {
    Duration at{};
    const Fault* fault = nullptr;
    bool begins = false;
  };

  Host& host(Side side) { return hosts_[index_of(side)]; }
  void plan_writes();
  void plan_actions();
  void start_host(Side side);
  void connect(std::size_t queue_pair);
  void connect_side(Side side, std::size_t queue_pair, Psn own_psn, Psn remote_psn);
  void post_receives(Side side, std::size_t queue_pair);
  void restart(Side side);
  void act(const Action& action);
  void set_ports(Side side);
  void post(const Write& write);
  [[nodiscard]] Instant next_event();
  void step(Instant next);
  void arrive(Delivery&& delivery);
  void receive(Side side, const Delivery& delivery);
  void flush(Side side);
  void transmit(Side side);
  void complete(Side side, const core::Completion& completion);
  void finish();
  [[nodiscard]] Duration patience() const;
  [[nodiscard]] bool failure_is_excused() const;
  void check_memory(const Host& host);
  void check_bounds(Side side);
  [[nodiscard]] std::unique_ptr<SendingChecker> sending_checker(Side side) const;

  const WorldOptions options_;
  const Rules rules_;
  Rng rng_;
  Network network_;
  Forger forger_;
  std::array<Host, 2> hosts_;
  std::vector<std::byte> source_;
  std::vector<Write> writes_;
  std::vector<Action> actions_;
  std::size_t next_write_ = 0;
  std::size_t next_action_ = 0;
  Instant now_{};
  Instant last_progress_{};
  Verdict verdict_;
  std::uint64_t packets_ = 0;
  std::uint64_t placed_ = 0;  // packets that were news to their receivers
  std::uint32_t last_psn_ = 0;
  std::vector<core::Transmit> burst_;
  wire::Packet decoded_;
  Observer observer_ = nullptr;
  void* observer_context_ = nullptr;
};

// Runs one world.
WorldResult run_world(const WorldOptions& options);

// Leaves out faults and writes as long as a rule is still broken.
WorldOptions shrink(WorldOptions options);

}  // namespace openmrc::test
