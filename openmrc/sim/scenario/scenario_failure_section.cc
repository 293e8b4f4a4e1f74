// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario_failure_section.h"

#include <array>
#include <string_view>

#include "openmrc/base/rng.h"
#include "openmrc/sim/scenario/failure_process.h"
#include "openmrc/sim/scenario/fault_fields.h"
#include "openmrc/sim/workload/random_lengths.h"
#include "openmrc/text/table_reader.h"

namespace openmrc::sim {
namespace {

using fabric::Fabric;
using text::Field;
using text::TableReader;

constexpr std::uint64_t kFailureStream = 0x6661696c757265;  // "failure"
constexpr std::uint32_t kTransceiverLinksMax = 64;
constexpr std::uint32_t kLossSteps = 8;  // unless it is said

enum class FailureKind : std::uint8_t { kCut, kLoss, kSlow };

// In the order of the enumerators.
constexpr std::array<std::string_view, 9> kParts{"uplinks",
                                                 "host-links",
                                                 "t0",
                                                 "t1",
                                                 "t1-uplinks",
                                                 "t2",
                                                 "uplink-transceivers",
                                                 "downlink-transceivers",
                                                 "nic-transceivers"};
static_assert(static_cast<int>(FailingPart::kNicTransceivers) == 8);
constexpr std::array<std::string_view, 3> kRepairTimes{"exponential", "fixed", "lognormal"};
static_assert(static_cast<int>(RepairTime::kLognormal) == 2);
constexpr std::array<std::string_view, 3> kFailureKinds{"cut", "loss", "slow"};
static_assert(static_cast<int>(FailureKind::kSlow) == 2);

class FailureReader {
 public:
  FailureReader(TableReader& section, const Fabric& fabric, const Scenario& scenario)
      : section_(section), fabric_(fabric) {
    process_.until = scenario.time_limit;
  }

  FailureProcess read() {
    for (const std::string_view key : {"of", "mtbf", "mttr"}) section_.require(key);
    read_part();
    read_times();
    read_kind();
    return process_;
  }

 private:
  void read_part() {
    if (!section_.read(Field::word("of", process_.part, kParts))) return;
    const bool transceivers = process_.part >= FailingPart::kUplinkTransceivers;
    if (transceivers) section_.require("links");
    if (section_.read(Field::whole("links", process_.links, 1, kTransceiverLinksMax)) &&
        !transceivers) {
      section_.error("links", "goes with transceivers");
    }
    if (section_.ok() && count_of(process_, fabric_) == 0) {
      section_.error("of", "the fabric has none of them");
    }
  }

  void read_times() {
    constexpr Picoseconds kShortest{1};
    constexpr Picoseconds kLongest{text::kAmountMax};
    section_.read(Field::duration("from", process_.from));
    if (!section_.read(Field::duration("until", process_.until)) &&
        process_.until == Picoseconds{}) {
      section_.error("until", "is required where the scenario has no time_limit");
    }
    section_.read(Field::duration("mtbf", process_.mtbf, kShortest, kLongest));
    section_.read(Field::duration("mttr", process_.mttr, kShortest, kLongest));
    section_.read(Field::word("repair", process_.repair, kRepairTimes));
    if (section_.read(Field::whole("sigma_percent", process_.sigma_percent, 0, kSigmaPercentMax)) &&
        process_.repair != RepairTime::kLognormal) {
      section_.error("sigma_percent", "goes with repair = \"lognormal\"");
    }
  }

  void read_kind() {
    FailureKind kind{};
    section_.read(Field::word("kind", kind, kFailureKinds));
    Breakage& breakage = process_.breakage;
    if (kind == FailureKind::kLoss) {
      read_loss();
    } else if (kind == FailureKind::kSlow) {
      breakage.speed_percent = read_speed(section_);
    } else {
      breakage.down = true;
      section_.read(Field::flag("seen", breakage.seen_by_nic));
    }
    section_.read(Field::word("direction", breakage.direction, kDirectionWords));
  }

  void read_loss() {
    section_.require("rate");
    section_.read(Field::share("rate", process_.breakage.loss_per_billion));
    const bool grows = section_.read(Field::share("worst_rate", process_.worst_loss_per_billion));
    if (grows) process_.steps = kLossSteps;
    if (section_.read(Field::whole("steps", process_.steps, 2, kLossStepsMax)) && !grows) {
      section_.error("steps", "goes with worst_rate");
    }
    if (grows && process_.worst_loss_per_billion < process_.breakage.loss_per_billion) {
      section_.error("worst_rate", "is below rate");
    }
  }

  TableReader& section_;
  const Fabric& fabric_;
  FailureProcess process_{};
};

}  // namespace

void read_failures(TableReader& file, const Fabric& fabric, Scenario& scenario) {
  std::uint64_t place = 0;
  const Rng rng = Rng(scenario.seed).fork(kFailureStream);
  file.for_each_table("failures", [&](TableReader& section) {
    const FailureProcess process = FailureReader(section, fabric, scenario).read();
    const Rng own = rng.fork(place++);
    if (!section.ok()) return;
    if (!sample_failures(process, fabric, own, scenario.faults, scenario.fault_notes)) {
      section.error("mtbf", "the faults of this scenario concern too many links");
    }
  });
}

void skip_failures(TableReader& file) {
  file.for_each_table("failures", [](TableReader& section) { section.skip_rest(); });
}

}  // namespace openmrc::sim
