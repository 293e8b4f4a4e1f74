// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>
#include <mrc.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

// For tests: the soft device of this process on the loopback interface, and what programs of verbs
// make on it.
namespace openmrc::libmrc::test {

// Sanitizers make programs slow, and keep memory that was freed.
#if defined(OPENMRC_SANITIZE_ADDRESS) || defined(OPENMRC_SANITIZE_THREAD)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

inline constexpr int kPort = 1;
inline constexpr int kGid = 4;  // of the first plane

// Before the first call of any library: devices are looked up once. Round trips tell how busy the
// machine is and nothing of a network, so windows do not follow them; a process that the machine
// stops for half a second loses no peer.
inline void use_loopback_device() {
  static const bool done = [] {
    const auto file = std::filesystem::temp_directory_path() /
                      ("openmrc-test-" + std::to_string(getpid()) + ".toml");
    std::ofstream(file) << "name = \"here\"\nmode = \"udp\"\n"
                           "[[port]]\ninterface = \"lo\"\naddress = \"::1\"\n"
                           "[transport]\nudp_port = 24793\nevs = 4\nbase_rtt = \"1ms\"\n"
                           "retry_timeout = 13\nretry_linear = 7\nretry_exponential = 5\n"
                           "nscc_target_delay = \"2s\"\nnscc_quick_adapt = false\n"
                           "nscc_measure_base_rtt = false\n";
    setenv("OPENMRC_CONFIG", file.c_str(), 1);
    std::atexit([] { std::filesystem::remove(getenv("OPENMRC_CONFIG")); });
    return true;
  }();
  (void)done;
}

// A device that is open, and a context and protection domain on it.
class Opened {
 public:
  Opened() {
    use_loopback_device();
    int count = 0;
    ibv_device** devices = ibv_get_device_list(&count);
    if (devices == nullptr || count == 0) std::abort();
    verbs = ibv_open_device(devices[0]);
    ibv_free_device_list(devices);
    context = mrc_create_context(verbs, nullptr);
    pd = ibv_alloc_pd(verbs);
  }
  ~Opened() {
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    EXPECT_EQ(mrc_destroy_context(context), 0);
    EXPECT_EQ(ibv_close_device(verbs), 0);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  [[nodiscard]] ibv_gid gid() const {
    ibv_gid own{};
    EXPECT_EQ(ibv_query_gid(verbs, kPort, kGid, &own), 0);
    return own;
  }

  ibv_context* verbs = nullptr;
  mrc_context* context = nullptr;
  ibv_pd* pd = nullptr;
};

struct QueuePairWish {
  ibv_qp_cap cap{.max_send_wr = 64,
                 .max_recv_wr = 64,
                 .max_send_sge = 4,
                 .max_recv_sge = 1,
                 .max_inline_data = 128};
  int signal_all = 0;
  mrc_qp_attr attr{};
  int mask = 0;  // of attr, told at RTR
};

// One end of a connection: queues, a queue pair, registered memory.
class End {
 public:
  explicit End(Opened& on, const QueuePairWish& wish = {}, std::size_t bytes = 1 << 16,
               mrc_comp_channel* channel = nullptr)
      : device(on), wanted(wish), memory(bytes) {
    send_cq = mrc_create_cq(device.context, 256, this, channel, 0);
    recv_cq = mrc_create_cq(device.context, 256, this, channel, 0);
    mrc_qp_init_attr init{.qp_context = this,
                          .send_cq = send_cq,
                          .recv_cq = recv_cq,
                          .cap = wish.cap,
                          .sq_sig_all = wish.signal_all,
                          .pd = device.pd,
                          .send_ops_flags = 0,
                          .protocol_version = MRC_PROTOCOL_VERSION_0};
    qp = mrc_create_qp(device.context, &init);
    mr = ibv_reg_mr(device.pd, memory.data(), memory.size(),
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  }
  ~End() {
    if (qp != nullptr) {
      EXPECT_EQ(mrc_destroy_qp(qp), 0);
    }
    EXPECT_EQ(mrc_destroy_cq(send_cq), 0);
    EXPECT_EQ(mrc_destroy_cq(recv_cq), 0);
    EXPECT_EQ(ibv_dereg_mr(mr), 0);
  }
  End(const End&) = delete;
  End& operator=(const End&) = delete;

  [[nodiscard]] std::uint32_t number() const {
    std::uint32_t qpn = 0;
    EXPECT_EQ(mrc_get_qpn(qp, &qpn), 0);
    return qpn;
  }
  [[nodiscard]] ibv_qp_state state() const {
    ibv_qp_attr attr{};
    EXPECT_EQ(mrc_query_qp(qp, &attr, IBV_QP_STATE, nullptr, 0, nullptr), 0);
    return attr.qp_state;
  }

  int to_init() {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = kPort;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
    return mrc_modify_qp(qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                         nullptr, 0);
  }
  // What a program says at RTR, for a test to change.
  [[nodiscard]] ibv_qp_attr receive_attributes(std::uint32_t remote) const {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = remote;
    attr.rq_psn = 77;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = kPort;
    attr.ah_attr.grh.dgid = device.gid();
    attr.ah_attr.grh.sgid_index = kGid;
    return attr;
  }
  static constexpr int kReceiveMask =
      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  int to_ready_to_recv(std::uint32_t remote) {
    ibv_qp_attr attr = receive_attributes(remote);
    return mrc_modify_qp(qp, &attr, kReceiveMask, &wanted.attr, wanted.mask);
  }
  int to_ready_to_send() {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_RTS;
    attr.sq_psn = 77;
    // As programs do: values that MRC has no use for.
    attr.timeout = 14;
    attr.retry_cnt = 14;
    attr.rnr_retry = 14;
    return mrc_modify_qp(
        qp, &attr,
        IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY,
        nullptr, 0);
  }
  int to_state(ibv_qp_state state) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    return mrc_modify_qp(qp, &attr, IBV_QP_STATE, nullptr, 0);
  }
  void connect_to(std::uint32_t remote) {
    ASSERT_EQ(to_init(), 0);
    ASSERT_EQ(to_ready_to_recv(remote), 0);
    ASSERT_EQ(to_ready_to_send(), 0);
  }

  // A write of so many bytes from and to the beginning of the memories; signaled.
  [[nodiscard]] ibv_send_wr write_to(const End& to, ibv_sge& part, std::uint32_t length) const {
    part = {
        .addr = reinterpret_cast<std::uint64_t>(memory.data()), .length = length, .lkey = mr->lkey};
    ibv_send_wr wr{};
    wr.wr_id = 1;
    wr.sg_list = &part;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(to.memory.data());
    wr.wr.rdma.rkey = to.mr->rkey;
    return wr;
  }
  int post(ibv_send_wr& wr) {
    ibv_send_wr* bad = nullptr;
    return mrc_post_send(qp, &wr, &bad);
  }
  int post_receive(std::uint64_t id) {
    ibv_recv_wr wr{};
    wr.wr_id = id;
    ibv_recv_wr* bad = nullptr;
    return mrc_post_recv(qp, &wr, &bad);
  }

  Opened& device;
  QueuePairWish wanted;
  std::vector<std::byte> memory;
  mrc_cq* send_cq = nullptr;
  mrc_cq* recv_cq = nullptr;
  mrc_qp* qp = nullptr;
  ibv_mr* mr = nullptr;
};

inline void connect(End& a, End& b) {
  a.connect_to(b.number());
  b.connect_to(a.number());
}

// So many completions, or fewer if they do not come in time.
inline std::vector<ibv_wc> await(mrc_cq* cq, std::size_t count, int seconds = 10) {
  std::vector<ibv_wc> all;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (all.size() < count && std::chrono::steady_clock::now() < end) {
    std::array<ibv_wc, 8> some;
    const int got = mrc_poll_cq(cq, static_cast<int>(some.size()), some.data());
    if (got < 0) break;
    all.insert(all.end(), some.begin(), some.begin() + got);
  }
  return all;
}

}  // namespace openmrc::libmrc::test
