// SPDX-License-Identifier: BSD-3-Clause
// Processes that publish counters to an agent, as applications of OpenMRC do, until they are
// killed.
//   metrics_publisher SOCKET PROCESSES [--with-child]
// Prints a line when all have started: the ids of the processes. Each has counted 7 timeouts, sent
// 4,096 bytes on plane 0 and has 2 peers. With a child, each leaves one behind that holds all that
// it has open.
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "openmrc/host/publisher.h"

namespace {

using openmrc::host::Gauge;
using openmrc::host::HostValues;
using openmrc::host::PlaneValue;

void look(HostValues& values) {
  values.at(HostValues::place(openmrc::core::Count::kTimeouts)) += 7;
  values.at(HostValues::place(PlaneValue::kSentBytes, 0)) += 4096;
  values.at(HostValues::place(Gauge::kPeers)) += 2;
}

[[noreturn]] void publish_for_ever(const char* socket, bool with_child) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const openmrc::host::Publisher publisher(
      {.program = "test-publisher",
       .planes = 1,
       .socket = socket,
       .interval = openmrc::seconds(1)},  // a thousand of them have other things to do
      look);
  if (with_child) {
    ::sleep(1);
    if (::fork() == 0) ::prctl(PR_SET_PDEATHSIG, 0);
  }
  for (;;) ::pause();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const bool with_child = argc > 3 && std::string_view(argv[3]) == "--with-child";
  std::vector<pid_t> processes;
  for (int i = 0; i < std::atoi(argv[2]); ++i) {
    const pid_t process = ::fork();
    if (process == 0) publish_for_ever(argv[1], with_child);
    if (process < 0) return 1;
    processes.push_back(process);
  }
  for (const pid_t process : processes) std::printf("%d ", process);
  std::printf("\n");
  std::fflush(stdout);
  ::signal(SIGCHLD, SIG_IGN);  // none of them stays as a zombie
  for (;;) ::pause();
}
