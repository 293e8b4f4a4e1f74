// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "openmrc/messages/layer.h"
#include "tests/world/message_judge.h"
#include "tests/world/message_program.h"
#include "tests/world/network.h"
#include "tests/world/world.h"

namespace openmrc::test {

// Two hosts with message layers, applications that follow a plan, a network with faults between
// them, and a judge; time passes only in steps from one event to the next.
class MessageWorld {
 public:
  explicit MessageWorld(const MessageWorldOptions& options);

  // To the end: all requests ended and all faults over, or a rule broken.
  WorldResult run();

 private:
  struct Host {
    std::unique_ptr<core::Endpoint> endpoint;
    std::unique_ptr<messages::Layer> layer;
    core::EvProfileId ev_profile{};
    core::CcProfileId cc_profile{};
    core::ProtectionDomain domain{};
    RKey key{};
    RKey of_other_domain{};
    RKey not_for_peers{};
    std::optional<messages::SharedQueueId> shared;
    std::vector<Qpn> qpns;
    std::vector<std::vector<std::size_t>> to_post;  // requests by queue pair, the next last
    std::vector<std::size_t> to_receive;            // the next last
    std::vector<Delivery> held;
    bool ready_to_send = false;
    bool paused = false;
  };
  struct Action {
    Duration at{};
    const Fault* fault = nullptr;  // or
    const PlannedEnd* end = nullptr;
    std::optional<Side> ready_to_send{};
    bool begins = false;
  };

  static constexpr std::uint64_t kRemoteBase = 0x7f00'0000'1000;  // what peers call the first byte

  Host& host(Side side) { return hosts_[index_of(side)]; }
  void plan_actions();
  void start_host(Side side);
  void connect(Side side, std::size_t queue_pair);
  void to_ready_to_send(Side side);
  void act(const Action& action);
  void act(const Fault& fault, bool begins);
  void end(const PlannedEnd& end);
  void set_ports(Side side);
  void pump(Side side);
  [[nodiscard]] bool post(Side side, std::size_t queue_pair, std::size_t request);
  [[nodiscard]] messages::SendRequest request_of(std::size_t request);
  [[nodiscard]] bool post_receive(Side side, std::size_t receive);
  [[nodiscard]] Instant next_event();
  void step(Instant next);
  void receive(Side side, const Delivery& delivery);
  void flush(Side side);
  // Returns whether anything was sent.
  bool transmit(Side side);
  // Returns whether anything came out.
  bool drain(Side side);
  [[nodiscard]] std::optional<std::size_t> queue_pair_of(Side side, Qpn qpn);
  [[nodiscard]] bool all_done();
  [[nodiscard]] Duration patience() const;

  const MessageWorldOptions options_;
  Rng rng_;
  Network network_;
  MessageJudge judge_;
  std::array<Host, 2> hosts_;
  std::array<std::vector<Psn>, 2> psns_;
  std::vector<Action> actions_;
  std::size_t next_action_ = 0;
  Instant now_{};
  Instant last_progress_{};
  std::uint64_t packets_ = 0;
  std::vector<core::Transmit> burst_;
  std::vector<messages::Segment> segments_;
  wire::Packet decoded_;
};

WorldResult run_world(const MessageWorldOptions& options);
// Leaves out faults, requests, receives and ends as long as a rule is still broken.
MessageWorldOptions shrink(MessageWorldOptions options);

}  // namespace openmrc::test
