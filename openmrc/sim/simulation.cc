// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/simulation.h"

#include <algorithm>
#include <tuple>
#include <variant>

#include "openmrc/base/check.h"
#include "openmrc/sim/engine/connections.h"
#include "openmrc/sim/engine/engine.h"
#include "openmrc/sim/job_records.h"
#include "openmrc/sim/mrc/ev_sets.h"
#include "openmrc/sim/mrc/mrc_host.h"
#include "openmrc/sim/network/network.h"
#include "openmrc/sim/rc/rc_host.h"

namespace openmrc::sim {
namespace {

// What the NICs see of their links: later than it happens.
std::vector<PortEvent> port_events_of(const Network& network, fabric::HostIndex host) {
  const Scenario& scenario = network.scenario();
  std::vector<PortEvent> events;
  for (const LinkFault& fault : scenario.faults) {
    const bool seen = fault.seen_by_nic && fault.down &&
                      fault.link.kind == fabric::LinkId::Kind::kHost &&
                      network.fabric().host_at(fault.link.rack, fault.link.port) == host;
    if (!seen) continue;
    events.push_back(
        {.at = fault.from + scenario.port_detection, .plane = fault.link.plane, .up = false});
    if (fault.to == kNoTime) continue;
    events.push_back(
        {.at = fault.to + scenario.port_detection, .plane = fault.link.plane, .up = true});
  }
  std::sort(events.begin(), events.end(), [](const PortEvent& a, const PortEvent& b) {
    return std::tuple(a.at, a.plane, a.up) < std::tuple(b.at, b.plane, b.up);
  });
  return events;
}

// What making hosts has in common, whatever their transport.
class Hosts : public HostMaker {
 public:
  Hosts(const Network& network, const Workload& workload)
      : network_(network), workload_(workload), connections_(workload, network.fabric().hosts()) {}

  [[nodiscard]] std::vector<std::unique_ptr<Host>> make_rack(std::uint32_t rack) const override {
    std::vector<std::unique_ptr<Host>> hosts;
    for (std::uint32_t i = 0; i < network_.hosts_per_rack(); ++i) {
      const fabric::HostIndex host = network_.fabric().host_at(rack, i);
      hosts.push_back(make_host(host, workload_.program(host)));
    }
    return hosts;
  }
  // Of all connections.
  [[nodiscard]] virtual std::uint64_t evs() const = 0;

  [[nodiscard]] const Connections& connections() const { return connections_; }

 protected:
  [[nodiscard]] virtual std::unique_ptr<Host> make_host(fabric::HostIndex host,
                                                        std::unique_ptr<Program> program) const = 0;
  [[nodiscard]] const Network& network() const { return network_; }

 private:
  const Network& network_;
  const Workload& workload_;
  Connections connections_;
};

profile::NetworkFigures figures_of(const Network& network) {
  return {.base_rtt = network.base_rtt(),
          .bits_per_second = network.fabric().shape().host_link_bits_per_second * network.planes(),
          .trimming = network.scenario().switches.trimming};
}

profile::PathOptions paths_of(const Scenario& scenario, const MrcTransport& transport) {
  profile::PathOptions paths = transport.profile.paths;
  paths.seed = paths.seed.value_or(scenario.seed);
  return paths;
}

class MrcHosts : public Hosts {
 public:
  MrcHosts(const Network& network, const Workload& workload, const MrcTransport& transport)
      : Hosts(network, workload),
        plan_(network.fabric()),
        ev_sets_(plan_, paths_of(network.scenario(), transport), transport.fixed_paths),
        world_{.network = network,
               .connections = connections(),
               .plan = plan_,
               .ev_sets = ev_sets_,
               .queue_pairs = transport.queue_pairs,
               .hints = transport.hints,
               .profile = transport.profile,
               .congestion = profile::congestion_settings(transport.profile, figures_of(network)),
               .seed = network.scenario().seed} {}

  [[nodiscard]] std::uint64_t evs() const override {
    return connections().size() * ev_sets_.evs_per_host();
  }

 protected:
  [[nodiscard]] std::unique_ptr<Host> make_host(fabric::HostIndex host,
                                                std::unique_ptr<Program> program) const override {
    return std::make_unique<MrcHost>(world_, host, std::move(program),
                                     port_events_of(network(), host));
  }

 private:
  fabric::UsidPlan plan_;
  EvSets ev_sets_;
  MrcWorld world_;
};

class RcHosts : public Hosts {
 public:
  RcHosts(const Network& network, const Workload& workload, const RcTransport& transport)
      : Hosts(network, workload), world_(make_rc_world(network, connections(), transport)) {}

  [[nodiscard]] std::uint64_t evs() const override { return 0; }

 protected:
  [[nodiscard]] std::unique_ptr<Host> make_host(fabric::HostIndex host,
                                                std::unique_ptr<Program> program) const override {
    return std::make_unique<RcHost>(world_, host, std::move(program));
  }

 private:
  RcWorld world_;
};

std::unique_ptr<Hosts> make_hosts(const Network& network, const Workload& workload) {
  const TransportSettings& transport = network.scenario().transport;
  if (const auto* rc = std::get_if<RcTransport>(&transport)) {
    return std::make_unique<RcHosts>(network, workload, *rc);
  }
  return std::make_unique<MrcHosts>(network, workload, std::get<MrcTransport>(transport));
}

RunResult describe(const Scenario& scenario, const Network& network) {
  const fabric::Shape& shape = scenario.shape;
  return {.scenario = scenario.name,
          .title = scenario.title,
          .transport = std::holds_alternative<MrcTransport>(scenario.transport) ? "mrc" : "rc",
          .seed = scenario.seed,
          .hosts = network.fabric().hosts(),
          .planes = shape.planes,
          .host_bits_per_second = shape.host_link_bits_per_second * shape.planes,
          .faults = scenario.fault_notes};
}

void take(RunResult& result, Stats&& stats) {
  result.totals = stats.totals;
  result.steps = std::move(stats.steps);
  result.bucket_width = stats.bucket_width();
  result.buckets = stats.buckets();
  result.flows = std::move(stats.flows);
  std::sort(result.flows.begin(), result.flows.end(), [](const FlowRecord& a, const FlowRecord& b) {
    return std::tuple(a.start, a.from, a.to, a.tag) < std::tuple(b.start, b.from, b.to, b.tag);
  });
}

// Hosts, connections and links of which there will be samples.
std::uint64_t things_in(const SeriesSettings& settings, const Network& network,
                        const Connections& connections) {
  std::uint64_t things = settings.hosts.size();
  for (const fabric::HostIndex host : settings.hosts) things += connections.outgoing(host).size();
  return things + (settings.busiest > 0 ? directed_links(network.fabric()) : settings.links.size());
}

void gather_series(Exchange& exchange, Series& series) {
  const std::vector<std::string> parts = exchange.gather(series.to_bytes());
  for (std::size_t i = 1; i < parts.size(); ++i) series.merge(Series::from_bytes(parts[i]));
}

// Rank 0 gets what all have counted.
void gather(Exchange& exchange, Stats& stats, Picoseconds& end) {
  end = Picoseconds(-exchange.least(-end.raw()));
  const std::vector<std::string> parts = exchange.gather(stats.to_bytes());
  for (std::size_t i = 1; i < parts.size(); ++i) stats.merge(Stats::from_bytes(parts[i]));
}

// What a run gives besides its result, as far as somebody asks for it.
struct Extras {
  RunCost* cost = nullptr;
  const SeriesSettings* settings = nullptr;
  Series* series = nullptr;
};

RunResult run_whole_scenario(const Scenario& scenario, const RunOptions& options,
                             const Extras& extras) {
  const Network network(scenario);
  const auto workload = make_workload(scenario.workload, network.fabric(), scenario.seed);
  const auto hosts = make_hosts(network, *workload);
  Engine engine(network, *hosts, options);
  if (extras.series != nullptr) {
    const std::size_t most =
        series_samples_max(things_in(*extras.settings, network, hosts->connections()));
    engine.record_series(*extras.settings, std::max(most, kSeriesSamplesMin));
  }
  engine.run();

  RunResult result = describe(scenario, network);
  result.finished = engine.all_done();
  result.end = engine.all_done() ? engine.done_at() : engine.stopped_at();
  result.evs = hosts->evs();
  Stats stats = engine.take_stats();
  if (options.exchange != nullptr) gather(*options.exchange, stats, result.end);
  take(result, std::move(stats));
  if (const auto* list = std::get_if<JobList>(&scenario.workload)) {
    split_jobs(*list, scenario.seed, result);
  }
  if (extras.cost != nullptr) *extras.cost = engine.cost();
  if (extras.series == nullptr) return result;
  *extras.series = engine.take_series();
  if (options.exchange != nullptr) gather_series(*options.exchange, *extras.series);
  extras.series->finish(*extras.settings);
  extras.series->evs = result.evs;
  return result;
}

}  // namespace

RunResult run(const Scenario& scenario, const RunOptions& options, RunCost* cost) {
  return run_whole_scenario(scenario, options, {.cost = cost});
}

SampledRun run_sampled(const Scenario& scenario, const RunOptions& options,
                       const SeriesSettings& settings) {
  SampledRun sampled;
  sampled.result =
      run_whole_scenario(scenario, options, {.settings = &settings, .series = &sampled.series});
  sampled.series.host_link_bits_per_second = scenario.shape.host_link_bits_per_second;
  sampled.series.uplink_bits_per_second = scenario.shape.uplink_bits_per_second;
  return sampled;
}

}  // namespace openmrc::sim
