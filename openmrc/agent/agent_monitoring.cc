// SPDX-License-Identifier: BSD-3-Clause
// What the agent answers to those who monitor.
#include <algorithm>
#include <cerrno>
#include <iterator>
#include <sstream>
#include <string>

#include "openmrc/agent/agent.h"
#include "openmrc/agent/agent_metrics.h"

namespace openmrc::libmrc {
namespace {

// Processes that have lines of their own, if they fit the message; all are among the sums.
constexpr std::size_t kProcessesInMessage = 64;
constexpr std::size_t kTextInMessage = kAgentMessageMax / 2;  // quotation marks take two bytes

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

void Agent::note_ports() {
  std::uint32_t disabled = 0;
  for (std::size_t i = 1; i <= store_.limits().planes; ++i) {
    const bool enabled = store_.port_enabled(PortNumber(static_cast<std::uint8_t>(i)));
    if (!enabled) disabled |= std::uint32_t{1} << i;
  }
  disabled_ports_ = disabled;
}

std::vector<host::Sample> Agent::samples(std::size_t processes_max) {
  AgentFacts facts{.host = names_.host,
                   .version = names_.version,
                   .clients = client_count_,
                   .refused_messages = refused_messages_};
  const std::uint32_t disabled = disabled_ports_;
  for (std::size_t i = 0; i < store_.limits().planes; ++i) {
    facts.ports.push_back(
        {.port = PortNumber(static_cast<std::uint8_t>(i + 1)),
         .enabled = (disabled >> (i + 1) & 1) == 0,
         .name = i < names_.interfaces.size() ? names_.interfaces[i] : std::string{}});
  }
  std::vector<host::Sample> samples = agent_samples(facts, publishers_, processes_max);
  if (more_samples_) std::ranges::move(more_samples_(), std::back_inserter(samples));
  return samples;
}

Reply Agent::do_request(Client& /*client*/, const PublishMetrics& /*request*/,
                        std::vector<Outgoing>& /*also*/) {
  return {.outcome = refused(EBADF, "a page comes with it, and it is the first request")};
}

Reply Agent::do_request(Client& /*client*/, const QueryMetrics& /*request*/,
                        std::vector<Outgoing>& /*also*/) {
  std::size_t processes = kProcessesInMessage;
  std::string text = host::prometheus_text(samples(processes));
  while (text.size() > kTextInMessage && processes > 0) {
    processes /= 2;
    text = host::prometheus_text(samples(processes));
  }
  return {.body = Metrics{lines_of(text)}};
}

Reply Agent::do_request(Client& /*client*/, const QueryRdmaCounters& request,
                        std::vector<Outgoing>& /*also*/) {
  if (!store_.has_port(request.port)) {
    return {.outcome = refused(EINVAL, "the device has no such port")};
  }
  return {.body = RdmaCounters{rdma_counters(publishers_, request.port)}};
}

}  // namespace openmrc::libmrc
