// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/worker.h"

#include <algorithm>
#include <bit>

namespace openmrc::sim {
namespace {

// The first width of the buckets of time; it doubles as a run gets longer.
constexpr Picoseconds kBucketWidthFirst{1'000'000};

}  // namespace

Worker::Worker(const Network& network, std::size_t workers)
    : stats(network.planes(), network.scenario().bucket_width > Picoseconds{}
                                  ? network.scenario().bucket_width
                                  : kBucketWidthFirst),
      window_(network.window()),
      nodes_(network.nodes()),
      slot_mask_(std::bit_ceil(network.windows_ahead_max() + 1u) - 1),
      boxes_((slot_mask_ + 1) * nodes_),
      posted_(slot_mask_ + 1),
      returned_(workers) {}

bool Worker::has_posted() const {
  return std::any_of(posted_.begin(), posted_.end(), [](std::uint64_t n) { return n > 0; });
}

void Arrivals::gather(std::span<Worker* const> workers, NodeIndex node, const Window& window) {
  found_.clear();
  for (Worker* worker : workers) {
    worker->box(node, window.index).for_each([&](const Packet& packet) {
      const auto time = static_cast<std::uint64_t>((packet.at - window.begin).raw());
      found_.push_back(
          {std::uint64_t{packet.egress} << kPortShift | time << kIngressBits | packet.ingress,
           &packet});
    });
  }
  sort();
}

// Counts by port, then sorts the few of each port.
void Arrivals::sort() {
  const auto before = [](const Entry& a, const Entry& b) { return a.key < b.key; };
  sorted_.resize(found_.size());
  if (found_.empty()) return;
  std::fill(begins_.begin(), begins_.end(), 0);
  for (const Entry& entry : found_) ++begins_[(entry.key >> kPortShift) + 1];
  for (std::size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  // Fills from the front; afterwards begins_[p] is where p ends, so it moves up by one place.
  for (const Entry& entry : found_) sorted_[begins_[entry.key >> kPortShift]++] = entry;
  for (std::size_t i = begins_.size() - 1; i > 0; --i) begins_[i] = begins_[i - 1];
  begins_[0] = 0;
  for (std::size_t port = 0; port + 1 < begins_.size(); ++port) {
    const std::size_t count = begins_[port + 1] - begins_[port];
    if (count > 1) {
      std::sort(sorted_.begin() + begins_[port], sorted_.begin() + begins_[port + 1], before);
    }
  }
}

}  // namespace openmrc::sim
