// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/netns.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace openmrc::lab {
namespace {

using std::filesystem::path;

path names_folder() { return "/run/netns"; }

// What tells namespaces apart.
using Identity = std::pair<dev_t, ino_t>;

bool identify(const path& file, Identity& identity) {
  struct stat found{};
  if (stat(file.c_str(), &found) != 0) return false;
  identity = {found.st_dev, found.st_ino};
  return true;
}

pid_t parent_of(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');  // the name may contain anything
  if (name_end == std::string::npos || name_end + 4 >= text.size()) return 0;
  pid_t parent = 0;
  std::from_chars(text.data() + name_end + 4, text.data() + text.size(), parent);
  return parent;
}

std::set<pid_t> self_and_ancestors() {
  std::set<pid_t> line;
  for (pid_t pid = getpid(); pid > 0 && line.insert(pid).second;) pid = parent_of(pid);
  return line;
}

int open_own_space() { return open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC); }

std::string because(std::string_view what) {
  return fmt::format("{}: {}", what, std::strerror(errno));
}

ifreq request_for(const std::string& interface) {
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  return request;
}

}  // namespace

std::vector<std::string> spaces_with_prefix(std::string_view prefix) {
  std::vector<std::string> spaces;
  std::error_code none;  // no folder, no namespaces
  for (const auto& entry : std::filesystem::directory_iterator(names_folder(), none)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) spaces.push_back(std::move(name));
  }
  std::ranges::sort(spaces);
  return spaces;
}

bool space_exists(const std::string& space) {
  std::error_code none;
  return std::filesystem::exists(names_folder() / space, none);
}

std::vector<pid_t> processes_in(std::span<const std::string> spaces) {
  std::set<Identity> wanted;
  for (const std::string& space : spaces) {
    Identity identity;
    if (identify(names_folder() / space, identity)) wanted.insert(identity);
  }
  const std::set<pid_t> spared = self_and_ancestors();
  std::vector<pid_t> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || end != name.data() + name.size()) continue;
    Identity identity;
    if (!identify(entry.path() / "ns/net", identity)) continue;  // it has ended
    if (wanted.contains(identity) && !spared.contains(pid)) found.push_back(pid);
  }
  return found;
}

void end_processes(std::span<const std::string> spaces) {
  constexpr auto kPatience = std::chrono::milliseconds(500);
  constexpr auto kPause = std::chrono::milliseconds(10);
  const auto give_up = std::chrono::steady_clock::now() + kPatience;
  std::set<pid_t> asked;
  while (true) {
    const auto left = processes_in(spaces);
    if (left.empty()) return;
    // Also who has just come in.
    for (const pid_t pid : left) {
      if (asked.insert(pid).second) kill(pid, SIGTERM);
    }
    const bool late = std::chrono::steady_clock::now() > give_up;
    if (late) {
      for (const pid_t pid : left) kill(pid, SIGKILL);
      if (std::chrono::steady_clock::now() > give_up + kPatience) return;
    }
    std::this_thread::sleep_for(kPause);
  }
}

Result<SpaceVisit, std::string> SpaceVisit::enter(const std::string& space) {
  const int home = open_own_space();
  if (home < 0) return failure(because("cannot open the own network namespace"));
  SpaceVisit visit(home);
  const int there = open((names_folder() / space).c_str(), O_RDONLY | O_CLOEXEC);
  if (there < 0) return failure(because(fmt::format("no namespace '{}'", space)));
  const bool entered = setns(there, CLONE_NEWNET) == 0;
  const std::string why = entered ? "" : because(fmt::format("cannot enter '{}'", space));
  close(there);
  if (!entered) return failure(why);
  return visit;
}

Result<SpaceVisit, std::string> SpaceVisit::enter_new() {
  const int home = open_own_space();
  if (home < 0) return failure(because("cannot open the own network namespace"));
  SpaceVisit visit(home);
  if (unshare(CLONE_NEWNET) != 0) return failure(because("cannot make a network namespace"));
  return visit;
}

SpaceVisit::SpaceVisit(SpaceVisit&& other) noexcept : home_(std::exchange(other.home_, -1)) {}

void SpaceVisit::stay() { close(std::exchange(home_, -1)); }

SpaceVisit::~SpaceVisit() {
  if (home_ < 0) return;
  setns(home_, CLONE_NEWNET);
  close(home_);
}

Result<Interfaces, std::string> Interfaces::of(const std::string& space) {
  const auto visit = SpaceVisit::enter(space);
  if (!visit) return failure(visit.error());
  const int opened = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (opened < 0) return failure(because("cannot open a socket"));
  return Interfaces(space, opened);
}

Interfaces::Interfaces(Interfaces&& other) noexcept
    : space_(std::move(other.space_)), socket_(std::exchange(other.socket_, -1)) {}

Interfaces::~Interfaces() {
  if (socket_ >= 0) close(socket_);
}

Interfaces::State Interfaces::state(const std::string& interface) const {
  ifreq request = request_for(interface);
  if (ioctl(socket_, SIOCGIFFLAGS, &request) != 0) return {};
  const int flags = request.ifr_flags;
  return {.exists = true, .up = (flags & IFF_UP) != 0, .carrier = (flags & IFF_RUNNING) != 0};
}

Result<void, std::string> Interfaces::set_down(const std::string& interface) const {
  ifreq request = request_for(interface);
  if (ioctl(socket_, SIOCGIFFLAGS, &request) == 0) {
    request.ifr_flags = static_cast<short>(request.ifr_flags & ~IFF_UP);
    if (ioctl(socket_, SIOCSIFFLAGS, &request) == 0) return {};
  }
  return failure(because(fmt::format("cannot set {} of '{}' down", interface, space_)));
}

}  // namespace openmrc::lab
