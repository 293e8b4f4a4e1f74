// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/permutation.h"

#include <numeric>
#include <utility>

#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

using fabric::HostIndex;

constexpr std::uint64_t kPermutationStream = 0x7065726d;  // "perm"

// The same message to the same host, one after the other.
class Sender final : public Program {
 public:
  Sender(HostIndex to, std::uint64_t bytes, std::uint32_t messages)
      : bytes_(bytes), to_(to), messages_(messages) {}

  void on_time(Picoseconds /*now*/, Requests& requests) override {
    if (std::exchange(started_, true)) return;
    send(requests);
  }
  void on_sent(Picoseconds /*now*/, HostIndex /*to*/, MessageTag /*tag*/,
               Requests& requests) override {
    ++acknowledged_;
    if (!done()) send(requests);
  }
  void on_received(Picoseconds /*now*/, HostIndex /*from*/, MessageTag /*tag*/,
                   Requests& /*requests*/) override {}
  [[nodiscard]] bool done() const override { return acknowledged_ == messages_; }

 private:
  void send(Requests& requests) const {
    requests.sends.push_back({.to = to_, .bytes = bytes_, .tag = acknowledged_});
  }

  std::uint64_t bytes_;
  HostIndex to_;
  std::uint32_t messages_;
  std::uint32_t acknowledged_ = 0;
  bool started_ = false;
};

class PermutationWorkload final : public Workload {
 public:
  PermutationWorkload(const Permutation& settings, std::vector<std::uint32_t> to)
      : settings_(settings), to_(std::move(to)) {}

  [[nodiscard]] std::vector<HostIndex> destinations(HostIndex host) const override {
    return {HostIndex(to_[host.raw()])};
  }
  [[nodiscard]] std::unique_ptr<Program> program(HostIndex host) const override {
    return std::make_unique<Sender>(HostIndex(to_[host.raw()]), settings_.bytes,
                                    settings_.messages);
  }

 private:
  Permutation settings_;
  std::vector<std::uint32_t> to_;
};

}  // namespace

std::vector<std::uint32_t> permutation_across(std::uint32_t count, std::uint32_t group, Rng rng) {
  OPENMRC_CHECK(count >= 2 * group && count % group == 0, "there is nowhere to go");
  std::vector<std::uint32_t> to(count);
  std::iota(to.begin(), to.end(), 0U);
  for (std::uint32_t i = count - 1; i > 0; --i) std::swap(to[i], to[rng.below(i + 1)]);

  // Whoever stays at home swaps with somebody for whom that is right as well. There always is one:
  // fewer hosts send into a group from outside than it has places, and a swap makes no new case.
  for (std::uint32_t i = 0; i < count; ++i) {
    while (to[i] / group == i / group) {
      const auto j = static_cast<std::uint32_t>(rng.below(count));
      if (j / group == i / group || to[j] / group == i / group) continue;
      std::swap(to[i], to[j]);
    }
  }
  return to;
}

std::string problem_with(const Permutation& settings, const fabric::Fabric& fabric) {
  if (settings.bytes == 0) return "bytes must be above 0";
  if (settings.bytes > kMessageBytesMax) return "a message has at most 1 TiB";
  if (settings.messages == 0) return "messages must be above 0";
  if (fabric.hosts() < 2) return "a permutation needs two hosts";
  if (settings.across_racks && fabric.shape().racks < 2) return "across_racks needs two racks";
  return {};
}

std::unique_ptr<Workload> workload_of(const Permutation& settings, const fabric::Fabric& fabric,
                                      std::uint64_t seed) {
  const std::uint32_t group = settings.across_racks ? fabric.shape().hosts_per_rack : 1;
  return std::make_unique<PermutationWorkload>(
      settings, permutation_across(fabric.hosts(), group, Rng(seed).fork(kPermutationStream)));
}

}  // namespace openmrc::sim
