// SPDX-License-Identifier: BSD-3-Clause
// Queue pairs of verbs: what is the same for all types.
#include "openmrc/verbs/verbs_qp.h"

#include <algorithm>
#include <memory>

#include "openmrc/verbs/call_guard.h"
#include "openmrc/verbs/verbs_cq.h"
#include "openmrc/verbs/verbs_events.h"
#include "openmrc/verbs/verbs_route.h"
#include "openmrc/verbs/verbs_srq.h"
#include "openmrc/verbs/verbs_work.h"
#include "openmrc/verbs/verbs_wr.h"

namespace openmrc::libmrc {
namespace {

// What programs get that ask for less: UCX sends so much without a copy of its own.
constexpr std::uint32_t kInlineDefault = 256;
constexpr std::uint32_t kInlineMax = 1024;

bool is_allowed(const ibv_qp_cap& cap) {
  return cap.max_send_wr <= kWorkRequestsMax && cap.max_recv_wr <= kWorkRequestsMax &&
         cap.max_send_sge <= kSgeMax && cap.max_recv_sge <= kSgeMax &&
         cap.max_inline_data <= kInlineMax;
}

// All of one context: their completions and events are.
bool belong_together(const ibv_pd& pd, const ibv_qp_init_attr& attributes) {
  const ibv_context* context = pd.context;
  return attributes.send_cq != nullptr && attributes.recv_cq != nullptr &&
         attributes.send_cq->context == context && attributes.recv_cq->context == context &&
         (attributes.srq == nullptr || attributes.srq->context == context);
}

void count_users(ibv_qp& qp, int change) {
  const auto by = static_cast<std::uint32_t>(change);
  soft(*qp.send_cq).users += by;
  soft(*qp.recv_cq).users += by;
  if (qp.srq != nullptr) soft(*qp.srq).users += by;
  soft_domain(qp.pd)->users += by;
}

std::unique_ptr<Transport> make_transport(SoftQueuePair& qp) {
  if (qp.verbs.qp_type == IBV_QPT_RC) return make_reliable_connection(qp);
  if (qp.verbs.qp_type == IBV_QPT_UD) return make_datagrams(qp);
  return null(EOPNOTSUPP);
}

}  // namespace

SoftQueuePair::SoftQueuePair() = default;
SoftQueuePair::~SoftQueuePair() = default;

namespace soft_verbs {

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  if (!belong_together(*pd, *attributes) || !is_allowed(attributes->cap)) return null(EINVAL);
  auto made = std::make_unique<SoftQueuePair>();
  made->cap = attributes->cap;
  made->cap.max_inline_data = std::max(made->cap.max_inline_data, kInlineDefault);
  made->sq_sig_all = attributes->sq_sig_all;
  ibv_qp& qp = made->verbs;
  qp.context = pd->context;
  qp.qp_context = attributes->qp_context;
  qp.pd = pd;
  qp.send_cq = attributes->send_cq;
  qp.recv_cq = attributes->recv_cq;
  qp.srq = attributes->srq;
  qp.qp_type = attributes->qp_type;
  qp.state = IBV_QPS_RESET;
  made->transport = make_transport(*made);
  if (made->transport == nullptr) return nullptr;
  qp.qp_num = made->transport->number();
  pthread_mutex_init(&qp.mutex, nullptr);
  pthread_cond_init(&qp.cond, nullptr);
  count_users(qp, 1);
  attributes->cap = made->cap;
  return &made.release()->extended.qp_base;
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  const int error = soft(*qp).transport->modify(*attributes, mask);
  qp->state = soft(*qp).transport->state();
  return error == 0 ? 0 : fail(error);
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int /*mask*/, ibv_qp_init_attr* init) {
  const SoftQueuePair& queue_pair = soft(*qp);
  *attributes = {};
  queue_pair.transport->query(*attributes);
  attributes->qp_state = attributes->cur_qp_state = queue_pair.transport->state();
  attributes->cap = queue_pair.cap;
  *init = {.qp_context = qp->qp_context,
           .send_cq = qp->send_cq,
           .recv_cq = qp->recv_cq,
           .srq = qp->srq,
           .cap = queue_pair.cap,
           .qp_type = qp->qp_type,
           .sq_sig_all = queue_pair.sq_sig_all};
  return 0;
}

// Of what the peer writes here. The flag that asks for more than yes or no is newer than our
// header; the answer "whole messages" is the same bit.
int ibv_query_qp_data_in_order(ibv_qp* qp, ibv_wr_opcode opcode, std::uint32_t /*flags*/) {
  const bool is_write = opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  const bool in_order = device_of(qp->context)->config().verbs.in_order_placement;
  return qp->qp_type == IBV_QPT_RC && is_write && in_order ? 1 : 0;
}

int ibv_destroy_qp(ibv_qp* qp) {
  SoftQueuePair& queue_pair = soft(*qp);
  queue_pair.transport.reset();
  soft(*qp->send_cq).forget(qp->qp_num);
  soft(*qp->recv_cq).forget(qp->qp_num);
  forget_async_events(qp->context, &queue_pair);
  wait_for_acknowledgements(*qp, queue_pair.events_fetched, qp->events_completed);
  count_users(*qp, -1);
  pthread_cond_destroy(&qp->cond);
  pthread_mutex_destroy(&qp->mutex);
  delete &queue_pair;
  return 0;
}

int post_send(ibv_qp* qp, ibv_send_wr* first, ibv_send_wr** bad) {
  *bad = first;
  return guarded(fail, [&] { return soft(*qp).transport->post_send(first, bad); });
}

int post_recv(ibv_qp* qp, ibv_recv_wr* first, ibv_recv_wr** bad) {
  *bad = first;
  if (qp->srq != nullptr) return fail(EINVAL);
  return guarded(fail, [&] { return soft(*qp).transport->post_receive(first, bad); });
}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc
