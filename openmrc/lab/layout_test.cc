// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/layout.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "openmrc/lab/test_spec.h"

namespace openmrc::lab {
namespace {

using fabric::HostIndex;
using fabric::LinkId;
using fabric::SwitchId;
using fabric::Tier;

std::vector<std::string> names_of(const std::vector<LinkId>& links) {
  std::vector<std::string> names;
  for (const LinkId& link : links) names.push_back(name_of(link));
  return names;
}

std::vector<std::string> links_named(const std::string& element) {
  const auto fabric = small_lab().fabric();
  return names_of(links_of(fabric, fabric::parse_element(fabric, element).value()));
}

TEST(LabLayout, NamespacesCarryTheNamesOfTheFabric) {
  EXPECT_EQ(space_of("try", HostIndex(1)), "mrc-try-h1");
  EXPECT_EQ(space_of("try", SwitchId{Plane(1), Tier::kT0, 0}), "mrc-try-p1.t0-0");
  EXPECT_EQ(management_space("try"), "mrc-try-mgmt");
}

TEST(LabLayout, ACableOfAHost) {
  const Cable cable = cable_of(small_lab(), {LinkId::Kind::kHost, Plane(1), 1, 0});
  EXPECT_EQ(cable.t0.space, "mrc-try-p1.t0-1");
  EXPECT_EQ(cable.t0.interface, "down0");
  EXPECT_EQ(cable.far.space, "mrc-try-h1");
  EXPECT_EQ(cable.far.interface, "p1");
  EXPECT_EQ(&cable.upper(), &cable.t0);
  EXPECT_EQ(&cable.lower(), &cable.far);
}

TEST(LabLayout, ACableBetweenSwitches) {
  const Cable cable = cable_of(small_lab(), {LinkId::Kind::kUplink, Plane(0), 1, 0});
  EXPECT_EQ(cable.t0.space, "mrc-try-p0.t0-1");
  EXPECT_EQ(cable.t0.interface, "up0");
  EXPECT_EQ(cable.far.space, "mrc-try-p0.t1-0");
  EXPECT_EQ(cable.far.interface, "down1");
  EXPECT_EQ(&cable.upper(), &cable.far);
}

TEST(LabLayout, NoTwoEndsAreTheSame) {
  const Spec spec = small_lab();
  std::set<std::tuple<std::string, std::string>> interfaces;
  std::set<std::string> macs;
  for (const LinkId& link : all_links(spec.fabric())) {
    const Cable cable = cable_of(spec, link);
    for (const End& end : {cable.t0, cable.far}) {
      EXPECT_TRUE(interfaces.emplace(end.space, end.interface).second) << end.interface;
      EXPECT_TRUE(macs.insert(end.mac).second) << end.mac;
    }
    EXPECT_NE(cable.t0.index, cable.far.index) << "a lost carrier would be reported late";
  }
  EXPECT_EQ(interfaces.size(), 2U * (2 * 2 + 2 * 2));
}

TEST(LabLayout, AllPartsOfAFabricAreFound) {
  std::vector<std::string> switches;
  for (const SwitchId& id : all_switches(small_lab().fabric())) switches.push_back(name_of(id));
  EXPECT_EQ(switches, (std::vector<std::string>{"p0.t0-0", "p0.t0-1", "p0.t1-0", "p1.t0-0",
                                                "p1.t0-1", "p1.t1-0"}));
  EXPECT_EQ(all_links(small_lab().fabric()).size(), 8U);
}

TEST(LabLayout, LinksFailWithWhatTheyAreConnectedTo) {
  EXPECT_EQ(links_named("h1"), (std::vector<std::string>{"p0.t0-1/down0", "p1.t0-1/down0"}));
  EXPECT_EQ(links_named("p1"), (std::vector<std::string>{"p1.t0-0/down0", "p1.t0-0/up0",
                                                         "p1.t0-1/down0", "p1.t0-1/up0"}));
  EXPECT_EQ(links_named("p0.t0-1"), (std::vector<std::string>{"p0.t0-1/down0", "p0.t0-1/up0"}));
  EXPECT_EQ(links_named("p0.t1-0"), (std::vector<std::string>{"p0.t0-0/up0", "p0.t0-1/up0"}));
  EXPECT_EQ(links_named("h0/p1"), std::vector<std::string>{"p1.t0-0/down0"});
}

TEST(LabLayout, ManagementAddressesCountHostsFromOne) {
  EXPECT_EQ(management_ipv6_address(HostIndex(0)), "fd4d:5243:ffff::1");
  EXPECT_EQ(management_ipv6_address(HostIndex(15)), "fd4d:5243:ffff::10");
  EXPECT_EQ(management_ipv4_address(HostIndex(0)), "10.255.0.1");
  EXPECT_EQ(management_ipv4_address(HostIndex(255)), "10.255.1.0");
}

TEST(LabLayout, DataAddressesSayPlaneRackAndHost) {
  Spec spec = small_lab(2);
  EXPECT_EQ(to_string(data_address(spec, HostIndex(3), Plane(1))), "fd4d:5243:0:1::1:2");
  EXPECT_EQ(management_address(spec, HostIndex(0)), "fd4d:5243:ffff::1");
  spec.ip = wire::IpVersion::kV4;
  EXPECT_EQ(to_string(data_address(spec, HostIndex(3), Plane(1))), "10.1.1.2");
  EXPECT_EQ(management_address(spec, HostIndex(0)), "10.255.0.1");
}

TEST(LabLayout, FilesOfALabAreInItsFolder) {
  EXPECT_EQ(spec_file("try"), "/run/openmrc/labs/try/lab.json");
  EXPECT_EQ(config_file("try", HostIndex(1)), "/run/openmrc/labs/try/h1/openmrc.toml");
  EXPECT_EQ(hosts_file("mrc-try-h1"), "/etc/netns/mrc-try-h1/hosts");
}

}  // namespace
}  // namespace openmrc::lab
