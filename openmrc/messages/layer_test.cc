// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/messages/layer.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <vector>

#include "openmrc/messages/test_fixture.h"

namespace openmrc::messages {
namespace {

using namespace test;
using enum Status;

// ---- SEND ----

// MSG-3, MSG-6, MSG-7, MSG-9
TEST_F(LayerTest, SendGoesToTheReceive) {
  receive(11, 100, 5000);
  send_bytes(1, 5000);
  pair->settle();
  const auto received = at_b();
  ASSERT_EQ(ids_of(received), Ids{11});
  EXPECT_EQ(received[0].kind, CompletionKind::kReceived);
  EXPECT_EQ(received[0].status, kSuccess);
  EXPECT_EQ(received[0].length, 5000u);
  EXPECT_EQ(received[0].immediate, std::nullopt);
  EXPECT_FALSE(received[0].solicited);
  EXPECT_TRUE(same(0, 100, 5000));
  EXPECT_EQ(statuses_of(at_a()), Statuses{kSuccess});
}

// MSG-7
TEST_F(LayerTest, SendHasImmediateAndSolicitation) {
  receive(11, 0, 100);
  const std::array segments{source->at(0, 100)};
  send({.id = 1,
        .opcode = Opcode::kSendWithImmediate,
        .segments = segments,
        .immediate = wire::Immediate(0xdeadbeef),
        .solicited = true});
  pair->settle();
  const auto received = at_b();
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].immediate, wire::Immediate(0xdeadbeef));
  EXPECT_TRUE(received[0].solicited);
}

// MSG-7
TEST_F(LayerTest, SendOfNoBytesTakesAReceive) {
  receive(11, 0, 100);
  receive(12, 0, 0);
  send({.id = 1, .opcode = Opcode::kSend});
  send({.id = 2, .opcode = Opcode::kSendWithImmediate, .immediate = wire::Immediate(5)});
  pair->settle();
  const auto received = at_b();
  ASSERT_EQ(ids_of(received), (Ids{11, 12}));
  EXPECT_EQ(received[0].length, 0u);
  EXPECT_EQ(received[1].immediate, wire::Immediate(5));
  EXPECT_EQ(statuses_of(at_a()), (Statuses{kSuccess, kSuccess}));
}

// MSG-8
TEST_F(LayerTest, GathersAndScatters) {
  for (const std::size_t length : {10u, 3000u, 9000u}) {
    const std::array from{source->at(0, length), Segment{}, source->at(20000, length),
                          source->at(40000, 1)};
    const std::array to{target->at(30000, 7), target->at(0, 2 * length - 7), target->at(50000, 5)};
    pair->receive(pair->b(), 11, to);
    send({.id = 1, .opcode = Opcode::kSendWithImmediate, .segments = from});
    pair->settle();
    const auto received = at_b();
    ASSERT_EQ(statuses_of(received), Statuses{kSuccess}) << length;
    EXPECT_EQ(received[0].length, 2 * length + 1);
    EXPECT_TRUE(same(0, 30000, 7));
    EXPECT_TRUE(same(7, 0, length - 7));
    EXPECT_TRUE(same(20000, length - 7, length));
    EXPECT_TRUE(same(40000, 50000, 1));
    EXPECT_EQ(at_a().size(), 1u);
  }
}

// MSG-8
TEST_F(LayerTest, CopiedBytesMayChangeAtOnce) {
  receive(11, 0, 100);
  std::array<std::byte, 64> bytes{};
  bytes.fill(std::byte{7});
  const std::array segments{Segment{bytes.data(), 64}};
  send({.id = 1, .opcode = Opcode::kSend, .segments = segments, .copied = true});
  bytes.fill(std::byte{9});
  pair->settle();
  EXPECT_EQ(at_b().size(), 1u);
  EXPECT_EQ(target->bytes[0], std::byte{7});
  EXPECT_EQ(target->bytes[63], std::byte{7});
}

// MSG-10
TEST_F(LayerTest, ReceivesAreTakenInOrder) {
  for (WorkId i = 0; i < 20; ++i) receive(100 + i, 1000 * i, 1000);
  Ids sent;
  for (WorkId i = 0; i < 20; ++i) {
    const std::array segments{source->at(100 * i, 100 + i)};
    sent.push_back(i);
    send({.id = i, .segments = segments});
  }
  pair->settle();
  const auto received = at_b();
  ASSERT_EQ(received.size(), 20u);
  for (WorkId i = 0; i < 20; ++i) {
    EXPECT_EQ(received[i].id, 100 + i);
    EXPECT_EQ(received[i].length, 100 + i);
    EXPECT_TRUE(same(100 * i, 1000 * i, 100 + i));
  }
  EXPECT_EQ(ids_of(at_a()), sent);
}

// ---- WRITE ----

// MSG-14
TEST_F(LayerTest, WriteGoesToMemoryAndItsImmediateToAReceive) {
  receive(11, 0, 0);
  remote_bytes(1, Opcode::kWrite, 3000);
  pair->settle();
  EXPECT_TRUE(same(0, 0, 3000));
  EXPECT_TRUE(at_b().empty());
  remote_bytes(2, Opcode::kWriteWithImmediate, 100);
  pair->settle();
  const auto received = at_b();
  ASSERT_EQ(ids_of(received), Ids{11});
  EXPECT_EQ(received[0].kind, CompletionKind::kReceivedWrite);
  EXPECT_EQ(received[0].immediate, wire::Immediate(78));
  EXPECT_EQ(received[0].length, 100u);
  EXPECT_FALSE(received[0].solicited);
  EXPECT_EQ(ids_of(at_a()), (Ids{1, 2}));
}

// MSG-18: of several pieces, the length is that of all.
TEST_F(LayerTest, WriteInPiecesHasTheLengthOfAll) {
  const std::array pieces{source->at(10000, 9000), source->at(19000, 1000)};
  receive(11, 0, 0);
  SendRequest request = remote(1, Opcode::kWriteWithImmediate, pieces);
  request.remote_address += 10000;
  send(request);
  pair->settle();
  const auto received = at_b();
  ASSERT_EQ(ids_of(received), Ids{11});
  EXPECT_EQ(received[0].length, 10000u);
  EXPECT_FALSE(received[0].solicited);
  EXPECT_TRUE(same(10000, 10000, 10000));
}

// MSG-18: the sender says whether the receiver is to be woken.
TEST_F(LayerTest, WriteThatIsSolicitedSaysSo) {
  const std::array one{source->at(0, 3000)};
  const std::array copied{source->at(3000, 100), source->at(3100, 100)};
  const std::array pieces{source->at(10000, 9000), source->at(19000, 1000)};
  const std::array<std::span<const Segment>, 4> all{one, copied, pieces,
                                                    std::span<const Segment>()};
  const std::array<std::uint32_t, 4> lengths{3000, 200, 10000, 0};
  const std::array<std::size_t, 4> offsets{0, 3000, 10000, 0};
  for (WorkId i = 0; i < 4; ++i) {
    receive(11 + i, 0, 0);
    SendRequest request = remote(i, Opcode::kWriteWithImmediate, all[i]);
    request.remote_address += offsets[i];
    request.solicited = true;
    send(request);
  }
  pair->settle();
  const auto received = at_b();
  ASSERT_EQ(ids_of(received), (Ids{11, 12, 13, 14}));
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(received[i].kind, CompletionKind::kReceivedWrite);
    EXPECT_EQ(received[i].immediate, wire::Immediate(78));
    EXPECT_EQ(received[i].length, lengths[i]);
    EXPECT_TRUE(received[i].solicited);
    EXPECT_TRUE(same(offsets[i], offsets[i], lengths[i]));
  }
  EXPECT_EQ(ids_of(at_a()), (Ids{0, 1, 2, 3}));
}

// MSG-11
TEST_F(LayerTest, WriteOfNoBytesNeedsNoKey) {
  receive(11, 0, 0);
  send({.id = 1, .opcode = Opcode::kWrite});
  send({.id = 2, .opcode = Opcode::kWriteWithImmediate, .rkey = core::kMessageKey});
  pair->settle();
  EXPECT_EQ(statuses_of(at_a()), (Statuses{kSuccess, kSuccess}));
  EXPECT_EQ(ids_of(at_b()), Ids{11});
}

// ---- READ and atomic operations ----

// MSG-32, MSG-35, MSG-36
TEST_F(LayerTest, ReadBringsTheBytes) {
  const std::array segments{source->at(10, 3), source->at(1000, 5000)};
  send(remote(1, Opcode::kRead, segments));
  pair->settle();
  const auto done = at_a();
  ASSERT_EQ(statuses_of(done), Statuses{kSuccess});
  EXPECT_EQ(done[0].opcode, Opcode::kRead);
  EXPECT_EQ(done[0].length, 5003u);
  EXPECT_TRUE(same(10, 0, 3));
  EXPECT_TRUE(same(1000, 3, 5000));
  EXPECT_TRUE(at_b().empty());
}

// MSG-37
TEST_F(LayerTest, ReadOfNoBytesNeedsNoKey) {
  send({.id = 1, .opcode = Opcode::kRead});
  pair->settle();
  EXPECT_EQ(statuses_of(at_a()), Statuses{kSuccess});
}

// MSG-30, MSG-31
TEST_F(LayerTest, ManyReadsWaitForTheirTurn) {
  for (WorkId i = 0; i < 60; ++i) remote_bytes(i, Opcode::kRead, 2000);
  pair->settle();
  EXPECT_EQ(at_a().size(), 60u);
}

// MSG-38
TEST_F(LayerTest, AtomicOperationsGiveTheOldValue) {
  std::uint64_t value = 40;
  std::memcpy(target->bytes.data(), &value, 8);
  const std::array first{source->at(0, 8)};
  const std::array second{source->at(8, 8)};
  const std::array third{source->at(16, 8)};
  SendRequest add = remote(1, Opcode::kFetchAndAdd, first);
  add.operand = 2;
  SendRequest equal = remote(2, Opcode::kCompareAndSwap, second);
  equal.operand = 42;
  equal.swap = 7;
  SendRequest different = remote(3, Opcode::kCompareAndSwap, third);
  different.operand = 42;
  different.swap = 9;
  send(add);
  send(equal);
  send(different);
  pair->settle();
  EXPECT_EQ(ids_of(at_a()), (Ids{1, 2, 3}));
  std::array<std::uint64_t, 3> old{};
  std::memcpy(old.data(), source->bytes.data(), 24);
  EXPECT_EQ(old, (std::array<std::uint64_t, 3>{40, 42, 7}));
  std::memcpy(&value, target->bytes.data(), 8);
  EXPECT_EQ(value, 7u);
}

}  // namespace
}  // namespace openmrc::messages
