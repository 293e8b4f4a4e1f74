// SPDX-License-Identifier: BSD-3-Clause
// The soft device beside devices of another libibverbs.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <array>
#include <cerrno>

#include "openmrc/verbs/test_verbs.h"
#include "openmrc/verbs/verbs_objects.h"

namespace openmrc::libmrc::test {
namespace {

const VerbsEnvironment kEnvironment;

constexpr int kFake = 1;
constexpr int kClosed = 2;
constexpr std::uint32_t kFakeVendor = 0xfa4e;

TEST(VerbsReal, ItsDevicesComeAfterOurs) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ASSERT_EQ(count, 3);
  EXPECT_STREQ(ibv_get_device_name(list[0]), "openmrc0");
  // The name is what its driver says, which has found the library that it belongs to.
  EXPECT_STREQ(ibv_get_device_name(list[kFake]), "fake0");
  EXPECT_STREQ(ibv_get_device_name(list[kClosed]), "closed0");
  EXPECT_EQ(list[3], nullptr);
  ibv_free_device_list(list);
}

TEST(VerbsReal, ItsObjectsAreItsOwn) {
  ibv_context* context = open_device(kFake);
  ASSERT_NE(context, nullptr);
  EXPECT_EQ(device_of(context), nullptr);
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(context, &device), 0);
  EXPECT_EQ(device.vendor_id, kFakeVendor);
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(context, 9, &port), 0);
  EXPECT_EQ(port.lid, 9);
  ibv_pd* pd = ibv_alloc_pd(context);
  ASSERT_NE(pd, nullptr);
  EXPECT_EQ(soft_domain(pd), nullptr);
  std::array<std::byte, 64> memory{};
  ibv_mr* mr = ibv_reg_mr_iova2(pd, memory.data(), memory.size(), 0, 0);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(mr->lkey, 0x4711U);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(context, &event), 0);
  EXPECT_EQ(event.element.port_num, 7);
  ibv_ack_async_event(&event);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST(VerbsReal, OursStayOurs) {
  ibv_context* context = open_device(0);
  ASSERT_NE(context, nullptr);
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(context, &device), 0);
  EXPECT_NE(device.vendor_id, kFakeVendor);
  ibv_pd* pd = ibv_alloc_pd(context);
  ASSERT_NE(pd, nullptr);
  EXPECT_NE(soft_domain(pd), nullptr);
  EXPECT_EQ(ibv_dealloc_pd(pd), 0);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST(VerbsReal, ItsErrorsArrive) {
  errno = 0;
  EXPECT_EQ(open_device(kClosed), nullptr);
  EXPECT_EQ(errno, EACCES);
}

TEST(VerbsReal, WhatItDoesNotHaveFails) {
  ibv_context* context = open_device(kFake);
  ASSERT_NE(context, nullptr);
  errno = 0;
  EXPECT_EQ(ibv_create_cq(context, 1, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, ENODEV);
  ibv_gid gid{};
  EXPECT_EQ(ibv_query_gid(context, 1, 0, &gid), -1);
  EXPECT_EQ(ibv_close_device(context), 0);
}

TEST(VerbsReal, IsAskedWhatIsAboutNoObject) { EXPECT_EQ(ibv_fork_init(), ENOSYS); }

}  // namespace
}  // namespace openmrc::libmrc::test
