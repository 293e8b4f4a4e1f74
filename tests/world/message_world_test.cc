// SPDX-License-Identifier: BSD-3-Clause
#include "tests/world/message_world.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace openmrc::test {
namespace {

using messages::Completion;
using messages::CompletionKind;
using messages::Opcode;
using messages::Status;

TEST(MessageWorld, IsAFunctionOfItsSeed) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const WorldResult first = run_world(random_message_world(seed));
    const WorldResult second = run_world(random_message_world(seed));
    EXPECT_EQ(first.digest, second.digest) << seed;
    EXPECT_EQ(first.packets, second.packets) << seed;
    EXPECT_EQ(first.violation, std::nullopt) << seed;
  }
}

// Many seeds together do everything that a plan can say.
TEST(MessageWorld, SeedsHaveEveryKindOfRequestAndFault) {
  std::array<bool, 7> opcodes{};
  std::array<bool, 8> wrongs{};
  std::size_t ends = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const MessageWorldOptions options = random_message_world(seed);
    for (const PlannedRequest& request : options.requests) {
      opcodes[static_cast<std::size_t>(request.opcode)] = true;
      wrongs[static_cast<std::size_t>(request.wrong)] = true;
    }
    ends += options.ends.size();
  }
  EXPECT_TRUE(std::ranges::all_of(opcodes, [](bool seen) { return seen; }));
  EXPECT_TRUE(std::ranges::all_of(wrongs, [](bool seen) { return seen; }));
  EXPECT_GT(ends, 20u);
}

// Each of these is something that a layer could do wrong; the judge reports it.
class MessageJudgeTest : public testing::Test {
 protected:
  MessageJudgeTest() {
    const auto request = [&](Opcode opcode, std::uint32_t length, bool signaled) {
      options_.requests.push_back(
          {.number = static_cast<std::uint32_t>(options_.requests.size() + 1),
           .opcode = opcode,
           .pieces = {length},
           .operand = 5,
           .signaled = signaled});
    };
    request(Opcode::kSend, 10, true);                // 0
    request(Opcode::kWrite, 10, false);              // 1
    request(Opcode::kRead, 10, true);                // 2
    request(Opcode::kFetchAndAdd, 8, true);          // 3
    request(Opcode::kWriteWithImmediate, 10, true);  // 4
    options_.requests[3].on_shared_word = true;
    for (int i = 0; i < 2; ++i) options_.receives.push_back({.side = Side::kB, .pieces = {20}});
  }

  // Of which the tests look at some, all posted.
  MessageJudge& start(std::vector<std::size_t> wanted) {
    std::vector<PlannedRequest> requests;
    for (const std::size_t i : wanted) requests.push_back(options_.requests[i]);
    options_.requests = std::move(requests);
    judge_.emplace(options_);
    for (std::size_t i = 0; i < options_.requests.size(); ++i) judge_->request_posted(i);
    for (std::size_t i = 0; i < options_.receives.size(); ++i) judge_->receive_posted(i);
    return *judge_;
  }
  void place(Side side, std::size_t place, ConstBytes bytes, bool local = true) {
    MessageJudge::Memory& memory = judge_->memory(side);
    std::ranges::copy(bytes, (local ? memory.local : memory.remote).at(place).begin());
  }
  void sent(std::size_t request, Status status = Status::kSuccess) {
    judge_->on_completion(Side::kA, 0,
                          {.id = request,
                           .kind = CompletionKind::kSent,
                           .opcode = options_.requests[request].opcode,
                           .status = status,
                           .immediate = std::nullopt});
  }
  void received(std::size_t receive, std::uint32_t length = 10) {
    judge_->on_completion(Side::kB, 0,
                          {.id = receive,
                           .kind = CompletionKind::kReceived,
                           .status = Status::kSuccess,
                           .length = length,
                           .immediate = std::nullopt});
  }
  void arrive(std::size_t request, std::size_t receive) {
    place(Side::kB, judge_->receives()[receive].local[0], judge_->requests()[request].bytes);
  }
  void expect_report(const std::string& what) {
    EXPECT_NE(judge_->verdict().text().value_or("nothing").find(what), std::string::npos)
        << judge_->verdict().text().value_or("nothing");
  }

  MessageWorldOptions options_;
  std::optional<MessageJudge> judge_;
};

TEST_F(MessageJudgeTest, HasNothingToSayOfARunThatIsRight) {
  start({0, 1, 2});
  arrive(0, 0);
  received(0);
  sent(0);
  place(Side::kB, judge_->requests()[1].remote, judge_->requests()[1].bytes, false);
  place(Side::kA, judge_->requests()[2].local[0], judge_->requests()[2].bytes);
  sent(2);
  EXPECT_TRUE(judge_->all_done());
  judge_->finish();
  expect_report("nothing");
}

TEST_F(MessageJudgeTest, ReportsOtherBytes) {
  start({0});
  received(0);
  expect_report("other bytes");
}

TEST_F(MessageJudgeTest, ReportsAnotherLength) {
  start({0});
  arrive(0, 0);
  received(0, 9);
  expect_report("of another length");
}

TEST_F(MessageJudgeTest, ReportsAMessageThatComesTwice) {
  start({0});
  arrive(0, 0);
  received(0);
  received(1);
  expect_report("a message that nobody sent");
}

TEST_F(MessageJudgeTest, ReportsAReceiveOutOfTurn) {
  start({0});
  arrive(0, 1);
  received(1);
  expect_report("is not the next");
}

TEST_F(MessageJudgeTest, ReportsASuccessThatNobodyReceived) {
  start({0});
  sent(0);
  expect_report("was not received");
}

TEST_F(MessageJudgeTest, ReportsAWriteThatIsNotThere) {
  start({1, 2});
  sent(1);
  expect_report("its bytes are not there");
}

TEST_F(MessageJudgeTest, ReportsAMessageThatOvertookAWrite) {
  start({1, 0});
  arrive(1, 0);
  received(0);
  expect_report("its bytes are not there");
}

TEST_F(MessageJudgeTest, ReportsACompletionThatIsMissing) {
  start({0, 2});
  sent(1);
  expect_report("has no completion");
}

TEST_F(MessageJudgeTest, ReportsACompletionThatComesTwice) {
  start({2});
  place(Side::kA, judge_->requests()[0].local[0], judge_->requests()[0].bytes);
  sent(0);
  sent(0);
  expect_report("out of nowhere");
}

TEST_F(MessageJudgeTest, ReportsAReadOfOtherBytes) {
  start({2});
  sent(0);
  expect_report("brought other bytes");
}

TEST_F(MessageJudgeTest, ReportsAnAddThatIsNotInTheSum) {
  start({3});
  std::ranges::fill(judge_->memory(Side::kA).local.at(judge_->requests()[0].local[0]), std::byte{});
  sent(0);
  judge_->finish();
  expect_report("1 fetch-and-adds made 0");
}

TEST_F(MessageJudgeTest, ReportsAFailureWithoutNeed) {
  for (const Status status : {Status::kRnrRetryExceeded, Status::kRetryExceeded, Status::kFlushed,
                              Status::kRemoteAccess, Status::kRemoteOperation}) {
    judge_.emplace(options_);
    judge_->request_posted(0);
    sent(0, status);
    expect_report("fails without need");
  }
}

TEST_F(MessageJudgeTest, ReportsWhatIsNotFlushed) {
  start({0});
  judge_->before_end(Side::kA, 0);
  judge_->on_end(Side::kA, 0, false);
  expect_report("not all is flushed");
}

TEST_F(MessageJudgeTest, ReportsMemoryThatIsWrittenWhenTheApplicationHasItBack) {
  start({2});
  const MutableBytes bytes = judge_->memory(Side::kA).local.at(judge_->requests()[0].local[0]);
  std::ranges::copy(judge_->requests()[0].bytes, bytes.begin());
  sent(0);
  bytes[3] = std::byte{1};
  judge_->finish();
  expect_report("that the application has back");
}

TEST_F(MessageJudgeTest, ReportsMemoryBetweenReceives) {
  start({});
  const MutableBytes bytes = judge_->memory(Side::kB).local.at(judge_->receives()[0].local[0]);
  bytes.data()[bytes.size()] = std::byte{1};
  judge_->finish();
  expect_report("between what was posted");
}

}  // namespace
}  // namespace openmrc::test
