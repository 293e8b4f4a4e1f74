// SPDX-License-Identifier: BSD-3-Clause
// Datagrams as programs of InfiniBand use them.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "openmrc/verbs/test_end.h"
#include "openmrc/verbs/test_verbs.h"

namespace openmrc::libmrc::test {
namespace {

constexpr std::uint32_t kQkey = 0x11111111;
constexpr std::size_t kGrh = sizeof(ibv_grh);

class UdEnd : public TestEnd {
 public:
  UdEnd(ibv_context* context, ibv_pd* pd)
      : TestEnd(context, pd, {.type = IBV_QPT_UD, .sends = 16, .receives = 16}) {}

  void start(std::uint32_t qkey) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = 1;
    attributes.qkey = qkey;
    ASSERT_EQ(ibv_modify_qp(qp, &attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY),
              0);
    attributes.qp_state = IBV_QPS_RTR;
    ASSERT_EQ(ibv_modify_qp(qp, &attributes, IBV_QP_STATE), 0);
    attributes.qp_state = IBV_QPS_RTS;
    ASSERT_EQ(ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_SQ_PSN), 0);
  }
  int send(ibv_send_wr wr, ibv_ah* ah, const UdEnd& to, std::vector<ibv_sge> list,
           std::uint32_t qkey = kQkey) {
    wr.wr.ud.ah = ah;
    wr.wr.ud.remote_qpn = to.qp->qp_num;
    wr.wr.ud.remote_qkey = qkey;
    return TestEnd::send(wr, std::move(list));
  }
};

class UdTest : public VerbsTest {
 protected:
  UdTest() : pd(ibv_alloc_pd(context)) {
    ibv_ah_attr address{};
    address.is_global = 1;
    address.port_num = 1;
    address.grh.sgid_index = kGidIndex;
    EXPECT_EQ(ibv_query_gid(context, 1, kGidIndex, &address.grh.dgid), 0);
    gid = address.grh.dgid;
    ah = ibv_create_ah(pd, &address);
    EXPECT_NE(ah, nullptr);
    a.emplace(context, pd);
    b.emplace(context, pd);
  }
  ~UdTest() override {
    a.reset();
    b.reset();
    EXPECT_EQ(ibv_destroy_ah(ah), 0);
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  }
  void start() {
    a->start(kQkey);
    b->start(kQkey);
    a->fill(1);
  }
  void expect_silence() {
    EXPECT_TRUE(completions(b->recv_cq, 1, std::chrono::milliseconds(50)).empty());
  }

  ibv_pd* pd;
  ibv_gid gid{};
  ibv_ah* ah = nullptr;
  std::optional<UdEnd> a;
  std::optional<UdEnd> b;
};

TEST_F(UdTest, ADatagramComesWithItsHeader) {
  start();
  ASSERT_EQ(b->receive(7, {b->sge(1000, 2000)}), 0);
  ibv_send_wr wr = request(8, IBV_WR_SEND_WITH_IMM);
  wr.imm_data = 0x01020304;
  ASSERT_EQ(a->send(wr, ah, *b, {a->sge(0, 100), a->sge(500, 11)}), 0);
  const ibv_wc sent = completion(a->send_cq);
  EXPECT_EQ(sent.status, IBV_WC_SUCCESS);
  EXPECT_EQ(sent.wr_id, 8U);
  const ibv_wc received = completion(b->recv_cq);
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.wr_id, 7U);
  EXPECT_EQ(received.opcode, IBV_WC_RECV);
  EXPECT_EQ(received.byte_len, 111U + kGrh);
  EXPECT_EQ(received.src_qp, a->qp->qp_num);
  EXPECT_EQ(received.imm_data, 0x01020304U);
  EXPECT_EQ(received.wc_flags, static_cast<unsigned>(IBV_WC_GRH | IBV_WC_WITH_IMM));
  ibv_grh grh{};
  std::memcpy(&grh, b->memory.data() + 1000, kGrh);
  EXPECT_EQ(std::memcmp(&grh.dgid, &gid, sizeof gid), 0);
  EXPECT_EQ(std::memcmp(a->memory.data(), b->memory.data() + 1000 + kGrh, 100), 0);
  EXPECT_EQ(std::memcmp(a->memory.data() + 500, b->memory.data() + 1100 + kGrh, 11), 0);

  // The header is enough to answer.
  ibv_wc from = received;
  ibv_ah* back = ibv_create_ah_from_wc(pd, &from, &grh, 1);
  ASSERT_NE(back, nullptr);
  ASSERT_EQ(a->receive(9, {a->sge(3000, 100)}), 0);
  ASSERT_EQ(b->send(request(10, IBV_WR_SEND, IBV_SEND_INLINE), back, *a, {b->sge(0, 4)}), 0);
  EXPECT_EQ(completion(a->recv_cq).wr_id, 9U);
  EXPECT_EQ(ibv_destroy_ah(back), 0);
}

TEST_F(UdTest, TheWrongKeyDoesNotOpen) {
  start();
  ASSERT_EQ(b->receive(7, {b->sge(0, 2000)}), 0);
  ASSERT_EQ(a->send(request(8, IBV_WR_SEND), ah, *b, {a->sge(0, 8)}, kQkey + 1), 0);
  EXPECT_EQ(completion(a->send_cq).status, IBV_WC_SUCCESS);
  expect_silence();
  // With its high bit set it stands for the sender's own.
  ASSERT_EQ(a->send(request(9, IBV_WR_SEND), ah, *b, {a->sge(0, 8)}, 0x8000'0000), 0);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 7U);
}

TEST_F(UdTest, WithoutAReceiveItIsLost) {
  start();
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), ah, *b, {a->sge(0, 8)}), 0);
  EXPECT_EQ(completion(a->send_cq).status, IBV_WC_SUCCESS);
  expect_silence();
  ASSERT_EQ(b->receive(7, {b->sge(0, 2000)}), 0);
  expect_silence();
}

TEST_F(UdTest, TooLongForItsReceive) {
  start();
  ASSERT_EQ(b->receive(7, {b->sge(0, 50)}), 0);
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), ah, *b, {a->sge(0, 11)}), 0);
  EXPECT_EQ(completion(b->recv_cq).status, IBV_WC_LOC_LEN_ERR);
}

TEST_F(UdTest, TooLongForAPacket) {
  start();
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), ah, *b, {a->sge(0, 2049)}), 0);
  EXPECT_EQ(completion(a->send_cq).status, IBV_WC_LOC_LEN_ERR);
}

TEST_F(UdTest, StatesNeedTheirAttributes) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 1;
  EXPECT_EQ(ibv_modify_qp(a->qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT),
            EINVAL);
  EXPECT_EQ(a->receive(1, {a->sge(0, 8)}), EINVAL);
  EXPECT_EQ(a->send(request(1, IBV_WR_SEND), ah, *b, {a->sge(0, 8)}), EINVAL);
  start();
  EXPECT_EQ(a->send(request(1, IBV_WR_RDMA_WRITE), ah, *b, {a->sge(0, 8)}), EINVAL);
  EXPECT_EQ(a->send(request(1, IBV_WR_SEND), nullptr, *b, {a->sge(0, 8)}), EINVAL);
}

TEST_F(UdTest, ErrorFlushes) {
  start();
  ASSERT_EQ(b->receive(7, {b->sge(0, 50)}), 0);
  ASSERT_EQ(b->to_error(), 0);
  EXPECT_EQ(completion(b->recv_cq).status, IBV_WC_WR_FLUSH_ERR);
  ASSERT_EQ(b->send(request(2, IBV_WR_SEND, 0), ah, *a, {b->sge(0, 8)}), 0);
  EXPECT_EQ(completion(b->send_cq).status, IBV_WC_WR_FLUSH_ERR);
}

}  // namespace
}  // namespace openmrc::libmrc::test
