// SPDX-License-Identifier: BSD-3-Clause
// Reliable connections: work, and what comes of it.
#include "openmrc/verbs/verbs_rc.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <optional>

#include "openmrc/verbs/verbs_events.h"
#include "openmrc/verbs/verbs_route.h"
#include "openmrc/verbs/verbs_srq.h"

namespace openmrc::libmrc {
namespace {

ibv_wc_status verbs_status(messages::Status status) {
  using messages::Status;
  switch (status) {
    case Status::kSuccess: return IBV_WC_SUCCESS;
    case Status::kLocalLength: return IBV_WC_LOC_LEN_ERR;
    case Status::kLocalOperation: return IBV_WC_LOC_QP_OP_ERR;
    case Status::kLocalProtection: return IBV_WC_LOC_PROT_ERR;
    case Status::kFlushed: return IBV_WC_WR_FLUSH_ERR;
    case Status::kRemoteAccess: return IBV_WC_REM_ACCESS_ERR;
    case Status::kRemoteInvalidRequest: return IBV_WC_REM_INV_REQ_ERR;
    case Status::kRemoteOperation: return IBV_WC_REM_OP_ERR;
    case Status::kRetryExceeded: return IBV_WC_RETRY_EXC_ERR;
    case Status::kRnrRetryExceeded: return IBV_WC_RNR_RETRY_EXC_ERR;
  }
  return IBV_WC_GENERAL_ERR;
}

ibv_wc_opcode verbs_opcode(const messages::Completion& completion) {
  using messages::CompletionKind;
  using messages::Opcode;
  if (completion.kind == CompletionKind::kReceived) return IBV_WC_RECV;
  if (completion.kind == CompletionKind::kReceivedWrite) return IBV_WC_RECV_RDMA_WITH_IMM;
  switch (completion.opcode) {
    case Opcode::kWrite:
    case Opcode::kWriteWithImmediate: return IBV_WC_RDMA_WRITE;
    case Opcode::kSend:
    case Opcode::kSendWithImmediate: return IBV_WC_SEND;
    case Opcode::kRead: return IBV_WC_RDMA_READ;
    case Opcode::kCompareAndSwap: return IBV_WC_COMP_SWAP;
    case Opcode::kFetchAndAdd: return IBV_WC_FETCH_ADD;
  }
  return IBV_WC_SEND;
}

std::optional<messages::Opcode> opcode_of(ibv_wr_opcode opcode) {
  using messages::Opcode;
  switch (opcode) {
    case IBV_WR_RDMA_WRITE: return Opcode::kWrite;
    case IBV_WR_RDMA_WRITE_WITH_IMM: return Opcode::kWriteWithImmediate;
    case IBV_WR_SEND: return Opcode::kSend;
    case IBV_WR_SEND_WITH_IMM: return Opcode::kSendWithImmediate;
    case IBV_WR_RDMA_READ: return Opcode::kRead;
    case IBV_WR_ATOMIC_CMP_AND_SWP: return Opcode::kCompareAndSwap;
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return Opcode::kFetchAndAdd;
    default: return std::nullopt;
  }
}

bool is_atomic(ibv_wr_opcode opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

// Whether it puts something into local memory.
bool brings(ibv_wr_opcode opcode) { return opcode == IBV_WR_RDMA_READ || is_atomic(opcode); }

}  // namespace

ReliableConnection::ReliableConnection(SoftQueuePair& qp, Device& device)
    : qp_(qp),
      device_(device),
      memory_{device.memory(), soft_domain(qp.verbs.pd)->domain},
      sends_(soft(*qp.verbs.send_cq)),
      receives_(soft(*qp.verbs.recv_cq)) {}

std::unique_ptr<Transport> make_reliable_connection(SoftQueuePair& qp) {
  auto made = std::make_unique<ReliableConnection>(qp, *device_of(qp.verbs.context));
  if (!made->open()) return nullptr;
  return made;
}

bool ReliableConnection::open() {
  const auto runtime = device_.runtime();
  if (!runtime) return errno = EIO, false;
  const ibv_qp_cap& cap = qp_.cap;
  ibv_srq* srq = qp_.verbs.srq;
  auto made = (*runtime)->create_message_queue_pair(
      {.sink = this,
       .queues = {.sends = {.requests = std::max(cap.max_send_wr, 1U),
                            .segments = std::max(cap.max_send_sge, 1U)},
                  .receives = {.requests = srq != nullptr ? 0 : cap.max_recv_wr,
                               .segments = std::max(cap.max_recv_sge, 1U)},
                  .copied_max = cap.max_inline_data},
       .shared = srq != nullptr ? soft(*srq).runtime.get() : nullptr,
       .domain = memory_.domain});
  if (!made) return errno = ENOMEM, false;
  runtime_ = std::move(*made);
  sends_.set_runtime(**runtime);
  receives_.set_runtime(**runtime);
  return true;
}

void ReliableConnection::on_completion(const messages::Completion& completion) {
  ibv_wc to{};
  to.wr_id = completion.id;
  to.status = verbs_status(completion.status);
  to.opcode = verbs_opcode(completion);
  to.byte_len = completion.length;
  to.qp_num = completion.qpn.raw();
  to.src_qp = attributes_.dest_qp_num;
  if (completion.immediate) {
    to.wc_flags = IBV_WC_WITH_IMM;
    to.imm_data = htonl(completion.immediate->raw());  // the bytes as they were on the wire
  }
  const bool is_send = completion.kind == messages::CompletionKind::kSent;
  (is_send ? sends_ : receives_).push(to, completion.solicited);
}

void ReliableConnection::on_event(const messages::Event& event) {
  ibv_async_event to{};
  to.element.qp = &qp_.verbs;
  switch (event.kind) {
    case messages::EventKind::kFailed:
      // Completions have no room for who it was, and where.
      if (const auto text = runtime_->failure_text()) {
        std::fprintf(stderr, "openmrc: %s\n", text->c_str());
      }
      return;
    case messages::EventKind::kAccessRefused: to.event_type = IBV_EVENT_QP_ACCESS_ERR; break;
    case messages::EventKind::kRequestRefused: to.event_type = IBV_EVENT_QP_REQ_ERR; break;
    case messages::EventKind::kLastReceiveTaken:
      to.event_type = IBV_EVENT_QP_LAST_WQE_REACHED;
      break;
    case messages::EventKind::kReceivesLow: return;  // the shared queue's own
  }
  push_async_event(qp_.verbs.context, to);
}

// Returns 0 or an error number: of what is wrong whatever the peer says.
int ReliableConnection::prepare(const ibv_send_wr& wr, messages::SendRequest& request,
                                std::span<messages::Segment> segments) const {
  const auto opcode = opcode_of(wr.opcode);
  if (!opcode || wr.num_sge < 0 || static_cast<std::size_t>(wr.num_sge) > segments.size()) {
    return EINVAL;
  }
  const auto has = [&](unsigned flag) { return (wr.send_flags & flag) != 0; };
  const std::span list(wr.sg_list, static_cast<std::size_t>(wr.num_sge));
  request = {.id = wr.wr_id,
             .opcode = *opcode,
             .segments = segments.first(list.size()),
             .remote_address = wr.wr.rdma.remote_addr,
             .rkey = RKey(wr.wr.rdma.rkey),
             .immediate = wire::Immediate(ntohl(wr.imm_data)),
             .signaled = has(IBV_SEND_SIGNALED) || qp_.sq_sig_all != 0,
             .fenced = has(IBV_SEND_FENCE),
             .solicited = has(IBV_SEND_SOLICITED),
             .copied = has(IBV_SEND_INLINE) && !brings(wr.opcode)};
  if (is_atomic(wr.opcode)) {
    request.remote_address = wr.wr.atomic.remote_addr;
    request.rkey = RKey(wr.wr.atomic.rkey);
    request.operand = wr.wr.atomic.compare_add;
    request.swap = wr.wr.atomic.swap;
  }
  if (request.copied) {  // its memory needs no key
    std::ranges::transform(list, segments.begin(), [](const ibv_sge& sge) {
      return messages::Segment{std::bit_cast<std::byte*>(sge.addr), sge.length};
    });
    return 0;
  }
  const auto use = brings(wr.opcode) ? LocalMemory::Use::kWrite : LocalMemory::Use::kRead;
  request.keys_ok = memory_.find(list, use, segments.data());
  return 0;
}

int ReliableConnection::post_send(ibv_send_wr* first, ibv_send_wr** bad) {
  for (ibv_send_wr* wr = first; wr != nullptr;) {
    std::array<messages::SendRequest, kWorkBatch> batch;
    std::array<std::array<messages::Segment, kSgeMax>, kWorkBatch> segments;
    std::array<ibv_send_wr*, kWorkBatch> origin{};
    std::size_t count = 0;
    int error = 0;
    for (; wr != nullptr && count < kWorkBatch; wr = wr->next) {
      error = prepare(*wr, batch[count], segments[count]);
      if (error != 0) break;
      origin[count++] = wr;
    }
    const auto posted = runtime_->post_sends(std::span(batch).first(count));
    if (posted.count < count) {
      *bad = origin[posted.count];
      return fail(error_of(posted.last.error()));
    }
    if (error != 0) {
      *bad = wr;
      return fail(error);
    }
  }
  return 0;
}

int ReliableConnection::post_receive(ibv_recv_wr* first, ibv_recv_wr** bad) {
  return post_receives(memory_, first, bad,
                       [&](auto batch) { return runtime_->post_receives(batch); });
}

}  // namespace openmrc::libmrc
