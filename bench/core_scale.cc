// SPDX-License-Identifier: BSD-3-Clause
// What many queue pairs cost: memory when they are idle, speed when all of them send. Both are
// measured with a peer for each queue pair, which is the worst case, and with 100 to a peer.
//
//   core_scale [--check | --check-memory | --once] [--queue-pairs N] [--timeout EXPONENT]
//
// --check fails if a goal is missed, --check-memory only if it is that of memory. --timeout sets
// the retransmission timeout (1.024 us x 2^EXPONENT), to see what timers cost. --once has each
// queue pair complete one write and no more, for numbers of which not all can be kept busy, such as
// a million; what both endpoints hold for a queue pair when that is done is told too.
//
// Speed is a ratio of two things on a noisy machine: one queue pair that sends, and all of them,
// in turns in one run, the same number of packets each; the best round of each counts. Records go
// from one endpoint to the other as they are, after half a round trip, with lengths for payloads.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "bench/endpoint_pair.h"
#include "bench/heap_count.h"
#include "openmrc/base/check.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/packet.h"

namespace {

using namespace openmrc;
using namespace openmrc::bench;
using core::Endpoint;
using core::PlaneMask;

constexpr std::uint32_t kQueuePairs = 100'000;
constexpr std::array<std::uint32_t, 2> kQueuePairsPerPeer{1, 100};
constexpr double kIdleBytesMax = 2048;
constexpr double kSpeedKeptMin = 0.5;

constexpr std::uint32_t kWriteBytes = 4 * kMtu;
constexpr std::uint32_t kWritesOfOne = 128;  // more than a round trip holds
constexpr std::uint32_t kWritesOfEach = 2;   // of all queue pairs
constexpr std::uint64_t kPacketsMin = 200'000;
constexpr int kRoundsMin = 2;
constexpr int kRoundsMax = 8;
constexpr std::chrono::seconds kRoundsTime(12);  // no new round after that

constexpr std::size_t kBurst = 32;
constexpr std::size_t kControlBurst = 128;
constexpr std::size_t kTicksOneWay = 5;
constexpr Duration kTick = nanoseconds(kBurst * kPacketPicoseconds / 1'000);  // at line rate

using Clock = std::chrono::steady_clock;

struct Options {
  std::uint32_t queue_pairs = kQueuePairs;
  std::uint8_t timeout = core::ReadyToSendAttributes{}.timeout;
  bool check_memory = false;
  bool check_speed = false;
  bool once = false;

  // As large as it takes.
  [[nodiscard]] core::EndpointSettings settings(Side side) const {
    core::EndpointSettings settings{.addresses = addresses_of(side, 0)};
    core::EndpointLimits& limits = settings.limits;
    limits.queue_pairs = std::max<std::size_t>(limits.queue_pairs, queue_pairs);
    limits.sends_outstanding =
        std::max<std::size_t>(limits.sends_outstanding, std::size_t{queue_pairs} * kWritesOfEach);
    return settings;
  }
};

// Peer `number` has an address of its own in each plane. There is only one endpoint behind all of
// them, so the source is made to fit: the same number on the other side.
void translate(core::Transmit& record) {
  auto& route = std::get<wire::Ipv6Route>(record.packet.route);
  const bool to_responder =
      route.destination.group(0) == static_cast<std::uint16_t>(Side::kResponder);
  route.source = route.destination;
  route.source.set_group(
      0, static_cast<std::uint16_t>(to_responder ? Side::kRequestor : Side::kResponder));
}

// Packets of the last few ticks, in flight in one direction.
template <std::size_t kRecordsPerTick>
class Flight {
 public:
  // Delivers what was sent kTicksOneWay ago, then has `from` fill its place.
  void pass(Instant now, Endpoint& to, Endpoint& from) {
    Tick& tick = ticks_[next_];
    to.handle_packets(now, std::span<const core::Transmit>(tick.records).first(tick.count));
    tick.count = from.poll_transmit(now, PlaneMask::all(), Endpoint::Ports::kReused, tick.records);
    for (std::size_t i = 0; i < tick.count; ++i) translate(tick.records[i]);
    next_ = (next_ + 1) % kTicksOneWay;
  }

 private:
  struct Tick {
    std::array<core::Transmit, kRecordsPerTick> records{};
    std::size_t count = 0;
  };
  std::array<Tick, kTicksOneWay> ticks_{};
  std::size_t next_ = 0;
};

void service(Endpoint& endpoint, Instant now) {
  if (const auto due = endpoint.next_deadline(); due && *due <= now) endpoint.handle_timeout(now);
}

// Two endpoints with all queue pairs connected.
class Pair {
 public:
  Pair(const Options& options, std::uint32_t per_peer)
      : requestor_(options.settings(Side::kRequestor), 1),
        responder_(options.settings(Side::kResponder), 2) {
    const auto init = add_profiles(requestor_);
    const auto remote_init = add_profiles(responder_);
    rkey_ = register_anything(responder_, remote_init.domain);
    qpns_.reserve(options.queue_pairs);
    for (std::uint32_t i = 0; i < options.queue_pairs; ++i) {
      const Qpn local = create(requestor_);
      const Qpn remote = create(responder_);
      connect(requestor_, local,
              {.init = init,
               .remote_qpn = remote,
               .remote_addresses = addresses_of(Side::kResponder, i / per_peer),
               .timeout = options.timeout});
      connect(responder_, remote,
              {.init = remote_init,
               .remote_qpn = local,
               .remote_addresses = addresses_of(Side::kRequestor, i / per_peer)});
      qpns_.push_back(local);
    }
  }

  // Seconds for each packet, when the first `active` queue pairs have so many writes outstanding at
  // all times. What comes before and after, until nothing is left to do, is not counted.
  double time_round(std::uint32_t active, std::uint32_t writes, std::uint64_t packets) {
    posting_ = true;
    for (std::uint32_t i = 0; i < active; ++i) {
      for (std::uint32_t write = 0; write < writes; ++write) post(i);
    }
    run_until(sent() + packets / 4);
    const std::uint64_t before = sent();
    const auto start = Clock::now();
    run_until(before + packets);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    const double each = seconds / static_cast<double>(sent() - before);
    posting_ = false;
    while (outstanding_ > 0) tick();
    const Instant quiet = now_ + milliseconds(2);
    while (now_ < quiet) tick();
    return each;
  }

  // Seconds for each packet, when every queue pair completes one write.
  double time_once() {
    posting_ = false;
    const std::uint64_t before = sent();
    for (std::uint32_t i = 0; i < qpns_.size(); ++i) post(i);
    const auto start = Clock::now();
    while (outstanding_ > 0) tick();
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return seconds / static_cast<double>(sent() - before);
  }

  void check() const {
    check_clean(requestor_);
    check_clean(responder_);
  }

 private:
  void tick() {
    now_ = now_ + kTick;
    service(responder_, now_);
    service(requestor_, now_);
    data_.pass(now_, responder_, requestor_);
    control_.pass(now_, requestor_, responder_);
    while (const auto done = requestor_.poll_completion()) {
      OPENMRC_CHECK(done->status == core::WorkStatus::kSuccess, "a write succeeds");
      --outstanding_;
      if (posting_) post(done->id);
    }
  }

  void run_until(std::uint64_t sent_packets) {
    while (sent() < sent_packets) tick();
  }
  [[nodiscard]] std::uint64_t sent() const {
    return requestor_.counters().of(core::Count::kDataSent);
  }

  void post(std::uint64_t queue_pair) {
    const auto posted = requestor_.post_write(qpns_[queue_pair], now_,
                                              {.id = queue_pair,
                                               .data = wire::Payload::of_length(kWriteBytes),
                                               .remote_address = queue_pair * kWriteBytes,
                                               .rkey = rkey_});
    OPENMRC_CHECK(posted.has_value(), "a write is taken");
    ++outstanding_;
  }

  Endpoint requestor_;
  Endpoint responder_;
  std::vector<Qpn> qpns_;
  RKey rkey_{};
  Flight<kBurst> data_;
  Flight<kControlBurst> control_;
  Instant now_{1};
  std::uint64_t outstanding_ = 0;
  bool posting_ = true;
};

// Everything that the endpoint allocates for a connected queue pair that has never sent: itself,
// its share of the peer, and of all tables.
double idle_bytes(const Options& options, std::uint32_t per_peer) {
  const std::uint32_t queue_pairs = options.queue_pairs;
  Endpoint endpoint(options.settings(Side::kRequestor), 1);
  const auto init = add_profiles(endpoint);
  const std::size_t before = heap_count().live_bytes;
  for (std::uint32_t i = 0; i < queue_pairs; ++i) {
    connect(endpoint, create(endpoint),
            {.init = init,
             .remote_qpn = Qpn(3 + i),
             .remote_addresses = addresses_of(Side::kResponder, i / per_peer)});
  }
  return static_cast<double>(heap_count().live_bytes - before) / queue_pairs;
}

struct Speed {
  double one = 1;  // seconds for each packet
  double all = 1;
};

Speed speed(const Options& options, std::uint32_t per_peer) {
  const std::uint64_t packets = std::max(
      kPacketsMin, std::uint64_t{options.queue_pairs} * kWritesOfEach * (kWriteBytes / kMtu));
  Pair pair(options, per_peer);
  Speed best;
  const auto start = Clock::now();
  for (int round = 0; round < kRoundsMax; ++round) {
    if (round >= kRoundsMin && Clock::now() - start > kRoundsTime) break;
    best.one = std::min(best.one, pair.time_round(1, kWritesOfOne, packets));
    best.all = std::min(best.all, pair.time_round(options.queue_pairs, kWritesOfEach, packets));
  }
  pair.check();
  return best;
}

void report_once(const Options& options) {
  std::printf("%u queue pairs, a write of %u KiB each\n", options.queue_pairs, kWriteBytes / 1024);
  std::printf("%-12s %13s %14s %14s %14s %8s\n", "queue pairs", "bytes of an", "bytes of both",
              "packets/s,", "packets/s,", "all to");
  std::printf("%-12s %13s %14s %14s %14s %8s\n", "to a peer", "idle one", "ends, after",
              "one sends", "each once", "one");
  for (const std::uint32_t per_peer : kQueuePairsPerPeer) {
    const double idle = idle_bytes(options, per_peer);
    const std::size_t before = heap_count().live_bytes;
    Pair pair(options, per_peer);
    double one = 1;
    for (int round = 0; round < kRoundsMin; ++round) {
      one = std::min(one, pair.time_round(1, kWritesOfOne, kPacketsMin));
    }
    const double each = pair.time_once();
    const double after =
        static_cast<double>(heap_count().live_bytes - before) / options.queue_pairs;
    pair.check();
    std::printf("%-12u %13.0f %14.0f %14.0f %14.0f %8.2f\n", per_peer, idle, after, 1 / one,
                1 / each, one / each);
    std::fflush(stdout);
  }
}

// Which goals are reached.
struct Goals {
  bool memory = true;
  bool speed = true;
};

Goals report(const Options& options) {
  Goals reached;
  std::printf("%u queue pairs\n", options.queue_pairs);
  std::printf("%-12s %13s %6s %14s %14s %8s %6s\n", "queue pairs", "bytes of an", "", "packets/s,",
              "packets/s,", "all to", "");
  std::printf("%-12s %13s %6s %14s %14s %8s %6s\n", "to a peer", "idle one", "goal", "one sends",
              "all send", "one", "goal");
  for (const std::uint32_t per_peer : kQueuePairsPerPeer) {
    const double bytes = idle_bytes(options, per_peer);
    const Speed best = speed(options, per_peer);
    const double kept = best.one / best.all;
    std::printf("%-12u %13.0f %6.0f %14.0f %14.0f %8.2f %6.2f\n", per_peer, bytes, kIdleBytesMax,
                1 / best.one, 1 / best.all, kept, kSpeedKeptMin);
    std::fflush(stdout);
    reached.memory = reached.memory && bytes <= kIdleBytesMax;
    reached.speed = reached.speed && kept >= kSpeedKeptMin;
  }
  return reached;
}

std::optional<Options> parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const char* value = i + 1 < arguments.size() ? arguments[i + 1] : nullptr;
    if (argument == "--check" || argument == "--check-memory") {
      options.check_memory = true;
      options.check_speed = argument == "--check";
    } else if (argument == "--once") {
      options.once = true;
    } else if (argument == "--queue-pairs" && value != nullptr) {
      options.queue_pairs = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
      ++i;
    } else if (argument == "--timeout" && value != nullptr) {
      options.timeout = static_cast<std::uint8_t>(std::strtoul(value, nullptr, 10));
      ++i;
    } else {
      return std::nullopt;
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const auto options = parse({argv, static_cast<std::size_t>(argc)});
  if (!options || options->queue_pairs == 0) {
    std::fprintf(stderr,
                 "usage: core_scale [--check | --check-memory | --once] [--queue-pairs N] "
                 "[--timeout EXPONENT]\n");
    return 2;
  }
  if (options->once) {
    report_once(*options);
    return 0;
  }
  const Goals reached = report(*options);
  if (options->check_memory && !reached.memory) std::printf("FAILED: too much memory\n");
  if (options->check_speed && !reached.speed) std::printf("FAILED: too slow\n");
  const bool failed =
      (options->check_memory && !reached.memory) || (options->check_speed && !reached.speed);
  return failed ? 1 : 0;
}
