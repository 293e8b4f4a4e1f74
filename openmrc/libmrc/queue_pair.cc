// SPDX-License-Identifier: BSD-3-Clause
// Making queue pairs and posting to them.
#include "openmrc/libmrc/queue_pair.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

using openmrc::core::PostError;
using openmrc::host::Write;
using openmrc::libmrc::kInlineMax;
using openmrc::libmrc::WorkSlot;

namespace {

int error_number(PostError error) {
  switch (error) {
    case PostError::kLimit: return ENOMEM;
    case PostError::kNoQueuePair:
    case PostError::kState:
    case PostError::kAddressWraps:
    case PostError::kTooLong:
    case PostError::kDestination: return EINVAL;
  }
  return EINVAL;
}

const std::byte* bytes_at(std::uint64_t address) {
  return std::bit_cast<const std::byte*>(address);
}

// False if there is no memory for it.
bool set_size(std::vector<std::byte>& bytes, std::size_t size) {
  try {
    bytes.resize(size);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

}  // namespace

// Work requests that go to the runtime together.
struct mrc_qp::Batch {
  static constexpr std::size_t kSize = 16;

  void add(ibv_send_wr* wr, const Write& write) {
    requests[count] = wr;
    writes[count++] = write;
  }

  std::size_t count = 0;
  std::array<ibv_send_wr*, kSize> requests{};
  std::array<Write, kSize> writes{};
};

mrc_qp::mrc_qp(mrc_context& of, const mrc_qp_init_attr& from)
    : context(of),
      init(from),
      domain(*openmrc::libmrc::soft_domain(from.pd)),
      sends(*this, from.cap.max_send_wr),
      receives(*this, from.cap.max_recv_wr) {
  const openmrc::profile::RetryOptions& retry = context.device.config().transport.retry;
  // Until the application sets them: the core's defaults, not the profile's, because the peer may
  // be an application that relies on those of mrc.h.
  const openmrc::core::ReadyToSendAttributes defaults;
  mrc_attr_.mpr = {.mpr = defaults.mpr, .mpr_dest = defaults.mpr};
  mrc_attr_.wimm = {.max_wimm = defaults.max_wimm, .max_wimm_dest = defaults.max_wimm};
  mrc_attr_.timeout = retry.timeout;
  mrc_attr_.retry = {.linear_cnt = retry.linear, .exp_cnt = retry.exponential};
  context.users.add();
  init.send_cq->users.add();
  init.recv_cq->users.add();
  domain.users.fetch_add(1);
}

bool mrc_qp::open() {
  auto made = context.runtime.create_queue_pair({.writes = init.send_cq->queue.get(),
                                                 .receives = init.recv_cq->queue.get(),
                                                 .domain = domain.domain});
  if (!made) {
    errno = ENOMEM;
    return false;
  }
  runtime_ = std::move(*made);
  context.add(*this);
  return true;
}

mrc_qp::~mrc_qp() {
  if (runtime_) {
    context.remove(*this);
    events.wait_until_none();
    const std::uint32_t qpn = number();
    runtime_.reset();
    init.send_cq->forget(qpn);
    init.recv_cq->forget(qpn);
  }
  set_hint(nullptr);
  release_profiles();
  domain.users.fetch_sub(1);
  init.recv_cq->users.remove();
  init.send_cq->users.remove();
  context.users.remove();
}

// Data in several places, or that the application may change at once, is copied.
int mrc_qp::gather(const ibv_send_wr& wr, WorkSlot& slot, Write& write, bool& is_local_fault) {
  const bool is_inline = (wr.send_flags & IBV_SEND_INLINE) != 0;
  std::uint64_t total = 0;
  for (int i = 0; i < wr.num_sge; ++i) total += wr.sg_list[i].length;
  if (total > UINT32_MAX || (is_inline && total > init.cap.max_inline_data)) return EINVAL;
  if (!set_size(slot.copied, total)) return ENOMEM;
  std::byte* to = slot.copied.data();
  for (int i = 0; i < wr.num_sge; ++i) {
    const ibv_sge& part = wr.sg_list[i];
    const std::byte* from =
        is_inline ? bytes_at(part.addr)
                  : context.device.memory().find(part.lkey, domain.domain, part.addr, part.length);
    if (part.length == 0) continue;
    if (from == nullptr) {
      is_local_fault = true;
      return 0;
    }
    std::memcpy(to, from, part.length);
    to += part.length;
  }
  write.data = slot.copied;
  return 0;
}

// Fills in what the runtime is to be told, and takes a slot for it. `is_local_fault`: the memory to
// send is not registered, which ends the queue pair.
int mrc_qp::prepare(const ibv_send_wr& wr, Write& write, bool& is_local_fault) {
  const bool has_immediate = wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  if (wr.opcode != IBV_WR_RDMA_WRITE && !has_immediate) return EINVAL;
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > init.cap.max_send_sge) {
    return EINVAL;
  }
  WorkSlot* slot = sends.take();
  if (slot == nullptr) {
    init.send_cq->drain();  // of requests that ask for no completion some may be done
    slot = sends.take();
    if (slot == nullptr) return ENOMEM;
  }
  slot->id = wr.wr_id;
  slot->signaled = init.sq_sig_all != 0 || (wr.send_flags & IBV_SEND_SIGNALED) != 0;
  write = {.id = reinterpret_cast<std::uint64_t>(slot),
           .remote_address = wr.wr.rdma.remote_addr,
           .rkey = openmrc::RKey(wr.wr.rdma.rkey)};
  if (has_immediate) write.immediate = ntohl(wr.imm_data);
  int error = 0;
  if (wr.num_sge > 1 || (wr.send_flags & IBV_SEND_INLINE) != 0) {
    error = gather(wr, *slot, write, is_local_fault);
  } else if (wr.num_sge == 1 && wr.sg_list[0].length > 0) {
    const ibv_sge& part = wr.sg_list[0];
    const std::byte* from =
        context.device.memory().find(part.lkey, domain.domain, part.addr, part.length);
    is_local_fault = from == nullptr;
    write.data = {from, is_local_fault ? 0 : part.length};
  }
  if (error != 0 || is_local_fault) sends.give_back();
  return error;
}

int mrc_qp::post_send(ibv_send_wr* wr, ibv_send_wr** bad) {
  const std::lock_guard lock(sends.mutex);
  if (wr != nullptr && wr->next == nullptr) return post_one(wr, bad);
  Batch batch;
  while (wr != nullptr) {
    bool is_local_fault = false;
    Write write;
    const int error = prepare(*wr, write, is_local_fault);
    if (error != 0 || is_local_fault) {
      if (const int earlier = send_batch(batch, bad)) return earlier;
      if (is_local_fault) return flush_sends(wr, bad, IBV_WC_LOC_PROT_ERR);
      *bad = wr;
      return error;
    }
    batch.add(wr, write);
    wr = wr->next;
    if (batch.count == Batch::kSize) {
      if (const int failed = send_batch(batch, bad)) return failed;
    }
  }
  return send_batch(batch, bad);
}

int mrc_qp::post_one(ibv_send_wr* wr, ibv_send_wr** bad) {
  bool is_local_fault = false;
  Write write;
  if (const int error = prepare(*wr, write, is_local_fault)) {
    *bad = wr;
    return error;
  }
  if (is_local_fault) return flush_sends(wr, bad, IBV_WC_LOC_PROT_ERR);
  const auto posted = runtime_->post_writes({&write, 1});
  return posted.last ? 0 : refuse(posted.last.error(), 1, wr, bad);
}

int mrc_qp::send_batch(Batch& batch, ibv_send_wr** bad) {
  if (batch.count == 0) return 0;
  const auto posted = runtime_->post_writes({batch.writes.data(), batch.count});
  const std::size_t left = std::exchange(batch.count, 0) - posted.count;
  return posted.last ? 0 : refuse(posted.last.error(), left, batch.requests[posted.count], bad);
}

// The runtime took neither `first` nor what comes after it, of which so many have slots.
int mrc_qp::refuse(PostError why, std::size_t slots, ibv_send_wr* first, ibv_send_wr** bad) {
  for (std::size_t i = 0; i < slots; ++i) sends.give_back();
  if (why == PostError::kState && state() == IBV_QPS_ERR) {
    return flush_sends(first, bad, IBV_WC_WR_FLUSH_ERR);
  }
  *bad = first;
  return error_number(why);
}

// All that is left of a list, from `wr` on, completes without being sent: the first as said, the
// others flushed. The queue pair is in ERROR then.
int mrc_qp::flush_sends(ibv_send_wr* wr, ibv_send_wr** bad, ibv_wc_status first_status) {
  if (state() == IBV_QPS_RESET || state() == IBV_QPS_INIT || state() == IBV_QPS_RTR) {
    *bad = wr;
    return EINVAL;
  }
  if (first_status != IBV_WC_WR_FLUSH_ERR) (void)runtime_->to_error();
  for (ibv_wc_status status = first_status; wr != nullptr; wr = wr->next) {
    ibv_wc completion{};
    completion.wr_id = wr->wr_id;
    completion.status = status;
    completion.opcode = IBV_WC_RDMA_WRITE;
    completion.qp_num = number();
    *bad = wr;  // should there be no memory for it
    init.send_cq->push(completion);
    status = IBV_WC_WR_FLUSH_ERR;
  }
  return 0;
}

int mrc_qp::post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad) {
  const std::lock_guard lock(receives.mutex);
  for (; wr != nullptr; wr = wr->next) {
    *bad = wr;
    if (wr->num_sge < 0 || static_cast<std::uint32_t>(wr->num_sge) > init.cap.max_recv_sge) {
      return EINVAL;
    }
    WorkSlot* slot = receives.take();
    if (slot == nullptr) return ENOMEM;
    slot->id = wr->wr_id;
    const auto posted = runtime_->post_receive(reinterpret_cast<std::uint64_t>(slot));
    if (posted) continue;
    receives.give_back();
    if (posted.error() != PostError::kState || state() != IBV_QPS_ERR) {
      return error_number(posted.error());
    }
    ibv_wc flushed{};
    flushed.wr_id = wr->wr_id;
    flushed.status = IBV_WC_WR_FLUSH_ERR;
    flushed.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
    flushed.qp_num = number();
    init.recv_cq->push(flushed);
  }
  return 0;
}
