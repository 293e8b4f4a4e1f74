// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/spec.h"

#include <gtest/gtest.h>

#include <string>

#include "openmrc/lab/test_spec.h"

namespace openmrc::lab {
namespace {

// What is wrong with a lab; empty if nothing is.
std::string problem_of(const Spec& spec) {
  const auto checked = check(spec);
  return checked ? "" : checked.error();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(LabSpec, ASmallLabIsFine) {
  EXPECT_EQ(problem_of(small_lab()), "");
  EXPECT_EQ(problem_of(Spec{}), "");
}

TEST(LabSpec, NamesArePartsOfNamesOfNamespaces) {
  EXPECT_TRUE(is_lab_name("try_2"));
  EXPECT_TRUE(is_lab_name(std::string(kNameSizeMax, 'a')));
  EXPECT_FALSE(is_lab_name(""));
  EXPECT_FALSE(is_lab_name(std::string(kNameSizeMax + 1, 'a')));
  for (const char* name : {"a-b", "a/b", "..", "a b", "a\n", "ä"}) {
    EXPECT_FALSE(is_lab_name(name)) << name;
    Spec spec = small_lab();
    spec.name = name;
    EXPECT_TRUE(has(problem_of(spec), name)) << problem_of(spec);
  }
}

TEST(LabSpec, RefusesWhatCannotBeBuilt) {
  Spec no_planes = small_lab();
  no_planes.shape.planes = 0;
  EXPECT_NE(problem_of(no_planes), "");

  EXPECT_EQ(problem_of(small_lab(125)), "") << "250 hosts and 6 switches";
  const std::string too_large = problem_of(small_lab(126));
  EXPECT_TRUE(has(too_large, "258")) << too_large;
}

TEST(LabSpec, TheMtuHasLimits) {
  Spec spec = small_lab();
  for (const std::uint32_t mtu : {kMtuMin, kMtuMax}) {
    spec.mtu = mtu;
    EXPECT_EQ(problem_of(spec), "") << mtu;
  }
  for (const std::uint32_t mtu : {kMtuMin - 1, kMtuMax + 1}) {
    spec.mtu = mtu;
    EXPECT_TRUE(has(problem_of(spec), "MTU")) << problem_of(spec);
  }
}

TEST(LabSpec, EveryModeAndSwitchHasAName) {
  for (const Mode mode : {Mode::kSrv6, Mode::kUsid, Mode::kUdp, Mode::kXdp}) {
    EXPECT_EQ(mode_named(name_of(mode)), mode);
  }
  for (const Switches switches : {Switches::kKernel, Switches::kSoft, Switches::kSoftOuter}) {
    EXPECT_EQ(switches_named(name_of(switches)), switches);
  }
  EXPECT_EQ(mode_named("ipv4"), std::nullopt);
  EXPECT_EQ(switches_named(""), std::nullopt);
}

TEST(LabSpec, DescribesItselfAndTheOptionsThatMakeIt) {
  Spec spec = small_lab();
  EXPECT_EQ(describe(spec), "2 planes, 2 T0s and 1 T1 in each, 2 hosts");
  EXPECT_EQ(options_of(spec), "--planes 2 --t0 2 --t1 1 --hosts 2");
  spec.bits_per_second = 500'000'000;
  spec.mtu = 1500;
  spec.mode = Mode::kUdp;
  spec.switches = Switches::kSoft;
  EXPECT_EQ(describe(spec),
            "2 planes, 2 T0s and 1 T1 in each, 2 hosts, links of 500mbit, soft switches");
  EXPECT_EQ(
      options_of(spec),
      "--planes 2 --t0 2 --t1 1 --hosts 2 --rate 500mbit --mtu 1500 --mode udp --switch soft");
}

TEST(LabSpec, OfIpv4IsOfModeUdpAndOfKernelSwitches) {
  Spec spec = small_lab();
  spec.ip = wire::IpVersion::kV4;
  EXPECT_EQ(check(spec).error(),
            "IPv4 has no paths that name switches: --ip 4 goes with --mode udp, not srv6");
  spec.mode = Mode::kUdp;
  EXPECT_TRUE(check(spec));
  EXPECT_EQ(describe(spec), "2 planes, 2 T0s and 1 T1 in each, 2 hosts, IPv4");
  EXPECT_EQ(options_of(spec), "--planes 2 --t0 2 --t1 1 --hosts 2 --ip 4");
  EXPECT_EQ(spec_from_json(to_json(spec)), spec);
  spec.switches = Switches::kSoft;
  EXPECT_FALSE(check(spec));
}

TEST(LabSpec, IsReadFromItsFile) {
  Spec spec = small_lab();
  EXPECT_EQ(spec_from_json(to_json(spec)), spec);
  spec.bits_per_second = 500'000'000;
  spec.shape.host_link_bits_per_second = spec.shape.uplink_bits_per_second = 500'000'000;
  spec.mode = Mode::kUsid;
  spec.switches = Switches::kSoft;
  EXPECT_EQ(spec_from_json(to_json(spec)), spec);
}

TEST(LabSpec, AFileThatWasTamperedWithIsNoLab) {
  Spec spec = small_lab();
  const std::string text = to_json(spec);
  EXPECT_EQ(spec_from_json(""), std::nullopt);
  EXPECT_EQ(spec_from_json("{}"), std::nullopt);
  EXPECT_EQ(spec_from_json(text.substr(0, text.size() / 2)), std::nullopt);
  for (const char* wrong : {"1e99", "4294967298", "-2", "2.5", "\"2\""}) {
    std::string changed = text;
    changed.replace(changed.find("\"planes\": 2") + 10, 1, wrong);
    EXPECT_EQ(spec_from_json(changed), std::nullopt) << changed;
  }
  spec.name = "../../etc";
  EXPECT_EQ(spec_from_json(to_json(spec)), std::nullopt);
}

TEST(LabSpec, DeepTextIsRefused) {
  EXPECT_FALSE(spec_from_json(std::string(1'000'000, '[')).has_value());
}

TEST(LabSpec, SaysWhatItIsBuiltFrom) {
  Spec spec = small_lab();
  spec.source = Source::kFrr;
  EXPECT_TRUE(check(spec));
  EXPECT_EQ(spec_from_json(to_json(spec)), spec);
  EXPECT_NE(options_of(spec).find(" --from frr"), std::string::npos);
  spec.switches = Switches::kSoft;
  EXPECT_FALSE(check(spec));
  spec.switches = Switches::kKernel;
  spec.ip = wire::IpVersion::kV4;
  spec.mode = Mode::kUdp;
  EXPECT_FALSE(check(spec));
}

}  // namespace
}  // namespace openmrc::lab
