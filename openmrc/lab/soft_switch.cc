// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/soft_switch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "openmrc/host/interrupt.h"
#include "openmrc/lab/faults.h"
#include "openmrc/lab/layout.h"
#include "openmrc/lab/netns.h"
#include "openmrc/lab/soft_port.h"
#include "openmrc/lab/soft_tables.h"
#include "openmrc/lab/steps.h"
#include "openmrc/softswitch/switch.h"

namespace openmrc::lab {
namespace {

using fabric::LinkId;
using fabric::SwitchId;
using fabric::Tier;
using softswitch::PortIndex;
using softswitch::Switch;

constexpr std::string_view kReady = "ready\n";
constexpr std::int64_t kSecond = 1'000'000'000;

// One switch with its ports.
class SoftNode {
 public:
  static Result<SoftNode, std::string> open(const Spec& spec, const SwitchId& id) {
    auto made = Switch::make(soft_settings(spec, id));
    if (!made) return failure(std::string(describe(made.error().fault)));
    SoftNode node(id, std::move(*made), spec.bits_per_second);
    const auto visit = SpaceVisit::enter(space_of(spec.name, id));
    if (!visit) return failure(visit.error());
    for (const LinkId& link : links_of(spec.fabric(), id)) {
      const Cable cable = cable_of(spec, link);
      const bool t0 = id.tier == Tier::kT0;
      const End& own = t0 ? cable.t0 : cable.far;
      auto port = SoftPort::open(own, t0 ? cable.far : cable.t0);
      if (!port) return failure(std::move(port.error()));
      node.ports_.push_back(
          {.port = std::move(*port), .link = name_of(link), .interface = own.interface});
    }
    return node;
  }

  [[nodiscard]] std::size_t ports() const { return ports_.size(); }
  [[nodiscard]] int socket(std::size_t port) const { return ports_[port].port.socket(); }

  void receive(std::size_t port, SoftPort::Burst& burst, std::int64_t now_ns) {
    ports_[port].port.receive(burst);
    for (const ConstBytes packet : burst.packets()) {
      if (const auto out = it_.receive(PortIndex(static_cast<std::uint16_t>(port)), packet)) {
        ports_[out->raw()].waits = true;
      }
    }
    send(now_ns);
  }

  // Sends what may go now. Nothing, or when there is more to send.
  std::optional<std::int64_t> send(std::int64_t now_ns) {
    std::optional<std::int64_t> next;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      if (ports_[i].waits) send_from(i, now_ns);
      if (ports_[i].waits) next = std::min(next.value_or(ports_[i].free_ns), ports_[i].free_ns);
    }
    return next;
  }

  [[nodiscard]] nlohmann::ordered_json counters() const {
    nlohmann::ordered_json json{{"name", name_of(id_)}, {"ports", nlohmann::ordered_json::array()}};
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      const auto& counted = it_.counters(PortIndex(static_cast<std::uint16_t>(i)));
      nlohmann::ordered_json port{{"link", ports_[i].link},
                                  {"interface", ports_[i].interface},
                                  {"received", counted.received},
                                  {"transmitted", counted.transmitted},
                                  {"marked", counted.marked},
                                  {"trimmed", counted.trimmed},
                                  {"dropped", nlohmann::ordered_json::object()}};
      for (std::size_t reason = 0; reason < softswitch::kDropTable.size(); ++reason) {
        const auto count = counted.dropped.of(static_cast<softswitch::Drop>(reason));
        if (count > 0) port["dropped"][softswitch::kDropTable[reason].counter] = count;
      }
      json["ports"].push_back(std::move(port));
    }
    return json;
  }

 private:
  struct Port {
    SoftPort port;
    std::string link;          // at which it is, as faults name it
    std::string interface;     // in the switch's namespace
    bool waits = false;        // packets may wait there
    std::int64_t free_ns = 0;  // when it has sent what it began
  };

  SoftNode(const SwitchId& id, Switch it, std::optional<std::int64_t> bits_per_second)
      : id_(id), it_(std::move(it)), bits_per_second_(bits_per_second) {}

  void send_from(std::size_t index, std::int64_t now_ns) {
    // A process wakes up late; what it missed it may catch up on.
    constexpr std::int64_t kCatchUpNs = 200'000;
    Port& port = ports_[index];
    port.free_ns = std::max(port.free_ns, now_ns - kCatchUpNs);
    std::array<ConstBytes, SoftPort::kBurstMax> burst{};
    std::size_t count = 0;
    while (port.waits && port.free_ns <= now_ns) {
      burst[count] = it_.transmit(PortIndex(static_cast<std::uint16_t>(index)));
      port.waits = !burst[count].empty();
      if (!port.waits) break;
      port.free_ns += time_of(burst[count].size());
      if (++count < burst.size()) continue;
      port.port.send({burst.data(), count});
      count = 0;
    }
    if (count > 0) port.port.send({burst.data(), count});
  }

  [[nodiscard]] std::int64_t time_of(std::size_t size) const {
    constexpr std::int64_t kEthernetSize = 14;
    if (!bits_per_second_) return 0;
    return (static_cast<std::int64_t>(size) + kEthernetSize) * 8 * kSecond / *bits_per_second_;
  }

  SwitchId id_;
  Switch it_;
  std::optional<std::int64_t> bits_per_second_;
  std::vector<Port> ports_{};
};

// All of them, taking turns.
class SoftSwitches {
 public:
  static Result<SoftSwitches, std::string> open(const Spec& spec) {
    SoftSwitches all(spec);
    for (const SwitchId& id : all_switches(spec.fabric())) {
      auto node = SoftNode::open(spec, id);
      if (!node) return failure(std::move(node.error()));
      all.nodes_.push_back(std::move(*node));
    }
    for (std::size_t node = 0; node < all.nodes_.size(); ++node) {
      for (std::size_t port = 0; port < all.nodes_[node].ports(); ++port) {
        epoll_event event{.events = EPOLLIN, .data = {.u64 = node << 32 | port}};
        if (epoll_ctl(all.epoll_, EPOLL_CTL_ADD, all.nodes_[node].socket(port), &event) != 0) {
          return failure(fmt::format("cannot watch a socket: {}", std::strerror(errno)));
        }
      }
    }
    return all;
  }
  ~SoftSwitches() {
    if (epoll_ >= 0) close(epoll_);
  }
  SoftSwitches(SoftSwitches&& other) noexcept
      : spec_(std::move(other.spec_)),
        epoll_(std::exchange(other.epoll_, -1)),
        nodes_(std::move(other.nodes_)) {}
  SoftSwitches(const SoftSwitches&) = delete;
  SoftSwitches& operator=(const SoftSwitches&) = delete;
  SoftSwitches& operator=(SoftSwitches&&) = delete;

  void run() {
    SoftPort::Burst burst;
    std::int64_t next_report_ns = 0;
    while (!host::interrupted()) {
      std::array<epoll_event, 64> events{};
      const int ready = wait(events);
      const std::int64_t now_ns = monotonic_ns();
      for (std::size_t i = 0; std::cmp_less(i, ready); ++i) {
        const std::uint64_t who = events[i].data.u64;
        nodes_[who >> 32].receive(who & 0xffff'ffff, burst, now_ns);
      }
      send(now_ns);
      if (now_ns < next_report_ns) continue;
      next_report_ns = now_ns + kSecond;
      report();
    }
  }

 private:
  explicit SoftSwitches(Spec spec) : spec_(std::move(spec)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

  // Until a packet comes, a port is free, or a second is over.
  int wait(std::span<epoll_event> events) {
    const std::int64_t until = next_ns_.value_or(monotonic_ns() + kSecond);
    const std::int64_t left = std::clamp(until - monotonic_ns(), std::int64_t{0}, kSecond);
    const timespec timeout{.tv_sec = left / kSecond, .tv_nsec = left % kSecond};
    return epoll_pwait2(epoll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
  }

  void send(std::int64_t now_ns) {
    next_ns_.reset();
    for (SoftNode& node : nodes_) {
      if (const auto next = node.send(now_ns)) next_ns_ = std::min(next_ns_.value_or(*next), *next);
    }
  }

  // As a whole or not at all: somebody may be reading.
  void report() const {
    auto json = nlohmann::ordered_json::array();
    for (const SoftNode& node : nodes_) json.push_back(node.counters());
    const auto file = folder_of(spec_.name) / "switches.json";
    auto unfinished = file;
    unfinished += ".new";
    std::error_code ignored;  // the next one will do
    if (write(File{unfinished, json.dump(1) + "\n"})) {
      std::filesystem::rename(unfinished, file, ignored);
    }
  }

  Spec spec_;
  int epoll_;
  std::vector<SoftNode> nodes_{};
  std::optional<std::int64_t> next_ns_{};
};

std::string read_all(int fd) {
  std::string text;
  std::array<char, 512> piece{};
  for (ssize_t n = 0; (n = read(fd, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

Result<void, std::string> start_soft_switch(const Spec& spec) {
  std::array<int, 2> pipe{};
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) return failure(std::string("cannot make a pipe"));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  std::array<std::string, 4> words{"mrc", "lab", "soft-switch", spec.name};
  std::array<char*, 5> arguments{words[0].data(), words[1].data(), words[2].data(), words[3].data(),
                                 nullptr};
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);
  const std::string said = error == 0 ? read_all(pipe[0]) : std::strerror(error);
  close(pipe[0]);
  if (said == kReady) return {};
  return failure(fmt::format("the soft switch does not start: {}", said));
}

bool soft_switch_runs(const std::string& lab) {
  return !processes_in(std::array{management_space(lab)}).empty();
}

int be_soft_switch(const Spec& spec) {
  close_range(STDERR_FILENO + 1, ~0U, 0);  // the lock of whoever builds the lab
  host::catch_interrupts();
  prctl(PR_SET_TIMERSLACK, 1'000UL, 0UL, 0UL, 0UL);  // nanoseconds; 50 times as much is usual
  auto switches = SoftSwitches::open(spec);
  auto visit = SpaceVisit::enter(management_space(spec.name));
  if (!switches || !visit) {
    std::cout << (switches ? visit.error() : switches.error());
    return 1;
  }
  visit->stay();  // to its very end, which is waited for there
  std::cout << kReady << std::flush;
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return 1;
  dup2(nowhere, STDOUT_FILENO);  // whoever waited may go on
  close(nowhere);
  switches->run();
  return 0;
}

}  // namespace openmrc::lab
