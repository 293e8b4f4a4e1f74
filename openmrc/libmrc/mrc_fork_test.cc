// SPDX-License-Identifier: BSD-3-Clause
// Calls in a child made by fork(), while the parent works on.
#include <gtest/gtest.h>
#include <mrc.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "openmrc/libmrc/test_loopback.h"
#include "tests/support/child.h"

namespace openmrc::libmrc::test {
namespace {

using openmrc::test::status_of_child;

// Which call, in the order below, did not return its error; 0: all did.
class Refusals {
 public:
  void expect(bool refused) {
    ++calls_;
    if (first_wrong_ == 0 && !(refused && errno == ENODEV)) first_wrong_ = calls_;
    errno = 0;
  }
  [[nodiscard]] int first_wrong() const { return first_wrong_; }

 private:
  int calls_ = 0;
  int first_wrong_ = 0;
};

int data_calls(End& a, End& b) {
  Refusals refusals;
  ibv_sge part{};
  ibv_send_wr wr = a.write_to(b, part, 64);
  ibv_send_wr* bad = nullptr;
  refusals.expect(mrc_post_send(a.qp, &wr, &bad) == ENODEV && bad == &wr);
  refusals.expect(a.post_receive(1) == ENODEV);
  ibv_wc completion{};
  refusals.expect(mrc_poll_cq(a.send_cq, 1, &completion) == -1);
  refusals.expect(mrc_req_notify_cq(a.send_cq, 0) == ENODEV);
  refusals.expect(a.to_state(IBV_QPS_ERR) == ENODEV);
  ibv_qp_attr attr{};
  refusals.expect(mrc_query_qp(a.qp, &attr, IBV_QP_STATE, nullptr, 0, nullptr) == ENODEV);
  refusals.expect(mrc_destroy_qp(a.qp) == ENODEV);
  refusals.expect(mrc_destroy_cq(a.send_cq) == ENODEV);
  return refusals.first_wrong();
}

int device_calls(Opened& device, ibv_mr* mr, mrc_comp_channel* channel) {
  Refusals refusals;
  mrc_cq* cq = nullptr;
  refusals.expect(mrc_get_cq_event(channel, &cq, nullptr) == -1);
  mrc_async_event event{};
  refusals.expect(mrc_get_async_event(device.context, &event) == -1);
  refusals.expect(mrc_create_context(device.verbs, nullptr) == nullptr);
  refusals.expect(mrc_create_cq(device.context, 1, nullptr, nullptr, 0) == nullptr);
  refusals.expect(mrc_destroy_context(device.context) == -1);
  ibv_async_event verbs_event{};
  refusals.expect(ibv_get_async_event(device.verbs, &verbs_event) == -1);
  std::byte memory{};
  refusals.expect(ibv_reg_mr(device.pd, &memory, 1, IBV_ACCESS_LOCAL_WRITE) == nullptr);
  refusals.expect(ibv_dereg_mr(mr) == ENODEV);
  refusals.expect(ibv_alloc_pd(device.verbs) == nullptr);
  ibv_port_attr port{};
  refusals.expect(ibv_query_port(device.verbs, 1, &port) == ENODEV);
  refusals.expect(ibv_close_device(device.verbs) != 0);
  refusals.expect(ibv_open_device(device.verbs->device) == nullptr);
  return refusals.first_wrong();
}

TEST(MrcFork, CallsInAChildAreRefused) {
  Opened device;
  mrc_comp_channel* channel = nullptr;
  ASSERT_EQ(mrc_create_comp_channel(device.context, &channel), 0);
  {
    End a(device);
    End b(device);
    connect(a, b);
    EXPECT_EQ(status_of_child([&] { return data_calls(a, b); }), 0);
    EXPECT_EQ(status_of_child([&] { return device_calls(device, a.mr, channel); }), 0);
  }
  EXPECT_EQ(mrc_destroy_comp_channel(channel), 0);
}

TEST(MrcFork, TheChildIsToldThatItHasNoDevice) {
  Opened device;
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
  EXPECT_EQ(status_of_child([&] {
              int count = -1;
              ibv_free_device_list(ibv_get_device_list(&count));
              return ibv_is_fork_initialized() == IBV_FORK_DISABLED && count == 0 ? 0 : 1;
            }),
            0);
  EXPECT_EQ(ibv_is_fork_initialized(), IBV_FORK_UNNEEDED);
}

// Forks in the midst of calls of another thread, whatever locks it holds.
TEST(MrcFork, TheParentIsNotDisturbed) {
  constexpr int kForks = kIsSanitized ? 5 : 50;
  Opened device;
  End a(device);
  End b(device);
  connect(a, b);
  std::atomic<bool> stop = false;
  std::size_t completed = 0;
  std::thread writer([&] {
    while (!stop) {
      ibv_sge part{};
      ibv_send_wr wr = a.write_to(b, part, 4096);
      if (a.post(wr) != 0 || await(a.send_cq, 1).size() != 1) return;
      ++completed;
    }
  });
  for (int i = 0; i < kForks; ++i) {
    EXPECT_EQ(status_of_child([&] { return data_calls(a, b); }), 0);
  }
  stop = true;
  writer.join();
  EXPECT_GT(completed, 0U);
  EXPECT_EQ(a.state(), IBV_QPS_RTS);
  EXPECT_EQ(b.state(), IBV_QPS_RTS);
  ibv_sge part{};
  ibv_send_wr wr = a.write_to(b, part, 4096);
  ASSERT_EQ(a.post(wr), 0);
  const auto last = await(a.send_cq, 1);
  ASSERT_EQ(last.size(), 1U);
  EXPECT_EQ(last[0].status, IBV_WC_SUCCESS);
}

bool opens_and_uses_the_device() {
  Opened device;
  End a(device);
  End b(device);
  connect(a, b);
  ibv_sge part{};
  ibv_send_wr wr = a.write_to(b, part, 64);
  return a.post(wr) == 0 && await(a.send_cq, 1).size() == 1;
}

TEST(MrcForkDeathTest, AChildForkedBeforeTheDeviceWasOpenedMayUseIt) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // a process that has opened nothing
  EXPECT_EXIT(
      {
        use_loopback_device();
        const int status = status_of_child([] { return opens_and_uses_the_device() ? 0 : 1; });
        std::exit(status);
      },
      ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace openmrc::libmrc::test
