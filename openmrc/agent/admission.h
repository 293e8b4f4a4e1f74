// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <map>

#include "openmrc/agent/profiles/profile_types.h"
#include "openmrc/base/result.h"

namespace openmrc::libmrc {

// Clients that are connected at a time. Fits the usual limit of 1,024 descriptors of a process.
inline constexpr std::size_t kClientsMax = 1000;
// Of those, kept for the administrator, whatever other users do.
inline constexpr std::size_t kClientsReserved = 64;
// Of one user who is not the administrator: more than a job has processes on a host.
inline constexpr std::size_t kClientsPerUserMax = 256;

// Which clients may connect, by the user behind the connection. The administrator is root and the
// user who runs the agent.
class Admission {
 public:
  explicit Admission(uid_t own) : own_(own) {}

  [[nodiscard]] bool is_administrator(uid_t user) const { return user == 0 || user == own_; }
  // Counts the client until it leaves, or says why it may not connect.
  [[nodiscard]] Result<void, Outcome> admit(uid_t user);
  void leave(uid_t user);

 private:
  uid_t own_;
  std::size_t clients_ = 0;
  std::map<uid_t, std::size_t> by_user_;
};

// How a refusal is told from other answers: it has this error, and no call.
inline constexpr int kTooManyClients = EUSERS;

}  // namespace openmrc::libmrc
