// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "openmrc/agent/agent_client.h"
#include "openmrc/agent/profiles/profile_types.h"
#include "openmrc/base/result.h"
#include "openmrc/verbs/device.h"

namespace openmrc::libmrc {

// The controller's profiles as the runtime of this process has them: fetched from the node's agent
// when a queue pair names one, kept in step with what the controller does to them, and what befalls
// their paths reported to the agent.
class ProfilesInUse final : public Device::Listener {
 public:
  ProfilesInUse(host::Host& runtime, AgentClient& agent);
  ~ProfilesInUse();
  ProfilesInUse(const ProfilesInUse&) = delete;
  ProfilesInUse& operator=(const ProfilesInUse&) = delete;

  // The runtime's own number for the profile; nothing: the host's own. Otherwise an errno value.
  // Used until it is released as often.
  Result<std::optional<core::EvProfileId>, int> use(EvProfileId id);
  Result<std::optional<core::CcProfileId>, int> use(CcProfileId id);
  void release(EvProfileId id) { agent_.release(id); }
  void release(CcProfileId id) { agent_.release(id); }

  // A path has changed. Called while a shard waits.
  void on_event(const core::Event& event) override;

 private:
  struct Known {
    std::shared_ptr<const core::EvProfile> profile;
    core::EvProfileId number{};
  };
  [[nodiscard]] Known find(EvProfileId id);
  void on_push(const Push& push);
  void apply(const Known& known, const EvStatus& status);

  host::Host& runtime_;
  AgentClient& agent_;
  AgentClient::ListenerId listener_ = 0;
  std::mutex use_mutex_;                      // one profile is fetched at a time
  std::mutex mutex_;                          // of the maps; nothing is called while it is held
  std::map<EvProfileId, Known> known_;        // as last fetched
  std::map<std::uint32_t, EvProfileId> ids_;  // by the runtime's number
};

}  // namespace openmrc::libmrc
