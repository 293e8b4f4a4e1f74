// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/responder/responder.h"

#include <gtest/gtest.h>

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/responder_requests.h"
#include "tests/support/scripted_peer.h"

namespace openmrc::core {
namespace {

using test::acknowledgements;
using test::kMtu;
using test::ScriptedPeer;
using test::statuses_of;
using wire::MessagePart;

struct AccessCase {
  const char* name;
  std::function<void(ScriptedPeer&, wire::RdmaWrite&)> spoil;
};
// NOLINTNEXTLINE(readability-identifier-naming): the name that GoogleTest looks for.
void PrintTo(const AccessCase& access, std::ostream* out) { *out << access.name; }

class ResponderAccess : public testing::TestWithParam<AccessCase> {};

// MRC 6.3 (QP-32, QP-33, QP-36, QP-37, REL-9)
TEST_P(ResponderAccess, IsRefusedAndTheMemoryStaysAsItWas) {
  ScriptedPeer peer;
  ASSERT_TRUE(peer.endpoint().post_receive(peer.qpn(), 5));
  wire::RdmaWrite write = peer.write(0);
  GetParam().spoil(peer, write);
  peer.deliver(write);
  EXPECT_TRUE(peer.memory_is_untouched());
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  const auto sent = acknowledgements(peer);
  ASSERT_EQ(sent.size(), 1U);
  EXPECT_EQ(sent[0].aeth.syndrome, wire::AckSyndrome::kNakRemoteAccess);
  EXPECT_EQ(sent[0].aeth.msn, AckMsn(0));
  EXPECT_EQ(sent[0].psn, write.psn);
  EXPECT_EQ(peer.count(Count::kNaksSent), 1U);
  EXPECT_EQ(statuses_of(peer.completions()), std::vector{WorkStatus::kFlushed});
}

// MRC 6.1 (QP-32)
TEST_P(ResponderAccess, IsRefusedByAQueuePairThatOnlyReceives) {
  ScriptedPeer peer({.state = QueuePairState::kReadyToRecv});
  wire::RdmaWrite write = peer.write(0);
  GetParam().spoil(peer, write);
  peer.deliver(write);
  EXPECT_TRUE(peer.memory_is_untouched());
  EXPECT_EQ(peer.state(), QueuePairState::kError);
  EXPECT_EQ(acknowledgements(peer).at(0).aeth.syndrome, wire::AckSyndrome::kNakRemoteAccess);
}

constexpr std::uint64_t kEnd = ScriptedPeer::kMemoryAddress + ScriptedPeer::kMemorySize;

// A key of the same bytes under other terms.
RKey other_key(ScriptedPeer& peer, ProtectionDomain domain, bool writable) {
  return *peer.endpoint().register_memory({.domain = domain,
                                           .address = ScriptedPeer::kMemoryAddress,
                                           .length = ScriptedPeer::kMemorySize,
                                           .bytes = const_cast<std::byte*>(peer.memory().data()),
                                           .remote_write = writable});
}

INSTANTIATE_TEST_SUITE_P(
    Every, ResponderAccess,
    testing::Values(AccessCase{"WrongKey",
                               [](ScriptedPeer& peer, wire::RdmaWrite& write) {
                                 write.reth.rkey = RKey(peer.rkey().raw() ^ 1);
                               }},
                    AccessCase{
                        "KeyZero",
                        [](ScriptedPeer&, wire::RdmaWrite& write) { write.reth.rkey = RKey(0); }},
                    AccessCase{"KeyOfAllOnes",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.rkey = RKey(RKey::kMax);
                               }},
                    AccessCase{"KeyThatIsGone",
                               [](ScriptedPeer& peer, wire::RdmaWrite& write) {
                                 write.reth.rkey = other_key(peer, peer.domain(), true);
                                 peer.endpoint().deregister_memory(write.reth.rkey);
                                 (void)other_key(peer, peer.domain(), true);
                               }},
                    AccessCase{"OtherDomain",
                               [](ScriptedPeer& peer, wire::RdmaWrite& write) {
                                 const auto domain = peer.endpoint().create_protection_domain();
                                 write.reth.rkey = other_key(peer, domain, true);
                               }},
                    AccessCase{"ReadOnly",
                               [](ScriptedPeer& peer, wire::RdmaWrite& write) {
                                 write.reth.rkey = other_key(peer, peer.domain(), false);
                               }},
                    AccessCase{"BelowTheRegion",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.virtual_address = ScriptedPeer::kMemoryAddress - 1;
                               }},
                    AccessCase{"AcrossTheEnd",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.virtual_address = kEnd - kMtu + 1;
                               }},
                    AccessCase{"BehindTheEnd",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.virtual_address = kEnd;
                               }},
                    AccessCase{"MessageThatBeganBelowTheRegion",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.part = MessagePart::last();
                                 write.reth.dma_length = 2 * kMtu;
                               }},
                    AccessCase{"AddressThatWraps",
                               [](ScriptedPeer&, wire::RdmaWrite& write) {
                                 write.reth.virtual_address = ~std::uint64_t{0} - 5;
                               }}),
    [](const auto& of) { return std::string(of.param.name); });

// MRC 6.3
TEST(Responder, PlacesUpToTheLastByteOfTheRegion) {
  ScriptedPeer peer;
  wire::RdmaWrite write = peer.write(0);
  write.reth.virtual_address = kEnd - kMtu;
  peer.deliver(write);
  EXPECT_EQ(peer.state(), QueuePairState::kReadyToSend);
  EXPECT_EQ(peer.memory().back(), ScriptedPeer::kWritten);
}

// MRC 6.3 (QP-38)
TEST(Responder, ReportsWhatItRefusedToTheOnesWhoWatch) {
  ScriptedPeer peer;
  peer.deliver(peer.write(0));
  wire::RdmaWrite write = peer.write(3);
  write.reth.rkey = RKey(0);
  peer.deliver(write);
  const auto failure = peer.failure();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->qpn, peer.qpn());
  EXPECT_EQ(failure->psn, write.psn) << "the request that failed";
  EXPECT_TRUE(failure->by_us);
  EXPECT_FALSE(failure->by_peer);
}

}  // namespace
}  // namespace openmrc::core
