// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/message_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "tests/world/timeline.h"

namespace openmrc::test {
namespace {

using messages::Opcode;

std::uint32_t length_of(const std::vector<std::uint32_t>& pieces) {
  return std::accumulate(pieces.begin(), pieces.end(), 0u);
}

constexpr Duration kTrafficSpan = microseconds(300);
constexpr Duration kLateSpan = microseconds(600);
constexpr std::uint32_t kAtomicSize = 8;

template <class T, std::size_t kSize>
T one_of(Rng& rng, const T (&choices)[kSize]) {
  return choices[rng.below(kSize)];
}
Duration random_time(Rng& rng, Duration span) {
  return Duration(static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(span.raw()))));
}
Side random_side(Rng& rng) { return rng.chance({1, 2}) ? Side::kB : Side::kA; }

// How a world is, beyond what its network is.
struct Mood {
  bool both_ways = false;
  bool late_receives = false;
  bool short_receives = false;
  bool wrongs = false;
  std::uint32_t longest = 1;
};

void choose_host(Rng& rng, MessageHostOptions& host) {
  host.shares_receives = rng.chance({1, 3});
  host.responder.depth = one_of<std::uint8_t>(rng, {1, 2, 16, 16});
  host.responder.rnr_timer = static_cast<std::uint8_t>(rng.between(1, 9));
  host.requester.depth = one_of<std::uint8_t>(rng, {1, 4, 16, 16});
  host.requester.rnr_retry = one_of<std::uint8_t>(rng, {0, 1, 6, 7, 7, 7, 7, 7});
  host.sends = one_of<std::size_t>(rng, {4, 16, 64, 64});
  if (rng.chance({1, 16})) host.ready_to_send_after = random_time(rng, kLateSpan);
}

// Mostly one piece, sometimes nothing.
std::vector<std::uint32_t> random_pieces(Rng& rng, std::uint32_t total) {
  std::vector<std::uint32_t> pieces;
  const std::uint64_t cuts = rng.chance({1, 2}) ? 0 : rng.between(1, 3);
  for (std::uint64_t i = 0; i < cuts; ++i) {
    const auto piece = static_cast<std::uint32_t>(rng.between(0, total));
    pieces.push_back(piece);
    total -= piece;
  }
  if (total > 0 || rng.chance({1, 2})) pieces.push_back(total);
  return pieces;
}

std::uint32_t random_length(Rng& rng, std::uint32_t longest) {
  if (rng.chance({1, 5})) return 0;
  return static_cast<std::uint32_t>(rng.between(1, rng.chance({1, 2}) ? longest : longest / 8 + 1));
}

Wrong random_wrong(Rng& rng, const PlannedRequest& request) {
  constexpr Wrong kRemote[] = {Wrong::kKey,   Wrong::kReserved, Wrong::kDomain,
                               Wrong::kRight, Wrong::kBounds,   Wrong::kLocalKey};
  if (request.is_send()) return Wrong::kLocalKey;
  if (request.is_atomic() && rng.chance({1, 4})) return Wrong::kUnaligned;
  return request.length() == 0 ? Wrong::kLocalKey : one_of(rng, kRemote);
}

void choose_atomic(Rng& rng, PlannedRequest& request) {
  request.pieces = rng.chance({1, 2}) ? std::vector<std::uint32_t>{kAtomicSize}
                                      : std::vector<std::uint32_t>{3, 5};
  request.operand = rng.chance({1, 2}) ? 0 : rng.below(4);
  request.swap = rng.below(4);
  request.on_shared_word = request.opcode == Opcode::kFetchAndAdd && rng.chance({1, 2});
}

// What a WRITE of the same queue pair wrote before.
void choose_read(Rng& rng, const MessageWorldOptions& options, PlannedRequest& request) {
  std::vector<const PlannedRequest*> writes;
  for (const PlannedRequest& other : options.requests) {
    if (other.is_write() && other.side == request.side && other.queue_pair == request.queue_pair &&
        other.at <= request.at && other.wrong == Wrong::kNothing && other.length() > 0) {
      writes.push_back(&other);
    }
  }
  if (writes.empty() || rng.chance({1, 3})) return;
  const PlannedRequest& write = *writes[rng.below(writes.size())];
  request.reads = write.number;
  request.pieces = random_pieces(rng, write.length());
}

PlannedRequest random_request(Rng& rng, const MessageWorldOptions& options, const Mood& mood) {
  PlannedRequest request{.side = mood.both_ways ? random_side(rng) : Side::kA,
                         .queue_pair = rng.below(options.network.queue_pairs),
                         .at = rng.chance({1, 2}) ? Duration{} : random_time(rng, kTrafficSpan),
                         .opcode = static_cast<Opcode>(rng.below(7))};
  request.pieces = random_pieces(rng, random_length(rng, mood.longest));
  request.signaled = rng.chance({1, 2});
  request.fenced = rng.chance({1, 5});
  request.solicited = rng.chance({1, 3});
  request.copied =
      rng.chance({1, 4}) && request.length() <= 256 && (request.is_send() || request.is_write());
  if (request.is_atomic()) choose_atomic(rng, request);
  return request;
}

void choose_requests(Rng& rng, MessageWorldOptions& options, const Mood& mood) {
  std::vector<PlannedRequest> requests;
  for (std::uint64_t left = rng.between(1, 24); left > 0; --left) {
    requests.push_back(random_request(rng, options, mood));
  }
  std::ranges::stable_sort(requests, {}, &PlannedRequest::at);
  for (PlannedRequest& request : requests) {
    request.number = static_cast<std::uint32_t>(options.requests.size() + 1);
    if (request.is_read()) choose_read(rng, options, request);
    if (mood.wrongs && rng.chance({1, 12})) {
      request.wrong = random_wrong(rng, request);
    }
    options.requests.push_back(std::move(request));
  }
}

// More small requests than the endpoint takes at once.
void add_flood(Rng& rng, MessageWorldOptions& options) {
  for (MessageHostOptions& host : options.hosts) {
    host.is_small = true;
    host.sends = 512;
  }
  for (std::uint64_t left = rng.between(200, 500); left > 0; --left) {
    PlannedRequest request{.number = static_cast<std::uint32_t>(options.requests.size() + 1),
                           .queue_pair = rng.below(options.network.queue_pairs),
                           .at = kTrafficSpan,
                           .opcode = Opcode::kWrite,
                           .signaled = false};
    if (rng.chance({1, 4})) request.opcode = Opcode::kRead;
    options.requests.push_back(std::move(request));
  }
}

// One for each message, or somewhat more.
void choose_receives(Rng& rng, MessageWorldOptions& options, const Mood& mood) {
  const std::vector<PlannedRequest> requests = options.requests;
  for (const PlannedRequest& request : requests) {
    if (!request.takes_receive()) continue;
    PlannedReceive receive{.side = other(request.side), .queue_pair = request.queue_pair};
    if (mood.late_receives && rng.chance({1, 2})) receive.at = random_time(rng, kLateSpan);
    std::uint32_t size = mood.longest;
    if (mood.short_receives && rng.chance({1, 6})) {
      size = static_cast<std::uint32_t>(rng.below(mood.longest + 1));
    }
    receive.pieces = random_pieces(rng, size);
    receive.keys_ok = !(mood.short_receives && rng.chance({1, 24}));
    insert_by_time(options.receives, receive);
  }
}

void choose_ends(Rng& rng, MessageWorldOptions& options) {
  for (std::uint64_t left = rng.between(1, 2); left > 0; --left) {
    insert_by_time(options.ends, PlannedEnd{.side = random_side(rng),
                                            .queue_pair = rng.below(options.network.queue_pairs),
                                            .at = random_time(rng, kLateSpan),
                                            .destroys = rng.chance({1, 2})});
  }
}

}  // namespace

std::uint32_t PlannedRequest::length() const { return length_of(pieces); }

MessageWorldOptions random_message_world(std::uint64_t seed) {
  MessageWorldOptions options{.network = random_world(seed)};
  Rng rng = Rng(seed).fork(6);
  WorldOptions& network = options.network;
  network.writes.clear();
  // Applications that die and forgers are the core's matter.
  std::erase_if(network.faults, [](const Fault& fault) {
    return fault.kind == FaultKind::kRestart || fault.kind == FaultKind::kForge;
  });
  for (MessageHostOptions& host : options.hosts) choose_host(rng, host);
  const Mood mood{.both_ways = rng.chance({2, 3}),
                  .late_receives = rng.chance({1, 2}),
                  .short_receives = rng.chance({1, 8}),
                  .wrongs = rng.chance({1, 6}),
                  .longest = network.recv.mtu * one_of(rng, {1u, 2u, 4u, 24u})};
  choose_requests(rng, options, mood);
  choose_receives(rng, options, mood);
  if (rng.chance({1, 8})) choose_ends(rng, options);
  if (rng.chance({1, 128})) add_flood(rng, options);
  return options;
}

namespace {

std::string text_of(const std::vector<std::uint32_t>& pieces) {
  return fmt::format("{} bytes in {}", length_of(pieces), pieces.size());
}
std::string_view name_of(Opcode opcode) {
  constexpr std::array<std::string_view, 7> kNames{"WRITE", "WRITE_IMM", "SEND",     "SEND_IMM",
                                                   "READ",  "CAS",       "FETCH_ADD"};
  return kNames[static_cast<std::size_t>(opcode)];
}
char name_of(Side side) { return side == Side::kA ? 'A' : 'B'; }

}  // namespace

std::string describe(const MessageWorldOptions& options) {
  std::string text = describe(options.network);
  for (const Side side : {Side::kA, Side::kB}) {
    const MessageHostOptions& host = options.hosts[index_of(side)];
    text += fmt::format(
        "  host {}: {}depth {} of {}, rnr timer {} retry {}, {} sends{}, RTS after {} us\n",
        name_of(side), host.shares_receives ? "shared receives, " : "", host.requester.depth,
        host.responder.depth, host.responder.rnr_timer, host.requester.rnr_retry, host.sends,
        host.is_small ? " (small)" : "", host.ready_to_send_after.raw() / 1000);
  }
  for (const PlannedRequest& request : options.requests) {
    text += fmt::format("  {} {}/{} at {} us: {} {}{}{}{}{}{} reads {} wrong {}\n", request.number,
                        name_of(request.side), request.queue_pair, request.at.raw() / 1000,
                        name_of(request.opcode), text_of(request.pieces),
                        request.signaled ? " signaled" : "", request.fenced ? " fenced" : "",
                        request.solicited ? " solicited" : "", request.copied ? " copied" : "",
                        request.on_shared_word ? " shared word" : "", request.reads,
                        static_cast<int>(request.wrong));
  }
  for (const PlannedReceive& receive : options.receives) {
    text += fmt::format("  receive {}/{} at {} us: {}{}\n", name_of(receive.side),
                        receive.queue_pair, receive.at.raw() / 1000, text_of(receive.pieces),
                        receive.keys_ok ? "" : ", wrong key");
  }
  for (const PlannedEnd& end : options.ends) {
    text += fmt::format("  {} {}/{} at {} us\n", end.destroys ? "destroy" : "error",
                        name_of(end.side), end.queue_pair, end.at.raw() / 1000);
  }
  return text;
}

}  // namespace openmrc::test
