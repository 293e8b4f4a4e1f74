// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <map>

#include "openmrc/agent/profiles/profile_types.h"
#include "openmrc/base/result.h"

namespace openmrc::libmrc {

// How many may be connected at a time.
struct AdmissionLimits {
  std::size_t clients_max = 1000;
  std::size_t reserved = 64;       // of those, for the administrator, whatever other users do
  std::size_t per_user_max = 256;  // of a user who is not: more than a job has processes on a host
};
// Fits the usual limit of 1,024 descriptors of a process.
inline constexpr AdmissionLimits kClientLimits{};
inline constexpr std::size_t kClientsMax = kClientLimits.clients_max;
inline constexpr std::size_t kClientsReserved = kClientLimits.reserved;
inline constexpr std::size_t kClientsPerUserMax = kClientLimits.per_user_max;

// Which clients may connect, by the user behind the connection. The administrator is root and the
// user who runs the agent.
class Admission {
 public:
  explicit Admission(uid_t own, const AdmissionLimits& limits = kClientLimits)
      : own_(own), limits_(limits) {}

  [[nodiscard]] bool is_administrator(uid_t user) const { return user == 0 || user == own_; }
  // Counts the client until it leaves, or says why it may not connect.
  [[nodiscard]] Result<void, Outcome> admit(uid_t user);
  void leave(uid_t user);

 private:
  uid_t own_;
  AdmissionLimits limits_;
  std::size_t clients_ = 0;
  std::map<uid_t, std::size_t> by_user_;
};

// How a refusal is told from other answers: it has this error, and no call.
inline constexpr int kTooManyClients = EUSERS;

}  // namespace openmrc::libmrc
