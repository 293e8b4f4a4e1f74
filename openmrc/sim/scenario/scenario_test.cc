// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/scenario/scenario.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "openmrc/sim/scenario/test_scenario.h"
#include "openmrc/sim/workload/slice.h"

namespace openmrc::sim {
namespace {

// A whole file around one part; the part begins in line 6.
std::string with_workload(std::string_view workload) {
  return std::string(kFabric) + std::string(workload);
}
// Begins in line 9.
std::string with(std::string_view rest) {
  return std::string(kFabric) + std::string(kWorkload) + std::string(rest);
}

template <class Settings>
Settings workload_of(std::string_view text) {
  const Scenario scenario = scenario_of(with_workload(text));
  const auto* settings = std::get_if<Settings>(&scenario.workload);
  EXPECT_NE(settings, nullptr);
  return settings != nullptr ? *settings : Settings{};
}

std::vector<LinkFault> faults_of(std::string_view text) { return scenario_of(with(text)).faults; }

TEST(Scenario, HasDefaults) {
  const Scenario scenario = scenario_of(with(""));
  EXPECT_EQ(scenario.name, "test");
  EXPECT_EQ(scenario.seed, 1U);
  EXPECT_EQ(scenario.mtu(), 4096U);
  EXPECT_EQ(scenario.time_limit, Picoseconds{});
  EXPECT_EQ(scenario.shape.planes, 4U);
  EXPECT_EQ(scenario.shape.uplinks, 8U);
  ASSERT_TRUE(std::holds_alternative<MrcTransport>(scenario.transport));
  EXPECT_EQ(std::get<MrcTransport>(scenario.transport).profile.paths.evs, 256U);
  EXPECT_TRUE(scenario.switches.trimming);
  EXPECT_TRUE(scenario.faults.empty());
}

TEST(Scenario, ReadsItsTop) {
  const Scenario scenario = scenario_of(
      "title = 'A cut'\ntext = 'See'\nseed = 42\ntime_limit = '2 ms'\n"
      "bucket = '10us'\nport_detection = '1 us'\n" +
      with("[transport]\nkind = 'mrc'\nmtu = 2048\n"));
  EXPECT_EQ(scenario.title, "A cut");
  EXPECT_EQ(scenario.text, "See");
  EXPECT_EQ(scenario.seed, 42U);
  EXPECT_EQ(scenario.mtu(), 2048U);
  EXPECT_EQ(scenario.time_limit, Picoseconds(2'000'000'000));
  EXPECT_EQ(scenario.bucket_width, Picoseconds(10'000'000));
  EXPECT_EQ(scenario.port_detection, Picoseconds(1'000'000));
}

TEST(Scenario, SeedOfTheCallerReplacesThatOfTheFile) {
  const std::string text =
      "seed = 42\n" + with("[[fault]]\nkind = 'cut'\nof = 'uplinks'\nrandom = 9\n");
  const auto scenario = parse_scenario(text, "test", read_test_file, {.seed = 7});
  ASSERT_TRUE(scenario) << to_string(scenario.error());
  EXPECT_EQ(scenario->seed, 7U);
  EXPECT_NE(scenario->faults, scenario_of(text).faults) << "what is drawn follows the seed";
}

TEST(Scenario, SettingsReplaceWhatTheFileSays) {
  const std::string text = with("[[fault]]\nkind = 'cut'\ntarget = 'p0.t0-0/up1'\n");
  const auto scenario = parse_scenario(text, "test", read_test_file,
                                       {.settings = {"fault=[]", "transport={kind='mrc', evs=8}"}});
  ASSERT_TRUE(scenario) << to_string(scenario.error());
  EXPECT_TRUE(scenario->faults.empty());
  EXPECT_EQ(std::get<MrcTransport>(scenario->transport).profile.paths.evs, 8U);
}

TEST(Scenario, WrongSettingsAreReportedByTheirKeys) {
  const auto error_with = [](std::string setting) {
    const auto scenario =
        parse_scenario(with(""), "test", read_test_file, {.settings = {std::move(setting)}});
    return scenario ? "" : to_string(scenario.error());
  };
  EXPECT_EQ(error_with("seed=x"),
            "seed: 'x' is not a TOML value: a string needs quotes, e.g. \"8 MiB\"");
  EXPECT_EQ(error_with("transport={kind='mrc', evs=7}"),
            "transport.evs: must be a multiple of the 4 planes");
  EXPECT_EQ(error_with("fabrik.planes=2"), "unknown section [fabrik]: did you mean [fabric]?");
}

TEST(Scenario, ReadsTransports) {
  const auto mrc = std::get<MrcTransport>(
      scenario_of(with("[transport]\nkind = 'mrc'\nevs = 16\nactive_per_plane = 2\nmin_active = 3\n"
                       "ev_sets = 4\nqueue_pairs = 5\nsack_threshold = '32 KiB'\n"
                       "retry_timeout = 7\nfixed_paths = [{host = 'h3', uplinks = [1, 2]}]\n"))
          .transport);
  EXPECT_EQ(mrc.profile.paths.evs, 16U);
  EXPECT_EQ(mrc.profile.paths.active_per_plane, 2U);
  EXPECT_EQ(mrc.profile.paths.min_active, 3U);
  EXPECT_EQ(mrc.profile.paths.sets, 4U);
  EXPECT_EQ(mrc.queue_pairs, 5U);
  EXPECT_EQ(mrc.profile.sack.threshold_bytes, 32'768U);
  EXPECT_EQ(mrc.profile.retry.timeout, 7);
  ASSERT_EQ(mrc.fixed_paths.size(), 1U);
  EXPECT_EQ(mrc.fixed_paths[0].host, 3U);
  EXPECT_EQ(mrc.fixed_paths[0].uplinks, (std::vector<std::uint16_t>{1, 2}));

  const auto rc = std::get<RcTransport>(
      scenario_of(with("[transport]\nkind = 'rc'\nqueue_pairs = 16\ndcqcn = false\n"
                       "reroute_after = '50 ms'\ntimeout = '4 ms'\nretries = 2\n"))
          .transport);
  EXPECT_EQ(rc.queue_pairs, 16U);
  EXPECT_FALSE(rc.dcqcn);
  EXPECT_EQ(rc.reroute_after, Picoseconds(50'000'000'000));
  EXPECT_EQ(rc.timeout, Picoseconds(4'000'000'000));
  EXPECT_EQ(rc.retries, 2U);
}

TEST(Scenario, ReadsSwitches) {
  const SwitchSettings switches =
      scenario_of(with("[switches]\ntrimming = false\necn = false\npfc = true\nbdp_bytes = '1 MB'\n"
                       "ecn_min_bytes = 10\necn_max_bytes = 20\nqueue_bytes = '1 KiB'\n"
                       "ecn_on_last_hop = true\n"))
          .switches;
  EXPECT_FALSE(switches.trimming);
  EXPECT_FALSE(switches.ecn);
  EXPECT_TRUE(switches.pfc);
  EXPECT_EQ(switches.bdp_bytes, 1'000'000U);
  EXPECT_EQ(switches.ecn_min_bytes, 10U);
  EXPECT_EQ(switches.ecn_max_bytes, 20U);
  EXPECT_EQ(switches.queue_bytes, 1'024U);
  EXPECT_TRUE(switches.ecn_on_last_hop);
}

TEST(Scenario, ReadsPermutation) {
  const auto settings = workload_of<Permutation>(
      "[workload]\nkind = 'permutation'\nbytes = '2 MB'\nmessages = 3\nacross_racks = true\n");
  EXPECT_EQ(settings.bytes, 2'000'000U);
  EXPECT_EQ(settings.messages, 3U);
  EXPECT_TRUE(settings.across_racks);
}

TEST(Scenario, ReadsIncast) {
  const auto settings = workload_of<Incast>(
      "[workload]\nkind = 'incast'\ntarget = 'h1'\nsenders = [8, 'h9']\nbytes = 1000\n"
      "stagger = '1 us'\nvictims = [{from = 10, to = 2, bytes = '1 KiB'}]\n");
  EXPECT_EQ(settings.target, 1U);
  EXPECT_EQ(settings.senders, (std::vector<std::uint32_t>{8, 9}));
  EXPECT_EQ(settings.stagger, Picoseconds(1'000'000));
  ASSERT_EQ(settings.victims.size(), 1U);
  EXPECT_EQ(settings.victims[0].from, 10U);
  EXPECT_EQ(settings.victims[0].bytes, 1'024U);
  const auto counted =
      workload_of<Incast>("[workload]\nkind = 'incast'\ntarget = 1\nsenders = 3\nbytes = 1\n");
  EXPECT_EQ(counted.senders, (std::vector<std::uint32_t>{0, 2, 3}));
}

TEST(Scenario, ReadsCollectives) {
  const auto all_to_all =
      workload_of<AllToAll>("[workload]\nkind = 'all-to-all'\nhosts = 8\nbytes = '1 MiB'\n");
  EXPECT_EQ(all_to_all.hosts, 8U);
  EXPECT_EQ(all_to_all.bytes, 1'048'576U);
  const auto all_reduce = workload_of<AllReduce>(
      "[workload]\nkind = 'all-reduce'\nbytes = '1 MiB'\nalgorithm = 'halving-doubling'\n"
      "placement = 'spread'\n");
  EXPECT_EQ(all_reduce.hosts, 32U);
  EXPECT_EQ(all_reduce.kind, AllReduceKind::kHalvingDoubling);
  EXPECT_EQ(all_reduce.placement, Placement::kSpread);
  const auto training = workload_of<TrainingSteps>(
      "[workload]\nkind = 'training'\nsteps = 4\ncompute = '100 us'\n"
      "all_reduce_bytes = ['4 MiB', 100]\n");
  EXPECT_EQ(training.hosts, 32U);
  EXPECT_EQ(training.steps, 4U);
  EXPECT_EQ(training.compute, Picoseconds(100'000'000));
  EXPECT_EQ(training.all_reduce_bytes, (std::vector<std::uint64_t>{4'194'304, 100}));
  EXPECT_EQ(training.kind, AllReduceKind::kRing);
}

TEST(Scenario, ReadsFlows) {
  const auto list = workload_of<FlowList>(
      "[workload]\nkind = 'flows'\n"
      "[[workload.flows]]\nfrom = 0\nto = 'h9'\nbytes = 5\nstart = '3 us'\nrepeat = 2\n"
      "[[workload.flows]]\nfrom = 9\nto = 1\nbytes = 6\nafter = 0\n");
  ASSERT_EQ(list.flows.size(), 2U);
  EXPECT_EQ(list.flows[0].to, 9U);
  EXPECT_EQ(list.flows[0].start, Picoseconds(3'000'000));
  EXPECT_EQ(list.flows[0].repeat, 2U);
  EXPECT_EQ(list.flows[0].after, -1);
  EXPECT_EQ(list.flows[1].after, 0);
}

TEST(Scenario, ReadsTrafficFiles) {
  const auto list = workload_of<FlowList>("[workload]\nkind = 'htsim'\nfile = 'pair.cm'\n");
  ASSERT_EQ(list.flows.size(), 1U);
  EXPECT_EQ(list.flows[0].bytes, 77U);
  EXPECT_EQ(list.flows[0].start, Picoseconds(5));
  EXPECT_EQ(error_of(with_workload("[workload]\nkind = 'htsim'\nfile = 'none.cm'\n")),
            "line 8: workload.file: there is no none.cm");
  EXPECT_EQ(error_of(with_workload("[workload]\nkind = 'htsim'\nfile = 'bad.cm'\n")),
            "line 8: workload.file: bad.cm:2: 'Connections' needs a number");
  EXPECT_EQ(error_of(with_workload("[workload]\nkind = 'htsim'\nfile = 'large.cm'\n")),
            "line 8: workload.file: large.cm is for 99 hosts, and the fabric has 32");
}

TEST(Scenario, ErrorsNameLineAndKey) {
  EXPECT_EQ(error_of("title = 3\n" + with("")), "line 1: title: must be a string in quotes, not 3");
  EXPECT_EQ(error_of("seed = -3\n" + with("")), "line 1: seed: must be 0 or more, not -3");
  EXPECT_EQ(error_of("time_limit = 20\n" + with("")),
            "line 1: time_limit: must be a duration with its unit, e.g. \"10ms\", not 20");
  EXPECT_EQ(error_of(with("[transport]\nkind = 'mrc'\nmtu = 9000\n")),
            "line 11: transport.mtu: must be between 16 and 8192, not 9000");
  EXPECT_EQ(error_of(with("[switches]\necn = 'yes'\n")),
            "line 10: switches.ecn: must be true or false, not \"yes\"");
  EXPECT_EQ(
      error_of(with("[switches]\nqueue_bytes = '5 GiB'\n")),
      "line 10: switches.queue_bytes: must be between \"0B\" and \"4294967295B\", not \"5 GiB\"");
  EXPECT_EQ(error_of(with("[switches]\necn_min_bytes = 9\necn_max_bytes = 8\n")),
            "line 10: switches.ecn_min_bytes: must not be above ecn_max_bytes");
  EXPECT_EQ(error_of(with("[transport]\nkind = 'tcp'\n")),
            "line 10: transport.kind: must be one of \"mrc\", \"rc\", not \"tcp\"");
  EXPECT_EQ(
      error_of(with("[transport]\nkind = 'mrc'\nfixed_paths = [{host = 1, uplinks = [8]}]\n")),
      "line 11: transport.fixed_paths.uplinks: must be between 0 and 7, not 8");
  EXPECT_EQ(error_of(with("[transport]\nkind = 'mrc'\nfixed_paths = [3]\n")),
            "line 11: transport.fixed_paths: is a list of tables: write "
            "[[transport.fixed_paths]] once for each");
  EXPECT_EQ(error_of(with("[transport]\nkind = 'mrc'\nevs = 10\n")),
            "line 11: transport.evs: must be a multiple of the 4 planes");
  EXPECT_EQ(error_of(with("[transport]\nkind = 'mrc'\nevs = 16\nactive_per_plane = 5\n")),
            "line 11: transport.evs: 4 per plane are fewer than active_per_plane = 5");
  EXPECT_EQ(error_of("switches = 3\n" + with("")),
            "line 1: switches: is a section: write [switches] and its keys below");
}

TEST(Scenario, SizesHaveALimit) {
  EXPECT_EQ(error_of(with_workload("[workload]\nkind = 'permutation'\nbytes = '1TiB'\n")), "");
  for (const char* const workload :
       {"kind = 'permutation'\nbytes = 9223372036854775807\n",
        "kind = 'incast'\nbytes = 9223372036854775807\ntarget = 0\nsenders = 3\n",
        "kind = 'all-to-all'\nbytes = 9223372036854775807\n",
        "kind = 'all-reduce'\nbytes = 9223372036854775807\n"}) {
    EXPECT_EQ(
        error_of(with_workload(std::string("[workload]\n") + workload)),
        "line 8: workload.bytes: must be between \"0B\" and \"1TiB\", not 9223372036854775807");
  }
  EXPECT_EQ(
      error_of(with_workload("[workload]\nkind = 'flows'\n[[workload.flows]]\nfrom = 0\n"
                             "to = 1\nbytes = 1099511627777\n")),
      "line 11: workload.flows.bytes: must be between \"0B\" and \"1TiB\", not 1099511627777");
  EXPECT_EQ(check_workload(Permutation{.bytes = kMessageBytesMax + 1},
                           *fabric::Fabric::make({.racks = 1, .hosts_per_rack = 2})),
            "a message has at most 1 TiB");
}

TEST(Scenario, EverythingThatIsWrongIsReported) {
  EXPECT_EQ(error_of("sead = 3\nmtu = 1\n" +
                     with("[transport]\nkind = 'mrc'\nevs = 9\nqueue_pairs = 0\n"
                          "[[fault]]\nkind = 'cutt'\ntarget = 'h1/p1'\n"
                          "[[fault]]\nkind = 'cut'\ntarget = ['h1/p1', 'h99/p1', 'h1/p99']\n"
                          "at = 'noon'\n")),
            "line 1: unknown key 'sead': did you mean 'seed'?\n"
            "line 2: unknown key 'mtu': it belongs in [transport]\n"
            "line 13: transport.evs: must be a multiple of the 4 planes\n"
            "line 14: transport.queue_pairs: must be between 1 and 64, not 0\n"
            "line 16: fault.kind: must be one of \"cut\", \"flap\", \"loss\", \"slow\", \"mtu\", "
            "\"switch-down\", \"port-down\", \"plane-down\", not \"cutt\"\n"
            "line 20: fault.target: 'h99/p1': no such host; hosts are h0 to h31\n"
            "line 20: fault.target: 'h1/p99': no such plane; planes are p0 to p3\n"
            "line 21: fault.at: invalid duration 'noon': expected e.g. 5s or 500ms");
}

TEST(Scenario, WithoutAFabricTheRestIsReportedToo) {
  EXPECT_EQ(
      error_of("[fabric]\nplanes = 0\n"
               "[transport]\nkind = 'mrc'\nevs = 9\nqueue_pairs = 0\nburts = 1\n"
               "fixed_paths = [{host = 1, uplinks = [8]}]\n"
               "[workload]\nkind = 'permutatoin'\n"
               "[[fault]]\nkind = 'cutt'\ntarget = 'h1/p1'\n"
               "[[fault]]\nkind = 'cut'\ntarget = 'h99/p1'\n"),
      "line 2: fabric.planes: must be between 1 and 16, not 0\n"
      "line 6: transport.queue_pairs: must be between 1 and 64, not 0\n"
      "line 7: transport: unknown key 'burts': did you mean 'burst'?\n"
      "line 10: workload.kind: must be one of \"permutation\", \"incast\", \"all-to-all\", "
      "\"all-reduce\", \"training\", \"flows\", \"htsim\", \"reduce-scatter\", \"all-gather\", "
      "\"moe\", \"pipeline\", \"background\", \"trace\", not \"permutatoin\"\n"
      "line 12: fault.kind: must be one of \"cut\", \"flap\", \"loss\", \"slow\", \"mtu\", "
      "\"switch-down\", \"port-down\", \"plane-down\", not \"cutt\"");
}

TEST(Scenario, UnknownKeysGetAHint) {
  EXPECT_EQ(error_of("sead = 3\n" + with("")), "line 1: unknown key 'sead': did you mean 'seed'?");
  EXPECT_EQ(error_of(with("[switches]\ntriming = true\n")),
            "line 10: switches: unknown key 'triming': did you mean 'trimming'?");
  EXPECT_EQ(error_of(with("colour = 3\n")),
            "line 9: workload: unknown key 'colour': valid here: 'kind', 'bytes', "
            "'messages', 'across_racks'");
  // A key of the other transport is as unknown as any.
  EXPECT_EQ(
      error_of(with("[transport]\nkind = 'rc'\nevs = 3\n")),
      "line 11: transport: unknown key 'evs': valid here: 'kind', 'mtu', "
      "'queue_pairs', 'dcqcn', 'reroute_after', 'recovery', 'reordering', 'retries', 'timeout'");
  EXPECT_EQ(error_of(with("[[fault]]\nkind = 'cut'\ntarget = 'h1/p1'\nutil = '3 us'\n")),
            "line 12: fault: unknown key 'util': did you mean 'until'?");
}

TEST(Scenario, ErrorsOfOtherPartsGetTheirLine) {
  EXPECT_EQ(error_of("title = \n" + with("")).substr(0, 7), "line 1:");
  EXPECT_EQ(error_of(""), "[fabric] is missing\n[workload] is missing");
  EXPECT_EQ(error_of(kFabric), "[workload] is missing");
  EXPECT_EQ(
      error_of("sead = 2\n[fabric]\nplanes = 4\nracks = 'two'\nuplink = 3\n[workload]\nkind = 1\n"),
      "line 1: unknown key 'sead': did you mean 'seed'?\n"
      "line 4: fabric.racks: must be a whole number, not \"two\"\n"
      "line 5: fabric: unknown key 'uplink': did you mean 'uplinks'?\n"
      "line 7: workload.kind: must be one of \"permutation\", \"incast\", \"all-to-all\", "
      "\"all-reduce\", \"training\", \"flows\", \"htsim\", \"reduce-scatter\", \"all-gather\", "
      "\"moe\", \"pipeline\", \"background\", \"trace\", not 1");
  EXPECT_EQ(error_of("seed = 2\n[fabric]\nplanes = 4\nracks = 1\n[workload]\n"),
            "line 2: fabric.hosts_per_rack: is missing; or give switch_ports\n"
            "line 5: workload.kind: is missing");
  EXPECT_EQ(error_of(with_workload("[workload]\nkind = 'permutation'\n")),
            "line 6: workload.bytes: is missing");
  EXPECT_EQ(error_of(with_workload("[workload]\nkind = 'all-to-all'\nhosts = 99\nbytes = 1000\n")),
            "line 6: workload: 99 hosts are asked for, and the fabric has 32");
  EXPECT_EQ(
      error_of(with_workload("[workload]\nkind = 'incast'\ntarget = 32\nsenders = 2\nbytes = 1\n")),
      "line 8: workload.target: must be between 0 and 31, not 32");
}

TEST(ScenarioFault, Cut) {
  const auto faults = faults_of(
      "[[fault]]\nkind = 'cut'\ntarget = 'p1.t0-2/up3'\nat = '10 us'\nfor = '5 us'\n"
      "direction = 'down'\n[[fault]]\nkind = 'cut'\ntarget = ['h1/p1', 'h1/p2']\n"
      "at = '10 us'\nuntil = '12 us'\n");
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(
      faults[0],
      (LinkFault{
          .link = {.kind = fabric::LinkId::Kind::kUplink, .plane = Plane(1), .rack = 2, .port = 3},
          .direction = Direction::kDownward,
          .from = Picoseconds(10'000'000),
          .to = Picoseconds(15'000'000),
          .down = true}));
  EXPECT_EQ(faults[2], (LinkFault{.link = {.plane = Plane(2), .rack = 0, .port = 1},
                                  .from = Picoseconds(10'000'000),
                                  .to = Picoseconds(12'000'000),
                                  .down = true,
                                  .seen_by_nic = true}));
}

TEST(ScenarioFault, PortsSwitchesAndPlanes) {
  EXPECT_EQ(faults_of("[[fault]]\nkind = 'port-down'\ntarget = 'h5/p3'\n").size(), 1U);
  EXPECT_EQ(faults_of("[[fault]]\nkind = 'switch-down'\ntarget = 'p3.t0-1'\n").size(), 16U);
  EXPECT_EQ(faults_of("[[fault]]\nkind = 'switch-down'\ntarget = 'p3.t1-7'\n").size(), 4U);
  EXPECT_EQ(faults_of("[[fault]]\nkind = 'plane-down'\ntarget = 'p3'\n").size(), 64U);
  const auto hidden = faults_of("[[fault]]\nkind = 'port-down'\ntarget = 'h5/p3'\nseen = false\n");
  EXPECT_FALSE(hidden.at(0).seen_by_nic);
  EXPECT_EQ(hidden.at(0).from, Picoseconds{});
  EXPECT_EQ(hidden.at(0).to, kNoTime);
}

TEST(ScenarioFault, LossAndSlowLinks) {
  const auto faults = faults_of(
      "[[fault]]\nkind = 'loss'\nof = 'host-links'\nall = true\nrate = 0.001\ndirection = 'down'\n"
      "[[fault]]\nkind = 'slow'\ntarget = 'p0.t0-0/up0'\nspeed = '25 %'\n");
  ASSERT_EQ(faults.size(), 4U * 32 + 1);
  EXPECT_EQ(faults[0].loss_per_billion, 1'000'000U);
  EXPECT_EQ(faults[0].direction, Direction::kDownward);
  EXPECT_FALSE(faults[0].down);
  EXPECT_EQ(faults.back().speed_percent, 25);
}

TEST(ScenarioFault, AWrongMtu) {
  const auto faults = faults_of(
      "[[fault]]\nkind = 'mtu'\ntarget = 'p0.t0-0/up0'\nbytes = 1600\ndirection = 'up'\n");
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].mtu, 1600);
  EXPECT_EQ(faults[0].direction, Direction::kUpward);
  EXPECT_FALSE(faults[0].down);
}

TEST(ScenarioFault, RandomOnesAreFixedBySeedAndPlace) {
  constexpr std::string_view kFault =
      "[[fault]]\nkind = 'cut'\nof = 'uplinks'\nrandom = 20\nstagger = '1 us'\n";
  const auto faults = faults_of(kFault);
  ASSERT_EQ(faults.size(), 20U);
  EXPECT_EQ(faults[19].from, Picoseconds(19'000'000));
  std::set<fabric::LinkId> links;
  for (const LinkFault& fault : faults) links.insert(fault.link);
  EXPECT_EQ(links.size(), 20U);
  EXPECT_EQ(faults_of(kFault), faults);
  EXPECT_NE(scenario_of("seed = 2\n" + with(kFault)).faults, faults);
  const auto twice = faults_of(std::string(kFault) + std::string(kFault));
  EXPECT_TRUE(std::equal(faults.begin(), faults.end(), twice.begin()));
  EXPECT_FALSE(std::equal(faults.begin(), faults.end(), twice.begin() + 20));
}

TEST(ScenarioFault, RandomTimes) {
  const auto faults = faults_of(
      "[[fault]]\nkind = 'cut'\nof = 'host-links'\nrandom = 30\nbetween = ['10 us', '20 us']\n"
      "for = '1 us'\n");
  ASSERT_EQ(faults.size(), 30U);
  std::set<Picoseconds> times;
  for (const LinkFault& fault : faults) {
    EXPECT_GE(fault.from, Picoseconds(10'000'000));
    EXPECT_LE(fault.from, Picoseconds(20'000'000));
    EXPECT_EQ(fault.to, fault.from + Picoseconds(1'000'000));
    times.insert(fault.from);
  }
  EXPECT_GT(times.size(), 25U);
}

TEST(ScenarioFault, Flaps) {
  const Scenario scenario = scenario_of(
      with("[[fault]]\nkind = 'flap'\ntarget = ['h1/p0', 'h2/p0']\nat = '1 us'\ndown = '2 us'\n"
           "up = '3 us'\ncount = 3\n"));
  ASSERT_EQ(scenario.faults.size(), 6U);
  EXPECT_EQ(scenario.faults[4].from, Picoseconds(11'000'000));
  EXPECT_EQ(scenario.faults[4].to, Picoseconds(13'000'000));
  ASSERT_EQ(scenario.fault_notes.size(), 3U);
  EXPECT_EQ(scenario.fault_notes[2].text, "h1/p0, h2/p0 down");
  EXPECT_EQ(scenario.fault_notes[2].from, Picoseconds(11'000'000));
}

// The last one is cut short.
TEST(ScenarioFault, FlapsUntil) {
  const auto faults = faults_of(
      "[[fault]]\nkind = 'flap'\ntarget = 'h1/p0'\ndown = '2 us'\nperiod = '5 us'\nfor = '11 "
      "us'\n");
  ASSERT_EQ(faults.size(), 3U);
  EXPECT_EQ(faults[2].from, Picoseconds(10'000'000));
  EXPECT_EQ(faults[2].to, Picoseconds(11'000'000));
}

TEST(ScenarioFault, Errors) {
  const auto error = [](std::string_view keys) {
    return error_of(with("[[fault]]\n" + std::string(keys)));
  };
  EXPECT_EQ(error("target = 'h1/p1'\n"), "line 9: fault.kind: is missing");
  EXPECT_EQ(error("kind = 'cut'\n"), "line 9: fault.target: give one of target, random and all");
  EXPECT_EQ(error("kind = 'cut'\ntarget = 'h1/p1'\nrandom = 2\nof = 't1'\n"),
            "line 11: fault.target: give one of target, random and all");
  EXPECT_EQ(error("kind = 'cut'\ntarget = 'h1/p1'\nof = 't1'\n"),
            "line 12: fault.of: goes with random or all");
  EXPECT_EQ(error("kind = 'cut'\nrandom = 2\n"), "line 9: fault.of: is missing");
  EXPECT_EQ(error("kind = 'switch-down'\nrandom = 2\nof = 'uplinks'\n"),
            "line 12: fault.of: cannot have a fault of this kind");
  EXPECT_EQ(error("kind = 'switch-down'\nrandom = 33\nof = 't1'\n"),
            "line 11: fault.random: the fabric has 32 of them");
  EXPECT_EQ(error("kind = 'cut'\ntarget = 'h1/p1'\nat = '2 us'\nuntil = '1 us'\n"),
            "line 13: fault.until: ends before it begins");
  EXPECT_EQ(error("kind = 'cut'\ntarget = 'h1/p1'\nfor = '2 us'\nuntil = '1 us'\n"),
            "line 12: fault.for: is another way to say until");
  EXPECT_EQ(error("kind = 'cut'\ntarget = 'h1/p1'\nat = '2 us'\nbetween = ['1 us', '2 us']\n"),
            "line 13: fault.between: is another way to say at");
  EXPECT_EQ(error("kind = 'cut'\ntarget = 'h1/p1'\nbetween = ['3 us', '2 us']\n"),
            "line 12: fault.between: must be two times, the earlier one first");
  EXPECT_EQ(error("kind = 'cut'\ntarget = 'h1/p1'\nbetween = ['1 us', '2 us']\nstagger = '1 us'\n"),
            "line 13: fault.stagger: goes with at");
  EXPECT_EQ(error("kind = 'cut'\nrandom = 9\nof = 't1'\nstagger = '200000 s'\n"),
            "line 13: fault.stagger: is too long");
  EXPECT_EQ(error("kind = 'loss'\ntarget = 'h1/p1'\n"), "line 9: fault.rate: is missing");
  EXPECT_EQ(error("kind = 'mtu'\ntarget = 'h1/p1'\n"), "line 9: fault.bytes: is missing");
  EXPECT_EQ(error("kind = 'mtu'\ntarget = 'h1/p1'\nbytes = 100\n"),
            "line 12: fault.bytes: must be between \"256B\" and \"65534B\", not 100");
  EXPECT_EQ(error("kind = 'loss'\ntarget = 'h1/p1'\nrate = 1.5\n"),
            "line 12: fault.rate: must be a number between 0 and 1 or a percentage, e.g. \"20%\", "
            "not 1.5");
  EXPECT_EQ(error("kind = 'slow'\ntarget = 'h1/p1'\nspeed = '0.5 %'\n"),
            "line 12: fault.speed: must be a whole percentage from 1% to 99%");
  EXPECT_EQ(error("kind = 'flap'\ntarget = 'h1/p1'\ndown = '1 us'\nup = '1 us'\n"),
            "line 9: fault.count: give one of count, until and for");
  EXPECT_EQ(error("kind = 'flap'\ntarget = 'h1/p1'\ndown = '1 us'\ncount = 2\n"),
            "line 9: fault.up: give one of up and period");
  EXPECT_EQ(error("kind = 'flap'\ntarget = 'h1/p1'\ndown = '1 us'\nperiod = '1 us'\ncount = 2\n"),
            "line 12: fault.down: a flapping link must be down for a while, and up for a "
            "while");
}

TEST(ScenarioFault, NamesAreOfTheRightKind) {
  const auto error = [](std::string_view kind, std::string_view what) {
    return error_of(with("[[fault]]\nkind = '" + std::string(kind) + "'\ntarget = '" +
                         std::string(what) + "'\n"));
  };
  EXPECT_EQ(error("switch-down", "p3.t0-1"), "");
  EXPECT_NE(error("switch-down", "h5/p3"), "");
  EXPECT_NE(error("port-down", "p3.t0-1"), "");
  EXPECT_NE(error("plane-down", "p3.t0-1"), "");
  EXPECT_NE(error("cut", "p9.t0-1/up1"), "");
  EXPECT_EQ(error("cut", "p9.t0-1/up1").substr(0, 8), "line 11:");
}

}  // namespace
}  // namespace openmrc::sim
