// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/timeline.h"

#include <fmt/core.h>

#include <chrono>
#include <fstream>

#include "openmrc/host/clock.h"

namespace openmrc::tools {

PerfTimeline::PerfTimeline(const host::Host& host, std::string file)
    : host_(host), file_(std::move(file)), thread_([this] { note(); }) {}

PerfTimeline::~PerfTimeline() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

void PerfTimeline::note() {
  auto next = std::chrono::steady_clock::now();
  while (!stopping_) {
    const std::uint64_t bytes = host_.counters().of(core::Count::kBytesPlaced);
    samples_.push_back({.time_ns = host::now().ns(), .bytes = bytes});
    next += std::chrono::milliseconds(1);
    std::this_thread::sleep_until(next);
  }
}

Result<void, host::Error> PerfTimeline::finish() {
  stopping_ = true;
  thread_.join();
  std::ofstream out(file_);
  out << "time_ns,bytes\n";
  for (const Sample& sample : samples_) out << fmt::format("{},{}\n", sample.time_ns, sample.bytes);
  out.close();
  if (out) return {};
  return failure(host::Error{.what = "cannot write " + file_});
}

}  // namespace openmrc::tools
