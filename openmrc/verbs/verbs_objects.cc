// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/verbs_objects.h"

#include <pthread.h>

#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

#include "openmrc/verbs/fork_guard.h"

namespace openmrc::libmrc {

std::atomic<bool> detail::g_in_forked_child = false;

namespace {

struct Contexts {
  std::shared_mutex mutex;
  std::unordered_map<const ibv_context*, Device*> devices;
};

Contexts& contexts() {
  static auto& all = *new Contexts;  // threads may outlive main()
  return all;
}

// Nobody changes the table while the process is copied: the child has to tell the soft device's
// contexts from those of real ones, which it may still use. There the lock is made anew, because it
// belongs to a thread of the parent.
void watch_forks() {
  pthread_atfork([] { contexts().mutex.lock(); }, [] { contexts().mutex.unlock(); },
                 [] {
                   detail::g_in_forked_child = true;
                   std::construct_at(&contexts().mutex);
                 });
}

}  // namespace

Device* device_of(const ibv_context* context) {
  const std::shared_lock lock(contexts().mutex);
  const auto found = contexts().devices.find(context);
  return found == contexts().devices.end() ? nullptr : found->second;
}

void add_context(const ibv_context* context, Device& device) {
  static std::once_flag watched;
  std::call_once(watched, watch_forks);
  const std::lock_guard lock(contexts().mutex);
  contexts().devices[context] = &device;
}

void remove_context(const ibv_context* context) {
  const std::lock_guard lock(contexts().mutex);
  contexts().devices.erase(context);
}

}  // namespace openmrc::libmrc
