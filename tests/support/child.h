// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace openmrc::test {

// A child that hangs is ended by SIGALRM.
inline constexpr unsigned kChildSeconds = 10;

// The status, as of waitpid(), of a child made by fork() that does this; `calls` returns its exit
// code: 0, or which of its checks failed.
template <class Calls>
int status_of_child(Calls calls) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(kChildSeconds);
    ::_exit(calls());
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

}  // namespace openmrc::test
