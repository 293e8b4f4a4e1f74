// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/home_process.h"

#include <pthread.h>

#include <atomic>
#include <mutex>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::host {
namespace {

// How many forks lie between this process and the first that watched.
std::atomic<std::uint32_t> g_generation = 0;

std::uint32_t watched_generation() {
  static std::once_flag watched;
  std::call_once(watched, [] { pthread_atfork(nullptr, nullptr, [] { ++g_generation; }); });
  return g_generation.load(std::memory_order_relaxed);
}

}  // namespace

HomeProcess::HomeProcess() : generation_(watched_generation()) {}

bool HomeProcess::is_here() const {
  return generation_ == g_generation.load(std::memory_order_relaxed);
}

void HomeProcess::check() const {
  OPENMRC_CHECK(is_here(), "a child made by fork() must open a Host of its own");
}

void HomeProcess::leave(std::thread thread) { new std::thread(std::move(thread)); }

}  // namespace openmrc::host
