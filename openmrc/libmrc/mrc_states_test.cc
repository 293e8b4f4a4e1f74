// SPDX-License-Identifier: BSD-3-Clause
// The life of objects: versions, contexts, states of queue pairs, who outlives whom.
#include <gtest/gtest.h>
#include <mrc.h>

#include <cerrno>
#include <functional>
#include <string>
#include <thread>

#include "openmrc/libmrc/test_loopback.h"

namespace openmrc::libmrc::test {
namespace {

TEST(MrcVersion, IsThatOfTheHeader) {
  std::uint32_t current = 0;
  std::uint32_t last = 1;
  std::uint32_t vendor = 0;
  std::uint32_t last_vendor = 1;
  mrc_query_version(&current, &last, &vendor, &last_vendor);
  EXPECT_EQ(current, MRC_API_CURRENT_VERSION);
  EXPECT_EQ(last, MRC_API_LAST_SUPPORTED_VERSION);
  EXPECT_EQ(vendor, MRC_VENDOR_API_CURRENT_VERSION);
  EXPECT_EQ(last_vendor, MRC_VENDOR_API_LAST_SUPPORTED_VERSION);
}

TEST(MrcDevice, SpeaksMrc) {
  Opened device;
  mrc_device_attr attr{};
  int supported = 0;
  ASSERT_EQ(mrc_query_device(device.verbs, &attr, &supported), 0);
  EXPECT_EQ(supported, 1);
  EXPECT_EQ(attr.mrc_protocol_version, std::uint32_t{MRC_PROTOCOL_VERSION_1});
  EXPECT_GE(attr.wimm_attr.max_wimm_dest, 128);
  EXPECT_EQ(attr.mpr_attr.mpr_resolution, 1);
  EXPECT_NE(attr.cap & MRC_DEVICE_CAP_TRIM_NACK, 0U);
  EXPECT_EQ(attr.cap & MRC_DEVICE_CAP_SVC_TIME, 0U);
  ASSERT_EQ(mrc_query_device_ex(device.verbs, device.context, &attr, &supported), 0);
  EXPECT_EQ(supported, 1);
}

TEST(MrcDevice, ADeviceOfSomebodyElseDoesNot) {
  Opened device;
  ibv_context other{};
  mrc_device_attr attr{};
  attr.cap = 0x55;
  int supported = 1;
  ASSERT_EQ(mrc_query_device(&other, &attr, &supported), 0);
  EXPECT_EQ(supported, 0);
  EXPECT_EQ(attr.cap, 0x55U) << "nothing else is written";
  EXPECT_EQ(mrc_create_context(&other, nullptr), nullptr);
  EXPECT_EQ(errno, ENODEV);
}

TEST(MrcContext, TakesEveryVersionUpToItsOwn) {
  Opened device;
  // 1 is what OCP's benchmark says: a protocol version where an API version belongs.
  for (const std::uint32_t version :
       {0U, 1U, std::uint32_t{MRC_API_CURRENT_VERSION}, std::uint32_t{MRC_API_VER_LATEST}}) {
    mrc_context_attr attr{.mrc_api_version_used = version, .mrc_vendor_api_version_used = 0xffff};
    mrc_context* context = mrc_create_context(device.verbs, &attr);
    ASSERT_NE(context, nullptr) << version;
    EXPECT_EQ(mrc_destroy_context(context), 0);
  }
  mrc_context_attr newer{.mrc_api_version_used = MRC_API_CURRENT_VERSION + 1,
                         .mrc_vendor_api_version_used = 0};
  EXPECT_EQ(mrc_create_context(device.verbs, &newer), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST(MrcQueuePair, GoesThroughItsStates) {
  Opened device;
  End a(device);
  End b(device);
  EXPECT_EQ(a.state(), IBV_QPS_RESET);
  ASSERT_EQ(a.to_init(), 0);
  EXPECT_EQ(a.state(), IBV_QPS_INIT);
  EXPECT_EQ(a.to_init(), 0) << "to change what was said";
  ASSERT_EQ(a.to_ready_to_recv(b.number()), 0);
  EXPECT_EQ(a.state(), IBV_QPS_RTR);
  ASSERT_EQ(a.to_ready_to_send(), 0);
  EXPECT_EQ(a.state(), IBV_QPS_RTS);
  ASSERT_EQ(a.to_state(IBV_QPS_ERR), 0);
  EXPECT_EQ(a.state(), IBV_QPS_ERR);
  ASSERT_EQ(a.to_state(IBV_QPS_RESET), 0);
  EXPECT_EQ(a.state(), IBV_QPS_RESET);
  a.connect_to(b.number());
  EXPECT_EQ(a.state(), IBV_QPS_RTS);
}

TEST(MrcQueuePair, RefusesStepsThatThereAreNot) {
  Opened device;
  End a(device);
  EXPECT_EQ(a.to_ready_to_recv(100), EINVAL) << "from RESET";
  EXPECT_EQ(a.to_ready_to_send(), EINVAL);
  EXPECT_EQ(a.to_state(IBV_QPS_ERR), EINVAL);
  EXPECT_EQ(a.to_state(IBV_QPS_SQD), EINVAL);
  ASSERT_EQ(a.to_init(), 0);
  EXPECT_EQ(a.to_ready_to_send(), EINVAL) << "from INIT";
  EXPECT_EQ(a.state(), IBV_QPS_INIT) << "a failed call changes nothing";
  ASSERT_EQ(a.to_ready_to_recv(100), 0);
  EXPECT_EQ(a.to_init(), EINVAL);
  EXPECT_EQ(a.to_ready_to_recv(100), EINVAL);
  ASSERT_EQ(a.to_ready_to_send(), 0);
  EXPECT_EQ(a.to_ready_to_recv(100), EINVAL);
  EXPECT_EQ(a.to_ready_to_send(), EINVAL);
  ASSERT_EQ(a.to_state(IBV_QPS_ERR), 0);
  EXPECT_EQ(a.to_ready_to_send(), EINVAL);
}

TEST(MrcQueuePair, TheCurrentStateMustBeAsSaid) {
  Opened device;
  End a(device);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_INIT;
  attr.cur_qp_state = IBV_QPS_RTS;
  EXPECT_EQ(mrc_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE, nullptr, 0), EINVAL);
  EXPECT_EQ(errno, EINVAL);
  attr.cur_qp_state = IBV_QPS_RESET;
  EXPECT_EQ(mrc_modify_qp(a.qp, &attr, IBV_QP_STATE | IBV_QP_CUR_STATE, nullptr, 0), 0);
}

TEST(MrcQueuePair, NeedsToKnowItsPeer) {
  Opened device;
  End a(device);
  ASSERT_EQ(a.to_init(), 0);
  using Change = std::function<void(ibv_qp_attr&, int& mask)>;
  const struct {
    std::string name;
    Change change;
    int error;
  } kCases[] = {
      {"no address", [](ibv_qp_attr&, int& mask) { mask &= ~IBV_QP_AV; }, EINVAL},
      {"no number", [](ibv_qp_attr&, int& mask) { mask &= ~IBV_QP_DEST_QPN; }, EINVAL},
      {"not global", [](ibv_qp_attr& attr, int&) { attr.ah_attr.is_global = 0; }, EINVAL},
      {"reserved number", [](ibv_qp_attr& attr, int&) { attr.dest_qp_num = 1; }, EINVAL},
      {"own GID that is not there",
       [](ibv_qp_attr& attr, int&) { attr.ah_attr.grh.sgid_index = 99; }, EINVAL},
      {"GID of nobody", [](ibv_qp_attr& attr, int&) { attr.ah_attr.grh.dgid = {}; }, EHOSTUNREACH},
      {"MTU 0", [](ibv_qp_attr& attr, int&) { attr.path_mtu = static_cast<ibv_mtu>(0); }, EINVAL},
      {"MTU 6", [](ibv_qp_attr& attr, int&) { attr.path_mtu = static_cast<ibv_mtu>(6); }, EINVAL},
  };
  for (const auto& one : kCases) {
    ibv_qp_attr attr = a.receive_attributes(100);
    int mask = End::kReceiveMask;
    one.change(attr, mask);
    EXPECT_EQ(mrc_modify_qp(a.qp, &attr, mask, nullptr, 0), one.error) << one.name;
    EXPECT_EQ(a.state(), IBV_QPS_INIT) << one.name;
  }
  EXPECT_EQ(a.to_ready_to_recv(100), 0);
}

// QP-7
TEST(MrcQueuePair, HoldsItsAttributesToTheirLimits) {
  Opened device;
  End a(device);
  const auto try_one = [&](int mask, const std::function<void(mrc_qp_attr&)>& change) {
    ibv_qp_attr verbs{};
    verbs.qp_state = IBV_QPS_INIT;
    mrc_qp_attr attr{};
    change(attr);
    const int error = mrc_modify_qp(a.qp, &verbs, IBV_QP_STATE, &attr, mask);
    if (error == 0) {
      EXPECT_EQ(a.to_state(IBV_QPS_RESET), 0);
    }
    return error;
  };
  EXPECT_EQ(try_one(MRC_QP_TIMEOUT, [](auto& attr) { attr.timeout = 24; }), 0);
  EXPECT_EQ(try_one(MRC_QP_TIMEOUT, [](auto& attr) { attr.timeout = 25; }), EINVAL);
  EXPECT_EQ(try_one(MRC_QP_RETRY_CNT, [](auto& attr) { attr.retry = {7, 25}; }), 0);
  EXPECT_EQ(try_one(MRC_QP_RETRY_CNT, [](auto& attr) { attr.retry = {8, 0}; }), EINVAL);
  EXPECT_EQ(try_one(MRC_QP_RETRY_CNT, [](auto& attr) { attr.retry = {0, 26}; }), EINVAL);
  EXPECT_EQ(try_one(MRC_QP_MPR, [](auto& attr) { attr.mpr.mpr = 255; }), 0);
  EXPECT_EQ(try_one(MRC_QP_MPR, [](auto& attr) { attr.mpr.mpr = 0; }), EINVAL);
  EXPECT_EQ(try_one(MRC_QP_MPR_DEST, [](auto& attr) { attr.mpr.mpr_dest = 0; }), EINVAL);
  EXPECT_EQ(try_one(MRC_QP_MAX_WIMM, [](auto& attr) { attr.wimm.max_wimm = 1; }), 0);
  EXPECT_EQ(try_one(MRC_QP_MAX_WIMM, [](auto& attr) { attr.wimm.max_wimm = 0; }), EINVAL);
  EXPECT_EQ(try_one(MRC_QP_MAX_WIMM_DEST, [](auto& attr) { attr.wimm.max_wimm_dest = 0; }), EINVAL);
  EXPECT_EQ(try_one(MRC_QP_CAP, [](auto& attr) { attr.cap = 7; }), 0);
  EXPECT_EQ(try_one(MRC_QP_CAP, [](auto& attr) { attr.cap = 8; }), EINVAL);
  EXPECT_EQ(try_one(MRC_QP_HINT, [](auto& attr) { attr.qp_hint = nullptr; }), 0);
  EXPECT_EQ(try_one(MRC_QP_VENDOR_CFG, [](auto&) {}), 0);
  EXPECT_EQ(try_one(1 << 20, [](auto&) {}), EINVAL) << "a bit of nothing";
}

TEST(MrcQueuePair, SaysWhatItWasTold) {
  Opened device;
  QueuePairWish wish;
  wish.attr.mpr = {.mpr = 3, .mpr_dest = 4};
  wish.attr.wimm = {.max_wimm = 5, .max_wimm_dest = 6};
  wish.mask = MRC_QP_MPR | MRC_QP_MPR_DEST | MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST;
  End a(device, wish);
  a.connect_to(100);
  ibv_qp_attr verbs{};
  mrc_qp_attr attr{};
  mrc_qp_init_attr init{};
  ASSERT_EQ(mrc_query_qp(a.qp, &verbs, IBV_QP_STATE, &attr, wish.mask, &init), 0);
  EXPECT_EQ(verbs.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(verbs.dest_qp_num, 100U);
  EXPECT_EQ(verbs.path_mtu, IBV_MTU_1024);
  EXPECT_EQ(verbs.rq_psn, 77U);
  EXPECT_EQ(verbs.sq_psn, 77U);
  EXPECT_EQ(verbs.timeout, 13) << "MRC's own, as configured; what verbs said of it is ignored";
  EXPECT_EQ(attr.mpr.mpr, 3);
  EXPECT_EQ(attr.mpr.mpr_dest, 4);
  EXPECT_EQ(attr.wimm.max_wimm, 5);
  EXPECT_EQ(attr.wimm.max_wimm_dest, 6);
  EXPECT_EQ(init.qp_context, &a);
  EXPECT_EQ(init.cap.max_send_wr, 64U);
}

// QP-22
TEST(MrcQueuePair, RefusesWhatCannotBe) {
  Opened device;
  End a(device);
  mrc_qp_init_attr good{};
  ASSERT_EQ(mrc_query_qp(a.qp, nullptr, 0, nullptr, 0, &good), 0);
  const auto error_of = [&](const std::function<void(mrc_qp_init_attr&)>& change) {
    mrc_qp_init_attr attr = good;
    change(attr);
    mrc_qp* made = mrc_create_qp(device.context, &attr);
    if (made == nullptr) return errno;
    EXPECT_EQ(mrc_destroy_qp(made), 0);
    return 0;
  };
  EXPECT_EQ(error_of([](auto&) {}), 0);
  EXPECT_EQ(error_of([](auto& attr) { attr.pd = nullptr; }), EINVAL);
  EXPECT_EQ(error_of([](auto& attr) { attr.send_cq = nullptr; }), EINVAL);
  EXPECT_EQ(error_of([](auto& attr) { attr.recv_cq = nullptr; }), EINVAL);
  EXPECT_EQ(error_of([](auto& attr) { attr.cap.max_send_wr = 1 << 20; }), EINVAL);
  EXPECT_EQ(error_of([](auto& attr) { attr.cap.max_send_sge = 1000; }), EINVAL);
  EXPECT_EQ(error_of([](auto& attr) { attr.cap.max_inline_data = 1 << 20; }), EINVAL);
  EXPECT_EQ(error_of([](auto& attr) { attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ; }),
            EOPNOTSUPP);
  EXPECT_EQ(mrc_create_qp(nullptr, &good), nullptr);
}

TEST(MrcLifetime, WhatIsUsedCannotBeDestroyed) {
  Opened device;
  mrc_comp_channel* channel = nullptr;
  ASSERT_EQ(mrc_create_comp_channel(device.context, &channel), 0);
  {
    End a(device, {}, 1 << 12, channel);
    mrc_qp_hint_init_attr hints{};
    mrc_qp_hint* hint = mrc_create_qp_hint(device.context, &hints);
    ASSERT_NE(hint, nullptr);
    ibv_qp_attr verbs{};
    verbs.qp_state = IBV_QPS_INIT;
    mrc_qp_attr attr{};
    attr.qp_hint = hint;
    ASSERT_EQ(mrc_modify_qp(a.qp, &verbs, IBV_QP_STATE, &attr, MRC_QP_HINT), 0);

    EXPECT_EQ(mrc_destroy_qp_hint(hint), -1);
    EXPECT_EQ(errno, EBUSY);
    EXPECT_EQ(mrc_destroy_cq(a.send_cq), EBUSY);
    EXPECT_EQ(mrc_destroy_cq(a.recv_cq), EBUSY);
    EXPECT_EQ(mrc_destroy_comp_channel(channel), EBUSY);
    EXPECT_EQ(ibv_dealloc_pd(device.pd), EBUSY);
    EXPECT_EQ(mrc_destroy_context(device.context), -1);
    EXPECT_EQ(errno, EBUSY);

    EXPECT_EQ(mrc_destroy_qp(a.qp), 0);
    a.qp = nullptr;
    EXPECT_EQ(mrc_destroy_qp_hint(hint), 0);
  }
  EXPECT_EQ(mrc_destroy_comp_channel(channel), 0);
}

TEST(MrcHint, KeepsWhatTheMaskNames) {
  Opened device;
  mrc_qp_hint_init_attr init{};
  init.attr.num_qps_per_peer = 1;
  init.attr.num_send_peers = 2;
  mrc_qp_hint* hint = mrc_create_qp_hint(device.context, &init);
  ASSERT_NE(hint, nullptr);
  mrc_qp_hint_attr change{};
  change.num_qps_per_peer = 10;
  change.num_send_peers = 20;
  change.vendor_cfg[127] = 9;
  ASSERT_EQ(mrc_modify_qp_hint(hint, &change, MRC_QP_HINT_NUM_SEND_PEERS | MRC_QP_HINT_VENDOR_CFG),
            0);
  mrc_qp_hint_attr now{};
  now.num_remote_recv_peers = -1;
  ASSERT_EQ(mrc_query_qp_hint(
                hint, &now,
                MRC_QP_HINT_NUM_QPS_PER_PEER | MRC_QP_HINT_NUM_SEND_PEERS | MRC_QP_HINT_VENDOR_CFG),
            0);
  EXPECT_EQ(now.num_qps_per_peer, 1);
  EXPECT_EQ(now.num_send_peers, 20);
  EXPECT_EQ(now.num_remote_recv_peers, -1) << "not asked for";
  EXPECT_EQ(now.vendor_cfg[127], 9);
  EXPECT_EQ(mrc_query_qp_hint(hint, &now, 1 << 10), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(mrc_destroy_qp_hint(hint), 0);
}

TEST(MrcContext, WhoWaitsForAnEventIsToldOfTheEnd) {
  Opened device;
  mrc_context* context = mrc_create_context(device.verbs, nullptr);
  int result = 0;
  std::thread waiter([&] {
    mrc_async_event event{};
    result = mrc_get_async_event(context, &event);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // until it waits
  EXPECT_EQ(mrc_destroy_context(context), 0);
  waiter.join();
  EXPECT_EQ(result, -1);
}

}  // namespace
}  // namespace openmrc::libmrc::test
