// SPDX-License-Identifier: BSD-3-Clause
// What a program says of one queue pair, and what becomes of it at the other end.
#include <gtest/gtest.h>
#include <mrc.h>
#include <mrc_openmrc.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "openmrc/libmrc/queue_pair.h"
#include "openmrc/libmrc/test_loopback.h"

namespace openmrc::libmrc::test {
namespace {

constexpr std::uint32_t kBytes = 60'000;  // 59 packets

void write(End& from, const End& to) {
  ibv_sge part;
  ibv_send_wr wr = from.write_to(to, part, kBytes);
  ASSERT_EQ(from.post(wr), 0);
  ASSERT_EQ(await(from.send_cq, 1).at(0).status, IBV_WC_SUCCESS);
}

// SACKs may be later than the completion.
template <class Condition>
bool comes_true(const Condition& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition() && std::chrono::steady_clock::now() < end) {
  }
  return condition();
}

mrc_qp_attr attributes_of(const End& of) {
  mrc_qp_attr attr{};
  EXPECT_EQ(mrc_query_qp(of.qp, nullptr, 0, &attr, MRC_QP_MPR | MRC_QP_MPR_DEST, nullptr), 0);
  return attr;
}

int change(const End& of, const mrc_qp_attr& to, int mask) {
  ibv_qp_attr none{};
  mrc_qp_attr attr = to;
  return mrc_modify_qp(of.qp, &none, 0, &attr, mask);
}

int offer(const End& of, std::uint8_t mpr) {
  mrc_qp_attr attr{};
  attr.mpr.mpr_dest = mpr;
  return change(of, attr, MRC_QP_MPR_DEST);
}

// MRC 7.5.1
TEST(MrcMpr, TheWindowThatOneEndOffersIsTheOthers) {
  Opened device;
  QueuePairWish wish;
  wish.attr.cap = MRC_QP_CAP_DYNAMIC_MPR;
  wish.mask = MRC_QP_CAP;
  End from(device, wish);
  End to(device, wish);
  connect(from, to);
  EXPECT_EQ(attributes_of(from).mpr.mpr, 8);
  for (const std::uint8_t offered : {std::uint8_t{2}, std::uint8_t{1}, std::uint8_t{8}}) {
    ASSERT_EQ(offer(to, offered), 0);
    EXPECT_EQ(attributes_of(to).mpr.mpr_dest, offered);
    write(from, to);
    EXPECT_TRUE(comes_true([&] { return attributes_of(from).mpr.mpr == offered; })) << int{offered};
  }
  EXPECT_EQ(offer(to, 9), EINVAL) << "more than at first";
  EXPECT_EQ(offer(to, 0), EINVAL);
  EXPECT_EQ(attributes_of(to).mpr.mpr_dest, 8);
}

// MRC 7.5.1
TEST(MrcMpr, CannotChangeIfThatWasNotAgreed) {
  Opened device;
  End from(device);
  End to(device);
  connect(from, to);
  EXPECT_EQ(offer(to, 2), EINVAL);
  mrc_qp_attr attr = attributes_of(to);
  EXPECT_EQ(change(to, attr, MRC_QP_TIMEOUT), EINVAL) << "too late for it";
  EXPECT_EQ(change(to, attr, 0), EINVAL) << "nothing to do";
}

std::int64_t window_of(const End& of) { return of.qp->runtime().send_window()->bytes.raw(); }

int ask_for_penalty(const End& of, std::uint8_t penalty, std::uint32_t magic = MRC_OPENMRC_QP_CFG) {
  const mrc_openmrc_qp_cfg cfg{.magic = magic, .receiver_penalty = penalty};
  mrc_qp_attr attr{};
  std::memcpy(attr.vendor_cfg, &cfg, sizeof cfg);
  return change(of, attr, MRC_QP_VENDOR_CFG);
}

// MRC 8
TEST(MrcReceiverPenalty, TakesTheOtherEndsWindowAndGivesItBack) {
  Opened device;
  End from(device);
  End to(device);
  connect(from, to);
  // What is declared lost on a busy machine moves it, but not as a penalty does.
  constexpr std::int64_t kOpen = 4 * std::int64_t{kBytes};
  constexpr std::int64_t kTaken = 2 * std::int64_t{kBytes};
  ASSERT_GT(window_of(from), kOpen);
  ASSERT_EQ(ask_for_penalty(to, 127, 0x1234), 0) << "another vendor's bytes";
  write(from, to);
  EXPECT_GT(window_of(from), kOpen);
  ASSERT_EQ(ask_for_penalty(to, 127), 0);
  write(from, to);
  EXPECT_TRUE(comes_true([&] { return window_of(from) < kTaken; }));
  ASSERT_EQ(ask_for_penalty(to, 0), 0);
  write(from, to);
  EXPECT_TRUE(comes_true([&] { return window_of(from) > kOpen; })) << window_of(from);
  EXPECT_EQ(ask_for_penalty(to, 128), EINVAL);
}

// MRC 8, 10
TEST(MrcHint, DividesTheFirstWindow) {
  Opened device;
  mrc_qp_hint_init_attr init{};
  init.attr.num_qps_per_peer = 2;
  init.attr.num_remote_recv_peers = 16;  // queue pairs: of eight hosts
  mrc_qp_hint* hint = mrc_create_qp_hint(device.context, &init);
  ASSERT_NE(hint, nullptr);
  const auto first_window = [&](const QueuePairWish& wish) {
    End from(device, wish);
    End to(device, wish);
    connect(from, to);
    return window_of(from);
  };
  const std::int64_t alone = first_window({});
  QueuePairWish wish;
  wish.attr.qp_hint = hint;
  wish.mask = MRC_QP_HINT;
  EXPECT_EQ(first_window(wish), alone / 8);
  EXPECT_EQ(mrc_destroy_qp_hint(hint), 0);
}

}  // namespace
}  // namespace openmrc::libmrc::test
