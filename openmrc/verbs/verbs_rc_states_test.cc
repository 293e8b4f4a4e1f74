// SPDX-License-Identifier: BSD-3-Clause
// Reliable connections: states, and what is posted in them.
#include <gtest/gtest.h>

#include <cerrno>
#include <vector>

#include "openmrc/verbs/test_rc.h"

namespace openmrc::libmrc::test {
namespace {

class RcStates : public RcTest {};

TEST_F(RcStates, GoFromResetToRts) {
  make();
  EXPECT_EQ(a->qp->state, IBV_QPS_INIT);
  a->to_rtr(*b);
  EXPECT_EQ(a->qp->state, IBV_QPS_RTR);
  a->to_rts();
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(ibv_query_qp(a->qp, &attributes, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attributes.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attributes.dest_qp_num, b->qp->qp_num);
  EXPECT_EQ(attributes.timeout, 14);
  EXPECT_EQ(attributes.max_rd_atomic, 16);
  EXPECT_EQ(init.qp_type, IBV_QPT_RC);
  EXPECT_EQ(init.send_cq, a->send_cq);
  EXPECT_EQ(init.cap.max_send_wr, 64U);
}

TEST_F(RcStates, NeedTheirAttributes) {
  make();
  ibv_gid gid{};
  ASSERT_EQ(ibv_query_gid(context, 1, kGidIndex, &gid), 0);
  ibv_qp_attr to_rtr = rtr_attributes(gid, b->qp->qp_num, {});
  for (const int bit : {IBV_QP_AV, IBV_QP_PATH_MTU, IBV_QP_DEST_QPN, IBV_QP_RQ_PSN,
                        IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER}) {
    EXPECT_EQ(ibv_modify_qp(a->qp, &to_rtr, kRtrMask & ~bit), EINVAL);
  }
  ibv_qp_attr to_rts = rts_attributes({});
  EXPECT_EQ(ibv_modify_qp(a->qp, &to_rts, kRtsMask), EINVAL);  // not from INIT
  a->to_rtr(*b);
  for (const int bit : {IBV_QP_TIMEOUT, IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY, IBV_QP_SQ_PSN,
                        IBV_QP_MAX_QP_RD_ATOMIC}) {
    EXPECT_EQ(ibv_modify_qp(a->qp, &to_rts, kRtsMask & ~bit), EINVAL);
  }
  EXPECT_EQ(ibv_modify_qp(a->qp, &to_rts, kRtsMask | IBV_QP_QKEY), EINVAL);
  to_rts.rnr_retry = 8;
  EXPECT_EQ(ibv_modify_qp(a->qp, &to_rts, kRtsMask), EINVAL);
  EXPECT_EQ(a->qp->state, IBV_QPS_RTR);
}

TEST_F(RcStates, NeedAGidOfAKnownHost) {
  make();
  ibv_gid gid{};
  ibv_qp_attr nowhere = rtr_attributes(gid, b->qp->qp_num, {});
  EXPECT_EQ(ibv_modify_qp(a->qp, &nowhere, kRtrMask), EHOSTUNREACH);
  nowhere.ah_attr.is_global = 0;
  EXPECT_EQ(ibv_modify_qp(a->qp, &nowhere, kRtrMask), EINVAL);
}

TEST_F(RcStates, SendQueuesAreNotDrained) {
  connect();
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_SQD;
  EXPECT_EQ(ibv_modify_qp(a->qp, &attributes, IBV_QP_STATE), EOPNOTSUPP);
}

TEST_F(RcStates, WorkIsRefusedBeforeItsTime) {
  a.emplace(context, pd, RcOptions{});
  EXPECT_EQ(a->receive(1, {a->sge(0, 8)}), EINVAL);
  EXPECT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 8)}), EINVAL);
  a->to_init();
  EXPECT_EQ(a->receive(1, {a->sge(0, 8)}), 0);
  EXPECT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 8)}), EINVAL);
}

// InfiniBand 10.3.1: in ERROR what is posted is flushed, in RESET it is forgotten.
TEST_F(RcStates, ErrorFlushesInOrder) {
  connect();
  for (std::uint64_t id = 1; id <= 3; ++id) ASSERT_EQ(a->receive(id, {a->sge(0, 8)}), 0);
  for (std::uint64_t id = 11; id <= 13; ++id) {
    ASSERT_EQ(a->send(request(id, IBV_WR_SEND, 0), {a->sge(0, 8)}), 0);
  }
  ASSERT_EQ(a->to_error(), 0);
  EXPECT_EQ(a->qp->state, IBV_QPS_ERR);
  const auto receives = completions(a->recv_cq, 3);
  const auto sends = completions(a->send_cq, 3);
  ASSERT_EQ(receives.size(), 3U);
  ASSERT_EQ(sends.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(receives[i].status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(receives[i].wr_id, i + 1);
    EXPECT_EQ(sends[i].status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(sends[i].wr_id, i + 11);
    EXPECT_EQ(sends[i].qp_num, a->qp->qp_num);
  }
  ASSERT_EQ(a->send(request(14, IBV_WR_SEND, 0), {a->sge(0, 8)}), 0);
  EXPECT_EQ(completion(a->send_cq).status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(RcStates, ResetForgetsAndBeginsAnew) {
  connect();
  ASSERT_EQ(a->receive(1, {a->sge(0, 8)}), 0);
  ASSERT_EQ(a->to_error(), 0);
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RESET;
  ASSERT_EQ(ibv_modify_qp(a->qp, &attributes, IBV_QP_STATE), 0);
  ASSERT_EQ(ibv_modify_qp(b->qp, &attributes, IBV_QP_STATE), 0);
  ibv_wc none{};
  EXPECT_EQ(ibv_poll_cq(a->recv_cq, 1, &none), 0);
  a->to_init();
  b->to_init();
  to_rts();
  ASSERT_EQ(b->receive(7, {b->sge(0, 100)}), 0);
  ASSERT_EQ(a->send(request(8, IBV_WR_SEND), {a->sge(0, 100)}), 0);
  EXPECT_EQ(completion(a->send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 7U);
}

TEST_F(RcStates, QueuesThatAreInUseStay) {
  make();
  EXPECT_EQ(ibv_destroy_cq(a->send_cq), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
}

TEST_F(RcStates, LimitsAreToldAndHeld) {
  connect({.sends = 2});
  EXPECT_GE(a->cap.max_inline_data, 64U);
  // Nothing is received, so sends stay.
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  ASSERT_EQ(a->send(request(2, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  EXPECT_EQ(a->send(request(3, IBV_WR_SEND), {a->sge(0, 8)}), ENOMEM);
  EXPECT_EQ(a->send(request(3, IBV_WR_SEND), std::vector<ibv_sge>(17, a->sge(0, 8))), EINVAL);
  EXPECT_EQ(a->send(request(3, IBV_WR_LOCAL_INV), {}), EINVAL);
  const auto too_long = a->cap.max_inline_data + 1;
  EXPECT_EQ(b->send(request(3, IBV_WR_SEND, IBV_SEND_INLINE), {b->sge(0, too_long)}), EINVAL);
}

}  // namespace
}  // namespace openmrc::libmrc::test
