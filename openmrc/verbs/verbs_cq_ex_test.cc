// SPDX-License-Identifier: BSD-3-Clause
// Completion queues that are read by calls of ibv_wc_read_*.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <ctime>

#include "openmrc/verbs/test_rc.h"

namespace openmrc::libmrc::test {
namespace {

std::uint64_t nanoseconds_of(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(time.tv_nsec);
}

class CqEx : public RcTest {
 protected:
  CqEx() {
    ibv_cq_init_attr_ex attributes{};
    attributes.cqe = 16;
    attributes.wc_flags = IBV_WC_STANDARD_FLAGS;
    attributes.wc_flags |= IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
    cq = ibv_create_cq_ex(context, &attributes);
  }
  // Whether there was a completion in time; it is then being polled.
  bool start() {
    ibv_poll_cq_attr attributes{};
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (std::chrono::steady_clock::now() < end) {
      if (ibv_start_poll(cq, &attributes) == 0) return true;
    }
    return false;
  }
  [[nodiscard]] std::uint64_t raw_clock() const {
    ibv_values_ex values{};
    values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    EXPECT_EQ(ibv_query_rt_values_ex(context, &values), 0);
    return nanoseconds_of(values.raw_clock);
  }

  ibv_cq_ex* cq = nullptr;
};

TEST_F(CqEx, TellsWhatCameAndWhen) {
  ASSERT_NE(cq, nullptr);
  {
    RcEnd from(context, pd, {});
    RcEnd to(context, pd, {}, nullptr, nullptr, ibv_cq_ex_to_cq(cq));
    from.to_init();
    to.to_init();
    from.to_rtr(to);
    to.to_rtr(from);
    from.to_rts();
    to.to_rts();
    ASSERT_EQ(to.receive(11, {to.sge(0, 100)}), 0);
    ASSERT_EQ(to.receive(12, {to.sge(200, 100)}), 0);
    const std::uint64_t before = raw_clock();
    ibv_send_wr first = request(1, IBV_WR_SEND);
    ASSERT_EQ(from.send(first, {from.sge(0, 60)}), 0);
    ibv_send_wr second = request(2, IBV_WR_SEND_WITH_IMM);
    second.imm_data = htonl(99);
    ASSERT_EQ(from.send(second, {from.sge(0, 70)}), 0);
    ASSERT_EQ(completions(from.send_cq, 2).size(), 2U);

    ASSERT_TRUE(start());
    EXPECT_EQ(cq->wr_id, 11U);
    EXPECT_EQ(cq->status, IBV_WC_SUCCESS);
    EXPECT_EQ(ibv_wc_read_opcode(cq), IBV_WC_RECV);
    EXPECT_EQ(ibv_wc_read_byte_len(cq), 60U);
    EXPECT_EQ(ibv_wc_read_qp_num(cq), to.qp->qp_num);
    EXPECT_EQ(ibv_wc_read_wc_flags(cq), 0U);
    const std::uint64_t stamp = ibv_wc_read_completion_ts(cq);
    EXPECT_GE(stamp, before);
    ASSERT_EQ(ibv_next_poll(cq), 0);
    EXPECT_EQ(cq->wr_id, 12U);
    EXPECT_EQ(ibv_wc_read_byte_len(cq), 70U);
    EXPECT_EQ(ibv_wc_read_imm_data(cq), htonl(99));
    EXPECT_EQ(ibv_wc_read_wc_flags(cq), static_cast<unsigned>(IBV_WC_WITH_IMM));
    EXPECT_GE(ibv_wc_read_completion_ts(cq), stamp);
    EXPECT_LE(ibv_wc_read_completion_ts(cq), raw_clock());
    EXPECT_EQ(ibv_next_poll(cq), ENOENT);
    ibv_end_poll(cq);
  }
  ibv_poll_cq_attr attributes{};
  EXPECT_EQ(ibv_start_poll(cq, &attributes), ENOENT);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

TEST_F(CqEx, WhatItCannotTellIsRefused) {
  ibv_cq_init_attr_ex attributes{};
  attributes.cqe = 16;
  for (const auto flag : {IBV_WC_EX_WITH_FLOW_TAG, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK}) {
    attributes.wc_flags = flag;
    EXPECT_EQ(ibv_create_cq_ex(context, &attributes), nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
  }
  attributes.wc_flags = 0;
  attributes.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
  EXPECT_EQ(ibv_create_cq_ex(context, &attributes), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

TEST_F(CqEx, TheDeviceSaysHowItsStampsRun) {
  ibv_device_attr_ex attributes{};
  ASSERT_EQ(ibv_query_device_ex(context, nullptr, &attributes), 0);
  EXPECT_EQ(attributes.completion_timestamp_mask, ~std::uint64_t{0});
  EXPECT_EQ(attributes.hca_core_clock, 1'000'000U);
  EXPECT_GT(attributes.orig_attr.max_qp, 0);
  const std::uint64_t first = raw_clock();
  EXPECT_GE(raw_clock(), first);
  EXPECT_EQ(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

}  // namespace
}  // namespace openmrc::libmrc::test
