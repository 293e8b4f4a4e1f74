// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "openmrc/messages/test_fixture.h"

namespace openmrc::messages {
namespace {

using namespace test;
using enum Status;

class ErrorsTest : public LayerTest {
 protected:
  [[nodiscard]] static bool has(const std::vector<Event>& events, EventKind kind) {
    return std::ranges::any_of(events, [&](const Event& event) { return event.kind == kind; });
  }
  void expect_error(Side& side) {
    EXPECT_EQ(side.endpoint.state(side.qpns[0]), core::QueuePairState::kError);
  }
  // A good WRITE, then `bad`, then another: the first succeeds, the last is flushed.
  void expect_fails(const SendRequest& bad, Status status, std::optional<EventKind> at_responder) {
    remote_bytes(1, Opcode::kWrite, 100);
    send(bad);
    remote_bytes(3, Opcode::kWrite, 100);
    pair->settle();
    const auto done = at_a();
    EXPECT_EQ(ids_of(done), (Ids{1, bad.id, 3}));
    EXPECT_EQ(statuses_of(done), (Statuses{kSuccess, status, kFlushed}));
    expect_error(pair->a());
    EXPECT_TRUE(has(pair->events(pair->a()), EventKind::kFailed));
    if (!at_responder) return;
    expect_error(pair->b());
    EXPECT_TRUE(has(pair->events(pair->b()), *at_responder));
  }
  [[nodiscard]] std::array<Segment, 1> some(std::size_t length) { return {source->at(0, length)}; }
};

constexpr std::array kRemote{Opcode::kWrite, Opcode::kRead, Opcode::kCompareAndSwap,
                             Opcode::kFetchAndAdd};

// ---- the peer refuses ----

// MSG-37, MSG-38, MSG-42
TEST_F(ErrorsTest, UnknownKeyIsARemoteAccessError) {
  for (const Opcode opcode : kRemote) {
    start({});
    const auto segments = some(8);
    SendRequest bad = remote(2, opcode, segments);
    bad.rkey = RKey(target->key.raw() + 0x100);
    expect_fails(bad, kRemoteAccess, EventKind::kAccessRefused);
  }
}

// MSG-37, MSG-38
TEST_F(ErrorsTest, OtherDomainIsARemoteAccessError) {
  for (const Opcode opcode : kRemote) {
    start({});
    const auto other = pair->memory(pair->b(), 4096, [&](core::MemoryRegion& region) {
      region.domain = pair->b().endpoint.create_protection_domain();
    });
    const auto segments = some(8);
    SendRequest bad = remote(2, opcode, segments);
    bad.rkey = other->key;
    bad.remote_address = other->address;
    expect_fails(bad, kRemoteAccess, EventKind::kAccessRefused);
  }
}

// MSG-5, MSG-37, MSG-38
TEST_F(ErrorsTest, RegionWithoutTheRightIsARemoteAccessError) {
  for (const Opcode opcode : kRemote) {
    start({});
    const auto other = pair->memory(pair->b(), 4096, [&](core::MemoryRegion& region) {
      region.remote_write = opcode != Opcode::kWrite;
      region.remote_read = opcode != Opcode::kRead;
      region.remote_atomic = opcode == Opcode::kWrite || opcode == Opcode::kRead;
    });
    const auto segments = some(8);
    SendRequest bad = remote(2, opcode, segments);
    bad.rkey = other->key;
    bad.remote_address = other->address;
    expect_fails(bad, kRemoteAccess, EventKind::kAccessRefused);
  }
}

// MSG-37, MSG-38
TEST_F(ErrorsTest, BeyondTheRegionIsARemoteAccessError) {
  for (const Opcode opcode : kRemote) {
    start({});
    const auto segments = some(16);
    SendRequest bad = remote(2, opcode, segments);
    bad.remote_address = target->address + kSize - (opcode == Opcode::kWrite ? 8 : 0);
    expect_fails(bad, kRemoteAccess, EventKind::kAccessRefused);
  }
}

// MSG-5, MSG-37, MSG-38
TEST_F(ErrorsTest, QueuePairWithoutTheRightIsARemoteAccessError) {
  for (const Opcode opcode : {Opcode::kRead, Opcode::kFetchAndAdd}) {
    PairOptions options{};
    options.b.access.remote_read = opcode != Opcode::kRead;
    options.b.access.remote_atomic = opcode != Opcode::kFetchAndAdd;
    start(options);
    const auto segments = some(8);
    expect_fails(remote(2, opcode, segments), kRemoteAccess, EventKind::kAccessRefused);
  }
  PairOptions options{};
  options.b.remote_write = false;
  start(options);
  receive(11, 0, 100);
  send_bytes(1, 100);
  remote_bytes(2, Opcode::kRead, 100);
  remote_bytes(3, Opcode::kWrite, 100);
  pair->settle();
  EXPECT_EQ(statuses_of(at_a()), (Statuses{kSuccess, kSuccess, kRemoteAccess}));
}

// MSG-38
TEST_F(ErrorsTest, UnalignedAtomicOperationIsAnInvalidRequest) {
  const auto segments = some(8);
  SendRequest bad = remote(2, Opcode::kFetchAndAdd, segments);
  bad.remote_address += 4;
  expect_fails(bad, kRemoteInvalidRequest, EventKind::kRequestRefused);
}

// MSG-33
TEST_F(ErrorsTest, ReadWhereNoneIsTakenIsAnInvalidRequest) {
  PairOptions options{};
  options.b.responder.depth = 0;
  start(options);
  const auto segments = some(8);
  expect_fails(remote(2, Opcode::kRead, segments), kRemoteInvalidRequest,
               EventKind::kRequestRefused);
}

// MSG-42
TEST_F(ErrorsTest, SendThatIsTooLongFailsAtBothEnds) {
  receive(11, 2000, 999);
  receive(12, 0, 2000);
  const auto segments = some(1000);
  expect_fails({.id = 2, .opcode = Opcode::kSend, .segments = segments}, kRemoteInvalidRequest,
               EventKind::kRequestRefused);
  const auto received = at_b();
  EXPECT_EQ(ids_of(received), (Ids{11, 12}));
  EXPECT_EQ(statuses_of(received), (Statuses{kLocalLength, kFlushed}));
  EXPECT_FALSE(same(0, 2000, 8)) << "nothing of a packet that does not fit is placed";
}

// MSG-42
TEST_F(ErrorsTest, ReceiveWithAWrongKeyFailsAtBothEnds) {
  const std::array segments{target->at(0, 1000)};
  pair->receive(pair->b(), 11, segments, false);
  const auto from = some(10);
  expect_fails({.id = 2, .opcode = Opcode::kSend, .segments = from}, kRemoteOperation,
               std::nullopt);
  EXPECT_EQ(statuses_of(at_b()), Statuses{kLocalProtection});
}

// MSG-13, MSG-50: whatever a peer writes to the key, its own queue pair is all that it can end.
TEST_F(ErrorsTest, NonsenseIsRefused) {
  Rng rng(7);
  std::array<std::byte, 64> bytes{};
  std::size_t refused = 0;
  for (int i = 0; i < 300; ++i) {
    start({});
    receive(11, 0, 32);
    pair->settle();
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng.next());
    const Name name{.kind = static_cast<Kind>(rng.below(16)),
                    .sequence = Sequence(static_cast<std::uint32_t>(rng.below(3))),
                    .offset = static_cast<std::uint32_t>(rng.below(2) * rng.next())};
    const bool has_immediate = rng.below(2) == 0;
    (void)pair->a().endpoint.post_write(
        pair->a().qpns[0], pair->now(),
        {.id = 1,
         .data = wire::Payload::of_bytes(ConstBytes(bytes).first(rng.below(65))),
         .remote_address = name.address(),
         .rkey = core::kMessageKey,
         .immediate = has_immediate ? std::optional(wire::Immediate(1)) : std::nullopt});
    pair->settle();
    const bool failed = pair->b().endpoint.state(pair->b().qpns[0]) == core::QueuePairState::kError;
    const bool is_known = name.kind >= Kind::kSend && name.kind <= Kind::kAsk;
    EXPECT_TRUE(failed || is_known || !has_immediate) << static_cast<int>(name.kind);
    refused += failed ? 1 : 0;
  }
  EXPECT_GT(refused, 150u);
}

// ---- the fault is here ----

// MSG-41
TEST_F(ErrorsTest, LocalFaultsEndTheQueuePairInTheirTurn) {
  const auto segments = some(8);
  const auto four = some(4);
  SendRequest wrong_key = remote(2, Opcode::kRead, segments);
  wrong_key.keys_ok = false;
  expect_fails(wrong_key, kLocalProtection, std::nullopt);
  start({});
  expect_fails(remote(2, Opcode::kFetchAndAdd, four), kLocalLength, std::nullopt);
  start({});
  SendRequest wraps = remote(2, Opcode::kWrite, segments);
  wraps.remote_address = ~std::uint64_t{0} - 3;
  expect_fails(wraps, kRemoteAccess, std::nullopt);
  start({});
  SendRequest reserved = remote(2, Opcode::kWrite, segments);
  reserved.rkey = core::kMessageKey;
  reserved.remote_address = Name{.kind = Kind::kCredit}.address();
  expect_fails(reserved, kRemoteAccess, std::nullopt);
  PairOptions options{};
  options.a.requester.depth = 0;
  start(options);
  expect_fails(remote(2, Opcode::kRead, segments), kLocalOperation, std::nullopt);
}

// MSG-43
TEST_F(ErrorsTest, SilentPeerEndsEverything) {
  for (const Opcode opcode : {Opcode::kWrite, Opcode::kRead}) {
    PairOptions options{};
    options.exponential_retries = 3;
    start(options);
    pair->weather.cut = true;
    remote_bytes(1, opcode, 100);
    remote_bytes(2, Opcode::kWrite, 100);
    pair->run_for(seconds(1));
    EXPECT_EQ(statuses_of(at_a()), (Statuses{kRetryExceeded, kFlushed}));
  }
}

// MSG-43
TEST_F(ErrorsTest, ToErrorFlushesInOrderAndSoWhatIsPostedAfterwards) {
  receive(11, 0, 10);
  pair->weather.cut = true;
  for (WorkId i = 1; i <= 3; ++i) remote_bytes(i, Opcode::kWrite, 100);
  remote_bytes(4, Opcode::kRead, 100);
  pair->run_for(microseconds(10));
  EXPECT_TRUE(pair->a().layer.to_error(pair->a().qpns[0], pair->now()));
  EXPECT_TRUE(pair->b().layer.to_error(pair->b().qpns[0], pair->now()));
  remote_bytes(5, Opcode::kWrite, 100);
  receive(12, 0, 10);
  pair->settle();
  const auto done = at_a();
  EXPECT_EQ(ids_of(done), (Ids{1, 2, 3, 4, 5}));
  EXPECT_EQ(statuses_of(done), Statuses(5, kFlushed));
  EXPECT_EQ(ids_of(at_b()), (Ids{11, 12}));
}

// MSG-39
TEST_F(ErrorsTest, MemoryThatIsBeingReadCannotGoWithoutNotice) {
  remote_bytes(1, Opcode::kRead, 60000);
  pair->run_for(microseconds(6));
  Layer& layer = pair->b().layer;
  EXPECT_TRUE(layer.deregister_memory(target->key));
  EXPECT_TRUE(layer.is_read_from(target->key));
  layer.fail_readers(pair->now(), target->key);
  EXPECT_FALSE(layer.is_read_from(target->key));
  target->bytes = {};
  pair->settle();
  EXPECT_EQ(at_a().size(), 1u);
  expect_error(pair->b());
}

// MSG-39: UCX deregisters memory as soon as the peer says that it has read it.
TEST_F(ErrorsTest, MemoryThatIsBeingReadMayBeWaitedFor) {
  remote_bytes(1, Opcode::kRead, 60000);
  pair->run_for(microseconds(6));
  Layer& layer = pair->b().layer;
  EXPECT_TRUE(layer.deregister_memory(target->key));
  pair->settle();
  EXPECT_EQ(statuses_of(at_a()), Statuses{kSuccess});
  EXPECT_FALSE(layer.is_read_from(target->key));
  layer.fail_readers(pair->now(), target->key);
  EXPECT_EQ(layer.state(pair->b().qpns[0]), core::QueuePairState::kReadyToSend);
  // What is asked for from now on is refused.
  remote_bytes(2, Opcode::kRead, 10);
  pair->settle();
  EXPECT_EQ(statuses_of(at_a()), Statuses{kRemoteAccess});
}

// ---- receiver not ready ----

// MSG-12, MSG-20, MSG-21, MSG-24, MSG-26
TEST_F(ErrorsTest, SendWaitsForAReceiveForEver) {
  send_bytes(1, 3000);
  remote_bytes(2, Opcode::kWrite, 10);
  const std::uint64_t before = pair->packets_sent;
  pair->run_for(seconds(2));
  EXPECT_LT(pair->packets_sent - before, 500u) << "it waits and does not hammer";
  EXPECT_TRUE(at_a().empty());
  receive(11, 0, 3000);
  pair->run_for(microseconds(100));
  EXPECT_EQ(ids_of(at_a()), (Ids{1, 2}));
  EXPECT_EQ(ids_of(at_b()), Ids{11});
  EXPECT_TRUE(same(0, 0, 10));
}

// MSG-25
TEST_F(ErrorsTest, SendWaitsForAReceiveAsOftenAsItMay) {
  for (const std::uint8_t retries : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{6}}) {
    PairOptions options{};
    options.a.requester.rnr_retry = retries;
    options.b.responder.rnr_timer = 20;  // 10.24 ms
    start(options);
    send_bytes(1, 100);
    remote_bytes(2, Opcode::kWrite, 10);
    pair->run_for(microseconds(10240) * (retries + 1) - microseconds(100));
    EXPECT_TRUE(at_a().empty());
    pair->run_for(seconds(2));
    EXPECT_EQ(statuses_of(at_a()), (Statuses{kRnrRetryExceeded, kFlushed}));
    expect_error(pair->a());
    EXPECT_EQ(pair->b().endpoint.state(pair->b().qpns[0]), core::QueuePairState::kReadyToSend);
  }
}

// MSG-26
TEST_F(ErrorsTest, SendThatWaitsForEverNoticesThatItsPeerIsGone) {
  PairOptions options{};
  options.exponential_retries = 3;
  start(options);
  send_bytes(1, 100);
  pair->run_for(milliseconds(10));
  pair->weather.cut = true;
  pair->run_for(seconds(2));
  EXPECT_EQ(statuses_of(at_a()), Statuses{kRetryExceeded});
}

// MSG-27: who only receives needs no more than RTR, as servers of perftest do.
TEST_F(ErrorsTest, PeerThatStaysInReadyToRecvAnswers) {
  PairOptions options{};
  options.b.ready_to_send = false;
  start(options);
  const Qpn qpn = pair->b().qpns[0];
  receive(11, 0, 100);
  send_bytes(1, 100);
  remote_bytes(2, Opcode::kRead, 10);
  pair->settle();
  EXPECT_EQ(statuses_of(at_a()), (Statuses{kSuccess, kSuccess}));
  EXPECT_EQ(ids_of(at_b()), Ids{11});
  // For its owner it is where it was.
  EXPECT_EQ(pair->b().layer.state(qpn), core::QueuePairState::kReadyToRecv);
  EXPECT_EQ(pair->b().layer.post_send(qpn, {.id = 3}).error(), PostError::kState);
  EXPECT_TRUE(pair->to_ready_to_send(1, qpn));
  EXPECT_EQ(pair->b().layer.state(qpn), core::QueuePairState::kReadyToSend);
  const std::array segments{target->at(0, 10)};
  pair->receive(pair->a(), 21, std::array{source->at(0, 10)});
  pair->send(pair->b(), {.id = 4, .segments = segments});
  pair->settle();
  EXPECT_EQ(ids_of(at_b()), Ids{4});
}

// MSG-27: two that do not agree cannot be connected.
TEST_F(ErrorsTest, PeerThatAnswersHasThePsnThatIsExpected) {
  PairOptions options{};
  options.b.ready_to_send = false;
  start(options);
  send_bytes(1, 100);
  pair->settle();
  Side& b = pair->b();
  const auto other = b.layer.to_ready_to_send(b.qpns[0], pair->now(), {.first_psn = Psn(77)}, {});
  EXPECT_EQ(other.error(), core::ModifyError::kTransition);
}

// MSG-26, MSG-27
TEST_F(ErrorsTest, PeerThatDiesBeforeItsFirstCreditIsNoticed) {
  for (const Opcode opcode : {Opcode::kSend, Opcode::kRead}) {
    PairOptions options{};
    options.exponential_retries = 3;
    options.b.ready_to_send = false;
    start(options);
    pair->weather.cut = true;
    remote_bytes(1, opcode, 100);
    pair->run_for(seconds(2));
    EXPECT_EQ(statuses_of(at_a()), Statuses{kRetryExceeded});
  }
}

// MSG-26: the request was acknowledged, and then nothing comes any more.
TEST_F(ErrorsTest, PeerThatDiesBeforeItsResponseIsNoticed) {
  PairOptions options{};
  options.exponential_retries = 3;
  start(options);
  pair->loses_writes_to[0] = 0;
  remote_bytes(1, Opcode::kRead, 100);
  pair->run_for(seconds(2));
  // The peer found A silent, and says that it has failed.
  EXPECT_EQ(statuses_of(at_a()), Statuses{kRemoteOperation});
}

}  // namespace
}  // namespace openmrc::messages
