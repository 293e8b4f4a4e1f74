// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "tests/world/faults.h"
#include "tests/world/world_options.h"

// Judges of a run. They see what goes in and comes out of the endpoints, keep accounts of their own
// and share no code with what they judge.
namespace openmrc::test {

// The first rule that was broken; a run ends with it.
class Verdict {
 public:
  void violation(std::string what) {
    if (!text_) text_ = std::move(what);
  }
  [[nodiscard]] const std::optional<std::string>& text() const { return text_; }
  [[nodiscard]] bool ok() const { return !text_.has_value(); }

 private:
  std::optional<std::string> text_;
};

// What is checked: everything, or what must hold when somebody on the path can write to the memory
// of a connection, end it, and say that its messages have arrived.
enum class Rules : std::uint8_t { kAll, kUnderAttack };

// The memory that one host lets the other write to: a slice for each write, with no gaps, and
// guards around it. Memory equals what was written, and nothing else changes (MRC 5.1, 6.3; QP-27).
class MemoryChecker {
 public:
  static constexpr std::byte kUntouched{0xee};  // what no source has

  struct Slice {
    std::size_t offset = 0;
    ConstBytes source;
    bool posted = false;
  };

  MemoryChecker(std::string name, std::size_t size);

  [[nodiscard]] MutableBytes region() {
    return {bytes_.data() + kGuard, bytes_.size() - 2 * kGuard};
  }
  std::size_t add_slice(ConstBytes source);
  void posted(std::size_t slice) { slices_[slice].posted = true; }
  [[nodiscard]] const Slice& slice(std::size_t index) const { return slices_[index]; }

  // The whole slice has arrived.
  [[nodiscard]] bool is_complete(std::size_t slice) const;
  // Nothing around the region has been written.
  void check_guards(Verdict& verdict) const;
  // Besides, every byte is untouched or what its write says, and only writes that were posted
  // wrote.
  void check_all(Verdict& verdict) const;

 private:
  static constexpr std::size_t kGuard = 256;

  std::string name_;
  std::vector<std::byte> bytes_;
  std::vector<Slice> slices_;
  std::size_t used_ = 0;
};

// One direction of one connection: what was posted must complete once, in order, and immediates
// must arrive in order, each after everything before it (MRC 6.3, 7.5).
class StreamChecker {
 public:
  StreamChecker(std::string name, const MemoryChecker& memory, Rules rules = Rules::kAll)
      : name_(std::move(name)), memory_(&memory), rules_(rules) {}

  struct Posted {
    core::WorkId id = 0;
    std::size_t slice = 0;
    std::uint32_t length = 0;
    std::optional<wire::Immediate> immediate;
  };
  void posted(const Posted& write) { posted_.push_back(write); }
  // The other side has posted one.
  void receive_posted() { ++receives_; }
  void on_write_completion(const core::Completion& completion, Verdict& verdict);
  void on_receive_completion(const core::Completion& completion, Verdict& verdict);
  // The connection is gone, and what was left with it.
  void abandoned();

  [[nodiscard]] bool all_done() const { return completed_ == posted_.size(); }
  [[nodiscard]] std::size_t succeeded() const { return succeeded_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  std::string name_;
  const MemoryChecker* memory_;
  Rules rules_;
  std::vector<Posted> posted_;
  std::size_t receives_ = 0;   // that were posted for immediates, and have not completed
  std::size_t completed_ = 0;  // of posted_, from the front
  std::size_t received_ = 0;   // of posted_, those whose immediates have arrived, and all before
  std::size_t succeeded_ = 0;
  std::size_t failed_ = 0;
};

// What one host sends: windows, paths, planes.
class SendingChecker {
 public:
  SendingChecker(std::string name, const WorldOptions& options, Rules rules);

  void on_write(Instant now, const core::Endpoint& endpoint, Qpn local,
                const core::Transmit& transmit, const wire::RdmaWrite& write, Verdict& verdict);
  // A SACK or acknowledgement that the network delivered undamaged to this host.
  void on_feedback(Qpn local, const wire::Packet& packet);
  void on_event(const core::Event& event);
  void on_connected(Qpn local, Psn first_psn);
  // The local ports that are up, as the endpoint was told.
  void on_local_ports(core::PlaneMask ports) { local_ports_ = ports; }

 private:
  struct Flow {
    UnwrappedPsn acknowledged;  // highest that the host has heard of
    UnwrappedPsn sent;          // highest that it has sent
    // What the peer offers, in the newest SACK that was heard (MRC 7.5.1), and how new that is.
    std::int64_t range;
    std::uint32_t counted;  // bytes, as SACKs count them
  };
  void take_window(Flow& flow, const wire::Sack& sack, bool progress) const;
  void check_psn(Qpn local, const wire::RdmaWrite& write, Verdict& verdict);
  void check_window(Instant now, const core::Endpoint& endpoint, Qpn local,
                    const wire::RdmaWrite& write, Verdict& verdict);
  void check_path(const core::Endpoint& endpoint, Qpn local, const core::Transmit& transmit,
                  Verdict& verdict);
  void check_balance(const core::Endpoint& endpoint, Qpn local, Plane plane, Verdict& verdict);

  std::string name_;
  const WorldOptions* options_;
  Rules rules_;
  std::map<std::uint32_t, Flow> flows_;
  std::map<std::uint32_t, core::EvState> out_of_use_;  // by EV, as events have it
  std::array<std::int64_t, core::kPlanesMax> since_change_{};
  core::PlaneMask local_ports_ = core::PlaneMask::all();
  core::PlaneMask usable_before_;
  Instant last_write_{};
};

}  // namespace openmrc::test
