// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <exception>

#include "openmrc/verbs/fork_guard.h"

namespace openmrc::libmrc {

// What stands between C and a function of ours: it is refused in a forked child, and nothing is
// thrown at C. Memory that cannot be had is an error like any other. `refuse` makes what the
// function returns of an error number.
template <class Refuse, class Call>
auto guarded(Refuse refuse, Call call) -> decltype(call()) {
  if (in_forked_child()) return refuse(kForkedError);
  try {
    return call();
  } catch (const std::exception&) {
    return refuse(ENOMEM);
  }
}

}  // namespace openmrc::libmrc
