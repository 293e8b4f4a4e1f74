// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/workload/background.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "openmrc/sim/workload/graph.h"
#include "openmrc/sim/workload/random_lengths.h"
#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

using fabric::HostIndex;

std::uint64_t weights_of(const Background& settings) {
  return std::accumulate(settings.sizes.begin(), settings.sizes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& size) { return sum + size.weight; });
}

// Between two messages of a sender. In floating point, but of basic operations only.
Picoseconds mean_gap(const Background& settings) {
  double bytes = 0;
  for (const Background::Size& size : settings.sizes) {
    bytes += static_cast<double>(size.bytes) * size.weight;
  }
  bytes /= static_cast<double>(weights_of(settings));
  const double gap = bytes * 8 / static_cast<double>(settings.bits_per_second) *
                     static_cast<double>(kPicosecondsPerSecond);
  return Picoseconds(std::max<std::int64_t>(static_cast<std::int64_t>(gap), 1));
}

class BackgroundProgram final : public Program {
 public:
  BackgroundProgram(const Background& settings, std::vector<HostIndex> peers, Rng rng)
      : settings_(settings),
        peers_(std::move(peers)),
        rng_(rng),
        weights_(weights_of(settings)),
        gap_(mean_gap(settings)),
        next_(draw_exponential(rng_, gap_)) {}

  void on_time(Picoseconds now, Requests& requests) override {
    for (; next_ <= now && !is_over(next_); next_ = next_ + draw_exponential(rng_, gap_)) {
      requests.sends.push_back({.to = peers_[rng_.below(peers_.size())],
                                .bytes = draw_bytes(),
                                .tag = sent_++ % static_cast<MessageTag>(kGraphTagsMax)});
    }
    over_ = is_over(next_);
    if (!over_) requests.wake_at = next_;
  }

  void on_sent(Picoseconds /*now*/, HostIndex /*to*/, MessageTag /*tag*/,
               Requests& /*requests*/) override {
    ++acknowledged_;
  }
  void on_received(Picoseconds /*now*/, HostIndex /*from*/, MessageTag /*tag*/,
                   Requests& /*requests*/) override {}

  [[nodiscard]] bool done() const override {
    return settings_.duration == Picoseconds{} || (over_ && acknowledged_ == sent_);
  }

 private:
  [[nodiscard]] bool is_over(Picoseconds time) const {
    return settings_.duration > Picoseconds{} && time >= settings_.duration;
  }

  std::uint64_t draw_bytes() {
    std::uint64_t left = rng_.below(weights_);
    for (const Background::Size& size : settings_.sizes) {
      if (left < size.weight) return size.bytes;
      left -= size.weight;
    }
    return settings_.sizes.back().bytes;
  }

  Background settings_;
  std::vector<HostIndex> peers_;
  Rng rng_;
  std::uint64_t weights_;
  Picoseconds gap_;
  Picoseconds next_;
  bool over_ = false;
  MessageTag sent_ = 0;
  MessageTag acknowledged_ = 0;
};

class BackgroundWorkload final : public Workload {
 public:
  BackgroundWorkload(Background settings, std::uint64_t seed)
      : settings_(std::move(settings)), rng_(seed) {}

  [[nodiscard]] std::vector<HostIndex> destinations(HostIndex host) const override {
    const std::uint32_t own = host.raw();
    std::vector<HostIndex> result;
    if (own >= settings_.hosts || own < settings_.servers) return result;
    const std::uint32_t last = settings_.servers > 0 ? settings_.servers : settings_.hosts;
    for (std::uint32_t to = 0; to < last; ++to) {
      if (to != own) result.emplace_back(to);
    }
    const auto count = std::min<std::size_t>(settings_.peers, result.size());
    Rng rng = rng_.fork(2 * std::uint64_t{own});
    for (std::size_t i = 0; i < count; ++i) {
      std::swap(result[i], result[i + rng.below(result.size() - i)]);
    }
    result.resize(count);
    return result;
  }

  [[nodiscard]] std::unique_ptr<Program> program(HostIndex host) const override {
    auto peers = destinations(host);
    if (peers.empty()) return nullptr;
    return std::make_unique<BackgroundProgram>(settings_, std::move(peers),
                                               rng_.fork(2 * std::uint64_t{host.raw()} + 1));
  }

 private:
  Background settings_;
  Rng rng_;
};

}  // namespace

std::string problem_with(const Background& settings, const fabric::Fabric& fabric) {
  if (settings.hosts < 2) return "background traffic needs two hosts";
  if (settings.hosts > fabric.hosts()) {
    return fmt::format("{} hosts are asked for, and the fabric has {}", settings.hosts,
                       fabric.hosts());
  }
  if (settings.servers >= settings.hosts) {
    return fmt::format("{} servers leave none of {} hosts to send to them", settings.servers,
                       settings.hosts);
  }
  if (settings.sizes.empty() || weights_of(settings) == 0) return "messages need a size";
  for (const Background::Size& size : settings.sizes) {
    if (size.bytes == 0 || size.bytes > kMessageBytesMax) return "a message has a byte to 1 TiB";
  }
  if (settings.bits_per_second == 0) return "the load must be above 0";
  if (settings.peers == 0 || settings.peers > kBackgroundPeersMax) {
    return fmt::format("a sender has 1 to {} peers", kBackgroundPeersMax);
  }
  constexpr Picoseconds kGapMax{kPicosecondsPerSecond * 100};
  if (mean_gap(settings) > kGapMax) return "messages come less often than every 100 s";
  if (settings.duration < Picoseconds{}) return "background traffic lasts longer than no time";
  return {};
}

std::unique_ptr<Workload> workload_of(const Background& settings, const fabric::Fabric& /*fabric*/,
                                      std::uint64_t seed) {
  return std::make_unique<BackgroundWorkload>(settings, seed);
}

}  // namespace openmrc::sim
