// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/stats.h"

#include "openmrc/base/check.h"
#include "openmrc/sim/result/plain_bytes.h"

namespace openmrc::sim {
namespace {

void add(Bucket& to, const Bucket& from) {
  for (std::size_t i = 0; i < from.payload_bytes.size(); ++i) {
    to.payload_bytes[i] += from.payload_bytes[i];
  }
  for (std::size_t i = 0; i < kEvStates; ++i) to.ev_changes[i] += from.ev_changes[i];
  for (std::size_t i = 0; i < kPortKinds; ++i) {
    to.queue_max_bytes[i] = std::max(to.queue_max_bytes[i], from.queue_max_bytes[i]);
  }
  to.marked += from.marked;
  to.trimmed += from.trimmed;
  to.lost += from.lost;
  to.retransmissions += from.retransmissions;
}

// A bucket without its vector.
struct FlatBucket {
  std::array<std::int64_t, kEvStates> ev_changes;
  std::array<std::uint64_t, kPortKinds> queue_max_bytes;
  std::array<std::uint64_t, 4> counts;
};

}  // namespace

FabricSample Stats::sample() const {
  FabricSample sample{.payload_bytes = totals.payload_bytes_arrived,
                      .retransmissions = totals.retransmissions,
                      .marked = totals.packets_marked,
                      .trimmed = totals.packets_trimmed};
  for (const std::uint64_t packets : totals.packets_lost) sample.lost += packets;
  for (const Bucket& bucket : buckets_) {
    for (std::size_t i = 0; i < kEvStates; ++i) sample.ev_changes[i] += bucket.ev_changes[i];
  }
  return sample;
}

std::string Stats::to_bytes() const {
  std::string bytes;
  put_plain(bytes, planes_);
  put_plain(bytes, width_);
  put_plain(bytes, totals);
  put_plain(bytes, flows);
  put_plain(bytes, steps);
  const std::size_t count = buckets_.size();
  put_plain(bytes, count);
  for (const Bucket& bucket : buckets_) {
    const FlatBucket flat{
        .ev_changes = bucket.ev_changes,
        .queue_max_bytes = bucket.queue_max_bytes,
        .counts = {bucket.marked, bucket.trimmed, bucket.lost, bucket.retransmissions}};
    put_plain(bytes, flat);
    put_plain(bytes, bucket.payload_bytes);
  }
  return bytes;
}

Stats Stats::from_bytes(std::string_view bytes) {
  Stats stats(0, Picoseconds{});
  take_plain(bytes, stats.planes_);
  take_plain(bytes, stats.width_);
  take_plain(bytes, stats.totals);
  take_plain(bytes, stats.flows);
  take_plain(bytes, stats.steps);
  std::size_t count = 0;
  take_plain(bytes, count);
  OPENMRC_CHECK(count <= kBucketsMax, "no more buckets than there can be");
  stats.buckets_.resize(count);
  for (Bucket& bucket : stats.buckets_) {
    FlatBucket flat{};
    take_plain(bytes, flat);
    bucket.ev_changes = flat.ev_changes;
    bucket.queue_max_bytes = flat.queue_max_bytes;
    bucket.marked = flat.counts[0];
    bucket.trimmed = flat.counts[1];
    bucket.lost = flat.counts[2];
    bucket.retransmissions = flat.counts[3];
    take_plain(bytes, bucket.payload_bytes);
  }
  return stats;
}

Bucket& Stats::find_bucket(Picoseconds when) {
  while (static_cast<std::size_t>(when.raw() / width_.raw()) >= kBucketsMax) double_width();
  const auto index = static_cast<std::size_t>(when.raw() / width_.raw());
  if (index >= buckets_.size()) {
    Bucket empty;
    empty.payload_bytes.resize(planes_);
    buckets_.resize(index + 1, empty);
  }
  current_ = index;
  current_from_ = width_ * static_cast<std::int64_t>(index);
  current_to_ = current_from_ + width_;
  return buckets_[index];
}

void Stats::double_width() {
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    if (i % 2 == 1) {
      add(buckets_[i / 2], buckets_[i]);
    } else if (i > 0) {
      buckets_[i / 2] = buckets_[i];
    }
  }
  buckets_.resize((buckets_.size() + 1) / 2);
  width_ = width_ * 2;
  current_from_ = current_to_ = Picoseconds{};
}

void Stats::add_step(const StepRecord& part, std::size_t step) {
  if (step >= steps.size()) steps.resize(step + 1, {.begin = kNoTime});
  StepRecord& whole = steps[step];
  whole.begin = std::min(whole.begin, part.begin);
  whole.end = std::max(whole.end, part.end);
  whole.hosts += part.hosts;
}

void Stats::merge(const Stats& other) {
  totals += other.totals;
  flows.insert(flows.end(), other.flows.begin(), other.flows.end());
  for (std::size_t i = 0; i < other.steps.size(); ++i) add_step(other.steps[i], i);
  while (width_ < other.width_) double_width();
  const std::int64_t ratio = width_.raw() / other.width_.raw();
  for (std::size_t i = 0; i < other.buckets_.size(); ++i) {
    const std::int64_t into = static_cast<std::int64_t>(i) / ratio;
    add(bucket(width_ * into), other.buckets_[i]);
  }
}

}  // namespace openmrc::sim
