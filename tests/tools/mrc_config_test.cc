// SPDX-License-Identifier: BSD-3-Clause
// What `mrc config init` writes is what the runtime reads.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "openmrc/host/config.h"
#include "tools/mrc/config/init.h"
#include "tools/mrc/config/interfaces.h"

namespace openmrc::tools::config {
namespace {

Interface card(const std::string& name, const std::string& address, std::uint32_t mtu) {
  return {.name = name,
          .ipv6 = address,
          .mtu = mtu,
          .bits_per_second = 25'000'000'000,
          .is_up = true,
          .has_device = true};
}

Choice ipv6(std::vector<Interface> ports) { return {wire::IpVersion::kV6, std::move(ports)}; }

Interface ipv4_card(const std::string& name, const std::string& address, std::uint32_t mtu) {
  Interface made = card(name, "", mtu);
  made.ipv4 = address;
  return made;
}

std::vector<std::string> names_of(const Result<Choice, std::string>& choice) {
  std::vector<std::string> names;
  for (const Interface& interface : choice.value().ports) names.push_back(interface.name);
  return names;
}

TEST(ConfigInit, WritesWhatTheRuntimeReads) {
  const auto config = host::parse_config(
      config_text("n17", ipv6({card("eth0", "fd00::1", 9000), card("eth1", "fd00:1::1", 1500)})));
  ASSERT_TRUE(config.has_value()) << to_string(config.error().front());
  EXPECT_EQ(config->name, "n17");
  ASSERT_EQ(config->ports.size(), 2U);
  EXPECT_EQ(config->ports[1].interface, "eth1");
  EXPECT_EQ(to_string(config->ports[1].address), "fd00:1::1");
  EXPECT_EQ(config->transport.mtu, 1024U) << "the largest that fits into 1500 bytes";
  EXPECT_EQ(config->transport.congestion.bits_per_second, 50'000'000'000);
}

TEST(ConfigInit, LeavesTheDefaultRateWhereNoDriverSaysIt) {
  Interface without = card("eth0", "fd00::1", 9000);
  without.bits_per_second.reset();
  const auto config = host::parse_config(config_text("n17", ipv6({without})));
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->transport.mtu, 4096U);
}

TEST(ConfigInit, ExplainsEveryLine) {
  const std::string text = config_text("n17", ipv6({card("eth0", "fd00::1", 9000)}));
  for (const char* key : {"name =", "mode =", "[[port]]", "mtu =", "rate ="}) {
    const std::size_t at = text.find("\n" + std::string(key));
    ASSERT_NE(at, std::string::npos) << key;
    EXPECT_EQ(text[text.rfind('\n', at - 1) + 1], '#') << "no comment above " << key;
  }
}

TEST(ChooseInterfaces, TakesCardsThatAreUpAndHaveAnAddress) {
  Interface down = card("eth2", "fd00:2::1", 1500);
  down.is_up = false;
  Interface bridge = card("br0", "fd00:3::1", 1500);
  bridge.has_device = false;
  const std::vector<Interface> here{bridge, card("eth0", "fd00::1", 1500), card("eth1", "", 1500),
                                    down};
  EXPECT_EQ(names_of(choose(here, {}, {})), (std::vector<std::string>{"eth0"}));
  EXPECT_EQ(names_of(choose({bridge}, {}, {})), (std::vector<std::string>{"br0"}))
      << "software ones if there are no others";
  EXPECT_EQ(names_of(choose(here, {"eth2", "br0"}, {})), (std::vector<std::string>{"eth2", "br0"}))
      << "what is asked for, in that order";
}

TEST(ConfigInit, WritesIpv4AddressesWhereThereAreNoOthers) {
  const std::vector<Interface> here{ipv4_card("eth0", "10.0.1.1", 1500),
                                    ipv4_card("eth1", "10.0.2.1", 9000)};
  const auto choice = choose(here, {}, {});
  ASSERT_TRUE(choice);
  const auto config = host::parse_config(config_text("n17", *choice));
  ASSERT_TRUE(config.has_value()) << to_string(config.error().front());
  EXPECT_EQ(to_string(config->ports.at(1).address), "10.0.2.1");
}

TEST(ChooseInterfaces, TakesTheIpVersionThatMoreInterfacesHave) {
  Interface both = ipv4_card("eth0", "10.0.1.1", 1500);
  both.ipv6 = "fd00::1";
  const Interface one = ipv4_card("eth1", "10.0.2.1", 1500);
  EXPECT_EQ(choose({both}, {}, {})->version, wire::IpVersion::kV6) << "of equals";
  EXPECT_EQ(choose({both, one}, {}, {})->version, wire::IpVersion::kV4);
  EXPECT_EQ(names_of(choose({both, one}, {}, {})), (std::vector<std::string>{"eth0", "eth1"}));
  EXPECT_EQ(names_of(choose({both, one}, {}, wire::IpVersion::kV6)),
            (std::vector<std::string>{"eth0"}));
  EXPECT_EQ(choose({both, one}, {"eth1"}, {})->version, wire::IpVersion::kV4);
}

TEST(ChooseInterfaces, SaysWhatIsMissing) {
  const std::vector<Interface> here{card("eth0", "", 1500)};
  const auto error = [&](const std::vector<std::string>& wanted, wire::IpVersion version) {
    return choose(here, wanted, version).error();
  };
  EXPECT_EQ(error({"eth7"}, wire::IpVersion::kV6), "no interface 'eth7'; there are: eth0");
  EXPECT_EQ(
      error({"eth0"}, wire::IpVersion::kV6),
      "eth0 has no IPv6 address that others can reach: ip -6 address add ADDRESS/64 dev eth0");
  EXPECT_EQ(error({"eth0"}, wire::IpVersion::kV4),
            "eth0 has no IPv4 address that others can reach: ip address add ADDRESS/24 dev eth0");
  EXPECT_EQ(error({}, wire::IpVersion::kV4),
            "no interface is up and has an IPv4 address that others can reach; there are: eth0");
  EXPECT_EQ(choose(here, {}, {}).error(),
            "no interface is up and has an IP address that others can reach; there are: eth0");
  EXPECT_EQ(choose(here, {"eth7"}, {}).error(), "no interface 'eth7'; there are: eth0");
}

}  // namespace
}  // namespace openmrc::tools::config
