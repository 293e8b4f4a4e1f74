// SPDX-License-Identifier: BSD-3-Clause
// Calls of a program that gets no more memory: each returns ENOMEM, nothing is thrown at C, and
// what there was before works on.
#include <gtest/gtest.h>
#include <mrc.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "openmrc/libmrc/test_loopback.h"
#include "tests/support/memory_limit.h"

namespace openmrc::libmrc::test {
namespace {

using openmrc::test::MemoryLimit;
using openmrc::test::with_ever_more_memory;

// Calls make() with ever more memory until it gives something; before that it must say ENOMEM.
template <class Make>
auto made_at_last(Make make) {
  decltype(make()) made = nullptr;
  const std::int64_t needed = with_ever_more_memory([&] {
    if (made != nullptr) return;
    errno = 0;
    made = make();
    if (made == nullptr && errno != ENOMEM) ADD_FAILURE() << strerror(errno);
  });
  EXPECT_GT(needed, 0) << "it needs memory";
  EXPECT_NE(made, nullptr);
  return made;
}

// The same for calls that return an error number.
template <class Call>
void succeeds_at_last(Call call) {
  int result = -1;
  const std::int64_t needed = with_ever_more_memory([&] {
    if (result == 0) return;
    result = call();
    if (result != 0 && result != ENOMEM) ADD_FAILURE() << strerror(result);
  });
  EXPECT_GE(needed, 0);
  EXPECT_EQ(result, 0);
}

bool moves_data(End& from, End& to, unsigned seed) {
  std::memset(from.memory.data(), static_cast<int>(seed), from.memory.size());
  ibv_sge part{};
  ibv_send_wr wr = from.write_to(to, part, 4096);
  if (from.post(wr) != 0) return false;
  const auto done = await(from.send_cq, 1);
  return done.size() == 1 && done[0].status == IBV_WC_SUCCESS &&
         std::memcmp(from.memory.data(), to.memory.data(), 4096) == 0;
}

TEST(MrcMemory, WhatIsMadeIsMadeWhollyOrNotAtAll) {
  Opened device;
  ibv_context* verbs = made_at_last([&] { return ibv_open_device(device.verbs->device); });
  mrc_context* context = made_at_last([&] { return mrc_create_context(verbs, nullptr); });
  ibv_pd* pd = made_at_last([&] { return ibv_alloc_pd(verbs); });
  std::array<std::byte, 64> memory{};
  ibv_mr* mr = made_at_last(
      [&] { return ibv_reg_mr(pd, memory.data(), memory.size(), IBV_ACCESS_LOCAL_WRITE); });
  mrc_comp_channel* channel = nullptr;
  succeeds_at_last([&] { return mrc_create_comp_channel(context, &channel); });
  mrc_cq* cq = made_at_last([&] { return mrc_create_cq(context, 16, nullptr, channel, 0); });
  mrc_qp_hint_init_attr hint_attr{};
  mrc_qp_hint* hint = made_at_last([&] { return mrc_create_qp_hint(context, &hint_attr); });
  mrc_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.cap = QueuePairWish{}.cap;
  init.pd = pd;
  mrc_qp* qp = made_at_last([&] { return mrc_create_qp(context, &init); });
  ibv_comp_channel* verbs_channel = made_at_last([&] { return ibv_create_comp_channel(verbs); });
  ibv_cq* verbs_cq =
      made_at_last([&] { return ibv_create_cq(verbs, 1, nullptr, verbs_channel, 0); });
  // Nothing is in use that was not made.
  EXPECT_EQ(ibv_destroy_cq(verbs_cq), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(verbs_channel), 0);
  EXPECT_EQ(mrc_destroy_qp(qp), 0);
  EXPECT_EQ(mrc_destroy_qp_hint(hint), 0);
  EXPECT_EQ(mrc_destroy_cq(cq), 0);
  EXPECT_EQ(mrc_destroy_comp_channel(channel), 0);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(mrc_destroy_context(context), 0);
  EXPECT_EQ(ibv_close_device(verbs), 0);
}

TEST(MrcMemory, TheListOfDevicesNeedsMemory) {
  Opened device;
  int count = 0;
  ibv_device** list = made_at_last([&] { return ibv_get_device_list(&count); });
  EXPECT_EQ(count, 1);
  ibv_free_device_list(list);
}

TEST(MrcMemory, AQueuePairIsConnectedAtLastAndMovesData) {
  Opened device;
  End a(device);
  End b(device);
  succeeds_at_last([&] { return a.to_init(); });
  succeeds_at_last([&] { return a.to_ready_to_recv(b.number()); });
  succeeds_at_last([&] { return a.to_ready_to_send(); });
  b.connect_to(a.number());
  EXPECT_TRUE(moves_data(a, b, 1));
  EXPECT_TRUE(moves_data(b, a, 2));
}

// Inline data is copied, which needs memory.
TEST(MrcMemory, WhatIsNotPostedIsNamedAndWhatIsPostedCompletes) {
  Opened device;
  QueuePairWish wish;
  wish.signal_all = 1;
  End a(device, wish);
  End b(device, wish);
  connect(a, b);
  ASSERT_TRUE(moves_data(a, b, 1));
  std::array<ibv_sge, 8> parts{};
  std::array<ibv_send_wr, 8> list{};
  for (std::size_t i = 0; i < list.size(); ++i) {
    list[i] = a.write_to(b, parts[i], 64);
    list[i].wr_id = i;
    list[i].send_flags = IBV_SEND_INLINE;
    list[i].next = i + 1 < list.size() ? &list[i + 1] : nullptr;
  }
  for (std::int64_t allocations = 0; allocations < 4; ++allocations) {
    ibv_send_wr* bad = nullptr;
    int result = 0;
    {
      const MemoryLimit limit(allocations);
      result = mrc_post_send(a.qp, list.data(), &bad);
    }
    const std::size_t posted =
        result == 0 ? list.size() : static_cast<std::size_t>(bad - list.data());
    EXPECT_TRUE(result == 0 || result == ENOMEM) << result;
    const auto done = await(a.send_cq, posted);
    ASSERT_EQ(done.size(), posted);
    for (std::size_t i = 0; i < posted; ++i) {
      EXPECT_EQ(done[i].status, IBV_WC_SUCCESS);
      EXPECT_EQ(done[i].wr_id, i);
    }
    EXPECT_EQ(posted == list.size(), allocations > 0 && result == 0);
  }
  EXPECT_TRUE(moves_data(a, b, 3));
}

TEST(MrcMemory, QueriesAndPollingNeedNone) {
  Opened device;
  End a(device);
  End b(device);
  connect(a, b);
  ASSERT_TRUE(moves_data(a, b, 1));
  const MemoryLimit limit(0);
  ibv_wc completion{};
  EXPECT_EQ(mrc_poll_cq(a.send_cq, 1, &completion), 0);
  EXPECT_EQ(mrc_req_notify_cq(a.send_cq, 0), 0);
  EXPECT_EQ(a.state(), IBV_QPS_RTS);
  EXPECT_NE(a.number(), 0U);
  EXPECT_FALSE(limit.was_reached());
}

}  // namespace
}  // namespace openmrc::libmrc::test
