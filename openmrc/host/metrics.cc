// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/metrics.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "openmrc/datapath/file_descriptor.h"

namespace openmrc::host {
namespace {

Labels with(Labels labels, std::string_view name, std::string_view value) {
  labels.emplace_back(name, value);
  return labels;
}

// Counters whose names begin alike are one metric; the rest of the name is the reason.
struct Family {
  std::string_view prefix;
  std::string_view name;
  std::string_view help;
};
constexpr Family kCoreFamilies[]{
    {"retransmits_", "retransmits", "packets retransmitted, by reason"},
    {"drop_", "dropped", "packets dropped, ignored or not sent, by reason"},
};
constexpr Family kDatapathFamilies[]{
    {"forward_", "forward_dropped", "packets of other shards dropped, by reason"},
    {"send_calls", {}, {}},  // no reason
    {"send_", "send_failed", "packets not sent, by reason"},
    {"faults_", "faults", "packets affected by fault injection"},
};

struct Named {
  std::string_view name;
  std::string_view help;
};
// In the order of PlaneValue.
constexpr std::array<Named, kPlaneValues> kPlaneMetrics{{
    {"data_sent", "request packets sent, by plane"},
    {"data_received", "request packets received, by plane"},
    {"lost_packets", "request packets declared lost, by the plane that they took"},
    {"trimmed_packets", "request packets trimmed by a switch, by the plane that they took"},
    {"sent_packets", "packets of all kinds sent, by plane"},
    {"sent_bytes", "bytes sent, from the BTH on, by plane"},
    {"received_packets", "packets of all kinds received, valid or not, by plane"},
    {"received_bytes", "bytes received, from the BTH on, by plane"},
    {"failed_packets", "packets that the kernel did not send, by plane"},
}};
// In the order of Gauge.
constexpr std::array<Named, kGauges> kGaugeMetrics{{
    {"queue_pairs", "connected queue pairs"},
    {"peers", "destinations of connected queue pairs"},
}};
// In the order of EvState.
constexpr std::array<std::string_view, core::kEvStateCount> kStates{"good", "skip", "suspect",
                                                                    "assumed_bad", "denied"};

void add_gauges(const HostValues& values, const Labels& labels, std::vector<Sample>& samples) {
  for (std::size_t i = 0; i < kGaugeMetrics.size(); ++i) {
    samples.push_back({.name = fmt::format("openmrc_{}", kGaugeMetrics[i].name),
                       .help = std::string(kGaugeMetrics[i].help),
                       .type = MetricType::kGauge,
                       .labels = labels,
                       .value = values.at(HostValues::place(static_cast<Gauge>(i)))});
  }
}

void add_paths(const HostValues& values, std::size_t plane, const Labels& labels,
               std::vector<Sample>& samples) {
  for (std::size_t i = 0; i < kStates.size(); ++i) {
    samples.push_back(
        {.name = "openmrc_paths",
         .help = "EVs of all peers, by plane and state",
         .type = MetricType::kGauge,
         .labels = with(labels, "state", kStates[i]),
         .value = values.at(HostValues::place(static_cast<core::EvState>(i), plane))});
  }
  samples.push_back({.name = "openmrc_port_down_processes",
                     .help = "processes that find the port of the plane down, or disabled",
                     .type = MetricType::kGauge,
                     .labels = labels,
                     .value = values.at(HostValues::place_of_port_down(plane))});
}

template <class Info>
Sample counter_sample(std::string_view prefix, const Info& info, std::span<const Family> families,
                      const Labels& labels, std::uint64_t value) {
  const auto family = std::ranges::find_if(
      families, [&](const Family& each) { return info.name.starts_with(each.prefix); });
  if (family == families.end() || family->name.empty()) {
    return {.name = fmt::format("{}{}_total", prefix, info.name),
            .help = std::string(info.text),
            .labels = labels,
            .value = value};
  }
  return {.name = fmt::format("{}{}_total", prefix, family->name),
          .help = std::string(family->help),
          .labels = with(labels, "reason", info.name.substr(family->prefix.size())),
          .value = value};
}

std::string escaped(std::string_view text, bool also_quotes) {
  std::string result;
  for (const char c : text) {
    if (c == '\\' || (c == '"' && also_quotes)) result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result;
}

std::string value_text(const Sample& sample) {
  if (const auto* whole = std::get_if<std::uint64_t>(&sample.value)) {
    return fmt::format("{}", *whole);
  }
  const double number = std::get<double>(sample.value);
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", number);
}

std::string_view type_text(MetricType type) {
  return type == MetricType::kCounter ? "counter" : "gauge";
}

std::string line_of(const Sample& sample) {
  std::string labels;
  for (const auto& [name, value] : sample.labels) {
    labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", name, escaped(value, true));
  }
  if (!labels.empty()) labels = "{" + labels + "}";
  return fmt::format("{}{} {}\n", sample.name, labels, value_text(sample));
}

Error file_error(const std::filesystem::path& file, std::string_view what) {
  return {.what = fmt::format("cannot {} {}: {}", what, file.string(),
                              std::error_code(errno, std::generic_category()).message()),
          .remedy = {}};
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void add_samples(const HostValues& values, std::size_t planes, const Labels& labels,
                 std::vector<Sample>& samples) {
  for (std::size_t i = 0; i < core::kCounterTable.size(); ++i) {
    samples.push_back(counter_sample("openmrc_", core::kCounterTable[i], kCoreFamilies, labels,
                                     values.at(HostValues::place(static_cast<core::Count>(i)))));
  }
  for (std::size_t i = 0; i < datapath::kCounterTable.size(); ++i) {
    samples.push_back(
        counter_sample("openmrc_datapath_", datapath::kCounterTable[i], kDatapathFamilies, labels,
                       values.at(HostValues::place(static_cast<datapath::Count>(i)))));
  }
  for (std::size_t i = 0; i < wire::kRejectTable.size(); ++i) {
    samples.push_back({.name = "openmrc_datapath_rejected_total",
                       .help = "received bytes that were not a valid MRC packet, by reason",
                       .labels = with(labels, "reason", wire::kRejectTable[i].counter),
                       .value = values.at(HostValues::place(static_cast<wire::Reject>(i)))});
  }
  add_gauges(values, labels, samples);
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const Labels here = with(labels, "plane", std::to_string(plane));
    for (std::size_t i = 0; i < kPlaneMetrics.size(); ++i) {
      samples.push_back({.name = fmt::format("openmrc_plane_{}_total", kPlaneMetrics[i].name),
                         .help = std::string(kPlaneMetrics[i].help),
                         .labels = here,
                         .value = values.at(HostValues::place(static_cast<PlaneValue>(i), plane))});
    }
    add_paths(values, plane, here, samples);
  }
}

void add_process_samples(const HostValues& values, std::size_t planes, const Labels& labels,
                         std::vector<Sample>& samples) {
  for (const core::Count count : {core::Count::kTimeouts, core::Count::kQueuePairsFailed}) {
    const core::CounterInfo& info = describe(count);
    samples.push_back({.name = fmt::format("openmrc_process_{}_total", info.name),
                       .help = std::string(info.text),
                       .labels = labels,
                       .value = values.at(HostValues::place(count))});
  }
  for (std::size_t i = 0; i < kGaugeMetrics.size(); ++i) {
    samples.push_back({.name = fmt::format("openmrc_process_{}", kGaugeMetrics[i].name),
                       .help = std::string(kGaugeMetrics[i].help),
                       .type = MetricType::kGauge,
                       .labels = labels,
                       .value = values.at(HostValues::place(static_cast<Gauge>(i)))});
  }
  for (std::size_t plane = 0; plane < planes; ++plane) {
    const Labels here = with(labels, "plane", std::to_string(plane));
    for (const PlaneValue value :
         {PlaneValue::kSentBytes, PlaneValue::kReceivedBytes, PlaneValue::kLost}) {
      const Named& named = kPlaneMetrics[static_cast<std::size_t>(value)];
      samples.push_back({.name = fmt::format("openmrc_process_{}_total", named.name),
                         .help = std::string(named.help),
                         .labels = here,
                         .value = values.at(HostValues::place(value, plane))});
    }
  }
}

// All samples of a name stand together, below what the name means.
std::string prometheus_text(std::span<const Sample> samples) {
  std::vector<std::pair<const Sample*, std::string>> families;  // the first of each, and its lines
  for (const Sample& sample : samples) {
    auto family = std::ranges::find_if(
        families, [&](const auto& each) { return each.first->name == sample.name; });
    if (family == families.end()) family = families.insert(families.end(), {&sample, {}});
    family->second += line_of(sample);
  }
  std::string text;
  for (const auto& [first, lines] : families) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n{3}", first->name,
                        escaped(first->help, false), type_text(first->type), lines);
  }
  return text;
}

std::string metrics_json(std::span<const Sample> samples) {
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson list = OrderedJson::array();
  for (const Sample& sample : samples) {
    OrderedJson labels = OrderedJson::object();
    for (const auto& [name, value] : sample.labels) labels[name] = value;
    OrderedJson entry{{"name", sample.name}, {"type", type_text(sample.type)}, {"labels", labels}};
    std::visit([&](auto value) { entry["value"] = value; }, sample.value);
    list.push_back(std::move(entry));
  }
  return list.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<void, Error> write_metrics_file(const std::filesystem::path& file, std::string_view text) {
  // Two processes that write the same file must not share the other one.
  std::filesystem::path unfinished = file;
  unfinished += fmt::format(".{}.tmp", ::getpid());
  constexpr mode_t kReadableByAll = 0644;
  {
    const datapath::FileDescriptor out(
        ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadableByAll));
    if (!out.is_open()) return failure(file_error(unfinished, "write"));
    if (!write_all(out.get(), text)) {
      Error error = file_error(unfinished, "write");
      ::unlink(unfinished.c_str());
      return failure(std::move(error));
    }
  }
  if (::rename(unfinished.c_str(), file.c_str()) != 0) {
    Error error = file_error(file, "replace");
    ::unlink(unfinished.c_str());
    return failure(std::move(error));
  }
  return {};
}

}  // namespace openmrc::host
