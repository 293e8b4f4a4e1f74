// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/steering.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "openmrc/datapath/forwarding.h"
#include "openmrc/datapath/open.h"
#include "openmrc/datapath/test_packets.h"
#include "openmrc/wire/encode.h"

namespace openmrc::datapath {
namespace {

constexpr wire::Ipv6Address kHere = wire::Ipv6Address::of({0, 0, 0, 0, 0, 0, 0, 1});

wire::Packet with_body(const wire::Body& body, Ev ev = Ev(0xc001)) {
  return {.route = wire::Ipv6Route{.source = kHere, .destination = kHere, .ev = ev},
          .udp_port = test_port(),
          .transport = {.body = body}};
}
wire::Body write_to(Qpn qpn, ConstBytes data) {
  return test_write({}, data, 0, qpn).transport.body;
}

// What stands behind the UDP header.
std::vector<std::byte> datagram_of(const wire::Packet& packet) {
  std::vector<std::byte> bytes(wire::encoded_size(packet));
  wire::encode_packet(packet, {}, bytes);
  bytes.erase(bytes.begin(), bytes.begin() + kRoomInFront);
  return bytes;
}

TEST(OwnerOf, IsInTheQueuePairNumberOrTheRequestId) {
  const auto data = test_data(8);
  const auto owner = [](const wire::Body& body) { return owner_of(datagram_of(with_body(body))); };
  EXPECT_EQ(owner(write_to(Qpn(0x040005), data)), Slot(1));
  EXPECT_EQ(owner(wire::Sack{.destination_qp = Qpn(0xfc0000)}), Slot(63));
  EXPECT_EQ(owner(wire::UdSend{.destination_qp = Qpn(0x0c0005)}), Slot(3));
  EXPECT_EQ(owner(wire::EndpointResponse{.id = wire::EndpointRequestId(0x0801)}), Slot(2));
  EXPECT_EQ(owner(wire::EndpointRequest{.id = wire::EndpointRequestId(0x0801)}), std::nullopt);
}

TEST(OwnerOf, IsNobodyForWhatIsNoPacket) {
  auto bytes = datagram_of(with_body(wire::Sack{.destination_qp = Qpn(0xfc0000)}));
  EXPECT_EQ(owner_of(ConstBytes(bytes).first(11)), std::nullopt);
  EXPECT_EQ(owner_of({}), std::nullopt);
  bytes[0] = std::byte{0xc0};  // of our block, but not defined
  EXPECT_EQ(owner_of(bytes), std::nullopt);
}

TEST(EndpointRequest, IsToldFromItsResponse) {
  const auto request = datagram_of(with_body(wire::EndpointRequest{}));
  EXPECT_TRUE(is_endpoint_request(request));
  EXPECT_FALSE(is_endpoint_request(ConstBytes(request).first(11)));
  EXPECT_FALSE(is_endpoint_request(datagram_of(with_body(wire::EndpointResponse{}))));
}

// ---- Shards of one process, on the loopback interface ----

class Shards : public ::testing::Test {
 protected:
  [[nodiscard]] static std::unique_ptr<Datapath> open_shard() {
    Settings settings;
    settings.ports = {{.interface = "", .address = kHere}};
    settings.wire.udp_port = test_port();
    auto path = open(settings);
    if (path) return *std::move(path);
    ADD_FAILURE() << to_string(path.error());
    return nullptr;
  }
  // One packet to each of `slots` from each of many EVs, all different in what the kernel hashes.
  static std::size_t send_to(Datapath& from, std::span<const Slot> slots) {
    const auto data = test_data(16);
    std::size_t count = 0;
    for (std::uint32_t port = 40000; port < 40032; ++port) {
      for (const Slot slot : slots) {
        const auto packet = with_body(write_to(Qpn(first_qpn(slot).raw() + 5), data), Ev(port));
        from.send(std::array{Outgoing{.packet = &packet, .plane = Plane(0)}});
        ++count;
      }
    }
    return count;
  }
  static std::uint64_t total(std::span<const std::unique_ptr<Datapath>> shards, Count what) {
    std::uint64_t sum = 0;
    for (const auto& shard : shards) sum += shard ? shard->counters().of(what) : 0;
    return sum;
  }
  // Lets all of them work until nothing comes any more; each gets only its own.
  static std::vector<std::size_t> run(std::span<const std::unique_ptr<Datapath>> shards) {
    std::vector<std::size_t> got(shards.size());
    for (int round = 0; round < 10; ++round) {
      for (std::size_t i = 0; i < shards.size(); ++i) {
        if (!shards[i]) continue;
        for (const Incoming& incoming : collect(*shards[i], 10'000, 10).incoming) {
          ++got[i];
          if (const auto* write = std::get_if<wire::RdmaWrite>(&incoming.packet.transport.body)) {
            EXPECT_EQ(slot_of(write->destination_qp), shards[i]->slot());
          }
        }
      }
    }
    return got;
  }
};

TEST_F(Shards, GetTheirOwnPacketsFromTheKernel) {
  const std::array shards{open_shard(), open_shard(), open_shard()};
  const std::array slots{Slot(0), Slot(1), Slot(2)};
  for (std::size_t i = 0; i < 3; ++i) ASSERT_EQ(shards[i]->slot(), slots[i]);
  send_to(*shards[0], slots);
  EXPECT_EQ(run(shards), (std::vector<std::size_t>{32, 32, 32}));
  EXPECT_EQ(total(shards, Count::kForwarded), 0u);
}

TEST_F(Shards, GetAnswersToTheirRequestsFromTheKernel) {
  const std::array shards{open_shard(), open_shard()};
  for (std::uint16_t i = 0; i < 16; ++i) {
    const auto packet = with_body(wire::EndpointResponse{
        .id = wire::EndpointRequestId(static_cast<std::uint16_t>(0x0400 + i))});
    shards[0]->send(std::array{Outgoing{.packet = &packet, .plane = Plane(0)}});
  }
  EXPECT_EQ(run(shards), (std::vector<std::size_t>{0, 16}));
  EXPECT_EQ(total(shards, Count::kForwarded), 0u);
}

// When a shard leaves, the kernel numbers the others anew.
TEST_F(Shards, PassOnWhatReachesTheWrongOne) {
  std::array shards{open_shard(), open_shard(), open_shard()};
  shards[0].reset();
  send_to(*shards[1], std::array{Slot(1), Slot(2)});
  EXPECT_EQ(run(shards), (std::vector<std::size_t>{0, 32, 32}));
  EXPECT_GT(total(shards, Count::kForwarded), 0u);
  EXPECT_EQ(total(shards, Count::kForwarded), total(shards, Count::kForwardedIn));
}

TEST_F(Shards, PassOnMoreThanASocketHolds) {
  std::array shards{open_shard(), open_shard()};
  shards[0].reset();
  shards[0] = open_shard();  // slot 0 again, but now the second socket
  ASSERT_EQ(shards[0]->slot(), Slot(0));
  const auto data = test_data(16);
  std::vector<wire::Packet> packets(200, with_body(write_to(Qpn(7), data)));
  shards[1]->send(burst_of(packets));
  EXPECT_EQ(run(shards), (std::vector<std::size_t>{200, 0}));
  EXPECT_EQ(total(shards, Count::kForwardedIn), 200u);
}

TEST_F(Shards, DropWhatBelongsToNobody) {
  const std::array shards{open_shard(), open_shard()};
  const std::size_t sent = send_to(*shards[0], std::array{Slot(9)});
  EXPECT_EQ(run(shards), (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(total(shards, Count::kForwardNoOwner), sent);
}

TEST_F(Shards, AllHearOfPortsThatAreDownAndOfProbes) {
  for (const wire::EndpointOp op :
       {wire::EndpointOp::kPortStatusUpdate, wire::EndpointOp::kEvProbe}) {
    const std::array shards{open_shard(), open_shard(), open_shard()};
    const auto packet = with_body(wire::EndpointRequest{.erth = {.op = op}});
    shards[1]->send(std::array{Outgoing{.packet = &packet, .plane = Plane(0)}});
    EXPECT_EQ(run(shards), (std::vector<std::size_t>{1, 1, 1}));
    EXPECT_EQ(total(shards, Count::kRequestsCopied), 2u);
  }
}

TEST_F(Shards, SurviveNonsenseFromTheirOwnUser) {
  const std::array shards{open_shard()};
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM, 0));
  const auto to = SlotNames::of(test_port(), wire::IpVersion::kV6)->slot(Slot(0));
  ForwardRecord record{.size = 1000, .plane = Plane(0)};  // more than there is
  for (const std::size_t size : {0uz, 1uz, sizeof record - 1, sizeof record}) {
    ASSERT_GE(::sendto(socket.get(), &record, size, 0, to.get(), to.size()), 0);
  }
  record = {.size = 0, .plane = Plane(200)};
  ASSERT_GE(::sendto(socket.get(), &record, sizeof record, 0, to.get(), to.size()), 0);
  EXPECT_EQ(run(shards), (std::vector<std::size_t>{0}));
  EXPECT_EQ(total(shards, Count::kForwardRefused), 5u);
}

}  // namespace
}  // namespace openmrc::datapath
