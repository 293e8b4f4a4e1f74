// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/verbs_objects.h"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace openmrc::libmrc {
namespace {

struct Contexts {
  std::shared_mutex mutex;
  std::unordered_map<const ibv_context*, Device*> devices;
};

Contexts& contexts() {
  static auto& all = *new Contexts;  // threads may outlive main()
  return all;
}

}  // namespace

Device* device_of(const ibv_context* context) {
  const std::shared_lock lock(contexts().mutex);
  const auto found = contexts().devices.find(context);
  return found == contexts().devices.end() ? nullptr : found->second;
}

void add_context(const ibv_context* context, Device& device) {
  const std::lock_guard lock(contexts().mutex);
  contexts().devices[context] = &device;
}

void remove_context(const ibv_context* context) {
  const std::lock_guard lock(contexts().mutex);
  contexts().devices.erase(context);
}

}  // namespace openmrc::libmrc
