// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/worker.h"

#include <algorithm>
#include <bit>

namespace openmrc::sim {
namespace {

// The first width of the buckets of time; it doubles as a run gets longer.
constexpr Picoseconds kBucketWidthFirst{1'000'000};

}  // namespace

Worker::Worker(const Network& network, std::size_t number, std::size_t workers)
    : stats(network.planes(), network.scenario().bucket_width > Picoseconds{}
                                  ? network.scenario().bucket_width
                                  : kBucketWidthFirst),
      number_(static_cast<std::uint16_t>(number)),
      window_(network.window()),
      nodes_(network.nodes()),
      slot_mask_(std::bit_ceil(network.windows_ahead_max() + 1u) - 1),
      boxes_((slot_mask_ + 1) * nodes_),
      posted_(slot_mask_ + 1),
      returned_(workers) {}

bool Worker::has_posted() const {
  return std::any_of(posted_.begin(), posted_.end(), [](std::uint64_t n) { return n > 0; });
}

void Worker::take_back(Returned& returned) {
  chunks_.give_back(returned.chunks);
  contents_.give_back(returned.contents);
  returned.chunks.clear();
  returned.contents.clear();
}

// Counts by port, puts each packet in its place, then sorts the few of each port.
void Arrivals::gather(std::span<Worker* const> workers, NodeIndex node, const Window& window) {
  count_ = 0;
  for (Worker* worker : workers) count_ += worker->box(node, window.index).size();
  if (count_ == 0) return;
  if (packets_.size() < count_) packets_.resize(count_);
  std::fill(begins_.begin(), begins_.end(), 0);
  const auto for_each = [&](auto&& visit) {
    for (Worker* worker : workers) worker->box(node, window.index).for_each(visit);
  };
  for_each([&](const Packet& packet) { ++begins_[packet.key.egress() + 1]; });
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  // Fills from the front; afterwards begins_[p] is where p ends, so it moves up by one place.
  for_each([&](const Packet& packet) { packets_[begins_[packet.key.egress()]++] = packet; });
  for (std::size_t i = begins_.size() - 1; i > 0; --i) begins_[i] = begins_[i - 1];
  begins_[0] = 0;
  sort_ports();
}

void Arrivals::sort_ports() {
  const auto before = [](const Packet& a, const Packet& b) { return a.key < b.key; };
  for (std::size_t port = 0; port + 1 < begins_.size(); ++port) {
    const std::size_t count = begins_[port + 1] - begins_[port];
    if (count > 1) {
      std::sort(packets_.begin() + begins_[port], packets_.begin() + begins_[port + 1], before);
    }
  }
}

}  // namespace openmrc::sim
