// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/libmrc/control/ev_event_queue.h"

#include <cstring>
#include <utility>

namespace openmrc::libmrc {

bool EvEventQueue::push(const EvEvent& event) {
  const std::lock_guard lock(mutex_);
  dropped_ += event.lost;
  if (events_.size() >= capacity_) {
    ++dropped_;
    return false;
  }
  mrc_ctl_ev_event told{};
  told.profile_id = event.id.raw();
  std::memcpy(told.ev.val, event.seen.ev.value.data(), sizeof told.ev.val);
  told.ev.port = event.seen.ev.port.raw();
  told.drop_count = static_cast<std::uint32_t>(std::exchange(dropped_, 0));
  told.state = event.seen.state;
  events_.push_back(told);
  return true;
}

std::size_t EvEventQueue::take(std::span<std::byte> into, std::size_t size) {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  for (; !events_.empty() && into.size() >= size; ++count) {
    std::memcpy(into.data(), &events_.front(), size);
    events_.pop_front();
    into = into.subspan(size);
  }
  return count;
}

}  // namespace openmrc::libmrc
