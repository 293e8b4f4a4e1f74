// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/build.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <system_error>
#include <utility>

#include "openmrc/host/interrupt.h"
#include "openmrc/lab/emitted.h"
#include "openmrc/lab/faults.h"
#include "openmrc/lab/layout.h"
#include "openmrc/lab/netns.h"
#include "openmrc/lab/plan.h"
#include "openmrc/lab/soft_switch.h"

namespace openmrc::lab {
namespace {

namespace fs = std::filesystem;
using fabric::HostIndex;
using fabric::LinkId;

// A file of a dozen lines; what is cut off does not parse.
constexpr std::size_t kSpecBytesMax = 65536;

// Programs of a command that was killed go on for a moment.
constexpr std::int64_t kLockWaitNs = 2'000'000'000;
constexpr std::int64_t kLockRetryNs = 20'000'000;

// Held by whoever builds or removes a lab, and by the programs it runs, which go on when it is
// killed. It is the lab's own folder that is locked, so that nothing more has to be removed.
class Lock {
 public:
  static Result<Lock, std::string> take(const std::string& lab) {
    const fs::path folder = folder_of(lab);
    std::error_code error;
    fs::create_directories(folder, error);
    const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY);  // NOLINT: is handed on
    if (fd < 0) {
      return failure(
          fmt::format("cannot make the folder '{}': {}", folder.string(), std::strerror(errno)));
    }
    const std::int64_t end = monotonic_ns() + kLockWaitNs;
    do {
      if (flock(fd, LOCK_EX | LOCK_NB) == 0) return Lock(fd);
      sleep_until(monotonic_ns() + kLockRetryNs);
    } while (monotonic_ns() < end && !host::interrupted());
    close(fd);
    return failure(fmt::format("the lab '{}' is being built or removed by another command", lab));
  }
  ~Lock() {
    if (fd_ >= 0) close(fd_);
  }
  Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;
  Lock& operator=(Lock&&) = delete;

 private:
  explicit Lock(int fd) : fd_(fd) {}

  int fd_;
};

// A thing that the lab needs, tried out in a namespace of its own.
struct Need {
  std::string_view what;
  std::vector<std::string> command;
};

void add_ipv4_needs(std::vector<Need>& needs) {
  needs.push_back({"sysctl, of the package procps, and hashing by ports (Linux 4.12)",
                   {"sysctl", "-q", "-w", "net.ipv4.fib_multipath_hash_policy=1"}});
  needs.push_back(
      {"routes over several next hops (CONFIG_IP_ROUTE_MULTIPATH)",
       {"ip", "-4", "route", "add", "10.0.0.0/16", "nexthop", "via", "169.254.0.1", "dev", "probe0",
        "onlink", "nexthop", "via", "169.254.0.1", "dev", "probe1", "onlink"}});
}

void add_ipv6_needs(const Spec& spec, std::vector<Need>& needs) {
  needs.insert(
      needs.end(),
      {{"sysctl, of the package procps", {"sysctl", "-q", "-w", "net.ipv6.conf.all.forwarding=1"}},
       {"seg6local with End.DT6 (CONFIG_IPV6_SEG6_LWTUNNEL)",
        {"ip", "-6", "route", "add", "fcbb:bb00:1::/48", "encap", "seg6local", "action", "End.DT6",
         "table", "local", "dev", "probe0"}},
       {"rules by protocol (CONFIG_IPV6_MULTIPLE_TABLES)",
        {"ip", "-6", "rule", "add", "ipproto", "17", "lookup", fmt::format("{}", kUsidTable)}}});
  if (spec.switches == Switches::kKernel) {
    needs.push_back(
        {"seg6local with the NEXT-C-SID flavour (Linux 6.1, iproute2 6.1)",
         {"ip", "-6", "route", "add", "fcbb:bb00:2::/48", "encap", "seg6local", "action", "End",
          "flavors", "next-csid", "lblen", "32", "nflen", "16", "dev", "probe0"}});
  }
}

std::vector<Need> needs_of(const Spec& spec) {
  std::vector<Need> needs{
      {"veth links (CONFIG_VETH)",
       {"ip", "link", "add", "probe0", "type", "veth", "peer", "name", "probe1"}},
      {"bridges (CONFIG_BRIDGE)", {"ip", "link", "add", "probe2", "type", "bridge"}},
      {"interfaces that go up", {"ip", "link", "set", "dev", "lo", "up"}},
      {"interfaces that go up", {"ip", "link", "set", "dev", "probe0", "up"}},
      {"interfaces that go up", {"ip", "link", "set", "dev", "probe1", "up"}}};
  if (spec.ip == wire::IpVersion::kV4) {
    add_ipv4_needs(needs);
  } else {
    add_ipv6_needs(spec, needs);
  }
  if (spec.source == Source::kFrr) {
    needs.push_back(
        {"FRR for --from frr (package frr)", {"test", "-x", std::string(kFrrFolder) + "/staticd"}});
  }
  if (spec.bits_per_second) {
    needs.push_back({"token buckets for --rate (CONFIG_NET_SCH_TBF)",
                     {"tc", "qdisc", "add", "dev", "probe0", "root", "tbf", "rate", "1gbit",
                      "burst", "32kb", "latency", "3ms"}});
  }
  return needs;
}

std::vector<std::string> folders_with_prefix(const fs::path& parent, std::string_view prefix) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(parent, none)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(prefix)) names.push_back(std::move(name));
  }
  return names;
}

// Folders that others may use too go only when they are empty.
void remove_files(const std::string& lab) {
  std::error_code ignored;  // what cannot be removed is found out by the caller
  for (const std::string& space : folders_with_prefix(spaces_folder(), space_prefix(lab))) {
    fs::remove_all(spaces_folder() / space, ignored);
  }
  fs::remove(spaces_folder(), ignored);
  fs::remove_all(folder_of(lab), ignored);
  fs::remove(labs_folder(), ignored);
  fs::remove(labs_folder().parent_path(), ignored);
}

// There from the end of `up` to the beginning of `down`. What is killed in either leaves none.
fs::path complete_mark(const std::string& lab) { return folder_of(lab) / "complete"; }

Result<void, std::string> remove_locked(const std::string& lab) {
  std::error_code ignored;
  fs::remove(complete_mark(lab), ignored);
  const auto spaces = spaces_with_prefix(space_prefix(lab));
  end_processes(spaces);
  Step step{{"ip", "-force", "-batch", "-"}, {}};
  for (const std::string& space : spaces) step.input.push_back("netns delete " + space);
  Result<void, std::string> removed;
  if (!spaces.empty()) removed = run(step);
  remove_files(lab);
  return removed;
}

Result<void, std::string> make(const Spec& spec) {
  const Plan plan = plan_of(spec);
  for (const File& file : plan.files) {
    if (auto written = write(file); !written) return written;
  }
  for (const Stage& stage : plan.stages) {
    if (auto done = run(stage); !done) return done;
    if (host::interrupted()) return failure(std::string("interrupted"));
  }
  if (is_soft(spec.switches)) {
    if (auto started = start_soft_switch(spec); !started) return started;
  }
  return write(File{complete_mark(spec.name), ""});
}

Result<Built, std::string> make_or_remove(const Spec& spec, Built how) {
  if (auto made = make(spec); !made) {
    const auto removed = remove_locked(spec.name);
    return failure(made.error() + (removed ? "" : "; and then: " + removed.error()));
  }
  return how;
}

std::string name_from_space(const std::string& space) {
  constexpr std::string_view kPrefix = "mrc-";
  const std::size_t end = space.find('-', kPrefix.size());
  if (end == std::string::npos) return "";
  return space.substr(kPrefix.size(), end - kPrefix.size());
}

bool interfaces_exist(const Spec& spec, const LinkId& link) {
  const Cable cable = cable_of(spec, link);
  return std::ranges::all_of(std::array{&cable.t0, &cable.far}, [](const End* end) {
    const auto interfaces = Interfaces::of(end->space);
    return interfaces && interfaces->state(end->interface).exists;
  });
}

}  // namespace

Result<void, std::string> check_machine(const Spec& spec) {
  const auto visit = SpaceVisit::enter_new();
  if (!visit) return failure(visit.error());
  for (const Need& need : needs_of(spec)) {
    if (const auto there = run(Step{need.command, {}}); !there) {
      return failure(fmt::format("this machine lacks {}: {}", need.what, there.error()));
    }
  }
  return {};
}

Result<Built, std::string> build(const Spec& spec) {
  const bool known = fs::exists(spec_file(spec.name));
  const auto lock = Lock::take(spec.name);
  if (!lock) return failure(lock.error());
  host::catch_interrupts();
  const bool remains = known || !spaces_with_prefix(space_prefix(spec.name)).empty();
  if (const auto there = load_spec(spec.name); remains && there) {
    if (*there != spec) {
      return failure(fmt::format(
          "there is a lab '{0}' already, with {1}; remove it (mrc lab down {0}), or give the new "
          "one another name (mrc lab up NAME ...)",
          spec.name, options_of(*there)));
    }
    if (is_whole(spec)) {
      if (auto healed = heal_all(spec); !healed) return failure(std::move(healed.error()));
      return Built::kThere;
    }
  }
  if (remains) {
    if (auto removed = remove_locked(spec.name); !removed) return failure(removed.error());
    const auto again = Lock::take(spec.name);
    if (!again) return failure(again.error());
    return make_or_remove(spec, Built::kRebuilt);
  }
  if (auto able = check_machine(spec); !able) {
    remove_files(spec.name);
    return failure(std::move(able.error()));
  }
  return make_or_remove(spec, Built::kNew);
}

std::string script_of(const Spec& spec) {
  const Plan plan = plan_of(spec);
  std::string script = fmt::format("#!/bin/sh -e\n# The lab '{}': {}\n", spec.name, describe(spec));
  for (const File& file : plan.files) script += script_of(file);
  for (const Stage& stage : plan.stages) {
    for (const Step& step : stage) script += script_of(step);
  }
  return script + script_of(File{complete_mark(spec.name), ""});
}

Result<void, std::string> remove(const std::string& lab) {
  const auto lock = Lock::take(lab);
  if (!lock) return failure(lock.error());
  host::catch_interrupts();  // what is begun is finished
  return remove_locked(lab);
}

std::vector<std::string> labs_there() {
  std::set<std::string> names;
  for (const std::string& name : folders_with_prefix(labs_folder(), "")) names.insert(name);
  for (const std::string& space : spaces_with_prefix("mrc-")) {
    if (const std::string name = name_from_space(space); is_lab_name(name)) names.insert(name);
  }
  return {names.begin(), names.end()};
}

Result<Spec, std::string> load(const std::string& lab) {
  auto spec = load_spec(lab);
  if (spec && !is_complete(lab)) {
    return failure(
        fmt::format("the lab '{0}' is incomplete: it is being built or removed, or what did so was "
                    "killed; build it again with sudo mrc lab up {0} {1}, or remove it with sudo "
                    "mrc lab down {0}",
                    lab, options_of(*spec)));
  }
  return spec;
}

bool is_complete(const std::string& lab) { return fs::exists(complete_mark(lab)); }

Result<Spec, std::string> load_spec(const std::string& lab) {
  if (!is_lab_name(lab)) return failure(fmt::format("invalid lab name '{}'", lab));
  std::ifstream file(spec_file(lab));
  if (!file) {
    return failure(fmt::format("no lab '{0}': build it with sudo mrc lab up{1}", lab,
                               lab == kNameDefault ? "" : " " + lab));
  }
  std::string text(kSpecBytesMax, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const auto spec = spec_from_json(text);
  if (spec) return *spec;
  return failure(fmt::format("'{}' does not describe a lab: remove it with sudo mrc lab down {}",
                             spec_file(lab).string(), lab));
}

bool is_whole(const Spec& spec) {
  const auto links = all_links(spec.fabric());
  return is_complete(spec.name) && space_exists(management_space(spec.name)) &&
         std::ranges::all_of(links,
                             [&](const LinkId& link) { return interfaces_exist(spec, link); }) &&
         (spec.switches == Switches::kKernel || soft_switch_runs(spec.name));
}

}  // namespace openmrc::lab
