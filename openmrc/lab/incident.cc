// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/incident.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "openmrc/fabric/names.h"
#include "openmrc/lab/faults.h"
#include "openmrc/lab/files.h"
#include "openmrc/lab/plan.h"

namespace openmrc::lab {
namespace {

using Kind = JournalEntry::Kind;
constexpr std::int64_t kNeverHealed = std::numeric_limits<std::int64_t>::max();

// What happened to one link or to several at the same time.
struct Stretch {
  Kind kind = Kind::kCut;
  std::uint32_t loss = 0;
  std::int64_t from_ns = 0;
  std::int64_t to_ns = kNeverHealed;

  auto operator<=>(const Stretch&) const = default;
};
using Stretches = std::map<Stretch, std::set<fabric::LinkId>>;

// The faults that links have at one time: a link can lose packets and be cut besides.
class OpenFaults {
 public:
  explicit OpenFaults(Stretches& done) : done_(done) {}

  void begin(const fabric::LinkId& link, const JournalEntry& entry) {
    const auto known = open_.find({link, entry.kind});
    if (known != open_.end()) {
      if (entry.kind != Kind::kLoss) return;  // it is cut already
      end(known, entry.at_ns);
    }
    open_[{link, entry.kind}] = {.kind = entry.kind, .loss = entry.loss, .from_ns = entry.at_ns};
  }
  void heal(const fabric::LinkId& link, std::int64_t at_ns) {
    for (const Kind kind : {Kind::kCut, Kind::kPort, Kind::kLoss}) {
      const auto known = open_.find({link, kind});
      if (known != open_.end()) end(known, at_ns);
    }
  }
  void end_all() {
    while (!open_.empty()) end(open_.begin(), kNeverHealed);
  }

 private:
  using Open = std::map<std::pair<fabric::LinkId, Kind>, Stretch>;

  void end(Open::iterator known, std::int64_t at_ns) {
    known->second.to_ns = at_ns;
    done_[known->second].insert(known->first.first);
    open_.erase(known);
  }

  Stretches& done_;
  Open open_{};
};

Stretches stretches_of(std::span<const JournalEntry> journal) {
  Stretches stretches;
  OpenFaults open(stretches);
  for (const JournalEntry& entry : journal) {
    for (const fabric::LinkId& link : entry.links) {
      if (entry.kind == Kind::kHealed) {
        open.heal(link, entry.at_ns);
      } else {
        open.begin(link, entry);
      }
    }
  }
  open.end_all();
  return stretches;
}

std::string microseconds_text(std::int64_t ns) { return fmt::format("\"{} us\"", ns / 1000); }

std::string fault_text(const Stretch& stretch, const std::set<fabric::LinkId>& links,
                       std::int64_t begin_ns) {
  std::vector<std::string> names;
  names.reserve(links.size());
  for (const fabric::LinkId& link : links) names.push_back(fmt::format("\"{}\"", name_of(link)));
  const bool loses_some = stretch.kind == Kind::kLoss && stretch.loss < kAllPackets;
  std::string text = fmt::format("\n[[fault]]\nkind = \"{}\"\ntarget = [{}]\n",
                                 loses_some ? "loss" : "cut", fmt::join(names, ", "));
  if (loses_some) {
    text += fmt::format("rate = \"{}.{:02} %\"\n", stretch.loss / 100, stretch.loss % 100);
  } else if (stretch.kind == Kind::kLoss) {
    text += "seen = false\n";
  }
  const std::int64_t from = std::max<std::int64_t>(0, stretch.from_ns - begin_ns);
  text += fmt::format("at = {}\n", microseconds_text(from));
  if (stretch.to_ns != kNeverHealed) {
    text += fmt::format("until = {}\n", microseconds_text(stretch.to_ns - begin_ns));
  }
  return text;
}

// Wires so long that a full packet and its SACK take the round trip of which the lab's hosts were
// told: it is that of the machine, not of its links.
std::int64_t wire_ns(const Spec& spec) {
  constexpr std::int64_t kLinksOfAPath = 4;
  constexpr std::int64_t kBits = (4262 + 170) * 8;
  constexpr std::int64_t kLeastNs = 1000;
  const std::int64_t leaving = kLinksOfAPath * kBits * 1'000'000'000 / *spec.bits_per_second;
  return std::max(kLeastNs, (base_rtt_of(spec).raw() - leaving) / (2 * kLinksOfAPath));
}

std::string fabric_section(const Spec& spec) {
  const fabric::Shape& shape = spec.shape;
  std::string text = fmt::format("[fabric]\nplanes = {}\nracks = {}\nhosts_per_rack = {}\n",
                                 shape.planes, shape.racks, shape.hosts_per_rack);
  if (shape.uplinks > 0) text += fmt::format("uplinks = {}\n", shape.uplinks);
  const std::int64_t wire = wire_ns(spec);
  text += fmt::format("host_link_gbps = {}\nhost_link_ns = {}\n",
                      static_cast<double>(*spec.bits_per_second) / 1e9, wire);
  if (shape.uplinks > 0) text += fmt::format("uplink_ns = {}\n", wire);
  const bool soft = is_soft(spec.switches);
  return text + fmt::format("\n[switches]\ntrimming = {}\necn = {}\nqueue_bytes = {}\n", soft, soft,
                            queue_of_switch(*spec.bits_per_second));
}

std::string workload_section(const std::vector<IncidentFlow>& flows) {
  std::string text = "\n[workload]\nkind = \"flows\"\nflows = [\n";
  for (const IncidentFlow& flow : flows) {
    const std::uint64_t turn = kIncidentMessageBytes * kIncidentDepth;
    const std::uint64_t repeat = std::max<std::uint64_t>(1, (flow.bytes + turn - 1) / turn);
    for (std::uint32_t i = 0; i < kIncidentDepth; ++i) {
      text += fmt::format("  {{ from = {}, to = {}, bytes = {}, repeat = {} }},\n", flow.from.raw(),
                          flow.to.raw(), kIncidentMessageBytes, repeat);
    }
  }
  return text + "]\n";
}

}  // namespace

Result<std::string, std::string> scenario_of(const Spec& spec,
                                             std::span<const JournalEntry> journal,
                                             const Incident& incident) {
  if (!spec.bits_per_second) {
    return failure(
        std::string("the lab's links are as fast as this machine, which cannot be simulated: build "
                    "it with --rate"));
  }
  std::string text = fmt::format("title = \"What happened in the lab '{}'\"\n\n", spec.name) +
                     fabric_section(spec) + workload_section(incident.flows);
  for (const auto& [stretch, links] : stretches_of(journal)) {
    if (stretch.to_ns <= incident.begin_ns) continue;
    text += fault_text(stretch, links, incident.begin_ns);
  }
  return text;
}

}  // namespace openmrc::lab
