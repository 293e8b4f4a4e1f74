// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "openmrc/verbs/test_verbs.h"

// For tests of reliable connections: two of one process, on the loopback interface.
namespace openmrc::libmrc::test {

inline constexpr std::uint8_t kGidIndex = 3;
inline constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

// What a program says of a queue pair, as perftest does.
struct RcOptions {
  std::uint32_t sends = 64;
  std::uint32_t receives = 64;
  unsigned access = kAllAccess;
  std::uint8_t depth = 16;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 12;
  int signal_all = 0;
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

// One end: a queue pair with its completion queues, and memory.
class RcEnd {
 public:
  RcEnd(ibv_context* context, ibv_pd* pd, const RcOptions& options, ibv_srq* srq = nullptr,
        ibv_comp_channel* channel = nullptr)
      : options_(options), memory(1 << 20), pd_(pd) {
    send_cq = ibv_create_cq(context, 256, nullptr, channel, 0);
    recv_cq = ibv_create_cq(context, 256, this, channel, 0);
    ibv_qp_init_attr attributes{};
    attributes.send_cq = send_cq;
    attributes.recv_cq = recv_cq;
    attributes.srq = srq;
    attributes.cap = {.max_send_wr = options.sends,
                      .max_recv_wr = options.receives,
                      .max_send_sge = 4,
                      .max_recv_sge = 4,
                      .max_inline_data = 64};
    attributes.qp_type = IBV_QPT_RC;
    attributes.sq_sig_all = options.signal_all;
    qp = ibv_create_qp(pd, &attributes);
    cap = attributes.cap;
    mr = ibv_reg_mr(pd, memory.data(), memory.size(), kAllAccess);
    EXPECT_NE(qp, nullptr);
    EXPECT_NE(mr, nullptr);
  }
  ~RcEnd() {
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(ibv_destroy_cq(send_cq), 0);
    EXPECT_EQ(ibv_destroy_cq(recv_cq), 0);
  }
  RcEnd(const RcEnd&) = delete;
  RcEnd& operator=(const RcEnd&) = delete;

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
  int to_error() {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    return ibv_modify_qp(qp, &attributes, IBV_QP_STATE);
  }

  [[nodiscard]] ibv_sge sge(std::size_t offset, std::uint32_t length) const {
    return {.addr = reinterpret_cast<std::uint64_t>(memory.data() + offset),
            .length = length,
            .lkey = mr->lkey};
  }
  // Returns what ibv_post_send does.
  int send(ibv_send_wr wr, std::vector<ibv_sge> list) {
    wr.sg_list = list.data();
    wr.num_sge = static_cast<int>(list.size());
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(qp, &wr, &bad);
  }
  int receive(std::uint64_t id, std::vector<ibv_sge> list) {
    ibv_recv_wr wr{.wr_id = id,
                   .next = nullptr,
                   .sg_list = list.data(),
                   .num_sge = static_cast<int>(list.size())};
    ibv_recv_wr* bad = nullptr;
    return ibv_post_recv(qp, &wr, &bad);
  }
  void fill(unsigned seed) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      memory[i] = static_cast<unsigned char>(i * 7 + i / 251 + seed);
    }
  }

 private:
  RcOptions options_;

 public:
  std::vector<unsigned char> memory;
  ibv_cq* send_cq = nullptr;
  ibv_cq* recv_cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp_cap cap{};

 private:
  ibv_pd* pd_;
};

// The next so many completions, in order; fewer if they do not come in time.
inline std::vector<ibv_wc> completions(
    ibv_cq* cq, std::size_t count, std::chrono::milliseconds patience = std::chrono::seconds(20)) {
  std::vector<ibv_wc> all;
  const auto end = std::chrono::steady_clock::now() + patience;
  while (all.size() < count && std::chrono::steady_clock::now() < end) {
    std::array<ibv_wc, 16> some;
    const int got =
        ibv_poll_cq(cq, static_cast<int>(std::min(some.size(), count - all.size())), some.data());
    if (got < 0) break;
    all.insert(all.end(), some.begin(), some.begin() + got);
    if (got == 0) std::this_thread::yield();
  }
  return all;
}
inline ibv_wc completion(ibv_cq* cq) {
  const auto all = completions(cq, 1);
  if (!all.empty()) return all.front();
  ADD_FAILURE() << "no completion";
  ibv_wc none{};
  none.status = IBV_WC_GENERAL_ERR;
  return none;
}

inline ibv_send_wr request(std::uint64_t id, ibv_wr_opcode opcode,
                           unsigned flags = IBV_SEND_SIGNALED) {
  ibv_send_wr wr{};
  wr.wr_id = id;
  wr.opcode = opcode;
  wr.send_flags = flags;
  return wr;
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
  void connect(const RcOptions& options = {}) {
    make(options);
    a->to_rtr(*b);
    b->to_rtr(*a);
    a->to_rts();
    b->to_rts();
    a->fill(1);
    b->fill(2);
  }

  ibv_pd* pd;
  std::optional<RcEnd> a;
  std::optional<RcEnd> b;
};

}  // namespace openmrc::libmrc::test
