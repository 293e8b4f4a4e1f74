// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cerrno>

// A child made by fork() has the memory of a process with an open device, but none of its threads,
// and locks as they happened to be. Its calls are refused, so that they neither wait for what never
// comes nor send by sockets that are the parent's, too. The parent goes on undisturbed.
namespace openmrc::libmrc {

namespace detail {
extern std::atomic<bool> g_in_forked_child;
}

// What calls in such a child fail with: in that process there is no device.
inline constexpr int kForkedError = ENODEV;

// A load, which is all that a call pays. Children forked before the first context was opened may
// use the device like any process.
inline bool in_forked_child() { return detail::g_in_forked_child.load(std::memory_order_relaxed); }

}  // namespace openmrc::libmrc
