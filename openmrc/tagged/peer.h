// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/host/exchange.h"
#include "openmrc/host/host.h"
#include "openmrc/host/message_queue_pair.h"
#include "openmrc/tagged/header.h"
#include "openmrc/tagged/inbox.h"
#include "openmrc/tagged/ledger.h"
#include "openmrc/tagged/matcher.h"

namespace openmrc::tagged {

// Another member of a group: the queue pair to it, and what is under way. The group guards it;
// completions go to the group's inbox.
class Peer final : private host::MessageSink {
 public:
  Peer(int rank, Inbox& inbox) : rank_(rank), inbox_(inbox) {}

  [[nodiscard]] Result<void, host::Error> open(host::Host& host);
  [[nodiscard]] const host::ConnectionInfo& own_info() const { return own_; }
  [[nodiscard]] Result<void, host::Error> connect(host::Host& host,
                                                  const host::ConnectionInfo& peer);

  // The payload is copied. It is sent as soon as there is room.
  void send(Header header, ConstBytes payload = {});
  // Whether a message of so many bytes may go as kEager.
  [[nodiscard]] bool has_credit(std::size_t bytes) const;
  // READs an announced message.
  void read(const Header& announced, Receive receive);
  // Asks the network whether the peer still answers.
  void ping();

  // A message that came, until it is handed back.
  [[nodiscard]] ConstBytes received(const messages::Completion& completion) const;
  void give_back(const messages::Completion& completion);
  // The other end has taken so many kEagers.
  void take_credit(std::uint32_t consumed) { consumed_there_ = consumed; }
  // False: it had no right to send this one.
  [[nodiscard]] bool count_arrival() { return ++arrived_ - consumed_ <= kEagerBudget; }
  void count_consumed();

  // The announced message that was READ as a whole, if one was.
  [[nodiscard]] std::optional<Header> on_sent(const messages::Completion& completion);

  [[nodiscard]] bool is_connected() const { return connected_; }
  // All that was sent has arrived.
  [[nodiscard]] bool is_idle() const { return waiting_.empty() && in_flight_.empty(); }
  [[nodiscard]] bool is_reading() const { return !reads_.empty(); }
  // Nothing is read or sent any more.
  void stop();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::string label() const;  // "rank 2 (h2)"
  [[nodiscard]] std::optional<std::string> failure_text() const { return qp_->failure_text(); }

  bool has_left = false;  // it said kClose
  Ledger sends;           // announced, by the id of this end
  Ledger receives;        // to be READ, by the id of the other end

 private:
  struct Read {
    Header announced{};
    Receive receive{};
    std::uint64_t posted = 0;
    std::uint64_t done = 0;
  };

  void on_completion(const messages::Completion& completion) override;
  void on_event(const messages::Event& event) override;
  void flush();
  [[nodiscard]] bool post(const messages::SendRequest& request);
  [[nodiscard]] bool post_next_of(Read& read);
  [[nodiscard]] bool post_receive(std::size_t index);
  [[nodiscard]] std::span<std::byte> slot(std::size_t index);

  int rank_;
  Inbox& inbox_;
  host::ConnectionInfo own_{};
  std::string name_;
  bool connected_ = false;
  bool pinging_ = false;
  std::vector<std::byte> slots_;  // of receives
  std::deque<std::vector<std::byte>> waiting_;
  std::deque<std::vector<std::byte>> in_flight_;  // completions come in order
  std::deque<Read> reads_;                        // and so do these
  // kEagers, modulo 2^32.
  std::uint32_t sent_ = 0;
  std::uint32_t consumed_there_ = 0;
  std::uint32_t arrived_ = 0;
  std::uint32_t consumed_ = 0;
  std::uint32_t told_ = 0;  // of consumed_
  std::unique_ptr<host::MessageQueuePair> qp_;
};

}  // namespace openmrc::tagged
