// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/fabric/output_of.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace openmrc::tools {
namespace {

using Clock = std::chrono::steady_clock;

// Both ends are closed in programs that are started meanwhile.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) ends_ = {-1, -1};
  }
  ~Pipe() {
    close_write();
    if (ends_[0] >= 0) close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  Pipe(Pipe&&) = delete;
  Pipe& operator=(Pipe&&) = delete;

  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

Result<pid_t, std::string> start(const std::vector<std::string>& words, const Pipe& out,
                                 const Pipe& err) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end(), STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return pid;
  return failure(fmt::format("cannot run '{}': {}", words.front(), std::strerror(error)));
}

// Reads both until both end. The error says what was exceeded.
Result<void, std::string> read_both(const Pipe& out, const Pipe& err, std::string& said,
                                    std::string& complained, std::size_t bytes_max,
                                    Clock::time_point deadline) {
  std::array<pollfd, 2> ends{{{out.read_end(), POLLIN, 0}, {err.read_end(), POLLIN, 0}}};
  std::array<std::string*, 2> texts{&said, &complained};
  std::array<char, 65536> block{};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    const int ready = poll(ends.data(), ends.size(), static_cast<int>(std::max(0L, left.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return failure(std::string("took too long"));
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      const ssize_t got = read(ends[i].fd, block.data(), block.size());
      if (got <= 0) {
        ends[i].fd = -1;  // is left out by poll
        continue;
      }
      texts[i]->append(block.data(), static_cast<std::size_t>(got));
      if (texts[i]->size() > bytes_max) return failure(std::string("printed more than is read"));
    }
  }
  return {};
}

}  // namespace

Result<std::string, std::string> output_of(const std::vector<std::string>& words,
                                           std::size_t bytes_max, std::chrono::seconds time_max) {
  Pipe out;
  Pipe err;
  if (out.read_end() < 0 || err.read_end() < 0) return failure(std::string("no more files"));
  const auto pid = start(words, out, err);
  if (!pid) return failure(pid.error());
  out.close_write();
  err.close_write();
  std::string said;
  std::string complained;
  const auto ended = read_both(out, err, said, complained, bytes_max, Clock::now() + time_max);
  if (!ended) kill(*pid, SIGKILL);
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) return failure(fmt::format("'{}' {}", fmt::join(words, " "), ended.error()));
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return said;
  const std::size_t end = complained.find_last_not_of('\n');
  return failure(fmt::format("'{}' failed: {}", fmt::join(words, " "),
                             complained.substr(0, end == std::string::npos ? 0 : end + 1)));
}

}  // namespace openmrc::tools
