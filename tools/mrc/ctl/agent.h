// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "openmrc/agent/agent_client.h"

namespace openmrc::tools::ctl {

// What all verbs have.
struct Options {
  std::string socket = libmrc::agent_socket_path();
  bool json = false;
};

inline constexpr int kRefused = 1;
inline constexpr int kNoAgent = 2;

// Prints why; the exit code.
int complain(const libmrc::Outcome& outcome);
int complain(const std::string& what);

// The answer of the kind that is expected, or nothing, and then `exit_code` and a message.
template <class Body>
std::optional<Body> ask(libmrc::AgentClient& agent, const libmrc::Request& request,
                        int& exit_code) {
  libmrc::Reply reply = agent.call(request);
  if (auto* const body = std::get_if<Body>(&reply.body); body != nullptr && reply.outcome.ok()) {
    return std::move(*body);
  }
  exit_code = complain(reply.outcome.ok() ? libmrc::refused(5, "an answer of another kind")
                                          : reply.outcome);
  return std::nullopt;
}

}  // namespace openmrc::tools::ctl
