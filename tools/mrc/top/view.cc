// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/top/view.h"

#include <algorithm>
#include <map>

namespace openmrc::tools::top {
namespace {

constexpr double kBitsPerByte = 8;
constexpr std::array<std::string_view, 5> kStates{"good", "skip", "suspect", "assumed_bad",
                                                  "denied"};

std::string key_of(const Series& series) {
  std::string key = series.name;
  for (const auto& [name, value] : series.labels)
    key.append("\n").append(name).append("=").append(value);
  return key;
}

// Increase per second of counters.
class Rates {
 public:
  Rates(const Exposition& before, double seconds) : seconds_(seconds) {
    for (const Series& each : before.series()) before_[key_of(each)] = each.value;
  }
  [[nodiscard]] double of(const Series& now) const {
    const auto found = before_.find(key_of(now));
    const double before = found == before_.end() ? 0 : found->second;
    const double increase = now.value >= before ? now.value - before : now.value;
    return seconds_ > 0 ? increase / seconds_ : 0;
  }

 private:
  std::map<std::string, double> before_;
  double seconds_;
};

PlaneView& plane_of(View& view, std::string_view plane) {
  const auto found = std::ranges::find(view.planes, plane, &PlaneView::plane);
  if (found != view.planes.end()) return *found;
  return view.planes.emplace_back(PlaneView{.plane = std::string(plane)});
}

void take_plane(View& view, const Series& series, const Rates& rates) {
  PlaneView& plane = plane_of(view, series.label("plane"));
  const std::string& name = series.name;
  if (name == "openmrc_plane_sent_bytes_total") plane.sent_bits = kBitsPerByte * rates.of(series);
  if (name == "openmrc_plane_received_bytes_total") {
    plane.received_bits = kBitsPerByte * rates.of(series);
  }
  if (name == "openmrc_plane_data_sent_total") plane.data_packets = rates.of(series);
  if (name == "openmrc_plane_lost_packets_total") plane.lost_packets = rates.of(series);
  if (name == "openmrc_plane_trimmed_packets_total") plane.trimmed_packets = rates.of(series);
  if (name == "openmrc_port_down_processes") plane.processes_without_port = series.value;
  if (name == "openmrc_port_enabled") {
    plane.enabled = series.value > 0;
    plane.interface = series.label("interface");
  }
  if (name == "openmrc_paths") {
    const auto* const state = std::ranges::find(kStates, series.label("state"));
    if (state != kStates.end()) {
      plane.paths[static_cast<std::size_t>(state - kStates.begin())] = series.value;
    }
  }
}

void take_bad_link(View& view, const Series& series) {
  const std::string_view link = series.label("link");
  auto found = std::ranges::find(view.worst, link, &BadLinkView::link);
  if (found == view.worst.end()) {
    found =
        view.worst.insert(found, BadLinkView{.link = std::string(link),
                                             .direction = std::string(series.label("direction"))});
  }
  const std::string& name = series.name;
  if (name == "openmrc_bad_link_loss_ratio") found->loss = series.value;
  if (name == "openmrc_bad_link_probes_sent_total") found->sent = series.value;
  if (name == "openmrc_bad_link_probes_lost_total") found->lost = series.value;
  if (name == "openmrc_bad_link_seconds") found->seconds = series.value;
}

void take_process(std::map<std::string, ProcessView>& processes, const Series& series,
                  const Rates& rates) {
  const std::string pid(series.label("pid"));
  ProcessView& process = processes[pid + '\n' + std::string(series.label("program"))];
  process.pid = pid;
  process.program = series.label("program");
  const std::string& name = series.name;
  if (name == "openmrc_process_peers") process.peers = series.value;
  if (name == "openmrc_process_queue_pairs") process.queue_pairs = series.value;
  if (name == "openmrc_process_timeouts_total") process.timeouts = rates.of(series);
  if (name == "openmrc_process_lost_packets_total") process.lost_packets += rates.of(series);
  if (name == "openmrc_process_sent_bytes_total") {
    process.sent_bits += kBitsPerByte * rates.of(series);
  }
  if (name == "openmrc_process_received_bytes_total") {
    process.received_bits += kBitsPerByte * rates.of(series);
  }
}

std::string label_of(const Exposition& text, std::string_view name, const std::string& label) {
  const auto found = std::ranges::find(text.series(), name, &Series::name);
  return found == text.series().end() ? std::string{} : std::string(found->label(label));
}

}  // namespace

View compare(const Exposition& before, const Exposition& now, double seconds) {
  View view{.host = label_of(now, "openmrc_host_info", "host"),
            .version = label_of(now, "openmrc_build_info", "version"),
            .seconds = seconds,
            .processes = now.value("openmrc_processes"),
            .peers = now.value("openmrc_peers"),
            .queue_pairs = now.value("openmrc_queue_pairs"),
            .queue_pairs_failed = now.value("openmrc_queue_pairs_failed_total")};
  const Rates rates(before, seconds);
  std::map<std::string, ProcessView> processes;
  for (const Series& series : now.series()) {
    if (series.name.starts_with("openmrc_process_")) {
      take_process(processes, series, rates);
    } else if (series.name.starts_with("openmrc_bad_link_")) {
      take_bad_link(view, series);
    } else if (series.name == "openmrc_bad_links") {
      view.maps = true;
      view.bad_links += series.value;
    } else if (series.labels.contains("plane")) {
      take_plane(view, series, rates);
    } else if (series.name == "openmrc_retransmits_total") {
      view.retransmits.emplace_back(series.label("reason"), rates.of(series));
    }
  }
  // As numbers: 10 comes after 9.
  std::ranges::sort(view.planes, {}, [](const PlaneView& plane) {
    return std::pair(plane.plane.size(), plane.plane);
  });
  std::ranges::stable_sort(view.worst, std::ranges::greater{}, &BadLinkView::loss);
  for (auto& [key, process] : processes) view.shown.push_back(std::move(process));
  std::ranges::stable_sort(view.shown, std::ranges::greater{}, [](const ProcessView& process) {
    return process.sent_bits + process.received_bits;
  });
  return view;
}

}  // namespace openmrc::tools::top
