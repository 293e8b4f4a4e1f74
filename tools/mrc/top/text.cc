// SPDX-License-Identifier: BSD-3-Clause
// A View as people and programs read it.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "openmrc/text/numbers.h"
#include "tools/mrc/colour.h"
#include "tools/mrc/loss_text.h"
#include "tools/mrc/top/view.h"

namespace openmrc::tools::top {
namespace {

using Json = nlohmann::ordered_json;

// For terminals of 80 columns.
constexpr std::string_view kPlaneLine =
    "{:<5} {:<8.8} {:<8} {:>9} {:>9} {:>8} {:>7} {:>6} {:>4} {:>6}";
constexpr std::string_view kLinkLine = "{:<18} {:<9} {:>8} {:>18} {:>8}";
constexpr std::string_view kProcessLine = "{:>8} {:<16.16} {:>5} {:>6} {:>9} {:>9} {:>7} {:>10}";

std::string rate_of(double per_second) {
  if (per_second == 0) return "0";
  return per_second < 1 ? fmt::format("{:.2f}", per_second) : fmt::format("{:.0f}", per_second);
}

std::string count_of(double count) { return fmt::format("{:.0f}", count); }

std::string loss_of(const PlaneView& plane) {
  return plane.loss() == 0 ? "0" : fmt::format("{:.2g} %", 100 * plane.loss());
}

std::string port_of(const PlaneView& plane) {
  if (!plane.enabled) return "disabled";
  return plane.processes_without_port > 0 ? "down" : "up";
}

double disabled_paths(const PlaneView& plane) { return plane.paths[2] + plane.paths[3]; }

std::string line_of(const PlaneView& plane, const TextOptions& options) {
  std::string line = fmt::format(
      kPlaneLine, plane.plane, plane.interface, port_of(plane), text::human_rate(plane.sent_bits),
      text::human_rate(plane.received_bits), loss_of(plane), rate_of(plane.trimmed_packets),
      count_of(plane.paths[0] + plane.paths[1]), count_of(disabled_paths(plane)),
      count_of(plane.paths[4]));
  if (port_of(plane) != "up") return painted(line, Colour::kBad, options.colour);
  if (plane.lost_packets > 0 || disabled_paths(plane) > 0) {
    return painted(line, Colour::kWarning, options.colour);
  }
  return line;
}

std::string line_of(const ProcessView& process) {
  return fmt::format(kProcessLine, process.pid, process.program, count_of(process.peers),
                     count_of(process.queue_pairs), text::human_rate(process.sent_bits),
                     text::human_rate(process.received_bits), rate_of(process.lost_packets),
                     rate_of(process.timeouts));
}

std::string retransmits_line(const View& view) {
  std::string line;
  for (const auto& [reason, rate] : view.retransmits) {
    if (rate > 0) line += fmt::format("  {} {}", reason, rate_of(rate));
  }
  return "retransmits/s" + (line.empty() ? "  none" : line);
}

// Nothing if no mapper says anything.
void add_bad_links(const View& view, const TextOptions& options, std::vector<std::string>& lines) {
  if (!view.maps) return;
  if (view.bad_links == 0) {
    lines.emplace_back("bad links      none");
    return;
  }
  lines.emplace_back("");
  lines.push_back(painted(fmt::format(kLinkLine, "bad link", "direction", "loss", "lost", "for"),
                          Colour::kStrong, options.colour));
  for (const BadLinkView& each : view.worst) {
    const std::string line =
        fmt::format(kLinkLine, each.link, each.direction, loss_text(each.loss),
                    fmt::format("{:.0f} of {:.0f}", each.lost, each.sent), age_text(each.seconds));
    lines.push_back(painted(line, Colour::kBad, options.colour));
  }
  if (view.bad_links > static_cast<double>(view.worst.size())) {
    lines.push_back(
        fmt::format("and {:.0f} more", view.bad_links - static_cast<double>(view.worst.size())));
  }
}

std::vector<std::string> lines_of(const View& view, const TextOptions& options) {
  const auto head = [&](std::string line) {
    return painted(line, Colour::kStrong, options.colour);
  };
  std::vector<std::string> lines{
      fmt::format("{}: {} planes, {} processes, {} peers, {} queue pairs, {} failed (mrcd {})",
                  view.host, view.planes.size(), count_of(view.processes), count_of(view.peers),
                  count_of(view.queue_pairs), count_of(view.queue_pairs_failed), view.version),
      "",
      head(fmt::format(kPlaneLine, "plane", "device", "port", "sent", "received", "loss", "trims/s",
                       "paths", "bad", "denied"))};
  for (const PlaneView& plane : view.planes) lines.push_back(line_of(plane, options));
  lines.insert(lines.end(), {"", retransmits_line(view)});
  add_bad_links(view, options, lines);
  lines.emplace_back("");
  lines.push_back(head(fmt::format(kProcessLine, "pid", "program", "peers", "qps", "sent",
                                   "received", "lost/s", "timeouts/s")));
  for (const ProcessView& process : view.shown) lines.push_back(line_of(process));
  const auto more = static_cast<std::size_t>(view.processes) > view.shown.size()
                        ? static_cast<std::size_t>(view.processes) - view.shown.size()
                        : 0;
  if (more > 0) lines.push_back(fmt::format("and {} more", more));
  return lines;
}

Json json_of(const PlaneView& plane) {
  return {{"plane", plane.plane},
          {"interface", plane.interface},
          {"port", port_of(plane)},
          {"sent_bits_per_second", plane.sent_bits},
          {"received_bits_per_second", plane.received_bits},
          {"data_packets_per_second", plane.data_packets},
          {"lost_packets_per_second", plane.lost_packets},
          {"loss_ratio", plane.loss()},
          {"trimmed_packets_per_second", plane.trimmed_packets},
          {"paths",
           {{"good", plane.paths[0]},
            {"skip", plane.paths[1]},
            {"suspect", plane.paths[2]},
            {"assumed_bad", plane.paths[3]},
            {"denied", plane.paths[4]}}}};
}

Json json_of(const BadLinkView& bad) {
  return {{"link", bad.link},        {"direction", bad.direction}, {"loss_ratio", bad.loss},
          {"probes_sent", bad.sent}, {"probes_lost", bad.lost},    {"seconds", bad.seconds}};
}

Json json_of(const ProcessView& process) {
  return {{"pid", process.pid},
          {"program", process.program},
          {"peers", process.peers},
          {"queue_pairs", process.queue_pairs},
          {"sent_bits_per_second", process.sent_bits},
          {"received_bits_per_second", process.received_bits},
          {"lost_packets_per_second", process.lost_packets},
          {"timeouts_per_second", process.timeouts}};
}

}  // namespace

std::string json_of(const View& view) {
  Json json{{"host", view.host},
            {"version", view.version},
            {"seconds", view.seconds},
            {"processes", view.processes},
            {"peers", view.peers},
            {"queue_pairs", view.queue_pairs},
            {"queue_pairs_failed", view.queue_pairs_failed},
            {"planes", Json::array()},
            {"retransmits_per_second", Json::object()},
            {"bad_links", view.bad_links},
            {"worst_links", Json::array()},
            {"busiest", Json::array()}};
  if (!view.maps) json["bad_links"] = nullptr;
  for (const BadLinkView& each : view.worst) json["worst_links"].push_back(json_of(each));
  for (const PlaneView& plane : view.planes) json["planes"].push_back(json_of(plane));
  for (const auto& [reason, rate] : view.retransmits) json["retransmits_per_second"][reason] = rate;
  for (const ProcessView& process : view.shown) json["busiest"].push_back(json_of(process));
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string text_of(const View& view, const TextOptions& options) {
  std::vector<std::string> lines = lines_of(view, options);
  if (options.rows > 0 && lines.size() > options.rows) lines.resize(options.rows);
  return fmt::format("{}\n", fmt::join(lines, "\n"));
}

}  // namespace openmrc::tools::top
