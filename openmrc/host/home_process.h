// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <thread>

namespace openmrc::host {

// The process in which an object was made. A child made by fork() has a copy of the object, but
// none of its threads, and locks as they happened to be: it must not use it. It may make its own.
class HomeProcess {
 public:
  HomeProcess();

  // A load; no system call.
  [[nodiscard]] bool is_here() const;
  // Ends a child that goes on all the same, rather than let it wait for ever or send by sockets
  // that are the parent's, too.
  void check() const;
  // In a child: a thread that is not there cannot be joined.
  static void leave(std::thread thread);

 private:
  std::uint32_t generation_;
};

}  // namespace openmrc::host
