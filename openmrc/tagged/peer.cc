// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/peer.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "openmrc/host/destination.h"
#include "openmrc/host/random.h"

namespace openmrc::tagged {
namespace {

constexpr std::size_t kReceives = 2 * kEagerBudget;
constexpr std::size_t kSends = 256;
constexpr std::uint64_t kReadMax = 1u << 30;
constexpr std::uint32_t kPsnMask = 0xff'ffff;

host::Error not_connected(const std::string& name, core::ModifyError error) {
  return {.what = fmt::format("the queue pair to {} cannot be connected: {}", name,
                              host::text_of(error))};
}

}  // namespace

Result<void, host::Error> Peer::open(host::Host& host) {
  auto made = host.create_message_queue_pair(
      {.sink = this,
       .queues = {.sends = {.requests = kSends, .segments = 1},
                  .receives = {.requests = kReceives, .segments = 1}}});
  if (!made) return failure(std::move(made.error()));
  qp_ = std::move(*made);
  own_ = host::own_info(host);
  own_.qpn = qp_->number().raw();
  own_.psn = static_cast<std::uint32_t>(host::random_number()) & kPsnMask;
  const auto result = qp_->to_init({.remote_write = false});
  if (!result) return failure(not_connected(label(), result.error()));
  slots_.resize(kReceives * kSlotSize);
  for (std::size_t i = 0; i < kReceives; ++i) {
    if (!post_receive(i)) return failure(host::Error{.what = "a receive cannot be posted"});
  }
  return {};
}

Result<void, host::Error> Peer::connect(host::Host& host, const host::ConnectionInfo& peer) {
  name_ = peer.host;
  const auto to = host::destination_of(host, peer);
  if (!to) return failure(to.error());
  auto result =
      qp_->to_ready_to_recv(*to, {.qpn = Qpn(peer.qpn), .psn = Psn(peer.psn), .mtu = peer.mtu}, {});
  if (result) result = qp_->to_ready_to_send(Psn(own_.psn), {});
  if (!result) return failure(not_connected(label(), result.error()));
  connected_ = true;
  flush();
  return {};
}

std::string Peer::label() const {
  return name_.empty() ? fmt::format("rank {}", rank_) : fmt::format("rank {} ({})", rank_, name_);
}

void Peer::on_completion(const messages::Completion& completion) {
  inbox_.push({.rank = rank_, .completion = completion});
}

void Peer::on_event(const messages::Event& event) {
  if (event.kind == messages::EventKind::kFailed) inbox_.push({.rank = rank_, .failed = true});
}

bool Peer::has_credit(std::size_t bytes) const {
  return bytes <= kEagerMax && sent_ - consumed_there_ < kEagerBudget;
}

void Peer::send(Header header, ConstBytes payload) {
  if (header.kind == Kind::kEager) ++sent_;
  header.consumed = told_ = consumed_;
  std::vector<std::byte> message(Header::kSize + payload.size());
  header.write(std::span(message).first<Header::kSize>());
  std::ranges::copy(payload, message.begin() + Header::kSize);
  waiting_.push_back(std::move(message));
  flush();
}

void Peer::count_consumed() {
  ++consumed_;
  if (consumed_ - told_ >= kEagerBudget / 2) send({.kind = Kind::kCredit});
}

void Peer::read(const Header& announced, Receive receive) {
  receives.begin(announced.id, *receive.buffer);
  reads_.push_back({.announced = announced, .receive = std::move(receive)});
  flush();
}

void Peer::ping() {
  if (!connected_ || has_left || pinging_) return;
  // MSG: a WRITE of no bytes needs no key, and ends when the peer has answered.
  pinging_ = post({.opcode = messages::Opcode::kWrite});
}

bool Peer::post(const messages::SendRequest& request) {
  return qp_->post_sends(std::span(&request, 1)).count == 1;
}

bool Peer::post_next_of(Read& read) {
  const std::uint64_t length = std::min(read.announced.length - read.posted, kReadMax);
  const messages::Segment segment{read.receive.bytes.data() + read.posted,
                                  static_cast<std::uint32_t>(length)};
  if (!post({.opcode = messages::Opcode::kRead,
             .segments = std::span(&segment, 1),
             .remote_address = read.announced.address + read.posted,
             .rkey = RKey(read.announced.rkey)})) {
    return false;
  }
  read.posted += length;
  return true;
}

// Messages first: they are short, and others wait for what they say.
void Peer::flush() {
  if (!connected_) return;
  while (!waiting_.empty()) {
    std::vector<std::byte>& message = waiting_.front();
    const messages::Segment segment{message.data(), static_cast<std::uint32_t>(message.size())};
    if (!post({.opcode = messages::Opcode::kSend, .segments = std::span(&segment, 1)})) return;
    in_flight_.push_back(std::move(message));  // its bytes stay where they are
    waiting_.pop_front();
  }
  for (Read& read : reads_) {
    while (read.posted < read.announced.length) {
      if (!post_next_of(read)) return;
    }
  }
}

std::optional<Header> Peer::on_sent(const messages::Completion& completion) {
  std::optional<Header> finished;
  if (completion.opcode == messages::Opcode::kWrite) {
    pinging_ = false;
  } else if (completion.opcode == messages::Opcode::kSend) {
    if (!in_flight_.empty()) in_flight_.pop_front();
  } else if (!reads_.empty()) {
    Read& read = reads_.front();
    read.done += std::min(read.announced.length - read.done, kReadMax);
    if (read.done >= read.announced.length) {
      finished = read.announced;
      reads_.pop_front();
    }
  }
  flush();
  return finished;
}

std::span<std::byte> Peer::slot(std::size_t index) {
  return std::span(slots_).subspan(index * kSlotSize, kSlotSize);
}

bool Peer::post_receive(std::size_t index) {
  const messages::Segment segment{slot(index).data(), static_cast<std::uint32_t>(kSlotSize)};
  const messages::ReceiveRequest request{.id = index, .segments = std::span(&segment, 1)};
  return qp_->post_receives(std::span(&request, 1)).count == 1;
}

ConstBytes Peer::received(const messages::Completion& completion) const {
  return std::span(slots_).subspan(completion.id * kSlotSize, completion.length);
}

void Peer::give_back(const messages::Completion& completion) {
  // Refused only where the queue pair has failed, which is reported otherwise.
  (void)post_receive(completion.id);
}

void Peer::stop() {
  if (qp_ && connected_) (void)qp_->to_error();
  connected_ = false;
  reads_.clear();
  waiting_.clear();
}

}  // namespace openmrc::tagged
