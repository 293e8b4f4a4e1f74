// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/test_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/host/interrupt.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/perf/bandwidth.h"
#include "tools/mrc/perf/latency.h"
#include "tools/mrc/perf/report.h"
#include "tools/mrc/perf/timeline.h"

namespace openmrc::tools {
namespace {

using host::Error;

std::FILE* result_output = nullptr;  // null: not asked for

}  // namespace

bool keep_output_for_result() {
  const int kept = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  if (kept < 0) return false;
  result_output = ::fdopen(kept, "w");
  return result_output != nullptr && ::dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
}

namespace {

bool write_file(const std::string& file, const std::string& text) {
  if (file == "-") {
    fmt::print(result_output, "{}\n", text);
    return std::fflush(result_output) == 0;
  }
  std::ofstream out(file);
  out << text << '\n';
  out.close();
  if (!out) complain("perf", Error{.what = "cannot write " + file});
  return static_cast<bool>(out);
}

// Each side verifies what it receives, and is told what the other has verified.
void print_verified(const PerfSession& session, const BandwidthResult& result) {
  const std::string& peer = session.peer_name();
  if (!session.is_server() || session.plan().both_ways) {
    fmt::print(" {} messages verified by {}, byte by byte\n", result.verified_by_peer, peer);
  }
  if (session.is_server() || session.plan().both_ways) {
    fmt::print(" {} messages of {} verified, byte by byte\n", result.verified, peer);
  }
}

// Whether the result is what -w and -y ask for.
bool reaches_limits(const PerfOptions& options, const BandwidthResult& result) {
  if (options.bandwidth_least == 0) return true;
  const BandwidthFigures out = figures(options, result);
  if (out.average < options.bandwidth_least) {
    complain("perf", fmt::format("the bandwidth of {:.2f} is below the limit of {:.2f} (-w)",
                                 out.average, options.bandwidth_least));
    return false;
  }
  if (out.million_messages < options.message_rate_least) {
    complain("perf", fmt::format("the message rate of {:.6f} is below the limit of {:.6f} (-y)",
                                 out.million_messages, options.message_rate_least));
    return false;
  }
  return true;
}

// A run that failed has counters as well, and they are what one wants to see then. With -a the JSON
// is that of the last size, as in perftest.
bool run_bandwidth(PerfSession& session, const PerfOptions& options) {
  BandwidthResult result;
  Result<void, Error> ran;
  bool good = true;
  bool has_head = false;
  for (const std::uint32_t size : sizes_of(session.plan())) {
    session.set_size(size);
    BandwidthRun run(session, options);
    ran = run.run();
    result = run.result();
    if (!ran) break;
    if (result.messages > 0) {
      if (!has_head) print_bandwidth_head(options);
      has_head = true;
      print_bandwidth_row(session.plan(), options, result);
      good = reaches_limits(options, result) && good;
    }
    if (host::interrupted()) break;
  }
  if (has_head) print_table_end(options);
  if (!ran) complain("perf", ran.error());
  if (ran && session.plan().verify) {
    print_verified(session, result);
  }
  const bool written =
      !options.json || write_file(*options.json, bandwidth_json(session, options, result));
  return ran && written && good;
}

bool run_latency_test(PerfSession& session, const PerfOptions& options) {
  LatencyResult result;
  const std::vector<std::uint32_t> sizes = sizes_of(session.plan());
  for (const std::uint32_t size : sizes) {
    const bool is_first = size == sizes.front();
    session.set_size(size);
    auto ran = run_latency(session, is_first);
    if (!ran) {
      complain("perf", ran.error());
      return false;
    }
    result = std::move(*ran);
    if (session.is_server()) continue;
    print_latency_samples(options, result);
    if (is_first) print_latency_head(session.plan(), options);
    print_latency_row(session.plan(), options, result);
    if (host::interrupted()) break;
  }
  if (session.is_server()) return true;
  print_table_end(options);
  print_latency_histogram(options, result);
  return !options.json || write_file(*options.json, latency_json(session, result));
}

// What the host has to say, apart from what was said. Returns all of it.
std::vector<std::string> print_notices(const host::Host& host,
                                       const std::vector<std::string>& said) {
  std::vector<std::string> notices = host.notices();
  for (const std::string& notice : notices) {
    if (std::ranges::find(said, notice) != said.end()) continue;
    fmt::print(stderr, "mrc perf: note: {}\n", notice);
  }
  return notices;
}

}  // namespace

bool run_session(PerfSession& session, const PerfOptions& options) {
  const std::vector<std::string> said = print_notices(session.host(), {});
  print_perf_header(session, options);
  std::optional<PerfTimeline> timeline;
  if (options.timeline) timeline.emplace(session.host(), *options.timeline);
  bool good = options.plan.test == PerfTest::kWriteBandwidth ? run_bandwidth(session, options)
                                                             : run_latency_test(session, options);
  if (timeline) {
    if (const auto finished = timeline->finish(); !finished) {
      complain("perf", finished.error());
      good = false;
    }
  }
  print_notices(session.host(), said);
  return good;
}

}  // namespace openmrc::tools
