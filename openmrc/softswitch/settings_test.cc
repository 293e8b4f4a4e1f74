// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/settings.h"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "openmrc/softswitch/switch.h"

namespace openmrc::softswitch {
namespace {

using wire::Ipv6Address;
using wire::Usid;

// Two ports, two uSIDs, two prefixes: nothing wrong with it.
SwitchSettings sound() {
  SwitchSettings settings;
  settings.ports.assign(2, QueuePolicy{});
  settings.forwarding.own = Usid(1);
  settings.forwarding.usids = {{Usid(2), PortIndex(0)}, {Usid(3), PortIndex(1)}};
  settings.forwarding.prefixes = {
      {{Ipv6Address{}, 0}, {PortIndex(0), PortIndex(1)}},
      {{Ipv6Address::of({0xfd00, 0, 0, 0, 0, 0, 0, 0}), 64}, {PortIndex(1)}}};
  return settings;
}

template <class Change>
Result<void, SwitchError> after(Change change) {
  SwitchSettings settings = sound();
  change(settings);
  const auto result = check(settings);
  EXPECT_EQ(Switch::make(settings).has_value(), result.has_value());
  return result;
}

TEST(SwitchSettings, SoundOnesPass) {
  EXPECT_TRUE(after([](SwitchSettings&) {}));
}

TEST(SwitchSettings, TheNumberOfPortsHasLimits) {
  const auto with_ports = [](std::size_t count) {
    return after([count](SwitchSettings& s) {
      s.ports.resize(count);
      s.forwarding = {};
    });
  };
  EXPECT_EQ(with_ports(0), failure(SwitchError{SwitchFault::kPorts, 0}));
  EXPECT_TRUE(with_ports(1));
  EXPECT_TRUE(with_ports(kPortsMax));
  EXPECT_EQ(with_ports(kPortsMax + 1), failure(SwitchError{SwitchFault::kPorts, kPortsMax + 1}));
}

TEST(SwitchSettings, TheNumberOfBuffersHasLimits) {
  EXPECT_EQ(after([](SwitchSettings& s) { s.buffers = 0; }),
            failure(SwitchError{SwitchFault::kBuffers, 0}));
  EXPECT_EQ(after([](SwitchSettings& s) { s.buffers = kBuffersMax + 1; }),
            failure(SwitchError{SwitchFault::kBuffers, kBuffersMax + 1}));
  EXPECT_TRUE(after([](SwitchSettings& s) { s.buffers = 1; }));
}

// WIRE-29
TEST(SwitchSettings, ClassesHaveDifferentDscps) {
  EXPECT_EQ(after([](SwitchSettings& s) { s.dscp.no_trim = s.dscp.trimmed_last_hop; }),
            failure(SwitchError{SwitchFault::kDscp, 22}));
}

TEST(SwitchSettings, AUsidLeadsToOnePortThatIsThere) {
  EXPECT_EQ(after([](SwitchSettings& s) { s.forwarding.usids[1].usid = Usid(0); }),
            failure(SwitchError{SwitchFault::kUsidZero, 1}));
  EXPECT_EQ(after([](SwitchSettings& s) { s.forwarding.usids[1].usid = Usid(2); }),
            failure(SwitchError{SwitchFault::kUsidTwice, 1}));
  EXPECT_EQ(after([](SwitchSettings& s) { s.forwarding.usids[0].port = PortIndex(2); }),
            failure(SwitchError{SwitchFault::kUsidPort, 0}));
}

TEST(SwitchSettings, APrefixIsOne) {
  EXPECT_EQ(after([](SwitchSettings& s) { s.forwarding.prefixes[1].prefix.length = 129; }),
            failure(SwitchError{SwitchFault::kPrefixLength, 1}));
  EXPECT_EQ(after([](SwitchSettings& s) { s.forwarding.prefixes[1].prefix.length = 7; }),
            failure(SwitchError{SwitchFault::kPrefixBits, 1}));
  EXPECT_TRUE(after([](SwitchSettings& s) { s.forwarding.prefixes[1].prefix.length = 8; }));
}

TEST(SwitchSettings, APrefixIsThereOnce) {
  EXPECT_EQ(
      after([](SwitchSettings& s) { s.forwarding.prefixes.push_back(s.forwarding.prefixes[0]); }),
      failure(SwitchError{SwitchFault::kPrefixTwice, 2}));
  // The same address with another length is another prefix.
  EXPECT_TRUE(after([](SwitchSettings& s) {
    s.forwarding.prefixes.push_back(s.forwarding.prefixes[1]);
    s.forwarding.prefixes[2].prefix.length = 65;
  }));
}

TEST(SwitchSettings, APrefixIsNotWithinTheBlock) {
  const auto with = [](std::uint16_t low, std::uint8_t length) {
    return after([&](SwitchSettings& s) {
      s.forwarding.prefixes[0].prefix = {Ipv6Address::of({0xfcbb, low, 0, 0, 0, 0, 0, 0}), length};
    });
  };
  EXPECT_EQ(with(0xbb00, 32), failure(SwitchError{SwitchFault::kPrefixInBlock, 0}));
  EXPECT_EQ(with(0xbb00, 48), failure(SwitchError{SwitchFault::kPrefixInBlock, 0}));
  EXPECT_TRUE(with(0xbb00, 31));
  EXPECT_TRUE(with(0xbb01, 32));
}

TEST(SwitchSettings, APrefixHasPortsThatAreThere) {
  EXPECT_EQ(after([](SwitchSettings& s) { s.forwarding.prefixes[1].ports.clear(); }),
            failure(SwitchError{SwitchFault::kPrefixNoPorts, 1}));
  EXPECT_EQ(after([](SwitchSettings& s) { s.forwarding.prefixes[0].ports[1] = PortIndex(2); }),
            failure(SwitchError{SwitchFault::kPrefixPort, 0}));
  EXPECT_EQ(after([](SwitchSettings& s) {
              s.forwarding.prefixes[0].ports.assign(kPortsMax + 1, PortIndex(0));
            }),
            failure(SwitchError{SwitchFault::kPrefixManyPorts, 0}));
}

TEST(SwitchSettings, TheNumberOfPrefixesHasALimit) {
  const auto with_prefixes = [](std::size_t count) {
    return after([count](SwitchSettings& s) {
      s.forwarding.prefixes.clear();
      for (std::size_t i = 0; i < count; ++i) {
        const auto group = static_cast<std::uint16_t>(i);
        s.forwarding.prefixes.push_back(
            {{Ipv6Address::of({0xfd00, group, 0, 0, 0, 0, 0, 0}), 32}, {PortIndex(0)}});
      }
    });
  };
  EXPECT_TRUE(with_prefixes(kPrefixesMax));
  EXPECT_EQ(with_prefixes(kPrefixesMax + 1),
            failure(SwitchError{SwitchFault::kPrefixes, kPrefixesMax + 1}));
}

TEST(SwitchSettings, EveryFaultHasATextOfItsOwn) {
  std::set<std::string_view> texts;
  const auto count = static_cast<std::size_t>(SwitchFault::kPrefixPort) + 1;
  for (std::size_t i = 0; i < count; ++i) texts.insert(describe(static_cast<SwitchFault>(i)));
  EXPECT_EQ(texts.size(), count);
  EXPECT_FALSE(texts.contains("unknown"));
}

}  // namespace
}  // namespace openmrc::softswitch
