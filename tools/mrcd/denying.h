// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "openmrc/agent/agent_server.h"
#include "openmrc/agent/profiles/profile_store.h"
#include "openmrc/base/result.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/policy/deny_policy.h"
#include "openmrc/prober/prober.h"

namespace openmrc::tools {

// Lets the policy have its way with the agent, and keeps what it denied in a file.
class Denying {
 public:
  // Nothing if it is off and has nothing left to lift. `store` outlives it.
  static Result<std::optional<Denying>, host::Error> open(const std::string& file,
                                                          const host::MapperConfig& config,
                                                          const libmrc::ProfileStore& store);

  // Denies and lifts what has to be, as far as the prober, which may be none, knows. Says once what
  // keeps it from doing so.
  Result<void, std::string> step(const prober::Prober* prober, libmrc::AgentServer& server);

 private:
  Denying(std::string file, bool is_on, const libmrc::ProfileStore& store)
      : file_(std::move(file)), is_on_(is_on), store_(&store) {}

  Result<void, std::string> fail(std::string why);
  [[nodiscard]] Result<void, std::string> keep(const policy::DenyPolicy& policy) const;

  std::string file_;
  bool is_on_;
  const libmrc::ProfileStore* store_;
  policy::DenyPolicy policy_{};
  std::string last_failure_{};
};

}  // namespace openmrc::tools
