// SPDX-License-Identifier: BSD-3-Clause
// Reliable connections as programs of InfiniBand use them: what arrives, in which order, and what
// is said when it cannot.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <thread>

#include "openmrc/verbs/test_rc.h"

namespace openmrc::libmrc::test {
namespace {

const VerbsEnvironment kEnvironment;

bool same(const RcEnd& a, std::size_t at_a, const RcEnd& b, std::size_t at_b, std::size_t length) {
  return std::memcmp(a.memory.data() + at_a, b.memory.data() + at_b, length) == 0;
}

// ---- states ----

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
  a->to_rtr(*b);
  b->to_rtr(*a);
  a->to_rts();
  b->to_rts();
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

// ---- what arrives ----

class RcData : public RcTest {
 protected:
  RcData() { connect(); }
};

TEST_F(RcData, SendTakesAReceive) {
  ASSERT_EQ(b->receive(5, {b->sge(100, 5000)}), 0);
  ASSERT_EQ(a->send(request(6, IBV_WR_SEND), {a->sge(0, 4321)}), 0);
  const ibv_wc sent = completion(a->send_cq);
  EXPECT_EQ(sent.status, IBV_WC_SUCCESS);
  EXPECT_EQ(sent.opcode, IBV_WC_SEND);
  EXPECT_EQ(sent.wr_id, 6U);
  const ibv_wc received = completion(b->recv_cq);
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.opcode, IBV_WC_RECV);
  EXPECT_EQ(received.wr_id, 5U);
  EXPECT_EQ(received.byte_len, 4321U);
  EXPECT_EQ(received.wc_flags, 0U);
  EXPECT_EQ(received.qp_num, b->qp->qp_num);
  EXPECT_EQ(received.src_qp, a->qp->qp_num);
  EXPECT_TRUE(same(*a, 0, *b, 100, 4321));
}

TEST_F(RcData, SeveralPiecesAreOneMessage) {
  ASSERT_EQ(b->receive(5, {b->sge(100'000, 1000), b->sge(200'000, 0), b->sge(300'000, 90'000)}), 0);
  ASSERT_EQ(a->send(request(6, IBV_WR_SEND), {a->sge(0, 1), a->sge(1, 40'000), a->sge(40'001, 7)}),
            0);
  EXPECT_EQ(completion(a->send_cq).status, IBV_WC_SUCCESS);
  EXPECT_EQ(completion(b->recv_cq).byte_len, 40'008U);
  EXPECT_TRUE(same(*a, 0, *b, 100'000, 1000));
  EXPECT_TRUE(same(*a, 1000, *b, 300'000, 39'008));
}

TEST_F(RcData, ImmediatesArriveAsTheyAre) {
  ASSERT_EQ(b->receive(1, {b->sge(0, 64)}), 0);
  ASSERT_EQ(b->receive(2, {}), 0);
  ibv_send_wr send = request(3, IBV_WR_SEND_WITH_IMM);
  send.imm_data = 0x01020304;
  ASSERT_EQ(a->send(send, {a->sge(0, 64)}), 0);
  ibv_send_wr write = remote(4, IBV_WR_RDMA_WRITE_WITH_IMM, *b, 1000);
  write.imm_data = 0x0a0b0c0d;
  ASSERT_EQ(a->send(write, {a->sge(0, 3000)}), 0);
  const auto received = completions(b->recv_cq, 2);
  ASSERT_EQ(received.size(), 2U);
  EXPECT_EQ(received[0].opcode, IBV_WC_RECV);
  EXPECT_EQ(received[0].imm_data, 0x01020304U);
  EXPECT_EQ(received[0].wc_flags, static_cast<unsigned>(IBV_WC_WITH_IMM));
  EXPECT_EQ(received[1].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(received[1].imm_data, 0x0a0b0c0dU);
  EXPECT_EQ(received[1].byte_len, 3000U);
  EXPECT_TRUE(same(*a, 0, *b, 1000, 3000));
}

TEST_F(RcData, WriteAndReadAreSeenByTheOtherSideOnly) {
  ASSERT_EQ(a->send(remote(1, IBV_WR_RDMA_WRITE, *b, 5000), {a->sge(0, 100'000)}), 0);
  ASSERT_EQ(a->send(remote(2, IBV_WR_RDMA_READ, *b, 5000), {a->sge(500'000, 100'000)}), 0);
  const auto done = completions(a->send_cq, 2);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(done[1].opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(done[1].status, IBV_WC_SUCCESS);
  EXPECT_EQ(done[1].byte_len, 100'000U);
  EXPECT_TRUE(same(*a, 0, *b, 5000, 100'000));
  EXPECT_TRUE(same(*a, 0, *a, 500'000, 100'000));
  ibv_wc none{};
  EXPECT_EQ(ibv_poll_cq(b->recv_cq, 1, &none), 0);
}

TEST_F(RcData, AtomicsGiveTheOldValue) {
  std::uint64_t value = 40;
  std::memcpy(b->memory.data() + 64, &value, sizeof value);
  ASSERT_EQ(a->send(atomic(1, IBV_WR_ATOMIC_FETCH_AND_ADD, *b, 64, 2), {a->sge(0, 8)}), 0);
  ASSERT_EQ(a->send(atomic(2, IBV_WR_ATOMIC_CMP_AND_SWP, *b, 64, 42, 7), {a->sge(8, 8)}), 0);
  ASSERT_EQ(a->send(atomic(3, IBV_WR_ATOMIC_CMP_AND_SWP, *b, 64, 42, 9), {a->sge(16, 8)}), 0);
  const auto done = completions(a->send_cq, 3);
  ASSERT_EQ(done.size(), 3U);
  EXPECT_EQ(done[0].opcode, IBV_WC_FETCH_ADD);
  EXPECT_EQ(done[1].opcode, IBV_WC_COMP_SWAP);
  const std::array<std::uint64_t, 3> expected{40, 42, 7};
  EXPECT_EQ(std::memcmp(a->memory.data(), expected.data(), sizeof expected), 0);
  std::memcpy(&value, b->memory.data() + 64, sizeof value);
  EXPECT_EQ(value, 7U);
}

// 0 bytes need no memory, and no key is looked at.
TEST_F(RcData, NothingIsAMessage) {
  ASSERT_EQ(b->receive(1, {}), 0);
  ASSERT_EQ(b->receive(2, {}), 0);
  ASSERT_EQ(b->receive(3, {}), 0);
  ASSERT_EQ(a->send(request(11, IBV_WR_SEND), {}), 0);
  ASSERT_EQ(a->send(request(12, IBV_WR_SEND_WITH_IMM), {}), 0);
  ASSERT_EQ(a->send(request(13, IBV_WR_RDMA_WRITE), {}), 0);
  ASSERT_EQ(a->send(request(14, IBV_WR_RDMA_WRITE_WITH_IMM), {}), 0);
  ASSERT_EQ(a->send(request(15, IBV_WR_RDMA_READ), {}), 0);
  const auto sent = completions(a->send_cq, 5);
  ASSERT_EQ(sent.size(), 5U);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].status, IBV_WC_SUCCESS);
    EXPECT_EQ(sent[i].wr_id, 11 + i);
  }
  const auto received = completions(b->recv_cq, 3);
  ASSERT_EQ(received.size(), 3U);
  for (const ibv_wc& one : received) EXPECT_EQ(one.byte_len, 0U);
}

TEST_F(RcData, InlineBytesMayBeReusedAtOnce) {
  ASSERT_EQ(b->receive(1, {b->sge(0, 64)}), 0);
  std::array<unsigned char, 64> stack{};
  stack.fill(0xab);
  const ibv_sge own{.addr = reinterpret_cast<std::uint64_t>(stack.data()), .length = 64, .lkey = 0};
  ASSERT_EQ(a->send(request(2, IBV_WR_SEND, IBV_SEND_SIGNALED | IBV_SEND_INLINE), {own}), 0);
  stack.fill(0);
  EXPECT_EQ(completion(b->recv_cq).status, IBV_WC_SUCCESS);
  EXPECT_TRUE(std::all_of(b->memory.begin(), b->memory.begin() + 64,
                          [](unsigned char byte) { return byte == 0xab; }));
}

TEST_F(RcData, ListsArePostedWhole) {
  constexpr std::size_t kCount = 40;
  std::vector<ibv_send_wr> sends(kCount);
  std::vector<ibv_recv_wr> receives(kCount);
  std::vector<ibv_sge> from(kCount);
  std::vector<ibv_sge> to(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    from[i] = a->sge(i * 1000, 1000);
    to[i] = b->sge(i * 1000, 1000);
    sends[i] = request(i, IBV_WR_SEND, i + 1 == kCount ? IBV_SEND_SIGNALED : 0);
    sends[i].sg_list = &from[i];
    sends[i].num_sge = 1;
    sends[i].next = i + 1 == kCount ? nullptr : &sends[i + 1];
    receives[i] = {.wr_id = i,
                   .next = i + 1 == kCount ? nullptr : &receives[i + 1],
                   .sg_list = &to[i],
                   .num_sge = 1};
  }
  ibv_recv_wr* bad_receive = nullptr;
  ASSERT_EQ(ibv_post_recv(b->qp, receives.data(), &bad_receive), 0);
  ibv_send_wr* bad_send = nullptr;
  ASSERT_EQ(ibv_post_send(a->qp, sends.data(), &bad_send), 0);
  EXPECT_EQ(completion(a->send_cq).wr_id, kCount - 1);
  const auto received = completions(b->recv_cq, kCount);
  ASSERT_EQ(received.size(), kCount);
  for (std::size_t i = 0; i < kCount; ++i) EXPECT_EQ(received[i].wr_id, i);
  EXPECT_TRUE(same(*a, 0, *b, 0, kCount * 1000));
}

// A list is posted up to the request that cannot be.
TEST_F(RcData, TheFirstBadRequestIsNamed) {
  std::array<ibv_send_wr, 3> sends{request(1, IBV_WR_RDMA_WRITE), request(2, IBV_WR_BIND_MW),
                                   request(3, IBV_WR_RDMA_WRITE)};
  sends[0].next = &sends[1];
  sends[1].next = &sends[2];
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(a->qp, sends.data(), &bad), EINVAL);
  EXPECT_EQ(bad, &sends[1]);
  EXPECT_EQ(completion(a->send_cq).wr_id, 1U);
}

TEST_F(RcData, AQueuePairMayBeItsOwnPeer) {
  RcEnd self(context, pd, {});
  self.to_init();
  self.to_rtr(self);
  self.to_rts();
  ASSERT_EQ(self.send(remote(1, IBV_WR_RDMA_READ, self, 4096), {self.sge(0, 4)}), 0);
  EXPECT_EQ(completion(self.send_cq).status, IBV_WC_SUCCESS);
}

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

// ---- shared receive queues ----

class RcShared : public RcTest {
 protected:
  ibv_srq* make_shared(std::uint32_t requests) {
    ibv_srq_init_attr attributes{};
    attributes.attr.max_wr = requests;
    attributes.attr.max_sge = 1;
    return ibv_create_srq(pd, &attributes);
  }
};

TEST_F(RcShared, ManyTakeFromOne) {
  ibv_srq* srq = make_shared(64);
  ASSERT_NE(srq, nullptr);
  constexpr std::size_t kPairs = 4;
  {
    std::vector<std::unique_ptr<RcEnd>> senders;
    std::vector<std::unique_ptr<RcEnd>> receivers;
    for (std::size_t i = 0; i < kPairs; ++i) {
      senders.push_back(std::make_unique<RcEnd>(context, pd, RcOptions{}));
      receivers.push_back(std::make_unique<RcEnd>(context, pd, RcOptions{}, srq));
      senders[i]->to_init();
      receivers[i]->to_init();
      senders[i]->to_rtr(*receivers[i]);
      receivers[i]->to_rtr(*senders[i]);
      senders[i]->to_rts();
      receivers[i]->to_rts();
      senders[i]->fill(static_cast<unsigned>(i));
      EXPECT_EQ(receivers[i]->receive(1, {}), EINVAL);  // they are not its own
    }
    EXPECT_EQ(ibv_destroy_srq(srq), EBUSY);
    ibv_srq_attr few{};
    few.srq_limit = 4;
    ASSERT_EQ(ibv_modify_srq(srq, &few, IBV_SRQ_LIMIT), 0);
    constexpr std::size_t kEach = 5;
    for (std::size_t i = 0; i < kPairs * kEach; ++i) {
      ibv_sge at = receivers[0]->sge(i * 1000, 1000);
      ibv_recv_wr wr{.wr_id = i, .next = nullptr, .sg_list = &at, .num_sge = 1};
      ibv_recv_wr* bad = nullptr;
      ASSERT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
    }
    for (std::size_t n = 0; n < kEach; ++n) {
      for (auto& sender : senders) {
        ASSERT_EQ(sender->send(request(n, IBV_WR_SEND), {sender->sge(n * 1000, 1000)}), 0);
      }
    }
    std::vector<bool> taken(kPairs * kEach);
    for (std::size_t i = 0; i < kPairs; ++i) {
      EXPECT_EQ(completions(senders[i]->send_cq, kEach).size(), kEach);
      const auto received = completions(receivers[i]->recv_cq, kEach);
      ASSERT_EQ(received.size(), kEach);
      for (std::size_t n = 0; n < kEach; ++n) {
        EXPECT_EQ(received[n].status, IBV_WC_SUCCESS);
        EXPECT_EQ(received[n].qp_num, receivers[i]->qp->qp_num);
        EXPECT_TRUE(same(*senders[i], n * 1000, *receivers[0], received[n].wr_id * 1000, 1000));
        EXPECT_FALSE(taken.at(received[n].wr_id));
        taken.at(received[n].wr_id) = true;
      }
    }
    ibv_async_event event{};
    ASSERT_EQ(ibv_get_async_event(context, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    EXPECT_EQ(event.element.srq, srq);
    ibv_ack_async_event(&event);
    // UCX waits for it before it destroys such a queue pair.
    ASSERT_EQ(receivers[0]->to_error(), 0);
    ASSERT_EQ(ibv_get_async_event(context, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    EXPECT_EQ(event.element.qp, receivers[0]->qp);
    ibv_ack_async_event(&event);
  }
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(RcShared, LimitsAreTold) {
  EXPECT_EQ(make_shared(0), nullptr);
  EXPECT_EQ(make_shared(1 << 20), nullptr);
  ibv_srq* srq = make_shared(16);
  ibv_srq_attr attributes{};
  ASSERT_EQ(ibv_query_srq(srq, &attributes), 0);
  EXPECT_EQ(attributes.max_wr, 16U);
  EXPECT_EQ(attributes.srq_limit, 0U);
  attributes.srq_limit = 17;
  EXPECT_EQ(ibv_modify_srq(srq, &attributes, IBV_SRQ_LIMIT), EINVAL);
  EXPECT_EQ(ibv_modify_srq(srq, &attributes, IBV_SRQ_MAX_WR), EOPNOTSUPP);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

// ---- completion channels ----

class RcChannel : public RcTest {
 protected:
  RcChannel() : channel(ibv_create_comp_channel(context)) {
    a.emplace(context, pd, RcOptions{});
    b.emplace(context, pd, RcOptions{}, nullptr, channel);
    a->to_init();
    b->to_init();
    a->to_rtr(*b);
    b->to_rtr(*a);
    a->to_rts();
    b->to_rts();
  }
  ~RcChannel() override {
    b.reset();
    EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
  }
  // Whether there is an event within so many milliseconds.
  bool is_ready(int timeout) const {
    pollfd waiting{.fd = channel->fd, .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, timeout) == 1;
  }
  void expect_event(ibv_cq* of) {
    ibv_cq* cq = nullptr;
    void* cq_context = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
    EXPECT_EQ(cq, of);
    EXPECT_EQ(cq_context, of->cq_context);
    ibv_ack_cq_events(cq, 1);
  }

  ibv_comp_channel* channel;
};

TEST_F(RcChannel, WakesOnceForEachRequest) {
  ASSERT_EQ(b->receive(1, {b->sge(0, 8)}), 0);
  ASSERT_EQ(b->receive(2, {b->sge(0, 8)}), 0);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 0), 0);
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  expect_event(b->recv_cq);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 1U);
  ASSERT_EQ(a->send(request(2, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 2U);
  EXPECT_FALSE(is_ready(20));
}

// perftest asks for the next one, and polls one, while there are two.
TEST_F(RcChannel, MissesNoneThatCameMeanwhile) {
  for (std::uint64_t id = 1; id <= 2; ++id) ASSERT_EQ(b->receive(id, {b->sge(0, 8)}), 0);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 0), 0);
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  ASSERT_EQ(a->send(request(2, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  EXPECT_EQ(completions(a->send_cq, 2).size(), 2U);
  expect_event(b->recv_cq);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 0), 0);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 1U);
  EXPECT_TRUE(is_ready(5000));
  expect_event(b->recv_cq);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 2U);
  // Nothing has come that was not polled.
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 0), 0);
  EXPECT_FALSE(is_ready(20));
}

TEST_F(RcChannel, DoesNotWaitIfItShallNot) {
  ASSERT_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  EXPECT_EQ(ibv_get_cq_event(channel, &cq, &cq_context), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(RcChannel, SolicitedCompletionsOnly) {
  for (std::uint64_t id = 1; id <= 2; ++id) ASSERT_EQ(b->receive(id, {b->sge(0, 8)}), 0);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 1), 0);
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 1U);
  EXPECT_FALSE(is_ready(20));
  ASSERT_EQ(
      a->send(request(2, IBV_WR_SEND, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED), {a->sge(0, 8)}), 0);
  EXPECT_TRUE(is_ready(5000));
  expect_event(b->recv_cq);
}

TEST_F(RcChannel, FailuresWakeEverybody) {
  ASSERT_EQ(b->receive(1, {b->sge(0, 8)}), 0);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 1), 0);
  ASSERT_EQ(b->to_error(), 0);
  EXPECT_TRUE(is_ready(5000));
  expect_event(b->recv_cq);
}

// ---- order ----

// InfiniBand 10.8.3.3: what is fenced begins when all READs before it have ended.
TEST_F(RcData, AFencedSendCarriesWhatWasRead) {
  ASSERT_EQ(b->receive(1, {b->sge(500'000, 1000)}), 0);
  ASSERT_EQ(a->send(remote(1, IBV_WR_RDMA_READ, *b, 0, 0), {a->sge(100'000, 1000)}), 0);
  ASSERT_EQ(
      a->send(request(2, IBV_WR_SEND, IBV_SEND_SIGNALED | IBV_SEND_FENCE), {a->sge(100'000, 1000)}),
      0);
  EXPECT_EQ(completion(a->send_cq).wr_id, 2U);
  EXPECT_EQ(completion(b->recv_cq).status, IBV_WC_SUCCESS);
  EXPECT_TRUE(same(*b, 0, *b, 500'000, 1000));
}

TEST_F(RcData, ReadsSeeWhatWasWrittenBefore) {
  for (unsigned round = 0; round < 50; ++round) {
    a->memory[0] = static_cast<unsigned char>(round);
    a->memory[20'000] = static_cast<unsigned char>(round + 1);
    ASSERT_EQ(a->send(remote(1, IBV_WR_RDMA_WRITE, *b, 0, 0), {a->sge(0, 20'001)}), 0);
    ASSERT_EQ(a->send(remote(2, IBV_WR_RDMA_READ, *b, 0), {a->sge(200'000, 20'001)}), 0);
    ASSERT_EQ(completion(a->send_cq).status, IBV_WC_SUCCESS);
    ASSERT_TRUE(same(*a, 0, *a, 200'000, 20'001)) << round;
  }
}

TEST_F(RcData, UnsignaledSendsMakeRoomByThemselves) {
  for (unsigned i = 0; i < 1000; ++i) {
    const bool last = i + 1 == 1000;
    int error = ENOMEM;
    for (int tries = 0; error == ENOMEM && tries < 1'000'000; ++tries) {
      error = a->send(remote(i, IBV_WR_RDMA_WRITE, *b, 0, last ? IBV_SEND_SIGNALED : 0),
                      {a->sge(0, 64)});
    }
    ASSERT_EQ(error, 0);
  }
  EXPECT_EQ(completion(a->send_cq).wr_id, 999U);
}

// Threads with a queue pair each add to one word.
TEST_F(RcTest, AtomicsOfManyAreExact) {
  constexpr unsigned kThreads = 4;
  constexpr unsigned kEach = 1000;
  std::vector<unsigned char> sum(8);
  ibv_mr* mr = ibv_reg_mr(pd, sum.data(), sum.size(), kAllAccess);
  std::vector<std::unique_ptr<RcEnd>> ends;
  for (unsigned i = 0; i < 2 * kThreads; ++i) {
    ends.push_back(std::make_unique<RcEnd>(context, pd, RcOptions{}));
    ends.back()->to_init();
  }
  for (unsigned i = 0; i < 2 * kThreads; ++i) ends[i]->to_rtr(*ends[i ^ 1]);
  for (auto& end : ends) end->to_rts();
  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        RcEnd& end = *ends[2 * i];
        for (unsigned n = 0; n < kEach; ++n) {
          ibv_send_wr wr = request(n, IBV_WR_ATOMIC_FETCH_AND_ADD);
          wr.wr.atomic.remote_addr = reinterpret_cast<std::uint64_t>(sum.data());
          wr.wr.atomic.rkey = mr->rkey;
          wr.wr.atomic.compare_add = 3;
          ASSERT_EQ(end.send(wr, {end.sge(0, 8)}), 0);
          ASSERT_EQ(completion(end.send_cq).status, IBV_WC_SUCCESS);
        }
      });
    }
  }
  std::uint64_t value = 0;
  std::memcpy(&value, sum.data(), sizeof value);
  EXPECT_EQ(value, std::uint64_t{3} * kThreads * kEach);
  ends.clear();
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

// ---- address handles ----

TEST_F(RcTest, AddressHandlesNeedAnAddress) {
  ibv_ah_attr address{};
  address.is_global = 1;
  address.port_num = 1;
  address.grh.sgid_index = kGidIndex;
  EXPECT_EQ(ibv_create_ah(pd, &address), nullptr);
  EXPECT_EQ(errno, EHOSTUNREACH);
  ASSERT_EQ(ibv_query_gid(context, 1, kGidIndex, &address.grh.dgid), 0);
  ibv_ah* ah = ibv_create_ah(pd, &address);
  ASSERT_NE(ah, nullptr);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
  address.is_global = 0;
  EXPECT_EQ(ibv_create_ah(pd, &address), nullptr);
}

}  // namespace
}  // namespace openmrc::libmrc::test
