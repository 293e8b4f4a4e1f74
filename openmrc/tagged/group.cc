// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/group.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "openmrc/host/clock.h"

namespace openmrc::tagged {
namespace {

// Who waits so long asks whether those whom it waits for still answer.
constexpr Duration kPingEvery = milliseconds(250);
// How long a member that leaves waits until what it sent has arrived.
constexpr Duration kCloseMax = seconds(5);
// The same where the others have been told that the group has failed, and may be gone.
constexpr Duration kCloseBrokenMax = milliseconds(500);

}  // namespace

Group::Group(host::Host& host, int rank, int size)
    : host_(host), rank_(rank), peers_(static_cast<std::size_t>(std::max(size, 0))) {}

Group::~Group() {
  if (host_.is_of_this_process()) close();
}

Peer* Group::find(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  return rank < 0 || index >= peers_.size() ? nullptr : peers_[index].get();
}

Result<host::ConnectionInfo, Reason> Group::add_peer(int rank) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::size_t>(rank);
  if (rank < 0 || index >= peers_.size() || rank == rank_ || peers_[index]) {
    return failure(fmt::format("there is no place for rank {} in the group", rank));
  }
  auto peer = std::make_unique<Peer>(rank, inbox_);
  if (const auto opened = peer->open(host_); !opened) return failure(to_string(opened.error()));
  peers_[index] = std::move(peer);
  return peers_[index]->own_info();
}

Result<void, Reason> Group::connect(int rank, const host::ConnectionInfo& info) {
  const std::lock_guard lock(mutex_);
  Peer* peer = find(rank);
  if (peer == nullptr) return failure(fmt::format("there is no rank {} in the group", rank));
  const auto connected = peer->connect(host_, info);
  if (!connected) return failure(to_string(connected.error()));
  return {};
}

Result<void, Reason> Group::usable(int rank) const {
  if (broken_) return failure(*broken_);
  const Peer* peer = find(rank);
  if (peer == nullptr) return failure(fmt::format("there is no rank {} in the group", rank));
  if (peer->has_left) return failure(fmt::format("{} has left the group", peer->label()));
  return {};
}

Result<void, Reason> Group::send(Buffer& buffer, std::span<std::byte> bytes, int to,
                                 std::uint64_t tag) {
  const std::lock_guard lock(mutex_);
  progress();
  if (const auto is = usable(to); !is) return is;
  Peer& peer = *find(to);
  if (!peer.has_credit(bytes.size())) return announce(buffer, bytes, peer, tag);
  peer.send({.kind = Kind::kEager, .tag = tag, .length = bytes.size()}, bytes);
  if (peer.sends.is_next(buffer)) complete({&buffer, 1}, Direction::kSend, to);
  return {};
}

Result<void, Reason> Group::announce(Buffer& buffer, std::span<std::byte> bytes, Peer& to,
                                     std::uint64_t tag) {
  if (!buffer.region_ && !buffer.bytes().empty()) {
    auto made = host_.register_memory(buffer.bytes(), {.remote_write = false, .remote_read = true});
    if (!made) return failure(to_string(made.error()));
    buffer.region_ = std::move(*made);
  }
  Header header{.kind = Kind::kAnnounce, .tag = tag, .length = bytes.size(), .id = next_id_++};
  if (buffer.region_) {
    const host::RemoteMemory memory = buffer.region_->remote();
    header.address =
        memory.address + static_cast<std::uint64_t>(bytes.data() - buffer.bytes().data());
    header.rkey = memory.rkey;
  }
  to.sends.begin(header.id, buffer);
  to.send(header);
  return {};
}

Result<void, Reason> Group::receive(Buffer& buffer, std::span<std::byte> bytes,
                                    std::vector<int> from, std::uint64_t tag) {
  const std::lock_guard lock(mutex_);
  progress();
  if (broken_) return failure(*broken_);
  Receive receive{.buffer = &buffer, .bytes = bytes, .from = std::move(from)};
  if (auto arrival = matcher_.take_arrival(tag, receive.from)) {
    deliver(*find(arrival->from), arrival->header, arrival->payload, std::move(receive));
    return {};
  }
  std::erase_if(receive.from, [&](int rank) { return !usable(rank); });
  if (receive.from.empty()) return failure(Reason("all that could send it have left the group"));
  matcher_.wait(tag, std::move(receive));
  return {};
}

Buffer::Count& Group::count_of(Buffer& buffer, Direction direction) {
  return direction == Direction::kSend ? buffer.sends_ : buffer.receives_;
}

std::optional<Result<std::optional<int>, Reason>> Group::outcome(Buffer& buffer,
                                                                 Direction direction) {
  using Outcome = Result<std::optional<int>, Reason>;
  Buffer::Count& count = count_of(buffer, direction);
  if (std::exchange(count.aborted, false)) return Outcome(std::nullopt);
  if (count.done > 0) {
    --count.done;
    return Outcome(count.rank);
  }
  if (broken_) return Outcome(failure(*broken_));
  return std::nullopt;
}

Result<std::optional<int>, Reason> Group::wait(Buffer& buffer, Direction direction,
                                               Duration timeout) {
  const Instant begun = host::now();
  Instant next_ping = begun + kPingEvery;
  for (;;) {
    const std::uint64_t seen = inbox_.generation();
    const Instant now = host::now();
    {
      const std::lock_guard lock(mutex_);
      progress();
      if (auto come = outcome(buffer, direction)) return *come;
      if (now - begun >= timeout) {
        fail(late(buffer, direction, timeout), nullptr);
        return failure(*broken_);
      }
      if (now >= next_ping) {
        for (const int rank : awaited(buffer, direction)) find(rank)->ping();
        next_ping = now + kPingEvery;
      }
    }
    pause(seen, std::min(next_ping, begun + timeout) - now);
  }
}

void Group::pause(std::uint64_t seen, Duration at_most) {
  if (host_.config().progress == host::Progress::kCaller) {
    host_.help();
  } else {
    inbox_.wait(seen, at_most);
  }
}

std::vector<int> Group::awaited(const Buffer& buffer, Direction direction) const {
  const bool is_send = direction == Direction::kSend;
  std::vector<int> ranks = is_send ? std::vector<int>{} : matcher_.awaited(buffer);
  for (const auto& peer : peers_) {
    if (peer && (is_send ? peer->sends : peer->receives).has(buffer)) ranks.push_back(peer->rank());
  }
  return ranks;
}

Reason Group::late(const Buffer& buffer, Direction direction, Duration timeout) const {
  std::vector<std::string> labels;
  for (const int rank : awaited(buffer, direction)) labels.push_back(find(rank)->label());
  return fmt::format("rank {} ({}) timed out after {} ms, {} {}", rank_, host_.config().name,
                     timeout.raw() / 1'000'000,
                     direction == Direction::kSend ? "sending to" : "receiving from",
                     fmt::join(labels, ", "));
}

void Group::abort(Buffer& buffer, Direction direction) {
  const std::lock_guard lock(mutex_);
  count_of(buffer, direction).aborted = true;
  inbox_.wake();
}

void Group::forget(Buffer& buffer) {
  if (!host_.is_of_this_process()) return;
  bool is_used = false;
  {
    const std::lock_guard lock(mutex_);
    matcher_.forget(buffer);
    for (const auto& peer : peers_) {
      if (!peer) continue;
      is_used = is_used || peer->sends.has(buffer) || peer->receives.has(buffer);
      peer->sends.forget(buffer);
      peer->receives.forget(buffer);
    }
    if (is_used) {
      fail(fmt::format("rank {} ({}) gave up a message before it was complete", rank_,
                       host_.config().name),
           nullptr);
    }
  }
  if (buffer.region_ && !is_used) wait_for_acknowledgements(*buffer.region_);
  buffer.region_.reset();
}

// MSG-39: a peer that says that it has read all may not have acknowledged all yet. What is missing
// comes, or the queue pair fails.
void Group::wait_for_acknowledgements(const host::MemoryRegion& region) {
  constexpr Duration kLookEvery = microseconds(200);
  while (region.is_being_read()) pause(inbox_.generation(), kLookEvery);
}

void Group::close() {
  Instant end = host::now() + kCloseMax;
  {
    const std::lock_guard lock(mutex_);
    progress();
    if (broken_) end = host::now() + kCloseBrokenMax;
    for (const auto& peer : peers_) {
      if (peer && peer->is_connected() && !peer->has_left && !broken_) {
        peer->send({.kind = Kind::kClose});
      }
    }
  }
  for (;;) {
    const std::uint64_t seen = inbox_.generation();
    {
      const std::lock_guard lock(mutex_);
      progress();
      if (is_flushed() || host::now() >= end) break;
    }
    pause(seen, milliseconds(50));
  }
  const std::lock_guard lock(mutex_);
  if (!broken_) broken_ = "the group is closed";
  for (const auto& peer : peers_) {
    if (peer) peer->stop();
  }
}

bool Group::is_flushed() const {
  return std::ranges::all_of(peers_, [&](const auto& peer) {
    return !peer || !peer->is_connected() || peer->has_left || peer->is_idle();
  });
}

}  // namespace openmrc::tagged
