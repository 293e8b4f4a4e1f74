// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "openmrc/verbs/test_end.h"
#include "openmrc/verbs/test_verbs.h"

// For tests of reliable connections: two of one process, on the loopback interface.
namespace openmrc::libmrc::test {

// What a program says of a queue pair, as perftest does.
struct RcOptions {
  std::uint32_t sends = 64;
  std::uint32_t receives = 64;
  unsigned access = kAllAccess;
  std::uint8_t depth = 16;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;
  int signal_all = 0;
  std::uint64_t send_operations = 0;
};

inline ibv_qp_attr init_attributes(unsigned access) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = 1;
  attributes.qp_access_flags = access;
  return attributes;
}
inline constexpr int kInitMask =
    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;

inline ibv_qp_attr rtr_attributes(const ibv_gid& gid, std::uint32_t qpn, const RcOptions& options) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = IBV_MTU_1024;
  attributes.dest_qp_num = qpn;
  attributes.rq_psn = 0x123456;
  attributes.max_dest_rd_atomic = options.depth;
  attributes.min_rnr_timer = options.min_rnr_timer;
  attributes.ah_attr.is_global = 1;
  attributes.ah_attr.port_num = 1;
  attributes.ah_attr.grh.dgid = gid;
  attributes.ah_attr.grh.sgid_index = kGidIndex;
  attributes.ah_attr.grh.hop_limit = 255;
  return attributes;
}
inline constexpr int kRtrMask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;

inline ibv_qp_attr rts_attributes(const RcOptions& options) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = 14;
  attributes.retry_cnt = 7;
  attributes.rnr_retry = options.rnr_retry;
  attributes.sq_psn = 0x123456;
  attributes.max_rd_atomic = options.depth;
  return attributes;
}
inline constexpr int kRtsMask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;

// One end of a connection.
class RcEnd : public TestEnd {
 public:
  RcEnd(ibv_context* context, ibv_pd* pd, const RcOptions& options, ibv_srq* srq = nullptr,
        ibv_comp_channel* channel = nullptr, ibv_cq* receives = nullptr)
      : TestEnd(context, pd,
                {.sends = options.sends,
                 .receives = options.receives,
                 .signal_all = options.signal_all,
                 .srq = srq,
                 .channel = channel,
                 .send_operations = options.send_operations,
                 .recv_cq = receives}),
        options_(options) {}

  void to_init() {
    ibv_qp_attr attributes = init_attributes(options_.access);
    ASSERT_EQ(ibv_modify_qp(qp, &attributes, kInitMask), 0);
  }
  void to_rtr(const RcEnd& peer) {
    ibv_gid gid{};
    ASSERT_EQ(ibv_query_gid(qp->context, 1, kGidIndex, &gid), 0);
    ibv_qp_attr attributes = rtr_attributes(gid, peer.qp->qp_num, options_);
    ASSERT_EQ(ibv_modify_qp(qp, &attributes, kRtrMask), 0);
  }
  void to_rts() {
    ibv_qp_attr attributes = rts_attributes(options_);
    ASSERT_EQ(ibv_modify_qp(qp, &attributes, kRtsMask), 0);
  }

 private:
  RcOptions options_;
};

// Whether so many bytes are the same in both.
inline bool same(const RcEnd& a, std::size_t at_a, const RcEnd& b, std::size_t at_b,
                 std::size_t length) {
  return std::memcmp(a.memory.data() + at_a, b.memory.data() + at_b, length) == 0;
}

inline ibv_send_wr remote(std::uint64_t id, ibv_wr_opcode opcode, const RcEnd& at,
                          std::size_t offset, unsigned flags = IBV_SEND_SIGNALED) {
  ibv_send_wr wr = request(id, opcode, flags);
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(at.memory.data() + offset);
  wr.wr.rdma.rkey = at.mr->rkey;
  return wr;
}
inline ibv_send_wr atomic(std::uint64_t id, ibv_wr_opcode opcode, const RcEnd& at,
                          std::size_t offset, std::uint64_t compare_add, std::uint64_t swap = 0) {
  ibv_send_wr wr = request(id, opcode);
  wr.wr.atomic.remote_addr = reinterpret_cast<std::uint64_t>(at.memory.data() + offset);
  wr.wr.atomic.rkey = at.mr->rkey;
  wr.wr.atomic.compare_add = compare_add;
  wr.wr.atomic.swap = swap;
  return wr;
}

// Two ends that are connected; A sends.
class RcTest : public VerbsTest {
 protected:
  RcTest() : pd(ibv_alloc_pd(context)) {}
  ~RcTest() override {
    a.reset();
    b.reset();
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  }
  void make(const RcOptions& options = {}) {
    a.emplace(context, pd, options);
    b.emplace(context, pd, options);
    a->to_init();
    b->to_init();
  }
  // Both, from INIT on.
  void to_rts() {
    a->to_rtr(*b);
    b->to_rtr(*a);
    a->to_rts();
    b->to_rts();
  }
  void connect(const RcOptions& options = {}) {
    make(options);
    to_rts();
    a->fill(1);
    b->fill(2);
  }

  ibv_pd* pd;
  std::optional<RcEnd> a;
  std::optional<RcEnd> b;
};

}  // namespace openmrc::libmrc::test
