// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/demo/traffic.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>

#include "openmrc/fabric/names.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/lab/exec.h"
#include "openmrc/lab/faults.h"

namespace openmrc::lab {
namespace {

constexpr Duration kLookInterval = milliseconds(20);

// This program, which may have been downloaded under another name than mrc.
std::string own_file() {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "mrc" : file.string();
}

std::filesystem::path new_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "mrc-demo-XXXXXX").string();
  return mkdtemp(name.data()) != nullptr ? std::filesystem::path(name) : std::filesystem::path();
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// In the child: what it prints goes to a file, Ctrl-C is its parent's to handle, and it does not
// outlive its parent.
void detach(const std::filesystem::path& output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int file = open(output.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return;
  dup2(file, STDOUT_FILENO);
  dup2(file, STDERR_FILENO);
}

}  // namespace

DemoTraffic::DemoTraffic(const Spec& spec, fabric::HostIndex sender, fabric::HostIndex receiver,
                         unsigned seconds)
    : folder_(new_folder()) {
  start(spec, receiver, "receiver",
        {"--timeline", timeline_file(), "--json", folder_ / "receiver.json"});
  start(spec, sender, "sender",
        {name_of(receiver), "--verify", "-s", "64K", "-t", "32", "-D", std::to_string(seconds)});
}

DemoTraffic::~DemoTraffic() {
  for (Program& program : programs_) {
    if (program.pid == 0) continue;
    kill(program.pid, SIGKILL);
    waitpid(program.pid, nullptr, 0);
  }
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

void DemoTraffic::start(const Spec& spec, fabric::HostIndex host, const std::string& name,
                        std::vector<std::string> arguments) {
  const std::filesystem::path output = folder_ / (name + ".txt");
  std::vector<std::string> program{own_file(), "perf", "write-bw", "--quiet"};
  std::ranges::move(arguments, std::back_inserter(program));
  const pid_t pid = fork();
  if (pid == 0) {
    detach(output);
    fmt::print(stderr, "{}\n", execute(spec, host, program));
    std::fflush(stderr);
    _exit(1);
  }
  programs_.push_back({.pid = std::max(pid, 0), .exit_code = pid < 0 ? 1 : 0, .output = output});
}

void DemoTraffic::look(Program& program) {
  int status = 0;
  if (program.pid == 0 || waitpid(program.pid, &status, WNOHANG) != program.pid) return;
  program.pid = 0;
  program.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

bool DemoTraffic::running() {
  std::ranges::for_each(programs_, [](Program& program) { look(program); });
  return std::ranges::all_of(programs_, [](const Program& program) { return program.pid != 0; });
}

Result<void, std::string> DemoTraffic::finish(Duration at_most) {
  const std::int64_t end = monotonic_ns() + at_most.raw();
  const auto any_runs = [this] {
    (void)running();
    return std::ranges::any_of(programs_, [](const Program& program) { return program.pid != 0; });
  };
  while (any_runs() && monotonic_ns() < end && !host::interrupted()) {
    sleep_until(monotonic_ns() + kLookInterval.raw());
  }
  for (const Program& program : programs_) {
    if (program.pid != 0) return failure("mrc perf does not end: " + text_of(program.output));
    if (program.exit_code != 0) return failure("mrc perf: " + text_of(program.output));
  }
  return {};
}

std::uint64_t DemoTraffic::verified() const {
  const auto json = nlohmann::json::parse(text_of(folder_ / "receiver.json"), nullptr, false);
  const auto at = nlohmann::json::json_pointer("/results/verified");
  if (json.is_discarded() || !json.contains(at)) return 0;
  return json[at].is_number_unsigned() ? json[at].get<std::uint64_t>() : 0;
}

}  // namespace openmrc::lab
