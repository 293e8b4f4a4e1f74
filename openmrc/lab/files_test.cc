// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "openmrc/host/config.h"
#include "openmrc/lab/layout.h"
#include "openmrc/lab/test_spec.h"

namespace openmrc::lab {
namespace {

using fabric::HostIndex;

std::string text_of(const Spec& spec, const std::filesystem::path& path) {
  const std::vector<File> files = files_of(spec);
  const auto file = std::ranges::find(files, path, &File::path);
  if (file != files.end()) return file->text;
  ADD_FAILURE() << "no " << path;
  return {};
}

// The configuration of a host, as programs there read it.
host::Config config_of(const Spec& spec, HostIndex host) {
  auto config = host::parse_config(text_of(spec, config_file(spec.name, host)));
  if (config) return *std::move(config);
  for (const host::ConfigError& error : config.error()) ADD_FAILURE() << to_string(error);
  return {};
}

TEST(LabFiles, AreAllThere) {
  std::vector<std::string> paths;
  for (const File& file : files_of(small_lab())) paths.push_back(file.path);
  EXPECT_EQ(paths, (std::vector<std::string>{
                       "/run/openmrc/labs/try/lab.json", "/run/openmrc/labs/try/fabric.toml",
                       "/run/openmrc/labs/try/h0/openmrc.toml", "/etc/netns/mrc-try-h0/hosts",
                       "/run/openmrc/labs/try/h1/openmrc.toml", "/etc/netns/mrc-try-h1/hosts"}));
}

TEST(LabFiles, TheLabIsReadBackFromItsFile) {
  EXPECT_EQ(spec_from_json(text_of(small_lab(), spec_file("try"))), small_lab());
}

TEST(LabFiles, AHostKnowsItsPlaceAndItsPorts) {
  const host::Config config = config_of(small_lab(), HostIndex(1));
  EXPECT_EQ(config.name, "h1");
  EXPECT_EQ(config.mode, datapath::Mode::kSrv6);
  ASSERT_TRUE(config.fabric.has_value());
  EXPECT_EQ(config.fabric->host, HostIndex(1));
  EXPECT_EQ(config.fabric->shape.planes, 2U);
  ASSERT_EQ(config.ports.size(), 2U);
  EXPECT_EQ(config.ports[1].interface, "p1");
  EXPECT_EQ(to_string(config.ports[1].address), "fd4d:5243:0:1::1:1");
  EXPECT_EQ(config.transport.paths.evs, 2U) << "one for each way";
  EXPECT_FALSE(config.transport.congestion.trimming.value_or(false));
}

TEST(LabFiles, WhereHashingChoosesUplinksThereAreSeveralEvsForEach) {
  Spec spec = small_lab();
  spec.mode = Mode::kUdp;
  EXPECT_EQ(config_of(spec, HostIndex(1)).transport.paths.evs, 16 * spec.shape.uplinks);
}

TEST(LabFiles, ASlowLinkGetsTimesToMatch) {
  Spec spec = small_lab();
  spec.bits_per_second = 10'000'000;
  const profile::TransportProfile slow = config_of(spec, HostIndex(0)).transport;
  const profile::TransportProfile fast = config_of(small_lab(), HostIndex(0)).transport;
  EXPECT_EQ(slow.congestion.bits_per_second, 20'000'000) << "of both planes";
  EXPECT_GT(slow.congestion.base_rtt, fast.congestion.base_rtt);
  EXPECT_GT(slow.reorder_floor, slow.congestion.base_rtt);
  EXPECT_GT(slow.retry.timeout, fast.retry.timeout);
  EXPECT_EQ(slow.burst, 1U);
}

TEST(LabFiles, ASoftSwitchTrims) {
  Spec spec = small_lab();
  spec.switches = Switches::kSoft;
  EXPECT_EQ(config_of(spec, HostIndex(0)).transport.congestion.trimming, true);
}

TEST(LabFiles, PacketsFitTheMtu) {
  Spec spec = small_lab();
  spec.mtu = 1500;
  EXPECT_EQ(config_of(spec, HostIndex(0)).transport.mtu, 1024U);
  spec.mtu = kMtuMin;
  EXPECT_EQ(config_of(spec, HostIndex(0)).transport.mtu, 1024U);
}

TEST(LabFiles, HostsHaveNamesOnTheManagementNetworkAndInEachPlane) {
  EXPECT_EQ(text_of(small_lab(), hosts_file("mrc-try-h0")),
            "127.0.0.1 localhost\n::1 localhost\n"
            "fd4d:5243:ffff::1 h0\nfd4d:5243::1 h0.p0\nfd4d:5243:0:1::1 h0.p1\n"
            "fd4d:5243:ffff::2 h1\nfd4d:5243::1:1 h1.p0\nfd4d:5243:0:1::1:1 h1.p1\n");
}

}  // namespace
}  // namespace openmrc::lab
