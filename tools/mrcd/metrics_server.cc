// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrcd/metrics_server.h"

#include <exception>
#include <utility>

#ifdef OPENMRC_PROMETHEUS
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>

#include <map>
#endif

namespace openmrc::tools {

#ifdef OPENMRC_PROMETHEUS
namespace {

// A scrape waits for the one before.
constexpr std::size_t kThreads = 2;

prometheus::ClientMetric metric_of(const host::Sample& sample) {
  prometheus::ClientMetric metric;
  for (const auto& [name, value] : sample.labels) metric.label.push_back({name, value});
  const double value =
      std::visit([](auto number) { return static_cast<double>(number); }, sample.value);
  metric.counter.value = value;
  metric.gauge.value = value;
  return metric;
}

class Collector final : public prometheus::Collectable {
 public:
  explicit Collector(MetricsServer::Source source) : source_(std::move(source)) {}

  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override {
    std::map<std::string, prometheus::MetricFamily> families;
    for (const host::Sample& sample : source_()) {
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
    return list;
  }

 private:
  MetricsServer::Source source_;
};

}  // namespace

struct MetricsServer::Parts {
  Parts(const std::string& address, Source source)
      : collector(std::make_shared<Collector>(std::move(source))), exposer(address, kThreads) {
    exposer.RegisterCollectable(collector);
  }

  std::shared_ptr<Collector> collector;
  prometheus::Exposer exposer;
};

Result<MetricsServer, host::Error> MetricsServer::open(const std::string& address, Source source) {
  try {
    return MetricsServer(std::make_unique<Parts>(address, std::move(source)));
  } catch (const std::exception&) {
    const bool is_ipv6 = address.starts_with('[');
    return failure(host::Error{
        .what = "cannot serve metrics at " + address,
        .remedy = is_ipv6 ? "name an address of IPv4: the civetweb of some systems has no IPv6"
                          : "name an address of this host and a port that is free: [metrics] "
                            "address, or --metrics"});
  }
}
#else
struct MetricsServer::Parts {};

Result<MetricsServer, host::Error> MetricsServer::open(const std::string& address,
                                                       Source /*source*/) {
  return failure(host::Error{
      .what = "cannot serve metrics at " + address + ": mrcd was built without prometheus-cpp",
      .remedy = "install prometheus-cpp-dev and build again, or set [metrics] enabled = false"});
}
#endif

MetricsServer::MetricsServer(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
MetricsServer::MetricsServer(MetricsServer&&) noexcept = default;
MetricsServer& MetricsServer::operator=(MetricsServer&&) noexcept = default;
MetricsServer::~MetricsServer() = default;

}  // namespace openmrc::tools
