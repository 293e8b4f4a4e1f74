// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/lab/layout.h"
#include "openmrc/lab/test_spec.h"

namespace openmrc::lab {
namespace {

using fabric::HostIndex;
using fabric::SwitchId;
using fabric::Tier;
using Lines = std::vector<std::string>;

bool any(std::string_view /*interface*/) { return true; }

// What `program` is given to read, in whichever stage it runs; empty if it is never run.
Lines input_of(const Plan& plan, const Lines& program) {
  for (const Stage& stage : plan.stages) {
    const auto step = std::ranges::find(stage, program, &Step::arguments);
    if (step != stage.end()) return step->input;
  }
  return {};
}

bool contains(const Lines& lines, std::string_view line) {
  return std::ranges::find(lines, line) != lines.end();
}

TEST(LabPlan, MakesANamespaceForEveryNode) {
  const Plan plan = plan_of(small_lab());
  ASSERT_EQ(plan.stages.size(), 4U);
  ASSERT_EQ(plan.stages[0].size(), 1U);
  EXPECT_EQ(plan.stages[0][0].arguments, (Lines{"ip", "-batch", "-"}));
  EXPECT_EQ(plan.stages[0][0].input,
            (Lines{"netns add mrc-try-mgmt", "netns add mrc-try-h0", "netns add mrc-try-h1",
                   "netns add mrc-try-p0.t0-0", "netns add mrc-try-p0.t0-1",
                   "netns add mrc-try-p0.t1-0", "netns add mrc-try-p1.t0-0",
                   "netns add mrc-try-p1.t0-1", "netns add mrc-try-p1.t1-0"}));
}

TEST(LabPlan, PutsACableForEveryLink) {
  const Lines cables = plan_of(small_lab()).stages[2][0].input;
  ASSERT_EQ(cables.size(), 8U + 2) << "links, and the hosts' management";
  EXPECT_EQ(cables[6],
            "link add name p1 index 101 address 02:10:00:01:00:00 mtu 9000 netns mrc-try-h1 type "
            "veth peer name down0 index 1000 address 02:11:00:01:00:00 mtu 9000 netns "
            "mrc-try-p1.t0-1");
  EXPECT_EQ(cables[7],
            "link add name down1 index 3001 address 02:15:00:01:00:00 mtu 9000 netns "
            "mrc-try-p1.t1-0 type veth peer name up0 index 2000 address 02:14:00:01:00:00 mtu 9000 "
            "netns mrc-try-p1.t0-1");
}

TEST(LabPlan, APortOfAHostSendsToItsT0) {
  const auto only_p1 = [](std::string_view interface) { return interface == "p1"; };
  EXPECT_EQ(
      host_lines(small_lab(), HostIndex(1), only_p1),
      (Lines{"link set dev p1 mtu 9000 up", "address replace fe80::2/64 dev p1 nodad",
             "neighbour replace fe80::1 lladdr 02:11:00:01:00:00 dev p1 nud permanent",
             "address replace fd4d:5243:0:1::1:1/128 dev p1 nodad",
             "route replace fd4d:5243:0:1::/64 via fe80::1 dev p1 src fd4d:5243:0:1::1:1",
             "route replace fcbb:bb00:4011::/48 via fe80::1 dev p1 src fd4d:5243:0:1::1:1",
             "route replace fcbb:bb00:c001::/48 encap seg6local action End.DT6 table local dev "
             "p1"}));
}

TEST(LabPlan, AT0ForwardsDownByHostAndUpByAnyUplink) {
  const SwitchId t0{Plane(1), Tier::kT0, 1};
  const Lines expected{"link set dev down0 mtu 9000 up",
                       "address replace fe80::1/64 dev down0 nodad",
                       "neighbour replace fe80::2 lladdr 02:10:00:01:00:00 dev down0 nud permanent",
                       "route replace fcbb:bb00:c001::/48 via fe80::2 dev down0",
                       "route replace fd4d:5243:0:1::1:1/128 via fe80::2 dev down0",
                       "link set dev up0 mtu 9000 up",
                       "address replace fe80::2/64 dev up0 nodad",
                       "neighbour replace fe80::1 lladdr 02:15:00:01:00:00 dev up0 nud permanent",
                       "route replace fcbb:bb00:8001::/48 via fe80::1 dev up0",
                       "route replace fd4d:5243:0:1::/64 nexthop via fe80::1 dev up0"};
  EXPECT_EQ(switch_lines(small_lab(), t0, any, any), expected);
  const auto none = [](std::string_view /*interface*/) { return false; };
  EXPECT_EQ(switch_lines(small_lab(), t0, any, none), Lines(expected.begin(), expected.end() - 1))
      << "no route over uplinks that are all down";
}

TEST(LabPlan, AT1ForwardsToEveryT0) {
  const SwitchId t1{Plane(1), Tier::kT1, 0};
  const auto only_down1 = [](std::string_view interface) { return interface == "down1"; };
  EXPECT_EQ(switch_lines(small_lab(), t1, only_down1, any),
            (Lines{"link set dev down1 mtu 9000 up", "address replace fe80::1/64 dev down1 nodad",
                   "neighbour replace fe80::2 lladdr 02:14:00:01:00:00 dev down1 nud permanent",
                   "route replace fcbb:bb00:4011::/48 via fe80::2 dev down1",
                   "route replace fd4d:5243:0:1::1:0/112 via fe80::2 dev down1"}));
}

TEST(LabPlan, ASwitchTakesItsOwnSegmentAndDropsWhatItDoesNotKnow) {
  const Lines lines =
      input_of(plan_of(small_lab()), {"ip", "-6", "-n", "mrc-try-p1.t1-0", "-batch", "-"});
  EXPECT_TRUE(contains(lines,
                       "route replace fcbb:bb00:8001::/48 encap seg6local action End flavors "
                       "next-csid lblen 32 nflen 16 dev sr0"));
  EXPECT_TRUE(contains(lines, "route replace blackhole ::/0"));
}

TEST(LabPlan, ASoftSwitchLeavesForwardingToItsProcess) {
  Spec spec = small_lab();
  spec.switches = Switches::kSoft;
  const SwitchId t0{Plane(0), Tier::kT0, 0};
  EXPECT_EQ(switch_lines(spec, t0, any, any),
            (Lines{"link set dev down0 mtu 9000 up", "link set dev up0 mtu 9000 up"}));
  const Lines lines = input_of(plan_of(spec), {"ip", "-6", "-n", "mrc-try-p0.t0-0", "-batch", "-"});
  EXPECT_TRUE(contains(lines, "link set dev up0 gso_max_segs 1"));
  EXPECT_TRUE(std::ranges::none_of(
      lines, [](const std::string& line) { return line.find("route") != std::string::npos; }));
}

TEST(LabPlan, FromEmittedScriptsNothingIsConfiguredByTheLab) {
  Spec spec = small_lab();
  spec.source = Source::kIproute2;
  const Plan plan = plan_of(spec);
  const std::string script = "/run/openmrc/labs/try/emit/p1.t0-1/setup.sh";
  EXPECT_TRUE(std::ranges::any_of(plan.files, [&](const File& file) {
    return file.path == script &&
           file.text.find("route replace fcbb:bb00:4011::/48 encap") != std::string::npos;
  }));
  EXPECT_TRUE(std::ranges::any_of(plan.stages.back(), [&](const Step& step) {
    return step.arguments == Lines{"ip", "netns", "exec", "mrc-try-p1.t0-1", "sh", script};
  }));
  const Lines lines = input_of(plan, {"ip", "-6", "-n", "mrc-try-p1.t0-1", "-batch", "-"});
  EXPECT_TRUE(std::ranges::none_of(
      lines, [](const std::string& line) { return line.find("route") != std::string::npos; }));
}

TEST(LabPlan, WithFrrStaticRoutesAreItsOwn) {
  Spec spec = small_lab();
  spec.source = Source::kFrr;
  for (const std::string& line : switch_lines(spec, {Plane(1), Tier::kT0, 1}, any, any)) {
    EXPECT_EQ(line.find("route"), std::string::npos) << line;
  }
  const Plan plan = plan_of(spec);
  for (const Stage& stage : plan.stages) {
    for (const Step& step : stage) {
      const bool is_daemon = std::ranges::find(step.arguments, "-d") != step.arguments.end() &&
                             std::ranges::find(step.arguments, "netns") != step.arguments.end();
      EXPECT_EQ(step.leaves_daemon, is_daemon);
    }
  }
  EXPECT_EQ(plan.stages.back().front().arguments[4], "vtysh");
}

Spec small_ipv4_lab() {
  Spec spec = small_lab();
  spec.ip = wire::IpVersion::kV4;
  spec.mode = Mode::kUdp;
  return spec;
}

TEST(LabPlan, OverIpv4HostsAndSwitchesHaveOrdinaryRoutes) {
  const auto only_p1 = [](std::string_view interface) { return interface == "p1"; };
  EXPECT_EQ(host_lines(small_ipv4_lab(), HostIndex(1), only_p1),
            (Lines{"link set dev p1 mtu 9000 up",
                   "neighbour replace 169.254.0.1 lladdr 02:11:00:01:00:00 dev p1 nud permanent",
                   "address replace 10.1.1.1/32 dev p1",
                   "route replace 10.1.0.0/16 via 169.254.0.1 dev p1 onlink src 10.1.1.1"}));
  EXPECT_EQ(switch_lines(small_ipv4_lab(), {Plane(1), Tier::kT0, 1}, any, any),
            (Lines{"link set dev down0 mtu 9000 up",
                   "neighbour replace 169.254.0.1 lladdr 02:10:00:01:00:00 dev down0 nud permanent",
                   "route replace 10.1.1.1/32 via 169.254.0.1 dev down0 onlink",
                   "link set dev up0 mtu 9000 up",
                   "neighbour replace 169.254.0.1 lladdr 02:15:00:01:00:00 dev up0 nud permanent",
                   "route replace 10.1.0.0/16 nexthop via 169.254.0.1 dev up0 onlink"}));
  const auto only_down1 = [](std::string_view interface) { return interface == "down1"; };
  EXPECT_EQ(switch_lines(small_ipv4_lab(), {Plane(1), Tier::kT1, 0}, only_down1, any),
            (Lines{"link set dev down1 mtu 9000 up",
                   "neighbour replace 169.254.0.1 lladdr 02:14:00:01:00:00 dev down1 nud permanent",
                   "route replace 10.1.1.0/24 via 169.254.0.1 dev down1 onlink"}));
}

TEST(LabPlan, OverIpv4NothingSpeaksOfIpv6ButToDisableIt) {
  for (const Stage& stage : plan_of(small_ipv4_lab()).stages) {
    for (const Step& step : stage) {
      std::string text = script_of(step);
      for (std::size_t at = 0; (at = text.find("disable_ipv6", at)) != std::string::npos;) {
        const std::size_t begin = text.rfind(' ', at);
        text.erase(begin, at + 12 - begin);
        at = begin;
      }
      for (const char* word : {"ipv6", "::", "ip -6", "seg6", "addrgenmode"}) {
        EXPECT_EQ(text.find(word), std::string::npos) << word << " in " << text;
      }
    }
  }
}

TEST(LabPlan, ARateIsATokenBucketAtEveryPort) {
  Spec spec = small_lab();
  spec.bits_per_second = 500'000'000;
  const Plan plan = plan_of(spec);
  EXPECT_EQ(input_of(plan, {"tc", "-n", "mrc-try-h0", "-batch", "-"}),
            (Lines{"qdisc replace dev p0 root tbf rate 500000000bit burst 18028 limit 3125000",
                   "qdisc replace dev p1 root tbf rate 500000000bit burst 18028 limit 3125000"}));
  EXPECT_EQ(input_of(plan, {"tc", "-n", "mrc-try-p0.t1-0", "-batch", "-"}),
            (Lines{"qdisc replace dev down0 root tbf rate 500000000bit burst 18028 limit 187500",
                   "qdisc replace dev down1 root tbf rate 500000000bit burst 18028 limit 187500"}));
}

}  // namespace
}  // namespace openmrc::lab
