// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "openmrc/messages/work.h"
#include "tests/world/checkers.h"
#include "tests/world/message_memory.h"
#include "tests/world/message_program.h"

namespace openmrc::test {

// Judges a world of the message layer by what goes in and what comes out: each message once, in
// order, with the right bytes, into the right receive; atomic operations exact; what was written
// before is seen; completions in order, one for each that is to have one; every request ends; after
// ERROR all is flushed; no other memory is touched. It has the applications' memory, too.
class MessageJudge {
 public:
  explicit MessageJudge(const MessageWorldOptions& options);

  // The memory of one application.
  struct Memory {
    PlacedMemory remote;     // for peers
    PlacedMemory local;      // sources, receives, and where reads go
    PlacedMemory forbidden;  // registered, and not for this peer
  };
  [[nodiscard]] Memory& memory(Side side) { return memory_[index_of(side)]; }

  struct Request {
    const PlannedRequest* plan = nullptr;
    ConstBytes bytes{};                // what it carries or brings
    std::vector<std::size_t> local{};  // places of its pieces
    std::size_t remote = 0;            // place at the peer
    std::int64_t message = -1;         // which of those that take a receive
    bool posted = false;
    bool done = false;
    bool was_placed = false;  // before the peer's queue pair ended
  };
  struct Receive {
    const PlannedReceive* plan = nullptr;
    std::vector<std::size_t> local{};
    std::uint32_t size = 0;
    bool posted = false;
    bool done = false;
  };
  [[nodiscard]] std::vector<Request>& requests() { return requests_; }
  [[nodiscard]] std::vector<Receive>& receives() { return receives_; }

  void request_posted(std::size_t request);
  void receive_posted(std::size_t receive);
  void on_completion(Side side, std::size_t queue_pair, const messages::Completion& completion);
  // The queue pair is in ERROR, and all completions have been taken; or it is destroyed.
  void on_end(Side side, std::size_t queue_pair, bool destroyed);
  // The application will end it.
  void before_end(Side side, std::size_t queue_pair) {
    queue(side, queue_pair).ended_by_application = true;
  }

  [[nodiscard]] bool all_done() const;
  void finish();

  [[nodiscard]] const Verdict& verdict() const { return verdict_; }
  [[nodiscard]] Verdict& verdict() { return verdict_; }
  [[nodiscard]] std::size_t succeeded() const { return succeeded_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }

 private:
  // One end of a connection.
  struct Queue {
    std::vector<std::size_t> requests;  // in the order of posting
    std::size_t completed = 0;
    std::size_t placed = 0;             // of requests, those whose bytes have been seen in place
    std::vector<std::size_t> messages;  // requests that take a receive
    std::vector<std::size_t> receives;  // of its own, in the order of posting
    std::size_t received = 0;           // messages of the peer
    std::size_t flushed = 0;            // receives after them
    std::size_t refused = 0;            // receives that did not fit
    std::optional<std::size_t> last_receive;
    bool failed = false;      // a request has failed
    bool has_reason = false;  // and one of them was to blame
    bool in_error = false;    // the layer said so, or the application
    bool destroyed = false;
    bool ended_by_application = false;
    std::uint64_t word = 0;  // at the peer, of this queue pair alone
    bool word_is_known = true;
  };

  [[nodiscard]] Queue& queue(Side side, std::size_t queue_pair) {
    return queues_[index_of(side)][queue_pair];
  }
  void broken(Side side, std::size_t queue_pair, const std::string& what);
  void plan_request(const PlannedRequest& plan);
  void fill_memory();

  // Requests.
  void on_sent(Side side, std::size_t queue_pair, const messages::Completion& completion);
  void succeeds(Side side, std::size_t queue_pair, std::size_t request);
  void fails(Side side, std::size_t queue_pair, std::size_t request, messages::Status status);
  void check_written(const Request& request);
  void check_answer(Queue& queue, const Request& request);
  void check_atomic(Queue& queue, const Request& request);
  void take_back(Request& request);
  [[nodiscard]] bool is_excused(Side side, std::size_t queue_pair, const Request& request,
                                messages::Status status);
  [[nodiscard]] bool may_fail(std::size_t queue_pair);
  [[nodiscard]] bool has_late_receives(Side side) const;

  // Receives.
  void on_received(Side side, std::size_t queue_pair, const messages::Completion& completion);
  void check_order(Side side, std::size_t queue_pair, std::size_t receive);
  void check_message(Side side, std::size_t queue_pair, const Receive& receive,
                     const messages::Completion& completion);
  void check_refused(Side side, std::size_t queue_pair, const Receive& receive,
                     messages::Status status);
  void check_before(Side sender, std::size_t queue_pair, std::size_t request);
  void check_unfinished(Side side, std::size_t queue_pair, const Receive& receive,
                        std::size_t message);
  void take_back(Receive& receive);

  void check_words();

  const MessageWorldOptions& options_;
  const bool network_may_fail_;
  Verdict verdict_;
  std::array<Memory, 2> memory_;
  std::array<std::vector<Queue>, 2> queues_;
  std::array<std::vector<std::size_t>, 2> words_;  // places in remote memory, by queue pair
  std::array<std::size_t, 2> shared_word_{};
  std::array<std::set<std::uint64_t>, 2> seen_;  // old values of the shared word
  std::array<std::uint64_t, 2> unknown_adds_{};
  std::vector<Request> requests_;
  std::vector<Receive> receives_;
  std::vector<bool> queue_has_wrong_;
  std::size_t succeeded_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace openmrc::test
