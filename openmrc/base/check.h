// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace openmrc {

// Prints where and why to standard error and aborts. For our own mistakes only: what a peer or a
// caller can get wrong is a Result.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               const char* reason);

}  // namespace openmrc

// Stays on in release builds.
#define OPENMRC_CHECK(condition, reason)                               \
  do {                                                                 \
    if (!(condition)) [[unlikely]]                                     \
      ::openmrc::check_failed(__FILE__, __LINE__, #condition, reason); \
  } while (false)

// For checks that would cost instructions on every packet: on in debug and sanitizer builds.
#ifdef OPENMRC_DEBUG_CHECKS
#define OPENMRC_DCHECK(condition, reason) OPENMRC_CHECK(condition, reason)
#else
#define OPENMRC_DCHECK(condition, reason) static_cast<void>(0)
#endif
