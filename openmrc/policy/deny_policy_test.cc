// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/policy/deny_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/fabric/names.h"
#include "openmrc/fabric/usid_plan.h"

namespace openmrc::policy {
namespace {

using libmrc::EvProfileId;
using mapper::BadLink;
using mapper::Direction;

constexpr fabric::Shape kShape{.planes = 2, .racks = 2, .hosts_per_rack = 2, .uplinks = 4};
constexpr EvProfileId kProfile{5};

// Four EVs in each plane, one for each uplink, as a host of the fabric has them.
std::shared_ptr<const core::EvProfile> paths_of(const fabric::Fabric& fabric) {
  core::EvFormat format{.mode = core::EvFormatMode::kSrv6};
  for (int i = 0; i < 8; ++i) format.slot_widths.push_back(16);
  std::vector<core::PortedEv> evs;
  for (const Plane plane : {Plane(0), Plane(1)}) {
    for (std::uint16_t uplink = 0; uplink < kShape.uplinks; ++uplink) {
      core::PortedEv ev{.port = port_of(plane)};
      const auto address =
          fabric::UsidPlan(fabric).ev_part({plane, uplink}, fabric::Reach::kOtherRack);
      std::ranges::copy(address.bytes, ev.value.begin());
      evs.push_back(ev);
    }
  }
  return std::make_shared<const core::EvProfile>(
      *core::EvProfile::explicit_list({.format = format, .evs = evs, .planes = kShape.planes}));
}

// A device with one AUTO profile that is ONLINE.
struct Device {
  Device()
      : fabric(*fabric::Fabric::make(kShape)),
        paths(paths_of(fabric)),
        store({.planes = 2}, paths) {
    set({.state = MRC_CTL_PROFILE_OFFLINE, .mode = MRC_CTL_EV_MODE_AUTO});
    set({.state = MRC_CTL_PROFILE_ONLINE});
  }

  void set(const libmrc::EvProfileChange& change) {
    std::vector<libmrc::EvStatus> changed;
    const libmrc::Outcome outcome = store.modify(kProfile, change, changed);
    EXPECT_TRUE(outcome.ok()) << outcome.why;
  }
  void set_ev(const std::string& name, mrc_ctl_ev_state state) {
    for (std::size_t i = 0; i < 8; ++i) {
      if (name_at(i) == name) set({.edits = {{{.ev = key_at(i), .state = state}}}});
    }
  }
  // Lets the policy do what it decides.
  void apply(const std::vector<BadLink>& bad) {
    for (const DenyPolicy::Change& each : policy.decide(store.evs(), bad)) {
      EXPECT_EQ(each.profile, kProfile);
      set({.edits = each.edits});
    }
  }
  [[nodiscard]] std::string denied() const {
    std::string names;
    for (std::size_t i = 0; i < 8; ++i) {
      const auto& evs = store.evs().find(kProfile).evs;
      const auto found = std::ranges::find(evs, key_at(i), &libmrc::EvStatus::ev);
      if (found->state == MRC_CTL_EV_DENIED) names += (names.empty() ? "" : " ") + name_at(i);
    }
    return names;
  }
  [[nodiscard]] BadLink bad(const char* name, double loss = 1,
                            Direction direction = Direction::kBoth) const {
    return {.link = *fabric::parse_link(fabric, name), .direction = direction, .loss = loss};
  }
  [[nodiscard]] std::size_t denied_in(Plane plane) const {
    std::size_t count = 0;
    for (const auto& each : store.evs().find(kProfile).evs) {
      if (each.ev.port == port_of(plane) && each.state == MRC_CTL_EV_DENIED) ++count;
    }
    return count;
  }

  [[nodiscard]] libmrc::EvKey key_at(std::size_t i) const {
    return libmrc::key_at(*paths, core::EvIndex(static_cast<std::uint8_t>(i)));
  }
  [[nodiscard]] static std::string name_at(std::size_t i) {
    return std::to_string(i / kShape.uplinks) + ":" + std::to_string(i % kShape.uplinks);
  }

  fabric::Fabric fabric;
  std::shared_ptr<const core::EvProfile> paths;
  libmrc::ProfileStore store;
  DenyPolicy policy;
};

TEST(DenyPolicy, DeniesTheEvsOfABadUplinkUntilItIsGood) {
  Device device;
  device.apply({});
  EXPECT_EQ(device.denied(), "");
  device.apply({device.bad("p1.t0-0/up2")});
  EXPECT_EQ(device.denied(), "1:2");
  EXPECT_TRUE(
      device.policy.decide(device.store.evs(), std::vector{device.bad("p1.t0-0/up2")}).empty());
  device.apply({});
  EXPECT_EQ(device.denied(), "");
  EXPECT_TRUE(device.policy.denials().empty());
}

TEST(DenyPolicy, DeniesHalfOfAPlaneForABadHostLink) {
  Device device;
  device.apply({device.bad("h0/p0", 0.01, Direction::kUnknown)});
  EXPECT_EQ(device.denied_in(Plane(0)), 2u);
  EXPECT_EQ(device.denied_in(Plane(1)), 0u);
}

TEST(DenyPolicy, LeavesHalfOfEachPlaneIfEverythingIsBad) {
  Device device;
  std::vector<BadLink> all{device.bad("h0/p0"), device.bad("h0/p1")};
  for (const char* name : {"p0.t0-0/up0", "p0.t0-0/up1", "p0.t0-0/up2", "p0.t0-0/up3",
                           "p1.t0-0/up0", "p1.t0-0/up1", "p1.t0-0/up2", "p1.t0-0/up3"}) {
    all.push_back(device.bad(name));
  }
  device.apply(all);
  EXPECT_EQ(device.denied_in(Plane(0)), 2u);
  EXPECT_EQ(device.denied_in(Plane(1)), 2u);
}

TEST(DenyPolicy, TakesTheWorstLinksFirst) {
  Device device;
  device.apply({device.bad("p0.t0-0/up0", 0.01), device.bad("p0.t0-0/up1", 0.5),
                device.bad("p0.t0-0/up3", 0.1)});
  EXPECT_EQ(device.denied_in(Plane(0)), 2u);
  EXPECT_NE(device.denied().find("0:1"), std::string::npos);
  EXPECT_NE(device.denied().find("0:3"), std::string::npos);
}

TEST(DenyPolicy, LeavesLinksThatOnlyLoseWhatComesDown) {
  Device device;
  device.apply({device.bad("p0.t0-0/up0", 1, Direction::kDown)});
  EXPECT_EQ(device.denied(), "");
}

TEST(DenyPolicy, LeavesToTheControllerWhatTheControllerDenied) {
  Device device;
  device.set_ev("0:1", MRC_CTL_EV_DENIED);
  device.apply({device.bad("p0.t0-0/up1"), device.bad("p0.t0-0/up2"), device.bad("p0.t0-0/up3")});
  EXPECT_EQ(device.denied_in(Plane(0)), 2u);  // its own, and one of ours
  device.apply({});
  EXPECT_EQ(device.denied(), "0:1");
}

TEST(DenyPolicy, DoesNotArgueWithTheController) {
  Device device;
  const std::vector bad{device.bad("p0.t0-0/up1")};
  device.apply(bad);
  device.set_ev("0:1", MRC_CTL_EV_GOOD);
  device.apply(bad);
  EXPECT_EQ(device.denied(), "");
  device.apply({});
  device.apply(bad);  // bad anew
  EXPECT_EQ(device.denied(), "0:1");
}

TEST(DenyPolicy, LiftsWhatAnEarlierProcessDenied) {
  Device device;
  device.apply({device.bad("p1.t0-0/up2"), device.bad("p0.t0-0/up0")});
  const auto again = DenyPolicy::parse(device.policy.to_json());
  ASSERT_TRUE(again) << again.error();
  EXPECT_EQ(*again, device.policy);
  device.policy = *again;
  device.apply({});
  EXPECT_EQ(device.denied(), "");
}

TEST(DenyPolicy, RefusesAFileThatIsNone) {
  for (const char* text : {"", "[]", "{}", R"({"denied":1})", R"({"denied":[1]})",
                           R"({"denied":[{"profile":1,"ev":"xx","port":1}]})",
                           R"({"denied":[{"profile":1,"ev":"aa","port":999}]})",
                           R"({"denied":[{"profile":-1,"ev":"aa","port":1}]})"}) {
    EXPECT_FALSE(DenyPolicy::parse(text)) << text;
  }
}

// Whatever happens in whatever order: never more than half of a plane, and all of it ends.
TEST(DenyPolicy, NeverTakesMoreThanHalfOfAPlane) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    Device device;
    Rng rng(seed);
    for (int step = 0; step < 30; ++step) {
      std::vector<BadLink> bad;
      for (std::uint64_t n = rng.below(6); n > 0; --n) {
        const std::uint64_t plane = rng.below(2);
        const std::string name = rng.below(4) == 0 ? "h0/p" + std::to_string(plane)
                                                   : "p" + std::to_string(plane) + ".t0-0/up" +
                                                         std::to_string(rng.below(4));
        bad.push_back(device.bad(name.c_str(), static_cast<double>(rng.below(100)) / 100,
                                 static_cast<Direction>(rng.below(4))));
      }
      device.apply(bad);
      for (const Plane plane : {Plane(0), Plane(1)}) ASSERT_LE(device.denied_in(plane), 2u);
    }
    device.apply({});
    ASSERT_EQ(device.denied(), "") << seed;
  }
}

}  // namespace
}  // namespace openmrc::policy
