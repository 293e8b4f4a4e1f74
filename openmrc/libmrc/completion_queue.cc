// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/libmrc/completion_queue.h"

#include <arpa/inet.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>

#include "openmrc/libmrc/queue_pair.h"

namespace {

using openmrc::core::Completion;
using openmrc::core::WorkKind;
using openmrc::core::WorkStatus;
using openmrc::libmrc::WorkSlot;

ibv_wc_status verbs_status(WorkStatus status) {
  switch (status) {
    case WorkStatus::kSuccess: return IBV_WC_SUCCESS;
    case WorkStatus::kFlushed: return IBV_WC_WR_FLUSH_ERR;
    case WorkStatus::kRetryExceeded: return IBV_WC_RETRY_EXC_ERR;
    case WorkStatus::kRemoteAccess: return IBV_WC_REM_ACCESS_ERR;
    case WorkStatus::kRemoteInvalidRequest: return IBV_WC_REM_INV_REQ_ERR;
    case WorkStatus::kRemoteOperation: return IBV_WC_REM_OP_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

ibv_wc verbs_completion(const Completion& from, const WorkSlot& slot) {
  ibv_wc to{};
  to.wr_id = slot.id;
  to.status = verbs_status(from.status);
  to.qp_num = from.qpn.raw();
  to.byte_len = from.length;
  if (from.kind == WorkKind::kWrite) {
    to.opcode = IBV_WC_RDMA_WRITE;
  } else {
    to.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
    to.wc_flags = IBV_WC_WITH_IMM;
    to.imm_data = htonl(from.immediate.raw());  // the bytes as they were on the wire
  }
  return to;
}

}  // namespace

bool mrc_comp_channel::open() {
  event_ = openmrc::datapath::FileDescriptor(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC));
  return event_.get() >= 0;
}

void mrc_comp_channel::push(mrc_cq& cq) {
  const std::lock_guard lock(mutex_);
  reported_.push_back(&cq);
  (void)eventfd_write(event_.get(), 1);
}

mrc_cq* mrc_comp_channel::next() {
  for (;;) {
    eventfd_t one = 0;
    // Waits here, or not, as the application has set the descriptor.
    if (eventfd_read(event_.get(), &one) != 0) return nullptr;
    const std::lock_guard lock(mutex_);
    if (reported_.empty()) continue;  // its queue has gone meanwhile
    mrc_cq* cq = reported_.front();
    reported_.pop_front();
    cq->events.fetched();
    return cq;
  }
}

void mrc_comp_channel::forget(const mrc_cq& cq) {
  const std::lock_guard lock(mutex_);
  std::erase(reported_, &cq);
}

mrc_cq::mrc_cq(mrc_context& of, void* cookie, mrc_comp_channel* to)
    : context(of), cq_context(cookie), channel(to), queue(of.runtime.create_completion_queue()) {
  make_room();
  context.users.add();
  if (channel == nullptr) return;
  channel->users.add();
  queue->set_alarm([this] { report(); });
}

mrc_cq::~mrc_cq() {
  if (channel != nullptr) {
    channel->forget(*this);
    channel->users.remove();
  }
  context.users.remove();
}

void mrc_cq::report() {
  if (channel != nullptr && armed_.exchange(false)) channel->push(*this);
}

// Hands over at most so many of what the runtime has; returns how many it had. The caller holds the
// lock.
template <class Sink>
std::size_t mrc_cq::take(std::size_t at_most, Sink sink) {
  const std::span some(taken_.data(), std::min(at_most, taken_.size()));
  const std::size_t count = queue->poll(some);
  for (const Completion& completion : some.first(count)) {
    auto& slot = *std::bit_cast<WorkSlot*>(completion.id);
    const bool is_send = completion.kind == WorkKind::kWrite;
    // Failures are reported even if no completion was requested.
    const bool wanted = slot.signaled || completion.status != WorkStatus::kSuccess;
    if (wanted) sink(verbs_completion(completion, slot));
    (is_send ? slot.qp->sends : slot.qp->receives).release();
  }
  return count;
}

// So that what is taken from the runtime can be kept.
void mrc_cq::make_room() {
  if (ready_.capacity() - ready_.size() > taken_.size()) return;
  ready_.reserve(2 * (ready_.size() + taken_.size()));
}

// The same, all of it, to be fetched later.
void mrc_cq::take_all() {
  std::size_t count = 0;
  do {
    make_room();
    count = take(taken_.size(), [&](const ibv_wc& one) { ready_.push_back(one); });
  } while (count == taken_.size());
}

int mrc_cq::poll(std::span<ibv_wc> into) {
  const std::lock_guard lock(mutex_);
  std::size_t count = std::min(into.size(), ready_.size());
  if (count > 0) {
    const auto end = ready_.begin() + static_cast<std::ptrdiff_t>(count);
    std::copy(ready_.begin(), end, into.begin());
    ready_.erase(ready_.begin(), end);
  }
  while (count < into.size()) {
    const std::size_t asked = std::min(into.size() - count, taken_.size());
    if (take(asked, [&](const ibv_wc& one) { into[count++] = one; }) < asked) break;
  }
  return static_cast<int>(count);
}

void mrc_cq::arm() {
  armed_ = true;
  queue->arm();
}

void mrc_cq::push(const ibv_wc& completion) {
  const std::lock_guard lock(mutex_);
  take_all();  // which came before
  make_room();
  ready_.push_back(completion);
  report();
}

void mrc_cq::drain() {
  const std::lock_guard lock(mutex_);
  take_all();
}

void mrc_cq::forget(std::uint32_t qpn) {
  const std::lock_guard lock(mutex_);
  take_all();
  std::erase_if(ready_, [&](const ibv_wc& completion) { return completion.qp_num == qpn; });
}
