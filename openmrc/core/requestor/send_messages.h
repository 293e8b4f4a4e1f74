// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "openmrc/base/ids.h"
#include "openmrc/core/containers/pool_list.h"
#include "openmrc/core/context/completion.h"
#include "openmrc/core/context/context.h"
#include "openmrc/core/context/work.h"

namespace openmrc::core {

// The writes of a queue pair that are not complete, in order, and how far they are cut into packets
// (MRC 6.2; QP-25).
class SendMessages {
 public:
  SendMessages() = default;
  explicit SendMessages(std::uint16_t immediates_max) : immediates_max_(immediates_max) {}

  [[nodiscard]] bool empty() const { return list_.empty(); }
  void post(Context& context, PoolIndex message);

  // ---- cutting ----
  // Whether there is something to cut.
  [[nodiscard]] bool has_next() const { return current_ != kNoElement; }
  // The message that is being cut, and how much of it is.
  [[nodiscard]] PoolIndex current() const { return current_; }
  [[nodiscard]] std::uint32_t offset() const { return offset_; }
  // Whether it waits for others with immediates to be complete (MRC 7.5.1; REL-87).
  [[nodiscard]] bool is_held(const SendMessage& message) const {
    return offset_ == 0 && message.has_immediate && immediates_open_ >= immediates_max_;
  }
  // Before its first packet, which has `psn` (QP-26, REL-88).
  void begin(SendMessage& message, UnwrappedPsn psn) {
    message.first_psn = psn.raw();
    message.msn = Msn{} + begun_++;
    if (!message.has_immediate) return;
    message.rqmsn = Rqmsn(immediates_begun_++);
    ++immediates_open_;
  }
  // So much of it has been sent.
  void advance(const SendMessage& message, std::uint32_t size, bool is_last) {
    offset_ += size;
    if (!is_last) return;
    current_ = message.next;
    offset_ = 0;
    ++sent_;
  }

  // So much of what is being cut has been sent, and more is left.
  void advance_within(std::uint32_t size) { offset_ += size; }

  // ---- completing ----
  [[nodiscard]] PoolIndex first() const { return list_.first(); }
  [[nodiscard]] std::int64_t completed() const { return completed_; }
  // Whose last packet has been sent.
  [[nodiscard]] std::int64_t sent() const { return sent_; }
  // Whether `psn` lies at or behind the start of the first message that is not complete. What lies
  // before has nothing to do with this connection any more, or never had.
  [[nodiscard]] bool is_open(const Context& context, UnwrappedPsn psn) const {
    return completed_ < begun_ && psn.raw() >= context.messages[list_.first()].first_psn;
  }
  // Whether all packets of the first message have arrived, and it is not acknowledged.
  [[nodiscard]] bool awaits_acknowledgement(const Context& context, UnwrappedPsn oldest) const;
  // How many messages an acknowledgement completes.
  [[nodiscard]] std::int64_t completed_by(const Context& context, std::int64_t count,
                                          UnwrappedPsn psn) const;
  void complete_first(Context& context, Qpn local, WorkStatus status, Flush how = Flush::kComplete);
  // Ends all: the one with `psn`, or the first, with `status`, others as flushed (QP-30).
  void flush(Context& context, Qpn local, UnwrappedPsn psn, WorkStatus status, Flush how);

 private:
  PoolList list_;
  PoolIndex current_ = kNoElement;  // the first that is not wholly cut
  std::uint32_t offset_ = 0;        // of `current_`, how much is cut
  std::int64_t begun_ = 0;
  std::int64_t sent_ = 0;
  std::int64_t completed_ = 0;
  std::uint16_t immediates_begun_ = 0;  // all of them, wrapping
  std::uint16_t immediates_open_ = 0;   // begun and not complete
  std::uint16_t immediates_max_ = 0;
};

}  // namespace openmrc::core
