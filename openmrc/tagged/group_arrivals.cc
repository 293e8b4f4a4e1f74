// SPDX-License-Identifier: BSD-3-Clause
// What comes from the network.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "openmrc/tagged/group.h"

namespace openmrc::tagged {
namespace {

// How long a group that has failed gives its last words to reach the others before it stops.
constexpr std::chrono::milliseconds kLastWords{50};

// It comes from the network and goes to a terminal.
std::string printable(ConstBytes bytes) {
  std::string text;
  for (const std::byte byte : bytes) {
    const char c = static_cast<char>(byte);
    text.push_back(c < ' ' || c > '~' ? '?' : c);
  }
  return text;
}

}  // namespace

void Group::progress() {
  const std::vector<Inbox::Entry> entries = inbox_.take();
  for (const Inbox::Entry& entry : entries) handle(entry);
  if (!entries.empty()) inbox_.wake();  // others may have waited for the same
}

void Group::handle(const Inbox::Entry& entry) {
  Peer* peer = find(entry.rank);
  if (peer == nullptr || !peer->is_connected()) return;
  if (entry.failed) return on_failure(*peer, std::nullopt);
  const messages::Completion& completion = entry.completion;
  if (completion.status != messages::Status::kSuccess) {
    return on_failure(*peer, completion.status);
  }
  if (completion.kind == messages::CompletionKind::kSent) {
    if (const auto announced = peer->on_sent(completion)) {
      complete(peer->receives.finish(announced->id), Direction::kReceive, entry.rank);
      peer->send({.kind = Kind::kRead, .id = announced->id});
    }
    return;
  }
  on_message(*peer, peer->received(completion));
  peer->give_back(completion);
}

void Group::on_failure(Peer& peer, std::optional<messages::Status> status) {
  const bool expected = peer.has_left;
  Reason why = "the queue pair failed";
  if (status) why += fmt::format(": {}", messages::name(*status));
  why = peer.failure_text().value_or(why);
  peer.stop();
  if (expected || broken_) return;
  fail(fmt::format("{}: {}", peer.label(), why), &peer);
}

void Group::on_message(Peer& peer, ConstBytes message) {
  const auto header = Header::read(message);
  if (!header) {
    return fail(fmt::format("{} sent what is no message of this version", peer.label()), &peer);
  }
  const ConstBytes payload = message.subspan(Header::kSize);
  peer.take_credit(header->consumed);
  switch (header->kind) {
    case Kind::kEager:
    case Kind::kAnnounce: return on_data(peer, *header, payload);
    case Kind::kRead: return on_read(peer, header->id);
    case Kind::kCredit: return;
    case Kind::kAbort: return on_abort(peer, payload);
    case Kind::kClose: return on_close(peer);
  }
}

void Group::on_data(Peer& peer, const Header& header, ConstBytes payload) {
  if (broken_) return;
  const bool is_eager = header.kind == Kind::kEager;
  if (is_eager ? !peer.count_arrival() : matcher_.announced(peer.rank()) >= kAnnouncedMax) {
    return fail(fmt::format("{} sent more messages than it may", peer.label()), &peer);
  }
  if (auto receive = matcher_.take_receive(header.tag, peer.rank())) {
    return deliver(peer, header, payload, std::move(*receive));
  }
  matcher_.keep(
      {.from = peer.rank(), .header = header, .payload = {payload.begin(), payload.end()}});
}

void Group::deliver(Peer& peer, const Header& header, ConstBytes payload, Receive receive) {
  if (header.length > receive.bytes.size()) {
    return fail(fmt::format("{} sent {} bytes where {} were expected", peer.label(), header.length,
                            receive.bytes.size()),
                nullptr);
  }
  if (header.kind == Kind::kAnnounce && header.length > 0) {
    return peer.read(header, std::move(receive));
  }
  std::ranges::copy(payload, receive.bytes.begin());
  if (peer.receives.is_next(*receive.buffer)) {
    complete({receive.buffer, 1}, Direction::kReceive, peer.rank());
  }
  if (header.kind == Kind::kAnnounce) {
    peer.send({.kind = Kind::kRead, .id = header.id});
  } else {
    peer.count_consumed();
  }
}

void Group::on_read(Peer& peer, std::uint32_t id) {
  const Ledger::Completed completed = peer.sends.finish(id);
  if (completed.buffer == nullptr) {
    return fail(fmt::format("{} has read what was not announced to it", peer.label()), &peer);
  }
  complete(completed, Direction::kSend, peer.rank());
}

void Group::on_abort(const Peer& peer, ConstBytes reason) {
  if (broken_) return;
  broken_ = fmt::format("{}; so says {}", printable(reason), peer.label());
  stop_reading();
}

void Group::on_close(Peer& peer) {
  peer.has_left = true;
  if (peer.sends.empty() && !matcher_.awaits_only(peer.rank())) return;
  fail(fmt::format("{} has left the group while it was waited for", peer.label()), &peer);
}

void Group::complete(const Ledger::Completed& completed, Direction direction, int rank) {
  if (completed.buffer == nullptr) return;  // it was forgotten meanwhile
  Buffer::Count& count = count_of(*completed.buffer, direction);
  count.done += completed.count;
  count.rank = rank;
}

void Group::fail(const Reason& reason, const Peer* culprit) {
  if (broken_) return;
  broken_ = reason;
  const std::string_view said = std::string_view(reason).substr(0, kReasonMax);
  for (const auto& peer : peers_) {
    if (!peer || peer.get() == culprit || !peer->is_connected() || peer->has_left) continue;
    peer->send({.kind = Kind::kAbort, .length = said.size()}, std::as_bytes(std::span(said)));
  }
  stop_reading();
  inbox_.wake();
}

// The memory that is read into is the application's again when it learns of the failure.
void Group::stop_reading() {
  const auto reads = [](const auto& peer) { return peer && peer->is_reading(); };
  if (std::ranges::none_of(peers_, reads)) return;
  std::this_thread::sleep_for(kLastWords);
  for (const auto& peer : peers_) {
    if (reads(peer)) peer->stop();
  }
}

}  // namespace openmrc::tagged
