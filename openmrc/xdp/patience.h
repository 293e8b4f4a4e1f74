// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace openmrc::xdp {

// Whether to wait for what is about to go: the kernel takes the program and the sockets of a
// process that has just ended down a moment later.
enum class Patience : std::uint8_t {
  kSome,
  kNone,  // for whoever has other ports to see to, and can try again
};

// Repeats what returns errno, for up to a second, while that says that something is still there.
template <class Attempt>
int patiently(Patience patience, Attempt&& attempt) {
  constexpr int kTries = 200;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 5'000'000};
  for (int i = 1;; ++i) {
    const int error = attempt();
    if (error != EBUSY && error != EEXIST) return error;
    if (patience == Patience::kNone || i == kTries) return error;
    ::nanosleep(&kPause, nullptr);
  }
}

}  // namespace openmrc::xdp
