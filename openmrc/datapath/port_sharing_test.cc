// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/port_sharing.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "openmrc/datapath/test_packets.h"

namespace openmrc::datapath {
namespace {

SlotNames names() {
  auto names = SlotNames::of(test_port(), wire::IpVersion::kV6);
  EXPECT_TRUE(names) << to_string(names.error());
  return *std::move(names);
}

bool exists(const char* path) {
  struct stat found{};
  return ::lstat(path, &found) == 0;
}

TEST(JoinLock, MakesTheSecondWait) {
  auto first = std::make_optional(JoinLock::take(names()));
  ASSERT_TRUE(first->has_value());
  std::jthread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    first.reset();
  });
  EXPECT_TRUE(JoinLock::take(names()).has_value());
}

TEST(JoinLock, SaysWhoseItIsWhenItNeverComes) {
  const auto first = JoinLock::take(names());
  ASSERT_TRUE(first);
  const auto second = JoinLock::take(names());
  ASSERT_FALSE(second);
  EXPECT_NE(to_string(second.error()).find(".join"), std::string::npos);
}

TEST(ClaimSlot, GivesTheFirstThatIsFree) {
  const auto lock = JoinLock::take(names());
  ASSERT_TRUE(lock);
  auto first = claim_slot(names(), *lock);
  auto second = claim_slot(names(), *lock);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->slot, Slot(0));
  EXPECT_EQ(second->slot, Slot(1));
  EXPECT_TRUE(first->is_first);
  EXPECT_FALSE(second->is_first);
  first = failure(Error{});  // gives it up
  EXPECT_FALSE(exists(names().slot(Slot(0)).path()));
  EXPECT_EQ(claim_slot(names(), *lock)->slot, Slot(0));
}

TEST(ClaimSlot, SaysWhenAllAreTaken) {
  const auto lock = JoinLock::take(names());
  ASSERT_TRUE(lock);
  std::vector<SlotClaim> claims;
  claims.reserve(kSlots);
  for (std::size_t i = 0; i < kSlots; ++i) claims.push_back(*claim_slot(names(), *lock));
  const auto more = claim_slot(names(), *lock);
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().what.find("64"), std::string::npos);
}

// Takes a slot in another process, and kills that.
void leave_slot_behind(const SlotNames& names) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto lock = JoinLock::take(names);
    const auto claim = claim_slot(names, *lock);
    ::kill(::getpid(), SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
}

TEST(ClaimSlot, TakesTheSlotOfAKilledProcess) {
  leave_slot_behind(names());
  ASSERT_TRUE(exists(names().slot(Slot(0)).path()));
  const auto lock = JoinLock::take(names());
  ASSERT_TRUE(lock);
  const auto claim = claim_slot(names(), *lock);
  ASSERT_TRUE(claim) << to_string(claim.error());
  EXPECT_EQ(claim->slot, Slot(0));
  EXPECT_TRUE(claim->is_first);
}

TEST(ClaimSlot, IsLeftToItsOwnerByAForkedChild) {
  const auto lock = JoinLock::take(names());
  ASSERT_TRUE(lock);
  auto claim = claim_slot(names(), *lock);
  ASSERT_TRUE(claim);
  const pid_t child = ::fork();
  if (child == 0) {
    claim = failure(Error{});
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(exists(names().slot(Slot(0)).path()));
}

}  // namespace
}  // namespace openmrc::datapath
