// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/faults.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "openmrc/host/interrupt.h"
#include "openmrc/lab/journal.h"
#include "openmrc/lab/layout.h"
#include "openmrc/lab/plan.h"
#include "openmrc/lab/steps.h"

namespace openmrc::lab {
namespace {

namespace fs = std::filesystem;
using fabric::HostIndex;
using fabric::LinkId;
using fabric::SwitchId;
using fabric::Tier;

// What cannot be asked of the kernel is noted in files, one for each link.
fs::path note(const Spec& spec, std::string_view kind, const LinkId& link) {
  std::string name = name_of(link);
  std::ranges::replace(name, '/', '+');
  return folder_of(spec.name) / kind / name;
}
constexpr std::string_view kLossyNote = "lossy";        // its loss
constexpr std::string_view kFlappingNote = "flapping";  // the process that does it

std::optional<std::int64_t> read_note(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t number = 0;
  if (file >> number) return number;
  return std::nullopt;
}

// One open namespace after the other, each once.
class Spaces {
 public:
  Result<const Interfaces*, std::string> at(const std::string& space) {
    auto found = open_.find(space);
    if (found == open_.end()) {
      auto opened = Interfaces::of(space);
      if (!opened) return failure(std::move(opened.error()));
      found = open_.emplace(space, std::move(*opened)).first;
    }
    return &found->second;
  }
  Interfaces::State state(const End& end) {
    const auto interfaces = at(end.space);
    return interfaces ? (*interfaces)->state(end.interface) : Interfaces::State{};
  }

 private:
  std::map<std::string, Interfaces> open_{};
};

Result<void, std::string> set_down(Spaces& spaces, std::span<const End> ends) {
  for (const End& end : ends) {
    const auto interfaces = spaces.at(end.space);
    if (!interfaces) return failure(interfaces.error());
    if (auto done = (*interfaces)->set_down(end.interface); !done) return done;
  }
  return {};
}

// Where packets of a link are made to vanish, in both directions.
struct Hook {
  const End& end;
  std::string_view place;  // of nftables

  [[nodiscard]] std::string chain() const { return fmt::format("{}_{}", end.interface, place); }
};

// A soft switch sees packets before they come to `ingress`, so there it is the other end's egress.
// A host's egress is the second choice, because the host would notice.
std::array<Hook, 2> hooks_of(const Spec& spec, const Cable& cable) {
  if (is_soft(spec.switches)) return {{{cable.t0, "egress"}, {cable.far, "egress"}}};
  return {{{cable.t0, "egress"}, {cable.t0, "ingress"}}};
}

std::vector<std::string> chain_lines(const Hook& hook) {
  return {"add table netdev mrc",
          fmt::format("add chain netdev mrc {} {{ type filter hook {} device \"{}\" priority 0; }}",
                      hook.chain(), hook.place, hook.end.interface),
          fmt::format("flush chain netdev mrc {}", hook.chain())};
}

std::string drop_line(const Hook& hook, std::uint32_t loss) {
  const std::string part =
      loss >= kAllPackets ? "" : fmt::format("numgen random mod {} < {} ", kAllPackets, loss);
  return fmt::format("add rule netdev mrc {} {}counter drop", hook.chain(), part);
}

// nftables, once for each namespace.
Stage nft_stage(const std::map<std::string, std::vector<std::string>>& lines_by_space) {
  Stage stage;
  for (const auto& [space, lines] : lines_by_space) {
    stage.push_back({{"ip", "netns", "exec", space, "nft", "-f", "-"}, lines});
  }
  return stage;
}

Stage silence(const Spec& spec, std::span<const LinkId> links, std::uint32_t loss) {
  std::map<std::string, std::vector<std::string>> lines_by_space;
  for (const LinkId& link : links) {
    const Cable cable = cable_of(spec, link);
    for (const Hook& hook : hooks_of(spec, cable)) {
      auto& lines = lines_by_space[hook.end.space];
      std::ranges::move(chain_lines(hook), std::back_inserter(lines));
      lines.push_back(drop_line(hook, loss));
    }
  }
  return nft_stage(lines_by_space);
}

Stage unsilence(const Spec& spec, std::span<const LinkId> links) {
  std::map<std::string, std::vector<std::string>> lines_by_space;
  for (const LinkId& link : links) {
    if (!fs::exists(note(spec, kLossyNote, link))) continue;
    const Cable cable = cable_of(spec, link);
    for (const Hook& hook : hooks_of(spec, cable)) {
      auto& lines = lines_by_space[hook.end.space];
      std::ranges::move(chain_lines(hook), std::back_inserter(lines));
      lines.push_back(fmt::format("delete chain netdev mrc {}", hook.chain()));
    }
  }
  return nft_stage(lines_by_space);
}

SwitchId t0_of(const LinkId& link) { return {link.plane, Tier::kT0, link.rack}; }
SwitchId t1_of(const LinkId& link) { return {link.plane, Tier::kT1, link.port}; }

// The ends to be written again, by who has them.
struct Ends {
  using Interfaces = std::set<std::string, std::less<>>;
  std::map<HostIndex, Interfaces> hosts{};
  std::map<SwitchId, Interfaces> switches{};

  Ends(const Spec& spec, std::span<const LinkId> links) {
    for (const LinkId& link : links) {
      const Cable cable = cable_of(spec, link);
      switches[t0_of(link)].insert(cable.t0.interface);
      if (link.kind == LinkId::Kind::kUplink) {
        switches[t1_of(link)].insert(cable.far.interface);
      } else {
        hosts[spec.fabric().host_at(link.rack, link.port)].insert(cable.far.interface);
      }
    }
  }
};

auto among(const Ends::Interfaces& interfaces) {
  return [&interfaces](std::string_view name) { return interfaces.contains(name); };
}

Stage restore(const Spec& spec, std::span<const LinkId> links) {
  const Ends ends(spec, links);
  Spaces spaces;
  Stage stage;
  for (const auto& [id, interfaces] : ends.switches) {
    const std::string space = space_of(spec.name, id);
    const auto wanted = among(interfaces);
    const auto is_up = [&](std::string_view name) {
      return wanted(name) || spaces.state({.space = space, .interface = std::string(name)}).up;
    };
    stage.push_back(in_space(spec, space, switch_lines(spec, id, wanted, is_up)));
  }
  for (const auto& [host, interfaces] : ends.hosts) {
    const auto wanted = among(interfaces);
    stage.push_back(in_space(spec, space_of(spec.name, host), host_lines(spec, host, wanted)));
  }
  return stage;
}

Result<void, std::string> apply(const Spec& spec, std::span<const LinkId> links,
                                const Fault& fault) {
  if (fault.kind == Fault::Kind::kSilent) {
    for (const LinkId& link : links) {
      auto noted = write(File{note(spec, kLossyNote, link), fmt::format("{}\n", fault.loss)});
      if (!noted) return noted;
    }
    return run(silence(spec, links, fault.loss));
  }
  std::vector<End> ends;
  for (const LinkId& link : links) {
    const Cable cable = cable_of(spec, link);
    ends.push_back(fault.kind == Fault::Kind::kPort ? cable.far : cable.t0);
  }
  Spaces spaces;
  return set_down(spaces, ends);
}

// What was done, when it has taken effect.
Result<Moment, std::string> into_journal(const Spec& spec, JournalEntry::Kind kind,
                                         std::uint32_t loss, std::span<const LinkId> links,
                                         Moment moment) {
  moment.done_ns = monotonic_ns();
  auto written = write_journal(
      spec,
      {.kind = kind, .at_ns = moment.done_ns, .loss = loss, .links = {links.begin(), links.end()}});
  if (!written) return failure(std::move(written.error()));
  return moment;
}

JournalEntry::Kind journal_kind_of(const Fault& fault) {
  switch (fault.kind) {
    case Fault::Kind::kPort: return JournalEntry::Kind::kPort;
    case Fault::Kind::kSilent: return JournalEntry::Kind::kLoss;
    case Fault::Kind::kCut: break;
  }
  return JournalEntry::Kind::kCut;
}

Condition condition_of(const Spec& spec, Spaces& spaces, const LinkId& link) {
  const Cable cable = cable_of(spec, link);
  const auto t0 = spaces.state(cable.t0);
  const auto far = spaces.state(cable.far);
  if (!t0.exists || !far.exists) return Condition::kMissing;
  const auto flapper = read_note(note(spec, kFlappingNote, link));
  if (flapper && kill(static_cast<pid_t>(*flapper), 0) == 0) return Condition::kFlapping;
  if (!t0.up) return Condition::kCut;
  if (!far.up) return Condition::kPortDown;
  return fs::exists(note(spec, kLossyNote, link)) ? Condition::kLossy : Condition::kUp;
}

}  // namespace

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void sleep_until(std::int64_t ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec until{.tv_sec = ns / kSecond, .tv_nsec = ns % kSecond};
  while (!host::interrupted() &&
         clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) != 0) {
  }
}

std::string_view name_of(Condition condition) {
  switch (condition) {
    case Condition::kUp: return "up";
    case Condition::kCut: return "cut";
    case Condition::kPortDown: return "port down";
    case Condition::kLossy: return "lossy";
    case Condition::kSilent: return "silent";
    case Condition::kFlapping: return "flapping";
    case Condition::kMissing: return "missing";
  }
  return "unknown";
}

Result<Moment, std::string> inflict(const Spec& spec, std::span<const LinkId> links,
                                    const Fault& fault) {
  Moment moment{.began_ns = monotonic_ns()};
  if (auto done = apply(spec, links, fault); !done) return failure(std::move(done.error()));
  const std::uint32_t loss = fault.kind == Fault::Kind::kSilent ? fault.loss : 0;
  return into_journal(spec, journal_kind_of(fault), loss, links, moment);
}

Result<Moment, std::string> heal(const Spec& spec, std::span<const LinkId> links) {
  Moment moment{.began_ns = monotonic_ns()};
  for (const Stage& stage : {unsilence(spec, links), restore(spec, links)}) {
    if (auto done = run(stage); !done) return failure(std::move(done.error()));
  }
  const auto healed = into_journal(spec, JournalEntry::Kind::kHealed, 0, links, moment);
  std::error_code ignored;  // a note that was not there need not be removed
  for (const LinkId& link : links) fs::remove(note(spec, kLossyNote, link), ignored);
  return healed;
}

Result<Moment, std::string> heal_all(const Spec& spec) {
  return heal(spec, all_links(spec.fabric()));
}

Result<std::uint64_t, std::string> flap(const Spec& spec, const LinkId& link, double hz,
                                        Duration span) {
  host::catch_interrupts();
  const fs::path flapping = note(spec, kFlappingNote, link);
  if (auto noted = write(File{flapping, fmt::format("{}\n", getpid())}); !noted) {
    return failure(std::move(noted.error()));
  }
  const std::array links{link};
  const std::int64_t begin = monotonic_ns();
  const auto half_period = static_cast<std::int64_t>(0.5e9 / hz);
  std::uint64_t cuts = 0;
  Result<Moment, std::string> last = Moment{};
  for (std::int64_t at = begin; at < begin + span.raw() && last && !host::interrupted();
       at += 2 * half_period) {
    last = inflict(spec, links, Fault{});
    ++cuts;
    sleep_until(at + half_period);
    if (last) last = heal(spec, links);
    sleep_until(at + 2 * half_period);
  }
  const auto healed = heal(spec, links);
  std::error_code ignored;
  fs::remove(flapping, ignored);
  if (!last) return failure(last.error());
  if (!healed) return failure(healed.error());
  return cuts;
}

LinkStates states_of(const Spec& spec) {
  LinkStates states;
  Spaces spaces;
  for (const LinkId& link : all_links(spec.fabric())) {
    LinkState state{.condition = condition_of(spec, spaces, link)};
    if (state.condition == Condition::kLossy) {
      const auto loss = read_note(note(spec, kLossyNote, link));
      state.loss = static_cast<std::uint32_t>(loss.value_or(kAllPackets));
      if (state.loss >= kAllPackets) state.condition = Condition::kSilent;
    }
    states.emplace(link, state);
  }
  return states;
}

}  // namespace openmrc::lab
