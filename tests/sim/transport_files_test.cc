// SPDX-License-Identifier: BSD-3-Clause
// Every key of [transport] means the same in a host's openmrc.toml and in a scenario.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "openmrc/host/config.h"
#include "openmrc/profile/transport_fields.h"
#include "openmrc/sim/scenario/scenario.h"

namespace openmrc {
namespace {

using profile::TransportProfile;

constexpr std::string_view kScenario =
    "[fabric]\nplanes = 1\nracks = 2\nhosts_per_rack = 2\nuplinks = 4\n"
    "[workload]\nkind = 'permutation'\nbytes = '1 MiB'\n[transport]\nkind = 'mrc'\n";
constexpr std::string_view kHost = "[[port]]\naddress = 'fd00::1'\n[transport]\n";

Result<TransportProfile, std::string> of_scenario(std::string_view lines) {
  const auto no_files = [](const std::string&) -> Result<std::string, std::string> {
    return failure(std::string("no files"));
  };
  const auto scenario =
      sim::parse_scenario(fmt::format("{}{}", kScenario, lines), "test", no_files);
  if (!scenario) return failure(text::to_string(scenario.error()));
  return std::get<sim::MrcTransport>(scenario->transport).profile;
}

Result<TransportProfile, std::string> of_host(std::string_view lines) {
  const auto config = host::parse_config(fmt::format("{}{}", kHost, lines));
  if (!config) return failure(text::to_string(config.error()));
  return config->transport;
}

// A value for the key that differs from the preset's, as lines of a file.
std::string lines_for(const text::Field& field) {
  const std::uint64_t other = field.get() == field.least ? field.least + 1 : field.least;
  std::string lines =
      fmt::format("preset = 'nic'\n{} = {}\n", field.name, value_text(field, other));
  if (field.name != "evs" && field.name != "min_active") lines += "evs = 8\n";
  if (field.name == "evs") lines += "min_active = 0\n";
  if (field.name == "window") lines += "mtu = 16\ncongestion = 'fixed'\n";
  return lines;
}

TEST(TransportFiles, EveryKeyMeansTheSameInBoth) {
  TransportProfile nic = preset(profile::Preset::kNic);
  for (const text::Field& field : transport_fields(nic)) {
    const std::string lines = lines_for(field);
    SCOPED_TRACE(lines);
    const auto host = of_host(lines);
    const auto scenario = of_scenario(lines);
    ASSERT_TRUE(host) << host.error();
    ASSERT_TRUE(scenario) << scenario.error();
    EXPECT_TRUE(*host == *scenario);
    EXPECT_FALSE(*host == preset(profile::Preset::kNic)) << "the key changes something";
  }
}

TEST(TransportFiles, APresetMeansTheSameInBoth) {
  for (const std::string_view name : {"nic", "software"}) {
    const std::string lines = fmt::format("preset = '{}'\nevs = 8\n", name);
    EXPECT_TRUE(*of_host(lines) == *of_scenario(lines)) << name;
  }
}

}  // namespace
}  // namespace openmrc
