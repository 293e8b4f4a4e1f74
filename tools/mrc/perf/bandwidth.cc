// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/perf/bandwidth.h"

#include <fmt/core.h>

#include <array>

#include "openmrc/host/clock.h"
#include "openmrc/host/exchange_handshake.h"
#include "openmrc/host/interrupt.h"
#include "tools/mrc/perf/pattern.h"

namespace openmrc::tools {
namespace {

using host::Completion;
using host::now;

constexpr std::uint32_t kCountMark = 1u << 31;  // an immediate that counts compared messages
constexpr Duration kLookInterval = milliseconds(100);
constexpr Duration kResultTimeout = seconds(10);
// After Ctrl-C what is in flight may still arrive, for so long.
constexpr Duration kDrainMax = milliseconds(300);
constexpr char kDone[] = R"({"done":true})";

// What was posted, by its lane and its kind.
enum class Kind : std::uint8_t { kMessage, kCredit, kReceive };
host::WorkId work_id(std::size_t lane, Kind kind) {
  return lane << 8 | static_cast<unsigned>(kind);
}

}  // namespace

BandwidthRun::BandwidthRun(PerfSession& session, const PerfOptions& options)
    : session_(session),
      plan_(session.plan()),
      sends_(!session.is_server() || session.plan().both_ways),
      lanes_(session.lanes().size()),
      live_(session, options) {}

// For messages of the peer, and its counts of ours.
void BandwidthRun::post_receives() {
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    for (std::size_t i = 0; i < 2 * session_.slots(); ++i) {
      (void)session_.lanes()[lane].qp->post_receive(work_id(lane, Kind::kReceive));
    }
  }
}

Result<void, host::Error> BandwidthRun::run() {
  if (plan_.verify) post_receives();
  if (auto met = session_.barrier(kResultTimeout); !met) return failure(std::move(met.error()));
  begin_ = last_look_ = peak_from_ = now();
  live_.begin(begin_);
  if (sends_) {
    for (std::size_t lane = 0; lane < lanes_.size(); ++lane) post_on(lane);
  }
  std::array<Completion, 64> completions;
  while (status_ && !(said_done_ && peer_done_)) {
    if (gives_up()) return end_early();
    const std::size_t count = session_.completions().wait(completions, kLookInterval);
    for (std::size_t i = 0; i < count && status_; ++i) handle(completions[i]);
    if (now() >= last_look_ + kLookInterval) look_around();
    if (!said_done_ && (!sends_ || sending_is_over())) {
      said_done_ = true;
      (void)session_.control().send(kDone);
    }
    if (said_done_ && !peer_done_ && status_) hear_control();
  }
  live_.finish(now(), result_.bytes);
  return status_;
}

// A server has nobody to wait for; a client has its own writes.
bool BandwidthRun::gives_up() {
  if (!host::interrupted()) return false;
  if (session_.is_server()) return true;
  if (interrupted_at_ == Instant{}) interrupted_at_ = now();
  return now() >= interrupted_at_ + kDrainMax;
}

// A peer that has sent all that it wanted to is told the usual end; another one, why it ends.
Result<void, host::Error> BandwidthRun::end_early() {
  if (peer_done_) {
    (void)session_.control().send(kDone, kDrainMax);
    return {};
  }
  return failure(session_.interrupted());
}

bool BandwidthRun::has_room(const LaneState& state) const {
  if (state.posted - state.completed >= plan_.depth) return false;
  if (plan_.iterations > 0 && state.posted >= plan_.iterations) return false;
  if (!plan_.verify) return true;
  const auto not_compared = static_cast<std::uint32_t>(state.posted) - state.compared_by_peer;
  return not_compared < session_.slots() && state.posted - state.completed < session_.slots();
}

void BandwidthRun::post_on(std::size_t lane) {
  LaneState& state = lanes_[lane];
  PerfLane& at = session_.lanes()[lane];
  while (has_room(state) && !time_is_up()) {
    const std::span<std::byte> bytes = session_.slot(at.outgoing, state.posted);
    host::Write write{.id = work_id(lane, Kind::kMessage),
                      .data = bytes,
                      .remote_address = at.remote + state.posted % session_.slots() * plan_.size,
                      .rkey = at.remote_key};
    if (plan_.verify) {
      Pattern(static_cast<std::uint32_t>(lane), state.posted).fill(bytes);
      write.immediate = static_cast<std::uint32_t>(state.posted) & ~kCountMark;
    }
    if (!at.qp->post_write(write)) return fail("cannot post a write");
    if (plan_.verify) ++not_compared_;
    ++state.posted;
    ++in_flight_;
  }
}

void BandwidthRun::handle(const Completion& completion) {
  const std::size_t lane = completion.id >> 8;
  if (completion.status != host::WorkStatus::kSuccess) {
    const auto text = session_.lanes()[lane].qp->failure_text();
    return fail(text.value_or(fmt::format("queue pair {:#x} to {}: {}", completion.qpn.raw(),
                                          session_.peer_name(), name(completion.status))));
  }
  switch (static_cast<Kind>(completion.id & 0xff)) {
    case Kind::kMessage: return on_completed(lane);
    case Kind::kCredit: --lanes_[lane].credits_out; return;
    case Kind::kReceive: break;
  }
  (void)session_.lanes()[lane].qp->post_receive(work_id(lane, Kind::kReceive));
  if ((completion.immediate.raw() & kCountMark) == 0) return on_message(lane);
  // The count has 31 bits; what it lacks follows from what was posted.
  LaneState& state = lanes_[lane];
  const std::uint32_t ahead =
      (static_cast<std::uint32_t>(state.posted) - completion.immediate.raw()) & ~kCountMark;
  const std::uint32_t compared = static_cast<std::uint32_t>(state.posted) - ahead;
  const std::uint32_t more = compared - state.compared_by_peer;
  not_compared_ -= more;
  result_.verified_by_peer += more;
  state.compared_by_peer = compared;
  post_on(lane);
}

void BandwidthRun::on_completed(std::size_t lane) {
  ++lanes_[lane].completed;
  --in_flight_;
  if (said_done_) return;  // sent before the time was up, and not part of it
  ++result_.messages;
  result_.bytes += plan_.size;
  const Instant at = now();
  result_.time = at - begin_;
  note_peak(at);
  post_on(lane);
}

void BandwidthRun::note_peak(Instant at) {
  const Duration span = at - peak_from_;
  if (span < milliseconds(100)) return;
  const double rate =
      static_cast<double>(result_.bytes - peak_bytes_) * 1e9 / static_cast<double>(span.raw());
  result_.peak_bytes_per_second = std::max(result_.peak_bytes_per_second, rate);
  peak_from_ = at;
  peak_bytes_ = result_.bytes;
}

void BandwidthRun::on_message(std::size_t lane) {
  LaneState& state = lanes_[lane];
  PerfLane& at = session_.lanes()[lane];
  const auto wrong = Pattern(static_cast<std::uint32_t>(lane), state.received)
                         .find_difference(session_.slot(at.incoming, state.received));
  if (wrong) {
    return fail(
        fmt::format("data mismatch: message {} of {} on queue pair {:#x} differs from byte {} on",
                    state.received, session_.peer_name(), at.qp->number().raw(), *wrong),
        "this is a bug: please report it with the seed and a capture");
  }
  ++state.received;
  ++result_.verified;
  const std::span<std::byte> any = at.outgoing.first(1);
  const auto count = static_cast<std::uint32_t>(state.received);
  // One byte behind the peer's messages, where it harms nobody.
  const host::Write credit{.id = work_id(lane, Kind::kCredit),
                           .data = any,
                           .remote_address = at.remote + session_.slots() * plan_.size,
                           .rkey = at.remote_key,
                           .immediate = count | kCountMark};
  if (!at.qp->post_write(credit)) return fail("cannot post a credit");
  ++state.credits_out;
}

bool BandwidthRun::time_is_up() const {
  if (host::interrupted()) return true;
  if (plan_.iterations > 0) return false;
  return now() >= begin_ + Duration(static_cast<std::int64_t>(plan_.seconds * 1e9));
}

// When a time is up, what is in flight is left: deep queues would take as long again. Two things
// are waited for: a message to measure at all, and what is to be verified.
bool BandwidthRun::sending_is_over() const {
  const bool leaves_rest = plan_.seconds > 0 && !plan_.verify && result_.messages > 0;
  if (time_is_up() && leaves_rest) return true;
  if (in_flight_ > 0 || not_compared_ > 0) return false;
  return time_is_up() ||
         (plan_.iterations > 0 && result_.messages == plan_.iterations * lanes_.size());
}

void BandwidthRun::look_around() {
  last_look_ = now();
  live_.show(last_look_, result_.bytes);
  hear_control();
}

// What the peer says, if anything.
void BandwidthRun::hear_control() {
  const auto line = session_.control().receive(nanoseconds(0));
  if (line) {
    if (const auto reason = host::refusal_in(*line)) fail(session_.ended_by_peer(*reason));
    peer_done_ = peer_done_ || *line == kDone;
    return;
  }
  if (line.error().fault == host::ExchangeFault::kTimeout) return;
  fail(fmt::format("the process at {} has exited: {}; {} writes were in flight",
                   session_.peer_name(), to_string(line.error()), in_flight_),
       fmt::format("find out why it exited, and restart it: mrc perf write-bw (on {})",
                   session_.peer_name()));
}

void BandwidthRun::fail(std::string what, std::string remedy) {
  fail(host::Error{.what = std::move(what), .remedy = std::move(remedy)});
}

void BandwidthRun::fail(host::Error error) {
  if (status_) status_ = failure(std::move(error));
}

}  // namespace openmrc::tools
