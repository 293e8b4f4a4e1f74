// SPDX-License-Identifier: BSD-3-Clause
// mrc-chaos: runs worlds of random shape and faults by their seeds, and replays one that failed.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <atomic>
#include <mutex>

#include "tests/world/message_world.h"
#include "tests/world/world.h"

namespace {

using namespace openmrc;
using namespace openmrc::test;
using Clock = std::chrono::steady_clock;

struct Options {
  std::uint64_t first = 1;
  std::uint64_t count = 1000;
  unsigned jobs = 1;
  std::uint64_t seconds = 0;
  bool quiet = false;
  bool on_path = false;
  bool messages = false;

  [[nodiscard]] std::string_view kind() const {
    if (messages) return " --messages";
    return on_path ? " --on-path" : "";
  }
};

WorldOptions world_of(const Options& options, std::uint64_t seed) {
  return options.on_path ? attacked_world(seed) : random_world(seed);
}
WorldResult run_seed(const Options& options, std::uint64_t seed) {
  if (options.messages) return run_world(random_message_world(seed));
  return run_world(world_of(options, seed));
}

struct Totals {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::uint64_t> done{0};
  std::atomic<std::uint64_t> packets{0};
  std::atomic<std::uint64_t> succeeded{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::vector<std::uint64_t> violations;
};

void print_counters(const WorldResult& result) {
  fmt::print("  {:<28}{:>12}{:>12}\n", "counter", "A", "B");
  for (std::size_t i = 0; i < core::kCounterTable.size(); ++i) {
    const auto count = static_cast<core::Count>(i);
    const std::uint64_t a = result.counters[0].of(count);
    const std::uint64_t b = result.counters[1].of(count);
    if (a + b > 0) fmt::print("  {:<28}{:>12}{:>12}\n", core::describe(count).name, a, b);
  }
}

// One seed, told in full; shrunk if it fails.
template <class Options>
int replay(std::uint64_t seed, const Options& options) {
  fmt::print("seed {}\n{}", seed, describe(options));
  std::fflush(stdout);  // it may take long
  const WorldResult result = run_world(options);
  fmt::print("  {} packets, {} writes done, {} failed, {} us, digest {:016x}\n", result.packets,
             result.writes_succeeded, result.writes_failed, result.when.raw() / 1000,
             result.digest);
  print_counters(result);
  if (!result.violation) {
    fmt::print("no rule broken\n");
    return 0;
  }
  const Options small = shrink(options);
  const WorldResult again = run_world(small);
  fmt::print("RULE BROKEN at {} ns: {}\n", result.when.raw(), *result.violation);
  fmt::print("shrunk to:\n{}  at {} ns: {}\n", describe(small), again.when.raw(),
             again.violation.value_or("(gone)"));
  return 1;
}

void work(const Options& options, Totals& totals) {
  while (!totals.stop) {
    const std::uint64_t at = totals.next++;
    if (at >= options.count) return;
    const std::uint64_t seed = options.first + at;
    const WorldResult result = run_seed(options, seed);
    totals.packets += result.packets;
    totals.succeeded += result.writes_succeeded;
    totals.failed += result.writes_failed;
    ++totals.done;
    if (!result.violation) continue;
    const std::lock_guard lock(totals.mutex);
    fmt::print("\nseed {}: {}\n  replay: mrc-chaos --seed {}{}\n", seed, *result.violation, seed,
               options.kind());
    totals.violations.push_back(seed);
    if (totals.violations.size() >= 10) totals.stop = true;
  }
}

void show_progress(const Options& options, const Totals& totals, Clock::time_point start) {
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const double share = static_cast<double>(totals.done) / static_cast<double>(options.count);
  const auto bars = static_cast<std::size_t>(share * 40);
  fmt::print(stderr, "\r[{:<40}] {:>3.0f} %  {} seeds, {:.0f}/s, {} broken ",
             std::string(bars, '#'), share * 100, totals.done.load(),
             static_cast<double>(totals.done) / seconds, totals.violations.size());
  std::fflush(stderr);
}

int hunt(const Options& options) {
  Totals totals;
  const Clock::time_point start = Clock::now();
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < options.jobs; ++i) {
    threads.emplace_back([&] { work(options, totals); });
  }
  const bool show = !options.quiet && isatty(STDERR_FILENO) != 0;
  while (totals.done < options.count && !totals.stop) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (show) show_progress(options, totals, start);
    if (options.seconds > 0 && Clock::now() - start > std::chrono::seconds(options.seconds)) {
      totals.stop = true;
    }
  }
  threads.clear();
  if (show) fmt::print(stderr, "\n");
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  fmt::print(
      "{} seeds from {} in {:.1f} s ({:.0f} a second): {} packets, {} {} done, {} failed, "
      "{} seeds broke a rule\n",
      totals.done.load(), options.first, seconds, static_cast<double>(totals.done) / seconds,
      totals.packets.load(), totals.succeeded.load(), options.messages ? "requests" : "writes",
      totals.failed.load(), totals.violations.size());
  return totals.violations.empty() ? 0 : 1;
}

int run(int argc, char** argv) {
  CLI::App app{
      "Runs the protocol in worlds of random shape and faults, each a function of its seed",
      "mrc-chaos"};
  Options options;
  std::optional<std::uint64_t> seed;
  app.add_option("--seed", seed, "Replay this seed, tell all about it, and shrink it if it fails");
  app.add_option("--first", options.first, "First seed of a range")->capture_default_str();
  app.add_option("--count", options.count, "How many seeds")->capture_default_str();
  app.add_option("--seconds", options.seconds, "Stop after so long; 0: when all are done");
  app.add_option("--jobs", options.jobs, "Threads")
      ->capture_default_str()
      ->check(CLI::Range(1, 256));
  app.add_flag("--quiet", options.quiet, "No progress bar");
  app.add_flag("--on-path", options.on_path,
               "Worlds with somebody on the path, who drops, delays, repeats and changes packets");
  app.add_flag("--messages", options.messages,
               "Worlds of the message layer: SEND, READ and atomic operations")
      ->excludes("--on-path");
  CLI11_PARSE(app, argc, argv);
  if (!seed) return hunt(options);
  if (options.messages) return replay(*seed, random_message_world(*seed));
  return replay(*seed, world_of(options, *seed));
}

}  // namespace

int main(int argc, char** argv) try {
  return run(argc, argv);
} catch (const std::exception& error) {
  fmt::print(stderr, "mrc-chaos: {}\n", error.what());
  return 2;
}
