// SPDX-License-Identifier: BSD-3-Clause
#include "interrupt.h"

#include <csignal>

namespace openmrc::tools {
namespace {

volatile std::sig_atomic_t g_interrupted = 0;

void note(int signal) {
  g_interrupted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

void watch_interrupts() {
  std::signal(SIGINT, note);
  std::signal(SIGTERM, note);
}

bool interrupted() { return g_interrupted != 0; }

}  // namespace openmrc::tools
