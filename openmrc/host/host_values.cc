// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/host_values.h"

namespace openmrc::host {
namespace {

constexpr std::uint64_t kHashStart = 0xcbf29ce484222325;  // FNV-1a
constexpr std::uint64_t kHashFactor = 0x100000001b3;

constexpr std::uint64_t hashed(std::uint64_t hash, std::string_view name) {
  for (const char c : name) hash = (hash ^ static_cast<std::uint8_t>(c)) * kHashFactor;
  return (hash ^ 0xff) * kHashFactor;  // no name has this byte
}

constexpr std::uint64_t hash_of_names() {
  std::uint64_t hash = kHashStart;
  for (const auto& each : core::kCounterTable) hash = hashed(hash, each.name);
  for (const auto& each : datapath::kCounterTable) hash = hashed(hash, each.name);
  for (const auto& each : wire::kRejectTable) hash = hashed(hash, each.counter);
  return hash ^ HostValues::kSize;
}

constexpr PlaneValue value_of(datapath::PlaneCount count) {
  return static_cast<PlaneValue>(static_cast<std::size_t>(PlaneValue::kSentPackets) +
                                 static_cast<std::size_t>(count));
}
static_assert(value_of(datapath::PlaneCount::kFailedPackets) == PlaneValue::kFailedPackets);
static_assert(datapath::kPlaneCounted == core::kPlanesMax);

}  // namespace

std::uint64_t values_layout() {
  static constexpr std::uint64_t kLayout = hash_of_names();
  return kLayout;
}

void HostValues::add(const core::Counters& counters) {
  for (std::size_t i = 0; i < kCore; ++i) values_[i] += counters.of(static_cast<core::Count>(i));
  for (std::size_t i = 0; i < core::kPlanesMax; ++i) {
    const Plane plane(static_cast<std::uint8_t>(i));
    at(place(PlaneValue::kDataSent, i)) += counters.sent(plane);
    at(place(PlaneValue::kDataReceived, i)) += counters.received(plane);
    at(place(PlaneValue::kLost, i)) += counters.lost(plane);
    at(place(PlaneValue::kTrimmed, i)) += counters.trimmed(plane);
  }
}

void HostValues::add(const datapath::Counters& counters) {
  for (std::size_t i = 0; i < kDatapath; ++i) {
    const auto count = static_cast<datapath::Count>(i);
    at(place(count)) += counters.of(count);
  }
  for (std::size_t i = 0; i < kRejects; ++i) {
    const auto reason = static_cast<wire::Reject>(i);
    at(place(reason)) += counters.of(reason);
  }
  for (std::size_t i = 0; i < core::kPlanesMax; ++i) {
    for (std::size_t j = 0; j < datapath::kPlaneCounts; ++j) {
      const auto count = static_cast<datapath::PlaneCount>(j);
      at(place(value_of(count), i)) += counters.of(count, Plane(static_cast<std::uint8_t>(i)));
    }
  }
}

}  // namespace openmrc::host
