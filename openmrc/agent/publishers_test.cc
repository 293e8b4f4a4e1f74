// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/publishers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

#include "openmrc/agent/agent_metrics.h"
#include "openmrc/agent/rdma_counters.h"

namespace openmrc::libmrc {
namespace {

using core::Count;
using host::Gauge;
using host::HostValues;
using host::PlaneValue;
using host::PublishedPage;

constexpr uid_t kAgentUser = 100;

// A process, as far as publishing goes.
struct Process {
  explicit Process(const char* program = "job") : page(*PublishedPage::make(program, 2)) {}
  void set(std::size_t place, std::uint64_t value) {
    values.at(place) = value;
    page.write(values);
  }
  [[nodiscard]] datapath::FileDescriptor descriptor() const {
    return datapath::FileDescriptor(::dup(page.descriptor()));
  }

  PublishedPage page;
  HostValues values{};
};

constexpr std::size_t kTimeouts = HostValues::place(Count::kTimeouts);
constexpr std::size_t kPeers = HostValues::place(Gauge::kPeers);

TEST(Publishers, AddUpAllProcesses) {
  Publishers publishers(kAgentUser);
  Process a;
  Process b;
  ASSERT_TRUE(publishers.add(1, {.process = 11}, a.descriptor()));
  ASSERT_TRUE(publishers.add(2, {.process = 12}, b.descriptor()));
  a.set(kTimeouts, 3);
  a.set(kPeers, 5);
  b.set(kTimeouts, 4);
  b.set(kPeers, 6);
  const Publishers::Totals totals = publishers.totals();
  EXPECT_EQ(totals.values.at(kTimeouts), 7U);
  EXPECT_EQ(totals.values.at(kPeers), 11U);
  EXPECT_EQ(totals.processes, 2U);
  EXPECT_EQ(totals.planes, 2U);
}

TEST(Publishers, KeepWhatADeadProcessCountedLastAndNoSeriesOfIt) {
  Publishers publishers(kAgentUser);
  {
    Process a;
    ASSERT_TRUE(publishers.add(1, {.process = 11}, a.descriptor()));
    a.set(kTimeouts, 3);
    EXPECT_EQ(publishers.totals().values.at(kTimeouts), 3U);
    a.set(kTimeouts, 5);
    a.set(kPeers, 1);
  }  // killed: nobody looked since
  publishers.remove(1);
  EXPECT_EQ(publishers.totals().values.at(kTimeouts), 5U);
  EXPECT_EQ(publishers.totals().values.at(kPeers), 0U);
  EXPECT_EQ(publishers.totals().processes, 0U);
  EXPECT_TRUE(publishers.processes().empty());
  publishers.remove(1);
  EXPECT_EQ(publishers.totals().values.at(kTimeouts), 5U);
}

TEST(Publishers, NeverGoBack) {
  Publishers publishers(kAgentUser);
  Process a;
  ASSERT_TRUE(publishers.add(1, {.process = 11}, a.descriptor()));
  std::uint64_t before = 0;
  for (const std::uint64_t value : {9U, 2U, 9U, 10U, 0U, 11U}) {
    a.set(kTimeouts, value);
    const std::uint64_t now = publishers.totals().values.at(kTimeouts);
    EXPECT_GE(now, before);
    before = now;
  }
  EXPECT_EQ(before, 11U);
}

TEST(Publishers, SeveralHostsOfAProcessAreOne) {
  Publishers publishers(kAgentUser);
  Process a;
  Process b;
  Process c("other");
  a.set(kTimeouts, 1);
  b.set(kTimeouts, 2);
  ASSERT_TRUE(publishers.add(1, {.process = 11}, a.descriptor()));
  ASSERT_TRUE(publishers.add(2, {.process = 11}, b.descriptor()));
  ASSERT_TRUE(publishers.add(3, {.process = 11}, c.descriptor()));
  const auto processes = publishers.processes();
  ASSERT_EQ(processes.size(), 2U);
  EXPECT_EQ(processes[0].program, "job");
  EXPECT_EQ(processes[0].process, 11);
  EXPECT_EQ(processes[0].values.at(kTimeouts), 3U);
}

TEST(Publishers, CountWhatTheyRefuse) {
  Publishers publishers(kAgentUser);
  const datapath::FileDescriptor zero(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(publishers.add(1, {}, zero).error(), Publishers::Refusal::kNotShared);
  Process a;
  const Publication user{.process = 11, .user = 1000};
  for (std::size_t i = 0; i < kPublisherLimits.per_user_max; ++i) {
    ASSERT_TRUE(publishers.add(10 + i, user, a.descriptor()));
  }
  EXPECT_EQ(publishers.add(1, user, a.descriptor()).error(), Publishers::Refusal::kTooMany);
  publishers.remove(10);
  EXPECT_TRUE(publishers.add(1, user, a.descriptor()));
  const Publishers::Totals totals = publishers.totals();
  EXPECT_EQ(totals.refused[static_cast<std::size_t>(Publishers::Refusal::kNotShared)], 1U);
  EXPECT_EQ(totals.refused[static_cast<std::size_t>(Publishers::Refusal::kTooMany)], 1U);
  EXPECT_EQ(totals.processes, kPublisherLimits.per_user_max);
}

std::string text_of(Publishers& publishers, std::size_t processes_max) {
  const AgentFacts facts{.host = "h0",
                         .version = "1.2",
                         .ports = {{PortNumber(1), true, "p0"}, {PortNumber(2), false, "p1"}},
                         .clients = 4};
  return host::prometheus_text(agent_samples(facts, publishers, processes_max));
}

TEST(AgentMetrics, HaveTheHostItsPlanesAndItsProcesses) {
  Publishers publishers(kAgentUser);
  Process a;
  a.set(HostValues::place(PlaneValue::kSentBytes, 1), 4096);
  a.set(HostValues::place(core::EvState::kAssumedBad, 1), 2);
  ASSERT_TRUE(publishers.add(1, {.process = 11}, a.descriptor()));
  const std::string text = text_of(publishers, 10);
  for (const char* line :
       {"openmrc_build_info{version=\"1.2\"} 1\n", "openmrc_host_info{host=\"h0\"} 1\n",
        "openmrc_port_enabled{plane=\"1\",interface=\"p1\"} 0\n", "openmrc_agent_clients 4\n",
        "openmrc_processes 1\n", "openmrc_plane_sent_bytes_total{plane=\"1\"} 4096\n",
        "openmrc_paths{plane=\"1\",state=\"assumed_bad\"} 2\n",
        "openmrc_process_sent_bytes_total{pid=\"11\",program=\"job\",plane=\"1\"} 4096\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
  EXPECT_EQ(text_of(publishers, 0).find("openmrc_process_sent"), std::string::npos);
}

// docs/guide/operate.md says so.
TEST(AgentMetrics, AreFewerThan300OfAHostWith8PlanesAnd28OfAProcess) {
  AgentFacts facts;
  for (std::uint8_t port = 1; port <= 8; ++port) facts.ports.push_back({.port = PortNumber(port)});
  Publishers publishers(kAgentUser);
  const std::size_t without = agent_samples(facts, publishers, 10).size();
  EXPECT_LT(without, 300U);
  const auto page = PublishedPage::make("job", 8);
  const datapath::FileDescriptor descriptor(::dup(page->descriptor()));
  ASSERT_TRUE(publishers.add(1, {.process = 11}, descriptor));
  EXPECT_EQ(agent_samples(facts, publishers, 10).size(), without + 28);
}

TEST(AgentMetrics, ShowTheBusiestWhereThereIsNoRoomForAll) {
  Publishers publishers(kAgentUser);
  std::vector<Process> processes;
  for (unsigned i = 0; i < 5; ++i) {
    processes.emplace_back().set(HostValues::place(datapath::Count::kBytesSent), 100 * i);
    ASSERT_TRUE(publishers.add(i, {.process = static_cast<pid_t>(i)}, processes[i].descriptor()));
  }
  const std::string text = text_of(publishers, 2);
  EXPECT_NE(text.find("pid=\"4\""), std::string::npos);
  EXPECT_NE(text.find("pid=\"3\""), std::string::npos);
  EXPECT_EQ(text.find("pid=\"2\""), std::string::npos);
}

// operators' tools multiply by 4.
TEST(RdmaCounters, CountDataInWordsAndTheDeviceOnce) {
  Publishers publishers(kAgentUser);
  Process a;
  a.set(HostValues::place(PlaneValue::kSentBytes, 0), 4096);
  a.set(HostValues::place(Count::kRetransmitsLoss), 2);
  a.set(HostValues::place(Count::kRetransmitsTrim), 3);
  ASSERT_TRUE(publishers.add(1, {.process = 11}, a.descriptor()));
  const auto first = rdma_counters(publishers, PortNumber(1));
  ASSERT_EQ(first.size(), kRdmaCounters);
  EXPECT_EQ(first[0].name, "port_xmit_data");
  EXPECT_EQ(first[0].value, 1024U);
  const auto retransmits = std::ranges::find(first, "roce_adp_retrans", &RdmaCounter::name);
  ASSERT_NE(retransmits, first.end());
  EXPECT_EQ(retransmits->value, 5U);
  EXPECT_EQ(rdma_counters(publishers, PortNumber(2)).size(), kPortCounterNames.size());
}

}  // namespace
}  // namespace openmrc::libmrc
