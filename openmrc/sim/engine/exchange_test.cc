// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/exchange.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <thread>
#include <utility>

#include "openmrc/sim/simulation.h"

namespace openmrc::sim {
namespace {

// What the processes of one run have in common; here they are threads.
struct Meeting {
  explicit Meeting(std::size_t count)
      : all(static_cast<std::ptrdiff_t>(count)),
        packets(count),
        values(count),
        sums(count),
        texts(count) {}

  std::barrier<> all;
  std::vector<std::vector<std::vector<RemotePacket>>> packets;  // by sender, then by receiver
  std::vector<std::int64_t> values;
  std::vector<std::uint64_t> sums;
  std::vector<std::string> texts;
};

class ThreadExchange : public Exchange {
 public:
  ThreadExchange(Meeting& meeting, std::size_t rank) : meeting_(meeting), rank_(rank) {}

  [[nodiscard]] std::size_t ranks() const override { return meeting_.values.size(); }
  [[nodiscard]] std::size_t rank() const override { return rank_; }
  void trade(const std::vector<std::vector<RemotePacket>>& outgoing,
             std::vector<RemotePacket>& incoming) override {
    const auto sent = shared(meeting_.packets, outgoing);
    for (const auto& of_one : sent) {
      incoming.insert(incoming.end(), of_one[rank_].begin(), of_one[rank_].end());
    }
  }
  std::int64_t least(std::int64_t value) override {
    const auto values = shared(meeting_.values, value);
    return *std::min_element(values.begin(), values.end());
  }
  std::uint64_t sum(std::uint64_t value) override {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : shared(meeting_.sums, value)) sum += one;
    return sum;
  }
  std::vector<std::string> gather(const std::string& text) override {
    auto texts = shared(meeting_.texts, text);
    return rank_ == 0 ? std::move(texts) : std::vector<std::string>{};
  }

 private:
  // What all have given.
  template <class T>
  std::vector<T> shared(std::vector<T>& places, const T& own) {
    places[rank_] = own;
    meeting_.all.arrive_and_wait();
    std::vector<T> all = places;
    meeting_.all.arrive_and_wait();
    return all;
  }

  Meeting& meeting_;
  std::size_t rank_;
};

RunResult run_in_parts(const Scenario& scenario, std::size_t ranks, std::size_t threads) {
  Meeting meeting(ranks);
  std::vector<RunResult> results(ranks);
  {
    std::vector<std::jthread> processes;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      processes.emplace_back([&, rank] {
        ThreadExchange exchange(meeting, rank);
        results[rank] = run(scenario, {.threads = threads, .exchange = &exchange});
      });
    }
  }
  return std::move(results[0]);
}

// Trimming, loss and a time limit: packets are lost everywhere and on their way at the end.
Scenario incast() {
  Scenario scenario;
  scenario.shape = {.planes = 2, .racks = 4, .hosts_per_rack = 2, .uplinks = 2};
  MrcTransport transport;
  transport.profile.paths.evs = 16;
  scenario.transport = transport;
  scenario.time_limit = Picoseconds(20'000'000);
  scenario.switches.queue_bytes = 30'000;
  scenario.faults = {
      {.link = {.kind = fabric::LinkId::Kind::kHost}, .loss_per_billion = 50'000'000}};
  Incast incast{.target = 0, .bytes = 500'000};
  for (std::uint32_t host = 1; host < 8; ++host) incast.senders.push_back(host);
  scenario.workload = incast;
  return scenario;
}

TEST(Exchange, GivesTheSameResultForAnyNumberOfProcesses) {
  const Scenario scenario = incast();
  const RunResult alone = run(scenario, {});
  EXPECT_EQ(check_packet_accounting(alone.totals), "");
  EXPECT_GT(alone.totals.packets_trimmed, 0U);
  EXPECT_GT(alone.totals.packets_lost[static_cast<std::size_t>(Loss::kLinkError)], 0U);
  EXPECT_GT(alone.totals.packets_lost[static_cast<std::size_t>(Loss::kInFlight)], 0U);
  EXPECT_EQ(run_in_parts(scenario, 2, 2), alone);
  EXPECT_EQ(run_in_parts(scenario, 3, 1), alone);
}

TEST(Exchange, CarriesPauses) {
  Scenario scenario = incast();
  scenario.transport = RcTransport{.dcqcn = false};
  scenario.switches = {.trimming = false, .ecn = false, .pfc = true};
  scenario.faults.clear();
  const RunResult alone = run(scenario, {});
  scenario.switches.pfc = false;
  EXPECT_NE(run(scenario, {}), alone) << "there are pauses";
  scenario.switches.pfc = true;
  EXPECT_EQ(run_in_parts(scenario, 2, 1), alone);
}

}  // namespace
}  // namespace openmrc::sim
