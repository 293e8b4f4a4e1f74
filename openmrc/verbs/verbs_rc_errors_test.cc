// SPDX-License-Identifier: BSD-3-Clause
// Reliable connections: what is said when a request is refused, or nobody answers.
#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "openmrc/verbs/test_rc.h"

namespace openmrc::libmrc::test {
namespace {

// ---- a receiver that is not ready ----

TEST_F(RcTest, ASendWaitsForAReceive) {
  connect({.rnr_retry = 7, .min_rnr_timer = 1});
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 100)}), 0);
  EXPECT_TRUE(completions(a->send_cq, 1, std::chrono::seconds(2)).empty());
  ASSERT_EQ(b->receive(2, {b->sge(0, 100)}), 0);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 2U);
  EXPECT_EQ(completion(a->send_cq).status, IBV_WC_SUCCESS);
}

TEST_F(RcTest, ASendThatMayNotWaitFails) {
  connect({.rnr_retry = 1, .min_rnr_timer = 14});  // 1.28 ms
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 100)}), 0);
  ASSERT_EQ(a->send(request(2, IBV_WR_SEND, 0), {a->sge(0, 100)}), 0);
  const auto done = completions(a->send_cq, 2);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].status, IBV_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(done[1].status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(done[1].wr_id, 2U);
  // The peer is as before.
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(ibv_query_qp(b->qp, &attributes, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attributes.qp_state, IBV_QPS_RTS);
}

// ---- what is refused ----

class RcErrors : public RcTest {
 protected:
  // What a request ends with, and which event the other side gets; 0: none.
  void expect_end(const ibv_send_wr& wr, std::vector<ibv_sge> list, ibv_wc_status status,
                  int event = 0) {
    ASSERT_EQ(a->send(wr, std::move(list)), 0);
    const ibv_wc done = completion(a->send_cq);
    EXPECT_EQ(done.status, status) << ibv_wc_status_str(done.status);
    EXPECT_EQ(done.wr_id, wr.wr_id);
    if (event == 0) return;
    pollfd waiting{.fd = context->async_fd, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&waiting, 1, 5000), 1);
    ibv_async_event got{};
    ASSERT_EQ(ibv_get_async_event(context, &got), 0);
    EXPECT_EQ(got.event_type, event) << ibv_event_type_str(got.event_type);
    EXPECT_EQ(got.element.qp, b->qp);
    ibv_ack_async_event(&got);
  }
};

TEST_F(RcErrors, AnUnknownKey) {
  connect();
  ibv_send_wr wr = remote(1, IBV_WR_RDMA_WRITE, *b, 0);
  wr.wr.rdma.rkey += 0x1000;
  expect_end(wr, {a->sge(0, 8)}, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}
TEST_F(RcErrors, AnUnknownKeyToReadFrom) {
  connect();
  ibv_send_wr wr = remote(1, IBV_WR_RDMA_READ, *b, 0);
  wr.wr.rdma.rkey += 0x1000;
  expect_end(wr, {a->sge(0, 8)}, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
}
TEST_F(RcErrors, PastTheEnd) {
  connect();
  expect_end(remote(1, IBV_WR_RDMA_WRITE, *b, b->memory.size() - 4), {a->sge(0, 8)},
             IBV_WC_REM_ACCESS_ERR);
}
TEST_F(RcErrors, ReadingPastTheEnd) {
  connect();
  expect_end(remote(1, IBV_WR_RDMA_READ, *b, b->memory.size() - 4), {a->sge(0, 8)},
             IBV_WC_REM_ACCESS_ERR);
}
TEST_F(RcErrors, AKeyOfAnotherDomain) {
  connect();
  ibv_pd* other = ibv_alloc_pd(context);
  std::array<unsigned char, 64> memory{};
  ibv_mr* mr = ibv_reg_mr(other, memory.data(), memory.size(), kAllAccess);
  ibv_send_wr wr = remote(1, IBV_WR_RDMA_WRITE, *b, 0);
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(memory.data());
  wr.wr.rdma.rkey = mr->rkey;
  expect_end(wr, {a->sge(0, 8)}, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
}
TEST_F(RcErrors, AQueuePairThatDoesNotAllowWrites) {
  connect({.access = IBV_ACCESS_REMOTE_READ});
  expect_end(remote(1, IBV_WR_RDMA_WRITE, *b, 0), {a->sge(0, 8)}, IBV_WC_REM_ACCESS_ERR);
}
TEST_F(RcErrors, AQueuePairThatDoesNotAllowReads) {
  connect({.access = IBV_ACCESS_REMOTE_WRITE});
  expect_end(remote(1, IBV_WR_RDMA_READ, *b, 0), {a->sge(0, 8)}, IBV_WC_REM_ACCESS_ERR);
}
TEST_F(RcErrors, AQueuePairThatDoesNotAllowAtomics) {
  connect({.access = IBV_ACCESS_REMOTE_WRITE});
  expect_end(atomic(1, IBV_WR_ATOMIC_FETCH_AND_ADD, *b, 0, 1), {a->sge(0, 8)},
             IBV_WC_REM_ACCESS_ERR);
}
TEST_F(RcErrors, MemoryThatDoesNotAllowReads) {
  connect();
  std::array<unsigned char, 64> memory{};
  ibv_mr* mr = ibv_reg_mr(pd, memory.data(), memory.size(),
                          IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  ibv_send_wr wr = request(1, IBV_WR_RDMA_READ);
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(memory.data());
  wr.wr.rdma.rkey = mr->rkey;
  expect_end(wr, {a->sge(0, 8)}, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}
TEST_F(RcErrors, AnAtomicThatIsNotAligned) {
  connect();
  expect_end(atomic(1, IBV_WR_ATOMIC_FETCH_AND_ADD, *b, 4, 1), {a->sge(0, 8)},
             IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}
TEST_F(RcErrors, ReadsWhereThePeerTakesNone) {
  make({.depth = 1});
  ibv_gid gid{};
  ASSERT_EQ(ibv_query_gid(context, 1, kGidIndex, &gid), 0);
  ibv_qp_attr none = rtr_attributes(gid, a->qp->qp_num, {.depth = 0});
  ASSERT_EQ(ibv_modify_qp(b->qp, &none, kRtrMask), 0);
  a->to_rtr(*b);
  a->to_rts();
  b->to_rts();
  expect_end(remote(1, IBV_WR_RDMA_READ, *b, 0), {a->sge(0, 8)}, IBV_WC_REM_INV_REQ_ERR);
}
TEST_F(RcErrors, ReadsWhereNoneMayBeOutstanding) {
  connect({.depth = 0});
  expect_end(remote(1, IBV_WR_RDMA_READ, *b, 0), {a->sge(0, 8)}, IBV_WC_LOC_QP_OP_ERR);
}
TEST_F(RcErrors, AMessageThatIsTooLongForItsReceive) {
  connect();
  ASSERT_EQ(b->receive(9, {b->sge(0, 100)}), 0);
  expect_end(request(1, IBV_WR_SEND), {a->sge(0, 101)}, IBV_WC_REM_INV_REQ_ERR);
  const ibv_wc received = completion(b->recv_cq);
  EXPECT_EQ(received.wr_id, 9U);
  EXPECT_EQ(received.status, IBV_WC_LOC_LEN_ERR);
}
TEST_F(RcErrors, AReceiveWithoutAKey) {
  connect();
  ibv_sge wrong = b->sge(0, 100);
  wrong.lkey += 0x1000;
  ASSERT_EQ(b->receive(9, {wrong}), 0);
  expect_end(request(1, IBV_WR_SEND), {a->sge(0, 8)}, IBV_WC_REM_OP_ERR);
  EXPECT_EQ(completion(b->recv_cq).status, IBV_WC_LOC_PROT_ERR);
}
TEST_F(RcErrors, ASendWithoutAKey) {
  connect();
  ibv_sge wrong = a->sge(0, 8);
  wrong.lkey += 0x1000;
  expect_end(request(1, IBV_WR_SEND), {wrong}, IBV_WC_LOC_PROT_ERR);
}
TEST_F(RcErrors, AReadIntoMemoryThatIsNotToBeWritten) {
  connect();
  std::array<unsigned char, 64> memory{};
  ibv_mr* mr = ibv_reg_mr(pd, memory.data(), memory.size(), IBV_ACCESS_REMOTE_READ);
  const ibv_sge here{reinterpret_cast<std::uint64_t>(memory.data()), 8, mr->lkey};
  expect_end(remote(1, IBV_WR_RDMA_READ, *b, 0), {here}, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}
TEST_F(RcErrors, AnAtomicWithoutRoomForItsResult) {
  connect();
  expect_end(atomic(1, IBV_WR_ATOMIC_FETCH_AND_ADD, *b, 0, 1), {a->sge(0, 4)}, IBV_WC_LOC_LEN_ERR);
}
TEST_F(RcErrors, APeerThatIsGone) {
  connect();
  b.reset();
  expect_end(remote(1, IBV_WR_RDMA_WRITE, *a, 0), {a->sge(0, 8)}, IBV_WC_RETRY_EXC_ERR);
}

}  // namespace
}  // namespace openmrc::libmrc::test
