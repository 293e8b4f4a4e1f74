// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "openmrc/sim/network/network.h"

namespace openmrc::sim {

// The memory of one switch: what waits in all its queues, and by the link that it came by. Says how
// long a queue may get (dynamic thresholds: alpha times what is free), and whose sender is to be
// paused (PFC). It does nothing, and nothing is counted, where each port has a buffer of its own
// and there is no PFC.
//
// The ports of a switch live through a window one after the other. So that none of them sees more
// of the others than the next, each sees what the others had when the window began.
class SwitchBuffer {
 public:
  enum class Change : std::uint8_t { kNone, kPause, kResume };

  SwitchBuffer(const Network& network, bool is_t0, std::uint32_t ports);

  [[nodiscard]] bool counts() const { return counts_; }
  [[nodiscard]] bool pauses() const { return pfc_; }
  [[nodiscard]] bool is_shared() const { return shared_bytes_ > 0; }

  void begin_window() { used_before_window_ = used_; }
  void begin_port() { used_before_port_ = used_; }

  // How long the queue of a port may get; there is no limit with PFC.
  [[nodiscard]] std::uint32_t queue_max_bytes() const {
    return pfc_ ? kUnlimited : part_of_free(alpha_percent_);
  }
  // With PFC: whether data that comes by this link fits at all.
  [[nodiscard]] bool has_room(std::uint32_t link, std::uint32_t bytes) const {
    if (!pfc_ || fits_shared(links_[link], bytes)) return true;
    return links_[link].in_headroom + bytes <= links_[link].headroom_bytes;
  }
  void add(std::uint32_t link, std::uint32_t bytes, bool is_data) {
    if (is_shared()) return add_shared(link, bytes, is_data);
    links_[link].bytes += bytes;
  }
  void remove(std::uint32_t link, std::uint32_t bytes, bool is_data) {
    if (is_shared()) return remove_shared(link, bytes, is_data);
    links_[link].bytes -= bytes;
  }

  // At the end of a window, before `judge_sender`: then all is counted.
  void end_window() { used_before_window_ = used_before_port_ = used_; }
  // With PFC, once for each link: what its sender is to be told.
  Change judge_sender(std::uint32_t link) {
    Link& from = links_[link];
    const std::uint32_t limit = is_shared() ? part_of_free(pfc_alpha_percent_) : from.pause_bytes;
    const bool pause = from.in_headroom > 0 || from.bytes > (from.paused ? limit / 2 : limit);
    if (pause == from.paused) [[likely]]
      return Change::kNone;
    from.paused = pause;
    return pause ? Change::kPause : Change::kResume;
  }

 private:
  static constexpr std::uint32_t kUnlimited = std::numeric_limits<std::int32_t>::max();

  struct Link {
    std::uint32_t bytes = 0;  // that came by it and wait; without a shared buffer control too
    std::uint32_t in_headroom = 0;
    std::uint32_t headroom_bytes = 0;
    std::uint32_t pause_bytes = 0;  // without a shared buffer: more than that pauses its sender
    bool paused = false;            // its sender
  };

  void add_shared(std::uint32_t link, std::uint32_t bytes, bool is_data);
  void remove_shared(std::uint32_t link, std::uint32_t bytes, bool is_data);
  [[nodiscard]] std::uint32_t part_of_free(std::uint32_t percent) const;
  [[nodiscard]] bool fits_shared(const Link& link, std::uint32_t bytes) const {
    return std::uint64_t{link.bytes - link.in_headroom} + bytes <= part_of_free(pfc_alpha_percent_);
  }

  bool pfc_;
  bool counts_;
  std::uint32_t alpha_percent_;
  std::uint32_t pfc_alpha_percent_;
  std::uint32_t shared_bytes_ = 0;  // 0: each port has its own
  std::uint64_t used_ = 0;          // of the shared bytes
  std::uint64_t used_before_window_ = 0;
  std::uint64_t used_before_port_ = 0;
  std::vector<Link> links_;
};

}  // namespace openmrc::sim
