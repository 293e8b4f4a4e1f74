// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

// Events of verbs: what a program fetches, and has to acknowledge before what they name goes.
namespace openmrc::libmrc {

// Tells the context of an event; at what it names the count of events that were fetched is kept,
// see below. Nothing happens if the context has been closed.
void push_async_event(const ibv_context* context, const ibv_async_event& event);
// What has not been fetched of an object that goes away.
void forget_async_events(const ibv_context* context, const void* object);

// Waits until as many events of an object were acknowledged as were fetched. The counts, of both
// kinds, are guarded by the object's own mutex.
template <class Object>
void wait_for_acknowledgements(Object& object, const std::uint32_t& fetched,
                               const std::uint32_t& acknowledged) {
  pthread_mutex_lock(&object.mutex);
  const auto is_open = [&] { return static_cast<std::int32_t>(fetched - acknowledged) > 0; };
  while (is_open()) pthread_cond_wait(&object.cond, &object.mutex);
  pthread_mutex_unlock(&object.mutex);
}

}  // namespace openmrc::libmrc
