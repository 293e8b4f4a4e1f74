// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/admission.h"

#include <gtest/gtest.h>

namespace openmrc::libmrc {
namespace {

constexpr uid_t kRoot = 0;
constexpr uid_t kOwn = 990;
constexpr uid_t kFirstUser = 1000;

std::size_t admitted(Admission& admission, uid_t user, std::size_t wanted) {
  std::size_t count = 0;
  while (count < wanted && admission.admit(user)) ++count;
  return count;
}

TEST(Admission, AUserHasSoManyConnectionsAndGetsThemBack) {
  Admission admission(kOwn);
  EXPECT_EQ(admitted(admission, kFirstUser, kClientsMax), kClientsPerUserMax);
  const auto refused = admission.admit(kFirstUser);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error, kTooManyClients);
  EXPECT_NE(refused.error().why.find("user 1000 has 256 connections"), std::string::npos);
  admission.leave(kFirstUser);
  EXPECT_TRUE(admission.admit(kFirstUser));
}

TEST(Admission, PlacesAreKeptForTheAdministrator) {
  Admission admission(kOwn);
  std::size_t others = 0;
  for (uid_t user = kFirstUser; user < kFirstUser + 10; ++user) {
    others += admitted(admission, user, kClientsMax);
  }
  EXPECT_EQ(others, kClientsMax - kClientsReserved);
  EXPECT_TRUE(admission.admit(kOwn));
  EXPECT_EQ(admitted(admission, kRoot, kClientsMax), kClientsReserved - 1);
  EXPECT_FALSE(admission.admit(kOwn)) << "the limit of all";
  admission.leave(kRoot);
  EXPECT_FALSE(admission.admit(kFirstUser + 20));
  EXPECT_TRUE(admission.admit(kRoot));
}

TEST(Admission, WhoNeverCameDoesNotLeave) {
  Admission admission(kOwn);
  admission.leave(kFirstUser);
  EXPECT_EQ(admitted(admission, kFirstUser, kClientsMax), kClientsPerUserMax);
}

}  // namespace
}  // namespace openmrc::libmrc
