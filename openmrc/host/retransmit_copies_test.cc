// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/retransmit_copies.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <variant>

namespace openmrc::host {
namespace {

constexpr std::size_t kPage = 4096;

core::Transmit transmit_of(ConstBytes payload, bool retransmission) {
  core::Transmit transmit{};
  transmit.packet.transport.body = wire::RdmaWrite{.retransmission = retransmission,
                                                   .payload = wire::Payload::of_bytes(payload)};
  return transmit;
}
ConstBytes payload_of(const core::Transmit& transmit) {
  return wire::payload_of(transmit.packet.transport.body).bytes();
}

// Two pages of a program, which it may unmap.
class RetransmitCopiesTest : public testing::Test {
 protected:
  RetransmitCopiesTest()
      : pages_(static_cast<std::byte*>(::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    std::fill_n(pages_, 2 * kPage, std::byte{7});
  }
  ~RetransmitCopiesTest() override { ::munmap(pages_, 2 * kPage); }

  std::byte* pages_;
  RetransmitCopies copies_{2};
};

TEST_F(RetransmitCopiesTest, CopiesWhatIsSentAgain) {
  core::Transmit first = transmit_of({pages_, 1000}, true);
  core::Transmit second = transmit_of({pages_ + 1000, 500}, true);
  ASSERT_TRUE(copies_.take(first, 0));
  ASSERT_TRUE(copies_.take(second, 1));
  std::fill_n(pages_, 2 * kPage, std::byte{8});
  for (const core::Transmit* copied : {&first, &second}) {
    EXPECT_TRUE(std::ranges::all_of(payload_of(*copied), [](auto b) { return b == std::byte{7}; }));
  }
  EXPECT_EQ(payload_of(first).size(), 1000U);
  EXPECT_EQ(payload_of(second).size(), 500U);
}

TEST_F(RetransmitCopiesTest, LeavesWhatIsSentForTheFirstTime) {
  core::Transmit fresh = transmit_of({pages_, 1000}, false);
  ASSERT_TRUE(copies_.take(fresh, 0));
  EXPECT_EQ(payload_of(fresh).data(), pages_);
}

TEST_F(RetransmitCopiesTest, MemoryThatIsNotMappedCannotBeSent) {
  ASSERT_EQ(::munmap(pages_ + kPage, kPage), 0);
  core::Transmit gone = transmit_of({pages_ + kPage, 100}, true);
  core::Transmit half_gone = transmit_of({pages_ + kPage - 50, 100}, true);
  core::Transmit there = transmit_of({pages_, 100}, true);
  EXPECT_FALSE(copies_.take(gone, 0));
  EXPECT_FALSE(copies_.take(half_gone, 0));
  EXPECT_TRUE(copies_.take(there, 0));
}

}  // namespace
}  // namespace openmrc::host
