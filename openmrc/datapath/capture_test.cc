// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/capture.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "openmrc/datapath/loopback.h"
#include "openmrc/datapath/test_packets.h"
#include "openmrc/wire/capture/capture_reader.h"
#include "openmrc/wire/decode.h"

namespace openmrc::datapath {
namespace {

constexpr auto kA = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 0xa});
constexpr auto kB = wire::Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 0xb});

class Capture : public ::testing::Test {
 protected:
  Capture() {
    settings_.ports = {{.interface = "eth0", .address = kA}, {.interface = "eth1", .address = kA}};
  }
  ~Capture() override { std::filesystem::remove(file_); }

  std::unique_ptr<Datapath> captured(std::uint64_t bytes_max = 1 << 20) {
    auto path =
        with_capture(network_.add({kA, kA}), settings_, {.file = file_, .bytes_max = bytes_max});
    EXPECT_TRUE(path);
    return *std::move(path);
  }
  [[nodiscard]] std::vector<std::byte> read_file() const {
    std::ifstream in(file_, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }

  std::string file_ = ::testing::TempDir() + "openmrc-capture-" + std::to_string(::getpid());
  LoopbackNetwork network_{};
  Settings settings_{};
};

TEST_F(Capture, HoldsPacketsOfIpv4) {
  constexpr wire::Ipv4Address kA4(0x0a00'0001);
  constexpr wire::Ipv4Address kB4(0x0a00'0002);
  settings_.ports = {{.interface = "eth0", .address = wire::mapped(kA4)}};
  const auto data = test_data(50);
  {
    const auto a =
        with_capture(network_.add({wire::mapped(kA4)}), settings_, {.file = file_}).value();
    const auto b = network_.add({wire::mapped(kB4)});
    auto there = test_write({}, data, 1);
    there.route = wire::Ipv4Route{.source = kA4, .destination = kB4, .ev_low = 0xc001};
    auto back = test_write({}, data, 2);
    back.route = wire::Ipv4Route{.source = kB4, .destination = kA4, .ev_low = 0xc002};
    a->send(std::array{Outgoing{.packet = &there, .plane = Plane(0)}});
    b->send(std::array{Outgoing{.packet = &back, .plane = Plane(0)}});
    EXPECT_EQ(collect(*a, 1).incoming.size(), 1u);
  }
  const auto bytes = read_file();
  auto reader = wire::CaptureReader::open(bytes);
  ASSERT_TRUE(reader);
  for (const auto& [source, psn] : {std::pair(kA4, Psn(1)), std::pair(kB4, Psn(2))}) {
    const auto frame = reader->next();
    ASSERT_TRUE(frame && *frame);
    const auto packet = wire::decode_frame((*frame)->bytes, {});
    ASSERT_TRUE(packet);  // so EtherType and ICRC are right
    EXPECT_EQ(std::get<wire::Ipv4Route>(packet->route).source, source);
    EXPECT_EQ(std::get<wire::RdmaWrite>(packet->transport.body).psn, psn);
  }
}

TEST_F(Capture, HoldsBothDirectionsByPlane) {
  const auto data = test_data(50);
  {
    const auto a = captured();
    const auto b = network_.add({kB, kB});
    const auto there = test_write({.source = kA, .destination = kB, .ev = Ev(0xc001)}, data, 1);
    const auto back = test_write({.source = kB, .destination = kA, .ev = Ev(0xc002)}, data, 2);
    a->send(std::array{Outgoing{.packet = &there, .plane = Plane(1)}});
    b->send(std::array{Outgoing{.packet = &back, .plane = Plane(0)}});
    EXPECT_EQ(collect(*a, 1).incoming.size(), 1u);
  }
  const auto bytes = read_file();
  auto reader = wire::CaptureReader::open(bytes);
  ASSERT_TRUE(reader);
  const auto sent = reader->next();
  ASSERT_TRUE(sent && *sent);
  EXPECT_EQ((*sent)->interface_name, "plane1");
  EXPECT_EQ((*sent)->comment, "sent");
  const auto sent_packet = wire::decode_frame((*sent)->bytes, {});
  ASSERT_TRUE(sent_packet);  // so its ICRC is right
  EXPECT_EQ(std::get<wire::RdmaWrite>(sent_packet->transport.body).psn, Psn(1));
  const auto received = reader->next();
  ASSERT_TRUE(received && *received);
  EXPECT_EQ((*received)->interface_name, "plane0");
  EXPECT_EQ((*received)->comment, "received");
  EXPECT_TRUE(wire::decode_frame((*received)->bytes, {}));
  const auto end = reader->next();
  ASSERT_TRUE(end);
  EXPECT_FALSE(*end);
}

TEST_F(Capture, EndsWhenItIsLongEnoughAndSaysSo) {
  const auto a = captured(1000);
  const auto data = test_data(4000);
  const auto packet = test_write({.source = kA, .destination = kB, .ev = Ev(1)}, data);
  const std::array burst{Outgoing{.packet = &packet, .plane = Plane(0)}};
  a->send(burst);
  EXPECT_EQ(collect(*a, 1, 0).incoming.size(), 0u);  // with nothing to do, it writes
  ASSERT_EQ(a->notices().size(), 1u);
  EXPECT_NE(a->notices()[0].what.find("ends"), std::string::npos);
  const auto size = std::filesystem::file_size(file_);
  a->send(burst);
  EXPECT_EQ(collect(*a, 1, 0).incoming.size(), 0u);
  EXPECT_EQ(std::filesystem::file_size(file_), size);
}

TEST_F(Capture, NamesTheFileItCannotWrite) {
  const auto path = with_capture(network_.add({kA}), settings_, {.file = "/no/such/folder/x"});
  ASSERT_FALSE(path);
  EXPECT_NE(path.error().what.find("/no/such/folder/x"), std::string::npos);
}

}  // namespace
}  // namespace openmrc::datapath
