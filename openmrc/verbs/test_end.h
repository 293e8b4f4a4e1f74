// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

// For tests of queue pairs of verbs, whatever their type.
namespace openmrc::libmrc::test {

inline constexpr std::uint8_t kGidIndex = 3;
inline constexpr int kAllAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

struct EndOptions {
  ibv_qp_type type = IBV_QPT_RC;
  std::uint32_t sends = 64;
  std::uint32_t receives = 64;
  int signal_all = 0;
  ibv_srq* srq = nullptr;
  ibv_comp_channel* channel = nullptr;
  std::uint64_t send_operations = 0;  // for ibv_wr_*; 0: none
  ibv_cq* recv_cq = nullptr;          // the caller's; null: its own
};

// A queue pair with its completion queues, and memory.
class TestEnd {
 public:
  TestEnd(ibv_context* context, ibv_pd* pd, const EndOptions& options) : memory(1 << 20) {
    send_cq = ibv_create_cq(context, 256, nullptr, options.channel, 0);
    recv_cq_is_own_ = options.recv_cq == nullptr;
    recv_cq =
        recv_cq_is_own_ ? ibv_create_cq(context, 256, this, options.channel, 0) : options.recv_cq;
    ibv_qp_init_attr_ex attributes{};
    attributes.send_cq = send_cq;
    attributes.recv_cq = recv_cq;
    attributes.srq = options.srq;
    attributes.cap = {.max_send_wr = options.sends,
                      .max_recv_wr = options.receives,
                      .max_send_sge = 4,
                      .max_recv_sge = 4,
                      .max_inline_data = 64};
    attributes.qp_type = options.type;
    attributes.sq_sig_all = options.signal_all;
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD;
    attributes.pd = pd;
    if (options.send_operations != 0) attributes.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attributes.send_ops_flags = options.send_operations;
    qp = ibv_create_qp_ex(context, &attributes);
    cap = attributes.cap;
    mr = ibv_reg_mr(pd, memory.data(), memory.size(), kAllAccess);
    EXPECT_NE(qp, nullptr);
    EXPECT_NE(mr, nullptr);
  }
  ~TestEnd() {
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
    EXPECT_EQ(ibv_destroy_cq(send_cq), 0);
    EXPECT_EQ(recv_cq_is_own_ ? ibv_destroy_cq(recv_cq) : 0, 0);
  }
  TestEnd(const TestEnd&) = delete;
  TestEnd& operator=(const TestEnd&) = delete;

  [[nodiscard]] ibv_sge sge(std::size_t offset, std::uint32_t length) const {
    return {.addr = reinterpret_cast<std::uint64_t>(memory.data() + offset),
            .length = length,
            .lkey = mr->lkey};
  }
  // These return what ibv_post_send and ibv_post_recv do.
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
  int to_error() {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_ERR;
    return ibv_modify_qp(qp, &attributes, IBV_QP_STATE);
  }
  void fill(unsigned seed) {
    for (std::size_t i = 0; i < memory.size(); ++i) {
      memory[i] = static_cast<unsigned char>(i * 7 + i / 251 + seed);
    }
  }

  std::vector<unsigned char> memory;
  ibv_cq* send_cq = nullptr;
  ibv_cq* recv_cq = nullptr;
  ibv_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp_cap cap{};

 private:
  bool recv_cq_is_own_ = true;
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

}  // namespace openmrc::libmrc::test
