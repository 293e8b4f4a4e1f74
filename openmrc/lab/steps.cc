// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/steps.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace openmrc::lab {
namespace {

// The kernel lets most of what `ip` does happen one after the other; more at a time gain nothing.
constexpr std::size_t kAtATime = 4;

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/=+%@";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(word);
  }
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// An unnamed file in memory, at its beginning.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text = {}) : fd_(memfd_create("mrc-lab", MFD_CLOEXEC)) {
    while (!text.empty() && fd_ >= 0) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written <= 0) break;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    if (fd_ >= 0) lseek(fd_, 0, SEEK_SET);
  }
  ~MemoryFile() {
    if (fd_ >= 0) close(fd_);
  }
  MemoryFile(MemoryFile&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  MemoryFile& operator=(MemoryFile&&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] std::string text() const {
    std::string text;
    std::array<char, 4096> piece{};
    lseek(fd_, 0, SEEK_SET);
    for (ssize_t n = 0; (n = read(fd_, piece.data(), piece.size())) > 0;) {
      text.append(piece.data(), static_cast<std::size_t>(n));
    }
    return text;
  }

 private:
  int fd_;
};

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

// "Command failed -:5" is what `ip` and `tc` say of the fifth line of a batch.
std::optional<std::size_t> failed_line(std::string_view said) {
  constexpr std::string_view kMark = "Command failed -:";
  const std::size_t at = said.find(kMark);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t line = 0;
  const std::string_view number = said.substr(at + kMark.size());
  std::from_chars(number.data(), number.data() + number.size(), line);
  return line;
}

std::string failure_text(const Step& step, const std::string& said) {
  const auto line = failed_line(said);
  const std::string where = line && *line >= 1 && *line <= step.input.size()
                                ? fmt::format(" at '{}'", step.input[*line - 1])
                                : "";
  std::string program;
  for (const std::string& word : step.arguments) program += program.empty() ? word : " " + word;
  return fmt::format("'{}' failed{}: {}", program, where,
                     said.substr(0, said.find_last_not_of('\n') + 1));
}

// A program that runs.
class Child {
 public:
  static Result<Child, std::string> start(const Step& step) {
    MemoryFile input(joined(step.input));
    MemoryFile said;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input.fd(), STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, said.fd(), STDERR_FILENO);
    if (step.leaves_daemon) posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
    std::vector<char*> words;
    words.reserve(step.arguments.size() + 1);
    for (const std::string& word : step.arguments) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    // Ctrl-C is for this program, which may have to put things in order first.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    pid_t pid = 0;
    const int error = posix_spawnp(&pid, words[0], &actions, &attributes, words.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
      return failure(fmt::format("cannot run '{}': {}", step.arguments[0], std::strerror(error)));
    }
    return Child(step, pid, std::move(said));
  }

  Result<void, std::string> wait() {
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    return failure(failure_text(*step_, said_.text()));
  }

 private:
  Child(const Step& step, pid_t pid, MemoryFile said)
      : step_(&step), pid_(pid), said_(std::move(said)) {}

  const Step* step_;
  pid_t pid_;
  MemoryFile said_;
};

}  // namespace

std::string script_of(const Step& step) {
  std::string text;
  for (const std::string& word : step.arguments)
    text += (text.empty() ? "" : " ") + shell_word(word);
  if (step.input.empty()) return text + "\n";
  return text + " <<'END'\n" + joined(step.input) + "END\n";
}

std::string script_of(const File& file) {
  return fmt::format("mkdir -p {}\ncat > {} <<'END'\n{}END\n",
                     shell_word(file.path.parent_path().string()), shell_word(file.path.string()),
                     file.text);
}

Result<void, std::string> run(const Step& step) {
  auto child = Child::start(step);
  if (!child) return failure(std::move(child.error()));
  return child->wait();
}

Result<void, std::string> run(const Stage& stage) {
  Result<void, std::string> result;
  for (std::size_t begin = 0; begin < stage.size() && result; begin += kAtATime) {
    std::vector<Child> children;
    const std::size_t end = std::min(stage.size(), begin + kAtATime);
    for (std::size_t i = begin; i < end && result; ++i) {
      auto child = Child::start(stage[i]);
      if (child) {
        children.push_back(std::move(*child));
      } else {
        result = failure(std::move(child.error()));
      }
    }
    for (Child& child : children) {
      auto ended = child.wait();
      if (!ended && result) result = std::move(ended);
    }
  }
  return result;
}

Result<void, std::string> write(const File& file) {
  std::error_code ignored;  // the file cannot be written then, which is said
  std::filesystem::create_directories(file.path.parent_path(), ignored);
  std::ofstream out(file.path, std::ios::trunc);
  out << file.text << std::flush;
  if (out) return {};
  return failure(fmt::format("cannot write '{}'", file.path.string()));
}

}  // namespace openmrc::lab
