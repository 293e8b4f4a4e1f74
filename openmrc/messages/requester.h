// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/core/containers/timer_queue.h"
#include "openmrc/core/memory/message_handler.h"
#include "openmrc/messages/attributes.h"
#include "openmrc/messages/link.h"
#include "openmrc/messages/name.h"
#include "openmrc/messages/records.h"
#include "openmrc/messages/work.h"

namespace openmrc::messages {

// The sending half of a queue pair with messages: turns requests into writes, begins them in order,
// and completes them in order.
class Requester {
 public:
  using Verdict = core::MessageHandler::Verdict;

  Requester(const Link& link, const QueuePairOptions& options);

  [[nodiscard]] Result<void, PostError> post(const SendRequest& request);
  // How many more may be posted.
  [[nodiscard]] std::size_t room() const {
    return works_.size() - static_cast<std::size_t>(posted_ - first_);
  }
  void connect(const RequesterAttributes& attributes);

  // From the network.
  [[nodiscard]] Verdict on_response_part(const Name& name, const core::MessageHandler::Part& part);
  [[nodiscard]] Verdict on_response(const Name& name,
                                    const core::MessageHandler::Delivery& delivery);
  [[nodiscard]] Verdict on_credit(const core::MessageHandler::Part& part);

  // From the core: a write of request `number` ended, or an ASK.
  void on_written(std::int64_t number, core::WorkStatus status);
  void on_asked() { --asks_in_flight_; }

  // Begins what may begin, completes what is complete. False: the queue pair must fail.
  [[nodiscard]] bool progress(Instant now);
  // When progress is to be called at the latest.
  [[nodiscard]] Instant deadline() const { return ask_at_; }

  // Ends everything. `unattributed` is the fate of the first that is not complete, if nothing worse
  // is known of any.
  void flush(std::optional<Status> unattributed);
  void forget();

 private:
  struct Work {
    WorkId id = 0;
    Opcode opcode = Opcode::kSend;
    Status status = Status::kSuccess;
    std::uint32_t segments = 0;
    std::uint64_t length = 0;
    std::uint64_t remote_address = 0;
    RKey rkey{};
    wire::Immediate immediate{};
    bool signaled = true;
    bool fenced = false;
    bool solicited = false;
    bool keys_ok = true;
    bool begun = false;
    bool is_copied = false;  // `copy` has the bytes
    bool answered = true;
    bool notice_posted = false;
    std::uint32_t next_segment = 0;  // of those that are not posted yet
    std::uint32_t posted_bytes = 0;
    std::uint32_t writes = 0;  // posted to the core
    std::uint32_t written = 0;
    Sequence sequence{};
    RemoteRequest request{};
    std::array<std::byte, RemoteRequest::kSize> request_bytes{};
    std::vector<std::byte> copy{};  // keeps its memory
  };

  [[nodiscard]] Work& work(std::int64_t number) {
    return works_[static_cast<std::size_t>(number) % works_.size()];
  }
  [[nodiscard]] std::span<Segment> segments(std::int64_t number) {
    return {segments_.data() + static_cast<std::size_t>(number) % works_.size() * segments_each_,
            segments_each_};
  }
  [[nodiscard]] std::span<const Segment> used_segments(std::int64_t number) {
    return segments(number).first(work(number).segments);
  }
  static void gather(Work& into, std::span<const Segment> from);
  [[nodiscard]] std::optional<Status> local_fault(const Work& work) const;
  [[nodiscard]] bool may_begin(const Work& work) const;
  [[nodiscard]] Posted begin(std::int64_t number, Instant now);
  void number_it(Work& work);
  [[nodiscard]] Posted post_request(std::int64_t number, Instant now);
  [[nodiscard]] Posted post_data(std::int64_t number, Instant now);
  [[nodiscard]] Posted post_piece(std::int64_t number, Instant now, ConstBytes piece, bool last);
  [[nodiscard]] static bool has_notice(const Work& work);
  [[nodiscard]] Posted post_notice(std::int64_t number, Instant now);
  [[nodiscard]] bool begin_all(Instant now);
  [[nodiscard]] bool wait(Instant now);
  [[nodiscard]] bool give_up(Instant now);
  void stop_waiting();
  [[nodiscard]] std::optional<std::int64_t> first_that_takes_receive();
  void ask(Instant now, bool for_receive);
  void retire();
  void complete(Work& work, Status status);
  // The request that waits for response `name`, if there is one.
  [[nodiscard]] std::optional<std::int64_t> waiting_for(const Name& name);

  const Link& link_;
  RequesterAttributes attributes_{};
  std::size_t segments_each_;
  std::uint32_t copied_max_;
  std::vector<Work> works_;
  std::vector<Segment> segments_;
  std::int64_t first_ = 0;   // not complete
  std::int64_t next_ = 0;    // not begun
  std::int64_t posted_ = 0;  // one past the last

  // What takes a receive at the peer.
  std::int64_t next_sequence_ = 0;
  std::int64_t retired_sequence_ = 0;  // those below are complete
  std::int64_t limit_ = 0;
  // READs and atomic operations: asked for, and answered. Which request each belongs to.
  std::int64_t asked_ = 0;
  std::int64_t answered_ = 0;
  std::array<std::int64_t, kDepthMax> asking_{};
  std::uint8_t peer_depth_ = 0;
  bool peer_is_known_ = false;  // a CREDIT has come
  // Receiver not ready.
  RnrTimer rnr_timer_ = 0;
  std::uint8_t rnr_answers_ = 0;
  std::uint16_t ask_ = 0;  // the number of the last ASK
  bool ask_answered_ = true;
  unsigned asks_in_flight_ = 0;
  bool ask_counts_ = false;  // its answer may be that there is no receive
  Instant asked_at_{};
  bool waits_for_receive_ = false;
  bool next_has_none_ = false;  // the next request waits for a receive
  bool sent_has_none_ = false;  // one that was sent does (MSG-29)
  bool rnr_exceeded_ = false;   // it will give up
  std::optional<Instant> gives_up_at_;
  Instant ask_at_ = core::kNever;  // or when to give up
  std::array<std::byte, Ask::kSize> ask_bytes_{};
};

}  // namespace openmrc::messages
