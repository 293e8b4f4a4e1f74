// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/interrupt.h"

#include <csignal>
#include <initializer_list>

namespace openmrc::host {
namespace {

volatile std::sig_atomic_t caught = 0;

}  // namespace

void catch_interrupts(SecondInterrupt second) {
  struct sigaction action{};
  action.sa_handler = [](int signal) {
    if (caught == 0) caught = signal;
  };
  if (second == SecondInterrupt::kKills) {
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

bool interrupted() { return caught != 0; }
int interrupt_exit_code() { return 128 + caught; }

}  // namespace openmrc::host
