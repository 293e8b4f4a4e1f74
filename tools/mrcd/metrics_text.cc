// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrcd/metrics_text.h"

#ifdef OPENMRC_PROMETHEUS
#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <map>
#include <utility>
#include <variant>
#include <vector>
#endif

namespace openmrc::tools {

#ifdef OPENMRC_PROMETHEUS
namespace {

prometheus::ClientMetric metric_of(const host::Sample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  const double value =
      std::visit([](auto number) { return static_cast<double>(number); }, sample.value);
  metric.counter.value = value;
  metric.gauge.value = value;
  return metric;
}

}  // namespace

std::string metrics_text(std::span<const host::Sample> samples) {
  std::map<std::string, prometheus::MetricFamily> families;
  for (const host::Sample& sample : samples) {
    prometheus::MetricFamily& family = families[sample.name];
    if (family.metric.empty()) {
      family.name = sample.name;
      family.help = sample.help;
      family.type = sample.type == host::MetricType::kCounter ? prometheus::MetricType::Counter
                                                              : prometheus::MetricType::Gauge;
    }
    family.metric.push_back(metric_of(sample));
  }
  std::vector<prometheus::MetricFamily> list;
  list.reserve(families.size());
  for (auto& [name, family] : families) list.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(list);
}
#else
std::string metrics_text(std::span<const host::Sample> /*samples*/) { return {}; }
#endif

}  // namespace openmrc::tools
