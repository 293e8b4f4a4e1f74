// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/admission.h"

#include <fmt/format.h>

namespace openmrc::libmrc {

Result<void, Outcome> Admission::admit(uid_t user) {
  const bool administrator = is_administrator(user);
  const auto found = by_user_.find(user);
  const std::size_t of_user = found == by_user_.end() ? 0 : found->second;
  if (!administrator && of_user >= limits_.per_user_max) {
    return failure(refused(
        kTooManyClients,
        fmt::format("user {} has {} connections to mrcd, and no more are allowed: end some of "
                    "these processes",
                    user, of_user)));
  }
  const std::size_t places =
      administrator ? limits_.clients_max : limits_.clients_max - limits_.reserved;
  if (clients_ >= places) {
    return failure(refused(kTooManyClients,
                           fmt::format("mrcd has {} connections, and no more are allowed: end some "
                                       "of the processes that use it",
                                       clients_)));
  }
  ++clients_;
  ++by_user_[user];
  return {};
}

void Admission::leave(uid_t user) {
  const auto found = by_user_.find(user);
  if (found == by_user_.end()) return;
  --clients_;
  if (--found->second == 0) by_user_.erase(found);
}

}  // namespace openmrc::libmrc
