// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/tagged/ledger.h"

#include <gtest/gtest.h>

#include "openmrc/tagged/buffer.h"

namespace openmrc::tagged {
namespace {

TEST(Ledger, AShortMessageIsNotCompleteBeforeALongOneOfItsBuffer) {
  Ledger ledger;
  Buffer buffer({});
  EXPECT_TRUE(ledger.is_next(buffer));
  ledger.begin(1, buffer);
  EXPECT_FALSE(ledger.is_next(buffer));
  EXPECT_FALSE(ledger.is_next(buffer));
  const auto completed = ledger.finish(1);
  EXPECT_EQ(completed.buffer, &buffer);
  EXPECT_EQ(completed.count, 3U);
  EXPECT_TRUE(ledger.empty());
}

TEST(Ledger, ThoseThatEndOutOfOrderWaitForTheFirst) {
  Ledger ledger;
  Buffer buffer({});
  Buffer other({});
  ledger.begin(1, buffer);
  ledger.begin(2, other);
  ledger.begin(3, buffer);
  EXPECT_EQ(ledger.finish(3).count, 0U);
  EXPECT_EQ(ledger.finish(2).count, 1U);
  EXPECT_EQ(ledger.finish(1).count, 2U);
}

TEST(Ledger, KnowsNothingOfWhatEndedOrWasForgotten) {
  Ledger ledger;
  Buffer buffer({});
  ledger.begin(1, buffer);
  ledger.begin(2, buffer);
  EXPECT_EQ(ledger.finish(2).buffer, &buffer);
  EXPECT_EQ(ledger.finish(2).buffer, nullptr);
  EXPECT_EQ(ledger.finish(3).buffer, nullptr);
  EXPECT_TRUE(ledger.has(buffer));
  ledger.forget(buffer);
  EXPECT_FALSE(ledger.has(buffer));
  EXPECT_EQ(ledger.finish(1).buffer, nullptr);
}

}  // namespace
}  // namespace openmrc::tagged
