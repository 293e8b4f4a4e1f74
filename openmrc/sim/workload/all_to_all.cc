// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/all_to_all.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "openmrc/sim/workload/ranks.h"
#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

using fabric::HostIndex;

// The one to whom the message with this number goes.
std::uint32_t peer_of(std::uint32_t rank, std::uint32_t number, std::uint32_t ranks) {
  return (rank + 1 + number) % ranks;
}

class AllToAllProgram final : public Program {
 public:
  AllToAllProgram(const Ranks& ranks, std::uint32_t rank, std::uint64_t bytes)
      : ranks_(ranks), rank_(rank), bytes_(bytes) {}

  void on_time(Picoseconds /*now*/, Requests& requests) override { send(requests); }

  void on_sent(Picoseconds now, HostIndex /*to*/, MessageTag /*tag*/, Requests& requests) override {
    ++acknowledged_;
    send(requests);
    mark_end(now, requests);
  }

  void on_received(Picoseconds now, HostIndex /*from*/, MessageTag /*tag*/,
                   Requests& requests) override {
    ++received_;
    mark_end(now, requests);
  }

  [[nodiscard]] bool done() const override {
    return acknowledged_ == messages() && received_ == messages();
  }

 private:
  [[nodiscard]] std::uint32_t messages() const { return ranks_.count() - 1; }

  void send(Requests& requests) {
    for (; sent_ < messages() && sent_ - acknowledged_ < kAllToAllOutstanding; ++sent_) {
      requests.sends.push_back({.to = ranks_.host(peer_of(rank_, sent_, ranks_.count())),
                                .bytes = slice_bytes(bytes_, messages(), sent_),
                                .tag = sent_});
    }
  }

  void mark_end(Picoseconds now, Requests& requests) const {
    if (done()) requests.steps.push_back({.step = 0, .begin = {}, .end = now});
  }

  Ranks ranks_;
  std::uint32_t rank_;
  std::uint64_t bytes_;
  std::uint32_t sent_ = 0;
  std::uint32_t acknowledged_ = 0;
  std::uint32_t received_ = 0;
};

class AllToAllWorkload final : public Workload {
 public:
  AllToAllWorkload(const Ranks& ranks, std::uint64_t bytes) : ranks_(ranks), bytes_(bytes) {}

  [[nodiscard]] std::vector<HostIndex> destinations(HostIndex host) const override {
    std::vector<HostIndex> result;
    const auto rank = ranks_.rank(host);
    if (!rank) return result;
    for (std::uint32_t number = 0; number + 1 < ranks_.count(); ++number) {
      result.push_back(ranks_.host(peer_of(*rank, number, ranks_.count())));
    }
    return result;
  }

  [[nodiscard]] std::unique_ptr<Program> program(HostIndex host) const override {
    const auto rank = ranks_.rank(host);
    return rank ? std::make_unique<AllToAllProgram>(ranks_, *rank, bytes_) : nullptr;
  }

 private:
  Ranks ranks_;
  std::uint64_t bytes_;
};

}  // namespace

std::string problem_with(const AllToAll& settings, const fabric::Fabric& fabric) {
  if (settings.hosts < 2) return "an all-to-all needs two hosts";
  if (settings.hosts > fabric.hosts()) {
    return fmt::format("{} hosts are asked for, and the fabric has {}", settings.hosts,
                       fabric.hosts());
  }
  if (settings.bytes < settings.hosts - 1) return "an all-to-all needs a byte for each other host";
  if (settings.bytes > kVectorBytesMax) return "a host sends at most 1 TiB";
  return {};
}

std::unique_ptr<Workload> workload_of(const AllToAll& settings, const fabric::Fabric& fabric,
                                      std::uint64_t /*seed*/) {
  return std::make_unique<AllToAllWorkload>(Ranks(settings.hosts, settings.placement, fabric),
                                            settings.bytes);
}

}  // namespace openmrc::sim
