// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/result_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "openmrc/sim/result/figures.h"
#include "openmrc/text/numbers.h"

namespace openmrc::sim {
namespace {

using text::grouped;
using text::human;
using text::human_bytes;
using text::human_rate;
using text::human_share;

using Rows = std::vector<TableRow>;

// So many faults are listed; the others are counted.
constexpr std::size_t kFaultsShown = 10;

std::string share_of(std::uint64_t part, std::uint64_t whole, std::string_view of) {
  if (part == 0) return {};
  return fmt::format("{} of {}", human_share(static_cast<double>(part), static_cast<double>(whole)),
                     of);
}

std::string flows_remark(const Figures& figures) {
  if (figures.flows_failed == 0 && figures.flows_open == 0) return "all finished";
  return fmt::format("{} finished, {} not finished, {} failed", grouped(figures.flows_done),
                     grouped(figures.flows_open), grouped(figures.flows_failed));
}

void add_spread(Rows& rows, std::string_view what, std::string_view last, const Spread& spread,
                const std::string& remark) {
  rows.push_back({fmt::format("{}, median", what), human(spread.median), {}});
  rows.push_back({fmt::format("{}, p99", what), human(spread.p99), {}});
  rows.push_back({fmt::format("{}, {}", what, last), human(spread.max), remark});
}

void add_flows(Rows& rows, const RunResult& result, const Figures& figures) {
  if (result.flows.empty()) return;
  rows.push_back({"flows", grouped(result.flows.size()), flows_remark(figures)});
  if (figures.completion) add_spread(rows, "flow completion time", "max", *figures.completion, {});
  if (figures.flow_rates) {
    rows.push_back({"flow rate, median", human_rate(figures.flow_rates->median), {}});
    rows.push_back({"flow rate, slowest 1 %", human_rate(figures.flow_rates->slowest_percent), {}});
    rows.push_back({"flow rate, slowest", human_rate(figures.flow_rates->slowest), {}});
  }
}

void add_jobs(Rows& rows, const RunResult& result) {
  for (const JobRecord& job : result.jobs) {
    rows.push_back({job.name, time_of(job),
                    fmt::format("{} hosts, from {}", grouped(job.hosts), human(job.begin))});
    if (const auto steps = step_times(job.steps)) {
      rows.push_back({"  step time, median", human(steps->median),
                      fmt::format("{} steps", grouped(job.steps.size()))});
      rows.push_back({"  step time, worst", human(steps->max), {}});
    }
    if (job.trace_step != kNoTime) {
      rows.push_back({"  step time in the trace", human(job.trace_step),
                      job.trace_recorded ? "recorded" : "computation alone"});
    }
    if (job.completion_median == kNoTime) continue;
    rows.push_back(
        {"  message, median", human(job.completion_median),
         fmt::format("{} of {} done", grouped(job.messages_done), grouped(job.messages))});
    rows.push_back({"  message, p99", human(job.completion_p99), {}});
  }
}

void add_goodput(Rows& rows, const RunResult& result, const Figures& figures) {
  const Totals& totals = result.totals;
  std::string remark;
  if (figures.line_rate > 0) {
    remark = fmt::format("{} of line rate ({})", human_share(figures.goodput, figures.line_rate),
                         human_rate(figures.line_rate));
  }
  rows.push_back({"goodput", human_rate(figures.goodput), remark});
  rows.push_back({"message bytes posted", human_bytes(totals.message_bytes_posted), {}});
  rows.push_back({"message bytes completed", human_bytes(totals.message_bytes_completed),
                  share_of(totals.message_bytes_completed, totals.message_bytes_posted, "posted")});
}

// Those that have a reason other than trimming, and how many of them were spurious.
void add_retransmits(Rows& rows, const Totals& totals) {
  constexpr std::array<std::string_view, kRetransmitReasons> kNames{
      "    declared lost", "    shown by a probe",      "    timeout", {}, {},
      "    refused",       "    for an acknowledgement"};
  for (std::size_t reason = 0; reason < kRetransmitReasons; ++reason) {
    const std::uint64_t count = totals.retransmits[reason];
    if (count == 0 || kNames[reason].empty()) continue;
    rows.push_back({std::string(kNames[reason]), grouped(count),
                    share_of(count, totals.data_packets_sent, "data packets")});
  }
  if (totals.spurious_retransmits == 0) return;
  rows.push_back({"    spurious", grouped(totals.spurious_retransmits), "arrived late"});
}

void add_packets(Rows& rows, const Totals& totals, const Figures& figures) {
  const std::uint64_t data = totals.data_packets_sent;
  rows.push_back({"data packets sent", grouped(data), {}});
  rows.push_back({"  retransmits", grouped(totals.retransmissions),
                  share_of(totals.retransmissions, data, "data packets")});
  add_retransmits(rows, totals);
  rows.push_back({"  marked (ECN)", grouped(totals.packets_marked), {}});
  rows.push_back({"  trimmed", grouped(totals.packets_trimmed),
                  share_of(totals.packets_trimmed, data, "data packets")});
  if (totals.pauses > 0) rows.push_back({"  pauses (PFC)", grouped(totals.pauses), {}});
  const std::uint64_t control = totals.control_packets_sent;
  const bool in_flight_too = totals.packets_lost[static_cast<std::size_t>(Loss::kInFlight)] > 0;
  const char* missing = in_flight_too ? "  lost or in flight" : "  lost";
  rows.push_back({missing, grouped(figures.data_packets_missing),
                  share_of(figures.data_packets_missing, data, "data packets")});
  rows.push_back({"control packets sent", grouped(control), {}});
  rows.push_back({missing, grouped(figures.control_packets_missing),
                  share_of(figures.control_packets_missing, control, "control packets")});
  rows.push_back({"packets lost", grouped(figures.packets_lost),
                  share_of(figures.packets_lost, data + control, "packets")});
  for (std::size_t loss = 0; loss < kLosses; ++loss) {
    if (totals.packets_lost[loss] == 0) continue;
    const bool in_flight = static_cast<Loss>(loss) == Loss::kInFlight;
    rows.push_back({fmt::format("{}{}", in_flight ? "" : "  ", name(static_cast<Loss>(loss))),
                    grouped(totals.packets_lost[loss]),
                    {}});
  }
}

void add_evs(Rows& rows, const RunResult& result, const Figures& figures) {
  if (result.evs == 0) return;
  rows.push_back({"EVs (paths)", grouped(result.evs), {}});
  rows.push_back({"  suspected", grouped(result.totals.evs_suspected), "times"});
  rows.push_back({"  disabled", grouped(result.totals.evs_lost), "times, for loss"});
  rows.push_back({"  restored", grouped(result.totals.evs_readmitted), "times"});
  rows.push_back({"  disabled, most", grouped(figures.evs_out_most), "at a time"});
  rows.push_back({"  disabled, end", grouped(figures.evs_out_at_end), {}});
}

// Characters as they are seen; a UTF-8 continuation byte takes no room of its own.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string padding(std::size_t width, const std::string& text) {
  return std::string(width - std::min(width, width_of(text)), ' ');
}

std::string aligned(const Rows& rows) {
  std::size_t names = 0;
  std::size_t values = 0;
  for (const TableRow& row : rows) {
    names = std::max(names, width_of(row.name));
    values = std::max(values, width_of(row.value));
  }
  std::string out;
  for (const TableRow& row : rows) {
    out += row.name + padding(names, row.name) + "  " + padding(values, row.value) + row.value;
    if (!row.remark.empty()) out += "  " + row.remark;
    out += '\n';
  }
  return out;
}

std::string fault_lines(const RunResult& result) {
  std::string out;
  for (std::size_t i = 0; i < std::min(result.faults.size(), kFaultsShown); ++i) {
    const FaultNote& fault = result.faults[i];
    out += fmt::format("fault from {} {}: {}{}\n", human(fault.from),
                       fault.to == kNoTime ? "on" : "to " + human(fault.to), fault.text,
                       was_reached(result, fault) ? "" : " (never reached)");
  }
  if (result.faults.size() > kFaultsShown) {
    out += fmt::format("and {} more faults\n", grouped(result.faults.size() - kFaultsShown));
  }
  return out;
}

}  // namespace

std::vector<TableRow> table_rows(const RunResult& result) {
  const Figures figures = figures_of(result);
  Rows rows;
  rows.push_back({"ended after", human(result.end),
                  result.finished ? "every host was done" : "NOT FINISHED: hosts were not done"});
  add_flows(rows, result, figures);
  if (figures.step) {
    rows.push_back({"steps", grouped(result.steps.size()), {}});
    add_spread(rows, "step time", "worst", *figures.step,
               fmt::format("step {}", figures.worst_step));
  }
  add_jobs(rows, result);
  add_goodput(rows, result, figures);
  add_packets(rows, result.totals, figures);
  add_evs(rows, result, figures);
  const std::string gap = check_packet_accounting(result.totals);
  rows.push_back({"packet accounting", gap.empty() ? "consistent" : "INCONSISTENT",
                  gap.empty() ? "every packet and byte is accounted for" : gap});
  return rows;
}

std::string result_table(const RunResult& result) {
  return fmt::format("{}{}{}\n{}, {} hosts, {} planes, {} per host, seed {}\n{}\n{}",
                     result.scenario, result.title.empty() ? "" : ": ", result.title,
                     transport_name(result), grouped(result.hosts), result.planes,
                     human_rate(static_cast<double>(result.host_bits_per_second)), result.seed,
                     fault_lines(result), aligned(table_rows(result)));
}

}  // namespace openmrc::sim
