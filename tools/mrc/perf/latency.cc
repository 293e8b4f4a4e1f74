// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/latency.h"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <span>

#include "openmrc/host/clock.h"
#include "openmrc/host/exchange_handshake.h"
#include "openmrc/host/interrupt.h"

namespace openmrc::tools {
namespace {

using host::Completion;
using host::Error;
using host::now;

constexpr std::size_t kReceivesPosted = 16;
constexpr host::WorkId kWrite = 1;
constexpr host::WorkId kReceive = 2;
constexpr Duration kPongMax = seconds(30);
constexpr Duration kSlice = milliseconds(100);

// An answer that takes longer is not worth a core.
constexpr Duration kLookMax = milliseconds(1);

class PingPong {
 public:
  explicit PingPong(PerfSession& session) : session_(session), lane_(session.lanes().front()) {}

  // Receives stay posted from one test of a session to the next.
  [[nodiscard]] Result<void, Error> prepare(bool is_first) {
    const std::size_t receives = is_first ? kReceivesPosted : 0;
    for (std::size_t i = 0; i < receives; ++i) (void)lane_.qp->post_receive(kReceive);
    return session_.barrier(seconds(10));
  }

  [[nodiscard]] Result<void, Error> send() {
    const host::Write write{.id = kWrite,
                            .data = lane_.outgoing.first(session_.plan().size),
                            .remote_address = lane_.remote,
                            .rkey = lane_.remote_key,
                            .immediate = 0};
    if (!lane_.qp->post_write(write)) return failure(Error{.what = "cannot post a write"});
    return {};
  }

  // Until the peer's next message is there. False: the test has ended; on this side by a signal.
  [[nodiscard]] Result<bool, Error> await() {
    const Instant until = now() + kPongMax;
    while (arrived_ == 0) {
      std::array<Completion, 4> completions;
      const std::size_t count = next(completions);
      for (std::size_t i = 0; i < count; ++i) {
        if (completions[i].status != host::WorkStatus::kSuccess)
          return failure(failed(completions[i]));
        if (completions[i].id == kReceive) ++arrived_;
      }
      if (count > 0) continue;
      if (host::interrupted()) return false;
      const auto line = session_.control().receive(nanoseconds(0));
      if (line) {
        const auto reason = host::refusal_in(*line);
        if (reason) return failure(session_.ended_by_peer(*reason));
        return false;
      }
      if (line.error().fault != host::ExchangeFault::kTimeout) {
        return failure(Error{.what = fmt::format("the process at {} has exited: {}",
                                                 session_.peer_name(), to_string(line.error()))});
      }
      if (now() >= until) return failure(Error{.what = "no response for 30 s"});
    }
    --arrived_;
    (void)lane_.qp->post_receive(kReceive);
    return true;
  }

 private:
  std::size_t next(std::span<Completion> into) {
    host::CompletionQueue& queue = session_.completions();
    if (!session_.plan().sleeps) {
      const Instant end = now() + kLookMax;
      do {
        if (const std::size_t count = queue.poll(into); count > 0) return count;
      } while (now() < end);
    }
    return queue.wait(into, kSlice);
  }

  [[nodiscard]] Error failed(const Completion& completion) const {
    return {.what = lane_.qp->failure_text().value_or(std::string(name(completion.status)))};
  }

  PerfSession& session_;
  PerfLane& lane_;
  int arrived_ = 0;
};

Result<LatencyResult, Error> measure(PerfSession& session, PingPong& game) {
  LatencyResult result;
  const std::uint64_t count = session.plan().iterations;
  const Instant begin = now();
  const Instant end = begin + Duration(static_cast<std::int64_t>(session.plan().seconds * 1e9));
  Instant last = begin;
  while (!host::interrupted() &&
         (count > 0 ? result.half_round_trips.size() < count : last < end)) {
    if (auto sent = game.send(); !sent) return failure(std::move(sent.error()));
    const auto back = game.await();
    if (!back) return failure(back.error());
    if (!*back && host::interrupted()) break;
    if (!*back) return failure(Error{.what = "the peer ended the test"});
    const Instant at = now();
    result.half_round_trips.push_back((at - last).raw() / 2);
    last = at;
  }
  result.time = last - begin;
  (void)session.control().send(R"({"done":true})");
  return result;
}

Result<LatencyResult, Error> answer(PerfSession& session, PingPong& game) {
  while (!host::interrupted()) {
    const auto there = game.await();
    if (!there) return failure(there.error());
    if (!*there) break;
    if (auto sent = game.send(); !sent) return failure(std::move(sent.error()));
  }
  if (host::interrupted()) return failure(session.interrupted());
  return LatencyResult{};
}

}  // namespace

Result<LatencyResult, Error> run_latency(PerfSession& session, bool is_first) {
  PingPong game(session);
  if (auto ready = game.prepare(is_first); !ready) return failure(std::move(ready.error()));
  return session.is_server() ? answer(session, game) : measure(session, game);
}

}  // namespace openmrc::tools
