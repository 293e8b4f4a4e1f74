// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/open.h"
#include "openmrc/datapath/receiver.h"
#include "openmrc/datapath/sender.h"
#include "openmrc/xdp/network_changes.h"
#include "openmrc/xdp/port.h"

namespace openmrc::xdp {

// Frames where this shard has the sockets of a port, and beside them the sockets of mode "srv6".
class XdpDatapath final : public datapath::Datapath {
 public:
  static Result<std::unique_ptr<datapath::Datapath>, datapath::Error> open(
      const datapath::Settings& settings);

  void send(std::span<const datapath::Outgoing> burst) override;
  [[nodiscard]] datapath::PlaneBits blocked() const override {
    return blocked_ | sender_->blocked();
  }
  [[nodiscard]] std::size_t receive(Instant now, std::span<datapath::Incoming> into) override;
  [[nodiscard]] std::span<const int> descriptors() const override { return descriptors_; }
  [[nodiscard]] datapath::Slot slot() const override { return receiver_->slot(); }
  [[nodiscard]] const datapath::Counters& counters() const override { return counters_; }
  [[nodiscard]] std::span<const datapath::Error> notices() const override { return notices_; }

 private:
  static constexpr std::size_t kFrames = 64;  // taken off a port at a time
  // How often the network is looked at, the UDP sockets while frames arrive, and ports that another
  // shard has.
  static constexpr Duration kLookAtNetwork = milliseconds(1);
  static constexpr Duration kLookAtSockets = microseconds(100);
  static constexpr Duration kLookAtPorts = seconds(1);

  explicit XdpDatapath(datapath::Settings settings)
      : settings_(std::move(settings)), ports_(settings_.ports.size()) {
    rest_.reserve(kFrames);
  }
  [[nodiscard]] Result<void, datapath::Error> open();
  [[nodiscard]] Result<void, datapath::Error> open_port(std::size_t plane, Patience patience);
  [[nodiscard]] bool watch(int descriptor);

  void send(const datapath::Outgoing& outgoing);
  void count_sent(Plane plane, std::size_t size);
  void flush(std::size_t plane);

  void look_at_network(Instant now);
  void look_at_port(std::size_t plane, bool has_changed, bool is_due);
  void close_port(std::size_t plane);
  void try_to_open(std::size_t plane);
  void count_drops(std::size_t plane);
  void reopen_sockets(std::size_t plane);
  void notice(datapath::Error error);
  std::size_t receive_frames(Instant now, std::size_t plane, std::span<datapath::Incoming> into);
  bool take_frame(Instant now, Plane plane, MutableBytes frame, datapath::Incoming& into);

  datapath::Settings settings_;
  datapath::Counters counters_{};
  std::vector<datapath::Error> notices_{};
  std::unique_ptr<datapath::Sender> sender_{};
  std::unique_ptr<datapath::Receiver> receiver_{};
  std::vector<std::unique_ptr<Port>> ports_;  // by plane; null: another shard has it, or it is gone
  std::vector<bool> was_missing_{};           // by plane: its interface was not there
  std::vector<bool> was_refused_{};           // by plane: it could not be opened when last tried
  std::unique_ptr<NetworkChanges> changes_{};
  datapath::FileDescriptor epoll_{};
  std::array<int, 1> descriptors_{-1};

  datapath::PlaneBits blocked_ = 0;
  datapath::PlaneBits pushed_ = 0;          // planes with something to flush
  std::vector<datapath::Outgoing> rest_{};  // for the sockets
  Instant now_{};                           // of the last call that was told
  Instant network_looked_at_{};
  Instant sockets_looked_at_{};
  Instant ports_looked_at_{};
  std::size_t next_plane_ = 0;
};

}  // namespace openmrc::xdp
