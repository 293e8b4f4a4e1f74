// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/host/error.h"
#include "openmrc/host/host_values.h"

// Counters as monitoring wants them. Names begin with openmrc_ and outlive releases; labels say
// which plane, reason, state and process.
namespace openmrc::host {

enum class MetricType : std::uint8_t { kCounter, kGauge };

using Labels = std::vector<std::pair<std::string, std::string>>;

struct Sample {
  std::string name{};
  std::string help{};  // of all samples of the name; the first one's counts
  MetricType type = MetricType::kCounter;
  Labels labels{};
  std::variant<std::uint64_t, double> value{};
};

// What a host or a process counts, each sample with these labels and its own. Why packets were
// retransmitted, dropped or rejected is a label, so that a sum over it is one metric.
void add_samples(const HostValues& values, std::size_t planes, const Labels& labels,
                 std::vector<Sample>& samples);
// The few that are worth a series for each process: traffic and loss by plane, and what tells one
// that is in trouble.
void add_process_samples(const HostValues& values, std::size_t planes, const Labels& labels,
                         std::vector<Sample>& samples);

// The text format of Prometheus, version 0.0.4.
std::string prometheus_text(std::span<const Sample> samples);
// A list of objects: name, type, labels, value.
std::string metrics_json(std::span<const Sample> samples);

// Replaces the file as a whole, so that who reads it sees the old text or the new one: what
// node_exporter's textfile collector expects.
[[nodiscard]] Result<void, Error> write_metrics_file(const std::filesystem::path& file,
                                                     std::string_view text);

}  // namespace openmrc::host
