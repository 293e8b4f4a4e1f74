// SPDX-License-Identifier: BSD-3-Clause
// Work requests that are built by calls of ibv_wr_*.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "openmrc/verbs/test_rc.h"

namespace openmrc::libmrc::test {
namespace {

constexpr std::uint64_t kOperations =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
    IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

class RcBuilt : public RcTest {
 protected:
  void connect_built(std::uint32_t sends = 64) {
    connect({.sends = sends, .send_operations = kOperations});
    ex = ibv_qp_to_qp_ex(a->qp);
    ASSERT_NE(ex, nullptr);
  }
  // What the next request is called.
  void name(std::uint64_t id, unsigned flags = IBV_SEND_SIGNALED) {
    ex->wr_id = id;
    ex->wr_flags = flags;
  }
  [[nodiscard]] std::uint64_t address(const RcEnd& end, std::size_t offset) const {
    return reinterpret_cast<std::uint64_t>(end.memory.data() + offset);
  }
  void set_memory(std::size_t offset, std::uint32_t length) {
    ibv_wr_set_sge(ex, a->mr->lkey, address(*a, offset), length);
  }

  ibv_qp_ex* ex = nullptr;
};

TEST_F(RcBuilt, EachOperationDoesWhatThePostedOneDoes) {
  connect_built();
  ASSERT_EQ(b->receive(100, {b->sge(0, 1000)}), 0);
  ASSERT_EQ(b->receive(101, {b->sge(2000, 1000)}), 0);
  ASSERT_EQ(b->receive(102, {}), 0);
  const std::uint64_t before = 41;
  std::memcpy(b->memory.data() + 80000, &before, sizeof before);

  ibv_wr_start(ex);
  name(1);
  ibv_wr_send(ex);
  set_memory(0, 1000);
  name(2);
  ibv_wr_send_imm(ex, htonl(7));
  const std::array<ibv_sge, 2> list{a->sge(3000, 100), a->sge(5000, 900)};
  ibv_wr_set_sge_list(ex, list.size(), list.data());
  name(3);
  ibv_wr_rdma_write(ex, b->mr->rkey, address(*b, 10000));
  set_memory(10000, 5000);
  name(4);
  ibv_wr_rdma_write_imm(ex, b->mr->rkey, address(*b, 20000), htonl(8));
  set_memory(20000, 5000);
  name(5);
  ibv_wr_rdma_read(ex, b->mr->rkey, address(*b, 30000));
  set_memory(40000, 5000);
  name(6);
  ibv_wr_atomic_fetch_add(ex, b->mr->rkey, address(*b, 80000), 1);
  set_memory(80000, 8);
  name(7);
  ibv_wr_atomic_cmp_swp(ex, b->mr->rkey, address(*b, 80000), 42, 50);
  set_memory(80008, 8);
  ASSERT_EQ(ibv_wr_complete(ex), 0);

  const auto sent = completions(a->send_cq, 7);
  ASSERT_EQ(sent.size(), 7U);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(sent[i].wr_id, i + 1);
    EXPECT_EQ(sent[i].status, IBV_WC_SUCCESS) << i;
  }
  const auto received = completions(b->recv_cq, 3);
  ASSERT_EQ(received.size(), 3U);
  EXPECT_EQ(received[1].imm_data, htonl(7));
  EXPECT_EQ(received[2].imm_data, htonl(8));
  EXPECT_EQ(received[2].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_TRUE(same(*a, 0, *b, 0, 1000));
  EXPECT_TRUE(same(*a, 3000, *b, 2000, 100));
  EXPECT_TRUE(same(*a, 5000, *b, 2100, 900));
  EXPECT_TRUE(same(*a, 10000, *b, 10000, 5000));
  EXPECT_TRUE(same(*a, 20000, *b, 20000, 5000));
  EXPECT_TRUE(same(*a, 40000, *b, 30000, 5000));
  std::array<std::uint64_t, 2> found{};
  std::memcpy(found.data(), a->memory.data() + 80000, sizeof found);
  EXPECT_EQ(found[0], 41U);
  EXPECT_EQ(found[1], 42U);
  std::uint64_t after = 0;
  std::memcpy(&after, b->memory.data() + 80000, sizeof after);
  EXPECT_EQ(after, 50U);
}

TEST_F(RcBuilt, DataThatIsCopiedMayChangeAtOnce) {
  connect_built();
  ASSERT_EQ(b->receive(1, {b->sge(0, 64)}), 0);
  ASSERT_EQ(b->receive(2, {b->sge(100, 64)}), 0);
  std::array<char, 8> text{"one two"};
  ibv_wr_start(ex);
  name(1);
  ibv_wr_send(ex);
  ibv_wr_set_inline_data(ex, text.data(), text.size());
  text = {"changed"};
  std::array<char, 3> part{'a', 'b', 'c'};
  const std::array<ibv_data_buf, 2> list{ibv_data_buf{part.data(), part.size()},
                                         ibv_data_buf{part.data(), 2}};
  name(2);
  ibv_wr_send(ex);
  ibv_wr_set_inline_data_list(ex, list.size(), list.data());
  part = {};
  ASSERT_EQ(ibv_wr_complete(ex), 0);
  const auto received = completions(b->recv_cq, 2);
  ASSERT_EQ(received.size(), 2U);
  EXPECT_EQ(received[0].byte_len, 8U);
  EXPECT_EQ(received[1].byte_len, 5U);
  EXPECT_EQ(std::memcmp(b->memory.data(), "one two", 8), 0);
  EXPECT_EQ(std::memcmp(b->memory.data() + 100, "abcab", 5), 0);
}

TEST_F(RcBuilt, TheLastDataThatIsGivenCounts) {
  connect_built();
  ASSERT_EQ(b->receive(1, {b->sge(0, 64)}), 0);
  ibv_wr_start(ex);
  name(1);
  ibv_wr_send(ex);
  ibv_wr_set_inline_data(ex, a->memory.data(), 8);
  set_memory(500, 64);
  ASSERT_EQ(ibv_wr_complete(ex), 0);
  EXPECT_EQ(completion(b->recv_cq).byte_len, 64U);
  EXPECT_TRUE(same(*a, 500, *b, 0, 64));
}

// All of a batch or nothing of it.
TEST_F(RcBuilt, ABatchThatIsWrongOrTooLargePostsNothing) {
  connect_built(4);
  ASSERT_EQ(b->receive(1, {b->sge(0, 64)}), 0);
  ibv_wr_start(ex);
  for (std::uint64_t i = 0; i < 5; ++i) {
    name(i);
    ibv_wr_send(ex);
    set_memory(0, 64);
  }
  EXPECT_EQ(ibv_wr_complete(ex), ENOMEM);

  ibv_wr_start(ex);
  name(10);
  ibv_wr_send(ex);
  const std::vector<ibv_sge> many(a->cap.max_send_sge + 1, a->sge(0, 1));
  ibv_wr_set_sge_list(ex, many.size(), many.data());
  EXPECT_EQ(ibv_wr_complete(ex), EINVAL);

  ibv_wr_start(ex);
  name(11);
  ibv_wr_send(ex);
  ibv_wr_set_inline_data(ex, a->memory.data(), a->cap.max_inline_data + 1);
  EXPECT_EQ(ibv_wr_complete(ex), ENOMEM);

  ibv_wr_start(ex);
  set_memory(0, 64);  // of no request
  EXPECT_EQ(ibv_wr_complete(ex), EINVAL);

  ibv_wr_start(ex);
  name(12);
  ibv_wr_send(ex);
  set_memory(0, 64);
  ibv_wr_abort(ex);

  ibv_wr_start(ex);
  EXPECT_EQ(ibv_wr_complete(ex), 0);

  ibv_wr_start(ex);
  name(20);
  ibv_wr_send(ex);
  set_memory(0, 64);
  ASSERT_EQ(ibv_wr_complete(ex), 0);
  EXPECT_EQ(completion(a->send_cq).wr_id, 20U);
  EXPECT_TRUE(completions(a->send_cq, 1, std::chrono::milliseconds(50)).empty());
}

TEST_F(RcTest, AQueuePairThatWasNotMadeForItHasNoBuilder) {
  make();
  EXPECT_EQ(ibv_qp_to_qp_ex(a->qp), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  ibv_qp_init_attr_ex attributes{};
  attributes.send_cq = a->send_cq;
  attributes.recv_cq = a->recv_cq;
  attributes.qp_type = IBV_QPT_RC;
  attributes.pd = pd;
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  attributes.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_INV;
  EXPECT_EQ(ibv_create_qp_ex(context, &attributes), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
  attributes.send_ops_flags = 0;
  EXPECT_EQ(ibv_create_qp_ex(context, &attributes), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

}  // namespace
}  // namespace openmrc::libmrc::test
