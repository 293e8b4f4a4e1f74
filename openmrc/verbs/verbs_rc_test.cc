// SPDX-License-Identifier: BSD-3-Clause
// Reliable connections as programs of InfiniBand use them: what arrives, and in which order.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "openmrc/verbs/test_rc.h"

namespace openmrc::libmrc::test {
namespace {

const VerbsEnvironment kEnvironment;

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

}  // namespace
}  // namespace openmrc::libmrc::test
