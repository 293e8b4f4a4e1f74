// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mrc_ctl.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>

#include "openmrc/agent/agent_protocol.h"

namespace openmrc::libmrc {

// Until 1.0.1 an event ended before its state. A program says which version it was compiled with
// when it makes its context; 0: it does not say.
inline constexpr std::size_t kEvEventSize100 = offsetof(mrc_ctl_ev_event, state);
constexpr std::size_t ev_event_size(std::uint32_t api_version) {
  const bool is_old = api_version != 0 && api_version < MRC_API_VER(1u, 0u, 1u);
  return is_old ? kEvEventSize100 : sizeof(mrc_ctl_ev_event);
}

// What befalls paths until a controller fetches it. It holds so many; further ones are dropped and
// counted, and the next that is kept says how many. Any thread may use it.
class EvEventQueue {
 public:
  explicit EvEventQueue(std::size_t capacity) : capacity_(capacity) {}

  // False: there was no room.
  bool push(const EvEvent& event);
  // As many as there are and as fit, each `size` bytes behind the one before; returns how many.
  std::size_t take(std::span<std::byte> into, std::size_t size);

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::deque<mrc_ctl_ev_event> events_;
  std::uint64_t dropped_ = 0;
};

}  // namespace openmrc::libmrc
