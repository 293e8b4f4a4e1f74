// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

namespace openmrc::host {
namespace {

constexpr std::string_view kUdp = R"(
[[port]]
interface = "p0"
address = "fd00::1"
[[port]]
interface = "p1"
address = "fd00:1::1"
)";

constexpr std::string_view kFabric = R"(
[fabric]
planes = 4
racks = 2
hosts_per_rack = 2
uplinks = 2
host = "h3"
[[port]]
interface = "p0"
[[port]]
interface = "p1"
[[port]]
interface = "p2"
[[port]]
interface = "p3"
)";

profile::TransportProfile software_with_evs(std::uint32_t evs) {
  profile::TransportProfile transport = profile::preset(profile::Preset::kSoftware);
  transport.paths.evs = evs;
  return transport;
}

std::string with(std::string_view before, std::string_view rest) {
  return std::string(before) + std::string(rest);
}

// What is wrong, one in a line.
std::string faults_of(std::string_view text) {
  const auto config = parse_config(text);
  if (config) return "";
  std::string all;
  for (const ConfigError& error : config.error()) all += to_string(error) + "\n";
  return all;
}

TEST(Config, OfTwoPortsIsUdpWithDefaults) {
  const auto config = parse_config(kUdp);
  ASSERT_TRUE(config) << faults_of(kUdp);
  EXPECT_EQ(config->mode, datapath::Mode::kUdp);
  ASSERT_EQ(config->ports.size(), 2u);
  EXPECT_EQ(config->ports[1].interface, "p1");
  EXPECT_EQ(to_string(config->ports[1].address), "fd00:1::1");
  EXPECT_EQ(config->transport, software_with_evs(64));
  EXPECT_FALSE(config->fabric);
  EXPECT_FALSE(config->faults);
  EXPECT_FALSE(config->capture);
  EXPECT_TRUE(config->send_icrc);
  EXPECT_EQ(config->wire.icrc_check, wire::IcrcCheck::kVerify);
  EXPECT_FALSE(config->name.empty()) << "the host's own name";
}

constexpr std::string_view kIpv4 = R"(
[[port]]
interface = "eth0"
address = "10.0.1.1"
[[port]]
interface = "eth1"
address = "10.0.2.1"
)";

TEST(Config, TakesIpv4Addresses) {
  const auto config = parse_config(with(kIpv4, R"(
[[peer]]
name = "b"
addresses = ["10.0.1.2", "10.0.2.2"]
)"));
  ASSERT_TRUE(config) << to_string(config.error().front());
  EXPECT_EQ(config->ports[1].address, wire::mapped(wire::Ipv4Address(0x0a00'0201)));
  EXPECT_EQ(ip_version(*config), wire::IpVersion::kV4);
  ASSERT_EQ(config->peers.size(), 1u);
  EXPECT_EQ(config->peers[0].name, "b");
  EXPECT_EQ(to_string(config->peers[0].addresses.at(1)), "10.0.2.2");
}

TEST(Config, RefusesIpv4WherePathsNameSwitches) {
  for (const char* mode : {"usid", "srv6"}) {
    EXPECT_NE(faults_of(with(fmt::format("mode = \"{}\"\n", mode), kIpv4))
                  .find("10.0.1.1 is an IPv4 address; paths that name switches need IPv6: set mode "
                        "= \"udp\""),
              std::string::npos)
        << mode;
  }
  EXPECT_NE(faults_of(with(R"([fabric]
planes = 2
racks = 1
hosts_per_rack = 2
host = "h0"
)",
                           kIpv4))
                .find("10.0.1.1 is an IPv4 address, and [fabric] plans addresses of IPv6"),
            std::string::npos);
}

TEST(Config, RefusesAddressesThatDoNotFitTogether) {
  const auto second_port = [](std::string_view address) {
    return faults_of(
        fmt::format("[[port]]\naddress = \"10.0.1.1\"\n[[port]]\naddress = \"{}\"\n", address));
  };
  EXPECT_NE(second_port("fd00::1").find("fd00::1 and 10.0.1.1 are of different IP versions"),
            std::string::npos);
  for (const char* address : {"0.0.0.0", "224.0.0.1", "255.255.255.255"}) {
    EXPECT_NE(second_port(address).find("must be an address of one host"), std::string::npos)
        << address;
  }
  const auto peer = [](std::string_view rest) {
    return faults_of(with(with(kIpv4, "[[peer]]\n"), rest));
  };
  EXPECT_NE(
      peer("name = \"b\"\naddresses = [\"10.0.1.2\"]").find("has 1 addresses, and there are 2"),
      std::string::npos);
  EXPECT_NE(peer("name = \"b\"\naddresses = [\"10.0.1.2\", \"fd00::2\"]").find("not \"fd00::2\""),
            std::string::npos);
  EXPECT_NE(peer("addresses = [\"10.0.1.2\", \"10.0.2.2\"]").find("peer.name: is missing"),
            std::string::npos);
  EXPECT_NE(faults_of(with(kFabric, "[[peer]]\nname = \"b\"\naddresses = []\n"))
                .find("not needed with [fabric]"),
            std::string::npos);
}

// The keys of [transport] are profile's to test; here, that they are read.
TEST(Config, TakesEveryKey) {
  const auto config = parse_config(with(R"(
name = "h3"
mode = "srv6"
shards = 4
progress = "poll"
[transport]
mtu = 2048
udp_port = 4792
evs = 8
congestion = "fixed"
window = "256KiB"
max_queue_pairs = 1000
[dscp]
control = 1
no_trim = 2
trimmable = 3
trimmable_retransmission = 4
trimmed = 5
trimmed_last_hop = 6
[wire]
icrc = "off"
[offload]
segments_max = 1
receive = false
socket_buffer = "1MiB"
[exchange]
port = 18516
timeout = "3s"
[verbs]
in_order_placement = false
[agent]
listen = "[::1]:9000"
[metrics]
publish = false
processes = false
[capture]
file = "x.pcapng"
[faults]
drop = 0.1
duplicate = 1
corrupt = 0.001
plane = 3
ev = 7
seed = 9
)",
                                        kFabric));
  ASSERT_TRUE(config) << to_string(config.error().front());
  EXPECT_EQ(config->name, "h3");
  EXPECT_EQ(config->mode, datapath::Mode::kSrv6);
  EXPECT_EQ(config->shards, 4u);
  EXPECT_EQ(config->progress, Progress::kPoll);
  EXPECT_EQ(config->transport.mtu, 2048u);
  EXPECT_EQ(config->transport.udp_port.raw(), 4792);
  EXPECT_EQ(config->transport.udp_port.raw(), 4792);
  EXPECT_EQ(config->transport.paths.evs, 8u);
  EXPECT_EQ(config->transport.congestion.algorithm, profile::CongestionAlgorithm::kFixed);
  EXPECT_EQ(config->transport.congestion.window, ByteCount(256 * 1024));
  EXPECT_EQ(config->transport.limits.queue_pairs, 1000u);
  EXPECT_EQ(config->wire.dscp, (wire::DscpMap{wire::Dscp(1), wire::Dscp(2), wire::Dscp(3),
                                              wire::Dscp(4), wire::Dscp(5), wire::Dscp(6)}));
  EXPECT_EQ(config->wire.icrc_check, wire::IcrcCheck::kSkip);
  EXPECT_FALSE(config->send_icrc);
  EXPECT_EQ(config->segments_max, 1u);
  EXPECT_FALSE(config->receive_offload);
  EXPECT_EQ(config->socket_buffer, 1u << 20);
  EXPECT_EQ(config->exchange_port, 18516);
  EXPECT_EQ(config->exchange_timeout, seconds(3));
  EXPECT_FALSE(config->verbs.in_order_placement);
  EXPECT_FALSE(config->metrics.publish);
  EXPECT_EQ(config->agent.listen, "[::1]:9000");
  EXPECT_FALSE(config->metrics.processes);
  EXPECT_EQ(config->capture, "x.pcapng");
  ASSERT_TRUE(config->faults);
  EXPECT_EQ(config->faults->drop, 0.1);
  EXPECT_EQ(config->faults->duplicate, 1);
  EXPECT_EQ(config->faults->corrupt, 0.001);
  EXPECT_EQ(config->faults->plane, 3u);
  EXPECT_EQ(config->faults->ev, 7u);
  EXPECT_EQ(config->faults->seed, 9u);
}

TEST(Config, TakesAddressesFromThePlan) {
  const auto config = parse_config(with("mode = \"usid\"", kFabric));
  ASSERT_TRUE(config) << faults_of(with("mode = \"usid\"", kFabric));
  ASSERT_TRUE(config->fabric);
  EXPECT_EQ(config->fabric->host, fabric::HostIndex(3));
  EXPECT_EQ(config->fabric->block, 0xfcbb'bb00u);
  EXPECT_EQ(to_string(config->ports[0].address), "fd4d:5243::1:2");
  EXPECT_EQ(to_string(config->ports[3].address), "fd4d:5243:0:3::1:2");
}

TEST(Config, GivesOnlyAsManyPathsAsThereAre) {
  EXPECT_EQ(parse_config(with("mode = \"srv6\"", kFabric))->transport.paths.evs, 8u);
  EXPECT_EQ(parse_config(kFabric)->transport.paths.evs, 64u) << "with UDP an EV is not one path";
  const std::string three = with(kUdp, "[[port]]\naddress = \"fd00:2::1\"\n");
  EXPECT_EQ(parse_config(three)->transport.paths.evs, 63u) << "a multiple of the planes";
}

TEST(Config, IcrcHasThreeForms) {
  const auto ignored = parse_config(with(kUdp, "[wire]\nicrc = \"ignore\""));
  ASSERT_TRUE(ignored);
  EXPECT_TRUE(ignored->send_icrc);
  EXPECT_EQ(ignored->wire.icrc_check, wire::IcrcCheck::kSkip);
}

struct Mistake {
  std::string_view text;  // after kUdp, whose last line is 7
  std::string_view said;
};

TEST(Config, NamesEachMistakeWithLineAndRemedy) {
  constexpr Mistake kMistakes[]{
      {"[transport]\nevs = 300", "line 9: transport.evs: must be between 1 and 256, not 300"},
      {"[transport]\nevs = 63",
       "line 9: transport.evs: 63 cannot be divided evenly among 2 planes; 62 can"},
      {"[transport]\nevs = \"8\"", "line 9: transport.evs: must be a whole number, not \"8\""},
      {"[transport]\nburts = 4", "line 9: transport: unknown key 'burts': did you mean 'burst'?"},
      {"[transport]\nreorder_floor = \"5\"",
       "line 9: transport.reorder_floor: invalid duration '5': expected e.g. 5s or 500ms"},
      {"[transport]\nreorder_floor = \"5s\"", "must be between \"0ns\" and \"1s\", not \"5s\""},
      {"[transport]\nev_seed = -1", "line 9: transport.ev_seed: must be 0 or more, not -1"},
      {"[transprot]\nevs = 8", "line 8: unknown section [transprot]: did you mean [transport]?"},
      {"[[transport]]\nevs = 8",
       "line 8: transport: is a single section: write [transport], not [[transport]]"},
      {"[zzzzzzzzzz]", "line 8: unknown section [zzzzzzzzzz]: valid here: 'name', 'mode', "},
      {"[transport]\npreset = \"asic\"",
       "line 9: transport.preset: must be one of \"nic\", \"software\", not \"asic\""},
      {"[transport]\nmtu = 9000", "line 9: transport.mtu: must be between 16 and 8192, not 9000"},
      {"[transport]\npkey = 65536",
       "line 9: transport.pkey: must be between 0x0 and 0xffff, not 65536"},
      {"[transport]\nrate = 4", "transport.rate: must be a rate with its unit"},
      {"[transport]\nwindow = \"1MiB\"", "line 9: transport.window: needs congestion = \"fixed\""},
      {"[transport]\ncongestion = \"fixed\"\nwindow = \"2KiB\"",
       "line 10: transport.window: 2KiB does not hold one packet of mtu = 4096"},
      {"[transport]\ncongestion = \"reno\"", "must be one of \"nscc\", \"fixed\", not \"reno\""},
      {"[transport]\nbase_rtt = \"10\"", "line 9: transport.base_rtt: invalid duration"},
      {"[transport]\ntrimming = 1", "transport.trimming: must be true or false, not 1"},
      {"[transport]\nretry_timeout = 32", "transport.retry_timeout: must be between 0 and "},
      {"[transport]\nmax_queue_pairs = 1000000",
       "line 9: transport.max_queue_pairs: a shard has at most 262141"},
      {"[dscp]\ncontrol = 64", "dscp.control: must be between 0 and 63, not 64"},
      {"[dscp]\ncontrol = 8",
       "line 9: dscp.control: 8 is also dscp.no_trim; each must have a DSCP of its own"},
      {"[dscp]\ntrimmed = 1\ntrimmed_last_hop = 1",
       "line 10: dscp.trimmed_last_hop: 1 is also dscp.trimmed"},
      {"[faults]\ndrop = 1.5",
       "faults.drop: must be a number between 0 and 1 or a percentage, e.g. \"20%\", not 1.5"},
      {"[faults]\ndrop = nan", "faults.drop: must be a number between 0 and 1"},
      {"[faults]\nplane = 2", "line 9: faults.plane: 2 is not a plane; there are 2, from 0"},
      {"[faults]\nev = 64", "line 9: faults.ev: 64 is no EV; there are 64, from 0"},
      {"[capture]\nfile = \"\"", "capture.file: must not be empty"},
      {"[capture]\nfile = 1", "capture.file: must be a string in quotes, not 1"},
      {"[transport]\n[wire]\nmtu = 25", "wire: unknown key 'mtu': it belongs in [transport]"},
      {"[wire]\nsegments_max = 1", "wire: unknown key 'segments_max': it belongs in [offload]"},
      {"[offload]\nsocket_buffer = \"1KiB\"", "\"64KiB\" and \"1GiB\", not \"1KiB\""},
      {"[[port]]\naddress = \"10.0.0\"",
       "line 9: port.address: must be an IPv4 or IPv6 address, as in \"10.0.1.1\" or "
       "\"fd4d:5243::1\", not \"10.0.0\""},
      {"[[port]]\naddress = \"::ffff:10.0.0.1\"",
       "10.0.0.1 and fd00::1 are of different IP versions: all ports have one"},
      {"[[port]]\naddress = 7", "line 9: port.address: must be a string in quotes, not 7"},
      {"[[port]]\naddress = \"fd00::1\"", "fd00::1 is also the address in plane 0"},
      {"[[port]]\naddress = \"ff02::1\"", "must be an address of one host, not ff02::1"},
      {"[[port]]\ninterface = \"p2\"",
       "line 8: port.address: is missing: this host's address in "
       "plane 2"},
      {"[[port]]\naddress = \"fd00::3\"\ninterface = \"a/b\"", "\"a/b\" is not an interface name"},
      {"[[port]]\nadress = \"fd00::3\"",
       "line 9: port: unknown key 'adress': did you mean 'address'?"},
      {"[fabric]\nplanes = 2\nracks = 1\nhosts_per_rack = 2", "line 8: fabric.host: is missing"},
      {"[fabric]\nplanes = 2\nracks = 1\nhosts_per_rack = 2\nhost = \"h2\"",
       "line 12: fabric.host: "},
      {"[fabric]\nplanes = 2\nracks = 2\nhosts_per_rack = 2\nhost = \"h1\"", "fabric.uplinks: "},
      {"[fabric]\nplanes = 2\nracks = 1\nhosts_per_rack = 2\nhost = \"h1\"\nblock = \"fcbb::1\"",
       "line 13: fabric.block: must be an IPv6 prefix of 32 bits"},
      {"[fabric]\nplanes = 2\nracks = 1\nhosts_per_rack = 2\nhost = \"h1\"",
       "line 4: port.address: fd00::1 is not what the fabric's plan gives h1 in plane 0: "
       "fd4d:5243::2; leave the key out"},
      {"[fabric]\nplanes = 3\nracks = 1\nhosts_per_rack = 2\nhost = \"h1\"",
       "line 2: port: there are 2 of [[port]], and the fabric has 3 planes"},
      {"x = [", "line 8: invalid TOML: "},
  };
  for (const Mistake& mistake : kMistakes) {
    const std::string said = faults_of(with(kUdp, mistake.text));
    EXPECT_NE(said.find(mistake.said), std::string::npos)
        << mistake.text << "\nexpected: " << mistake.said << "\nsaid: " << said;
  }
}

TEST(Config, NamesMistakesAtTheTop) {
  constexpr Mistake kMistakes[]{
      {"mtu = 2048", "line 1: unknown key 'mtu': it belongs in [transport]"},
      {"mode = \"srv7\"",
       "line 1: mode: must be one of \"udp\", \"usid\", \"srv6\", \"xdp\", not \"srv7\""},
      {"mode = \"srv6\"",
       "line 1: mode: \"srv6\" needs to know the paths: add the section [fabric]"},
      {"name = \"a b\"", "line 1: name: must be at most 255 letters"},
      {"shards = 0", "line 1: shards: must be between 1 and 64, not 0"},
      {"transport = 3", "line 1: transport: is a section: write [transport]"},
      {"timeout = 3", "line 1: unknown key 'timeout': it belongs in [exchange]"},
  };
  for (const Mistake& mistake : kMistakes) {
    const std::string said = faults_of(with(mistake.text, kUdp));
    EXPECT_NE(said.find(mistake.said), std::string::npos)
        << mistake.text << "\nexpected: " << mistake.said << "\nsaid: " << said;
  }
  EXPECT_NE(faults_of("").find("port: is missing: write [[port]]"), std::string::npos);
  EXPECT_NE(faults_of("[port]\naddress = \"fd00::1\"").find("line 1: port: is a list"),
            std::string::npos);
}

TEST(Config, NeedsTheInterfaceThatSrv6SendsBy) {
  std::string text = with("mode = \"srv6\"", kFabric);
  text.replace(text.find("interface = \"p2\""), 16, "");
  EXPECT_EQ(faults_of(text),
            "line 12: port.interface: is missing: with mode = \"srv6\" packets leave by a named "
            "interface\n");
}

TEST(Config, RefusesMorePathsThanTheFabricHas) {
  const std::string said = faults_of(with("mode = \"srv6\"\n[transport]\nevs = 16", kFabric));
  EXPECT_EQ(said,
            "line 3: transport.evs: 16 are more than the 8 paths of the fabric (planes x uplinks); "
            "with distinct_evs = false paths repeat\n");
}

TEST(Config, SaysAllThatIsWrongByLine) {
  const auto config = parse_config(R"(name = 3
shards = 0
[transport]
evs = 7
burst = 0
[[port]]
address = "fd00::1"
[[port]]
address = "fd00::2"
[faults]
plane = 9
colour = "red"
)");
  ASSERT_FALSE(config);
  std::vector<std::string> keys;
  for (const ConfigError& error : config.error()) keys.push_back(error.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"name", "shards", "transport.evs", "transport.burst",
                                            "faults.plane", "faults"}));
  EXPECT_TRUE(std::ranges::is_sorted(config.error(), {}, &ConfigError::line));
}

TEST(Config, SaysAMistakeOnce) {
  EXPECT_EQ(parse_config(with(kUdp, "[transport]\nevs = 0")).error().size(), 1u);
  EXPECT_EQ(parse_config(with(kUdp, "[transport]\nwindow = -1")).error().size(), 1u);
  EXPECT_EQ(parse_config(with(kUdp, "[[port]]\naddress = 3")).error().size(), 1u);
  EXPECT_EQ(parse_config(with(kUdp, "[dscp]\ncontrol = 99")).error().size(), 1u);
}

class ConfigFile : public ::testing::Test {
 protected:
  ConfigFile() {
    path_ =
        std::filesystem::temp_directory_path() / fmt::format("openmrc-config-{}.toml", getpid());
  }
  ~ConfigFile() override {
    std::error_code error;
    std::filesystem::remove(path_, error);
    unsetenv("OPENMRC_CONFIG");
  }
  void write(std::string_view text) const { std::ofstream(path_) << text; }

  std::filesystem::path path_;
};

TEST_F(ConfigFile, IsNamedInWhatIsWrongWithIt) {
  write("shards = 0\n");
  const auto config = load_config(path_);
  ASSERT_FALSE(config);
  EXPECT_TRUE(to_string(config.error().back()).starts_with(path_.string() + ":1: shards: "));
}

TEST_F(ConfigFile, IsRememberedByTheConfiguration) {
  write(kUdp);
  const auto config = load_config(path_);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->file, path_);
}

TEST_F(ConfigFile, MayComeFromTheEnvironment) {
  write(kUdp);
  setenv("OPENMRC_CONFIG", path_.c_str(), 1);
  const auto config = load_config(std::nullopt);
  ASSERT_TRUE(config);
  EXPECT_EQ(config->file, path_);
}

TEST_F(ConfigFile, IsMissedByName) {
  setenv("OPENMRC_CONFIG", path_.c_str(), 1);
  const auto config = load_config(std::nullopt);
  ASSERT_FALSE(config);
  EXPECT_EQ(to_string(config.error().front()),
            path_.string() +
                ": cannot be read: No such file or directory; name another file, or set "
                "OPENMRC_CONFIG to one");
}

TEST(Config, HasAMapperThatIsOffUnlessItIsAskedFor) {
  EXPECT_FALSE(parse_config(with("mode = \"srv6\"\n", kFabric))->mapper.enabled);
  const auto config = parse_config(with("mode = \"usid\"\n", with(kFabric, R"([mapper]
enabled = true
rounds_per_second = 100
)")));
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->mapper.enabled);
  EXPECT_EQ(config->mapper.rounds_per_second, 100u);
  EXPECT_FALSE(config->mapper.deny);
}

TEST(Config, RefusesAMapperThatCannotWork) {
  EXPECT_NE(faults_of(with(kUdp, "[mapper]\nenabled = true\n")).find("mapper.enabled: probes name"),
            std::string::npos);
  const auto of_fabric = [](std::string_view mapper) {
    return faults_of(with("mode = \"srv6\"\n", with(kFabric, mapper)));
  };
  EXPECT_NE(of_fabric("[mapper]\nenabled = true\nudp_port = 4791\n").find("is the port of data"),
            std::string::npos);
}

TEST(Config, RefusesToListenWhereNobodyCan) {
  EXPECT_EQ(parse_config(kUdp)->agent.listen, "");
  for (const char* address : {"9917", "localhost:9917", "127.0.0.1"}) {
    const auto text = std::string("[agent]\nlisten = \"") + address + "\"\n";
    EXPECT_NE(faults_of(with(kUdp, text)).find("is no address and port"), std::string::npos);
  }
}

TEST_F(ConfigFile, MayNotBeADirectoryOrHuge) {
  EXPECT_NE(to_string(load_config("/tmp").error().front()).find("it is a directory"),
            std::string::npos);
  EXPECT_NE(to_string(load_config("/dev/zero").error().front()).find("is larger than 1MiB"),
            std::string::npos);
}

// Defaults that depend on the preset are shown as "nic / software"; a host's is the second.
std::string host_default(const std::string& shown) {
  constexpr std::string_view kBetween = "` / `";
  const std::size_t found = shown.find(kBetween);
  return found == std::string::npos ? shown : shown.substr(found + kBetween.size() - 1);
}

// The document's tables as they are in the code: section, key, type, default, range.
std::set<std::string> documented_keys() {
  std::ifstream file(OPENMRC_SOURCE_DIR "/docs/guide/configuration.md");
  EXPECT_TRUE(file);
  const std::regex heading(R"(^## .*?\[+(\w+)\]+.*)");
  const std::regex row(R"(^\| `(\w+)` \| ([^|]*) \| ([^|]*) \| ([^|]*) \| [^|]+ \|$)");
  std::set<std::string> keys;
  std::string section;
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, match, heading)) section = match[1];
    if (!std::regex_match(line, match, row)) continue;
    keys.insert(fmt::format("[{}] {} | {} | {} | {}", section, match[1].str(), match[2].str(),
                            host_default(match[3]), match[4].str()));
  }
  return keys;
}

TEST(ConfigReference, HasEveryKeyWithTypeDefaultAndRange) {
  const auto code_marks = [](std::string text, bool is_value) {
    return is_value ? fmt::format("`{}`", text) : text;
  };
  std::set<std::string> keys;
  for (const ConfigKey& key : config_keys()) {
    const bool is_value = key.default_text.find_first_of("\"0123456789") == 0 ||
                          key.default_text == "true" || key.default_text == "false";
    keys.insert(fmt::format("[{}] {} | {} | {} | {}", key.section, key.name, key.type,
                            code_marks(key.default_text, is_value),
                            key.range.empty() ? "-" : key.range));
  }
  const std::set<std::string> documented = documented_keys();
  for (const std::string& key : keys) EXPECT_TRUE(documented.contains(key)) << "not there: " << key;
  for (const std::string& key : documented)
    EXPECT_TRUE(keys.contains(key)) << "no such key: " << key;
}

TEST(ConfigReference, IsAlsoTheManualPage) {
  std::ifstream file(OPENMRC_SOURCE_DIR "/docs/man/openmrc.toml.5");
  ASSERT_TRUE(file);
  std::set<std::string> page;
  std::string section;
  std::string name;
  const std::regex heading(R"(^\.SS "?\[+(\w+)\]+"?.*)");
  const std::regex hyphen(R"(\\-)");
  const std::regex other_preset(R"(; with preset nic: .*\)$)");
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (std::regex_match(line, match, heading)) section = match[1];
    if (line.starts_with(".B ")) name = line.substr(3);
    if (!line.starts_with('(')) continue;
    line = std::regex_replace(line, hyphen, "-");
    line = std::regex_replace(line, other_preset, ")");
    page.insert(fmt::format("[{}] {} {}", section, name, line));
  }
  for (const ConfigKey& key : config_keys()) {
    const std::string range = key.range.empty() ? "" : ", " + key.range;
    const std::string fallback =
        key.default_text == "required" ? "required" : "default: " + key.default_text;
    const std::string wanted =
        fmt::format("[{}] {} ({}{}; {})", key.section, key.name, key.type, range, fallback);
    EXPECT_TRUE(page.contains(wanted)) << "not there: " << wanted;
  }
}

// A file that uses everything the reference shows parses.
TEST(ConfigReference, ShowsExamplesThatAreRight) {
  std::ifstream file(OPENMRC_SOURCE_DIR "/docs/guide/configuration.md");
  std::string example;
  int examples = 0;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == "```toml") {
      inside = true;
      example.clear();
    } else if (inside && line == "```") {
      inside = false;
      ++examples;
      EXPECT_EQ(faults_of(example), "") << example;
    } else if (inside) {
      example += line + "\n";
    }
  }
  EXPECT_GE(examples, 2);
}

}  // namespace
}  // namespace openmrc::host
