// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <ranges>
#include <variant>

#include "openmrc/agent/agent_state_file.h"
#include "openmrc/agent/profiles/test_profiles.h"

namespace openmrc::libmrc {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

constexpr ClientId kController = 1;
constexpr ClientId kApplication = 2;
constexpr ClientId kOther = 3;

// An agent with a controller and two applications, and one GEN profile that is ONLINE.
struct AgentTest : ::testing::Test {
  AgentTest()
      : device(2),
        agent(device.store, {.host = "h0", .interfaces = {"p0", "p1"}}, [this] { return save(); }) {
    agent.connect(kController, true);
    agent.connect(kApplication, false);
    agent.connect(kOther, false);
    device.make_format(MRC_CTL_EV_FMT_MODE_STEV, {16, 16});
    device.make_profile(MRC_CTL_EV_MODE_GEN, 8,
                        {{.width = 16, .init = 0, .min = 0, .max = 0xffff, .mask = 0xffff}});
    device.go_online(0, MRC_CTL_EV_ASSUMED_BAD);
    first_ev = device.store.evs().find(kProfile).evs.front().ev;
  }

  Outcome save() {
    ++saves;
    if (save_error.ok()) saved_texts.push_back(state_text(device.store));
    return save_error;
  }

  // The answer; what others are told is left in `told`.
  Reply ask(ClientId client, const Request& request) {
    told.clear();
    Reply reply{.outcome = refused(EIO, "no answer")};
    for (const Agent::Outgoing& each :
         agent.handle(client, encode(NumberedRequest{.call = 3, .request = request}))) {
      auto message = decode_from_agent(each.message);
      EXPECT_TRUE(message.has_value());
      if (auto* const answer = std::get_if<NumberedReply>(&*message)) {
        EXPECT_EQ(each.to, client);
        EXPECT_EQ(answer->call, 3);
        reply = answer->reply;
      } else {
        told.emplace_back(each.to, std::get<Push>(*message));
      }
    }
    return reply;
  }
  Request deny() const {
    return ModifyEvProfile{.id = kProfile,
                           .change = {.edits = {{{.ev = first_ev, .state = MRC_CTL_EV_DENIED}}}}};
  }

  std::size_t saves = 0;
  std::vector<std::string> saved_texts;
  Outcome save_error;
  TestDevice device;
  Agent agent;
  EvKey first_ev;
  std::vector<std::pair<ClientId, Push>> told;
};

// The agent's own policy: no connection, but the rights of an administrator.
TEST_F(AgentTest, DoesWhatItsOwnPartsAskAndTellsThoseWhoWantToKnow) {
  ask(kApplication, Subscribe{.changes = true});
  const auto saves_before = saves;
  std::vector<Agent::Outgoing> also;
  const Reply reply = agent.handle_own(
      ModifyEvProfile{kProfile, {.edits = {{{.ev = first_ev, .state = MRC_CTL_EV_DENIED}}}}}, also);
  EXPECT_TRUE(reply.outcome.ok()) << reply.outcome.why;
  EXPECT_EQ(saves, saves_before + 1);
  ASSERT_EQ(also.size(), 1u);
  EXPECT_EQ(also[0].to, kApplication);
  EXPECT_EQ(device.store.evs().find(kProfile).evs.front().state, MRC_CTL_EV_DENIED);
}

TEST_F(AgentTest, OnlyTheAdministratorMayModify) {
  const std::vector<Request> changes{ModifyPort{PortNumber(1), false}, ModifyFormat{.id = kFormat},
                                     deny(), ModifyCcProfile{.id = kCc}};
  for (const Request& change : changes) {
    EXPECT_EQ(ask(kApplication, change).outcome.error, EPERM);
    EXPECT_EQ(ask(kController, change).outcome.error, 0);
  }
}

TEST_F(AgentTest, EverybodyMayAsk) {
  const std::vector<Request> questions{
      QueryDevice{},        ListProfiles{},           QueryPort{PortNumber(1)},
      QueryFormat{kFormat}, QueryEvProfile{kProfile}, QueryCcProfile{kCc}};
  for (const Request& question : questions) {
    const Reply reply = ask(kApplication, question);
    EXPECT_EQ(reply.outcome.error, 0);
    EXPECT_FALSE(std::holds_alternative<std::monostate>(reply.body));
  }
  EXPECT_EQ(ask(kApplication, QueryPort{PortNumber(3)}).outcome.error, EINVAL);
}

TEST_F(AgentTest, TellsOfTheDevice) {
  const auto info = std::get<DeviceInfo>(ask(kApplication, QueryDevice{}).body);
  EXPECT_EQ(info.host, "h0");
  EXPECT_EQ(info.planes, 2);
  EXPECT_EQ(info.evs_free, info.evs_max - 8);
  ASSERT_EQ(info.ports.size(), 2);
  EXPECT_EQ(info.ports[1].name, "p1");
  EXPECT_EQ(info.clients, 3);
  const auto list = std::get<ProfileList>(ask(kApplication, ListProfiles{}).body);
  ASSERT_EQ(list.ev_profiles.size(), 1);
  EXPECT_EQ(list.ev_profiles[0].id, kProfile.raw());
  EXPECT_EQ(list.ev_profiles[0].state, MRC_CTL_PROFILE_ONLINE);
}

TEST_F(AgentTest, AProcessUsesAProfileOnceUntilItsConnectionEnds) {
  EXPECT_EQ(std::get<EvProfileImage>(ask(kApplication, UseEvProfile{kProfile}).body).evs.size(), 8);
  ask(kApplication, UseEvProfile{kProfile});
  ask(kOther, UseEvProfile{kProfile});
  EXPECT_EQ(device.store.evs().uses(kProfile), 2);
  const Request offline{
      ModifyEvProfile{.id = kProfile, .change = {.state = MRC_CTL_PROFILE_OFFLINE}}};
  EXPECT_EQ(ask(kController, offline).outcome.error, EBUSY);
  EXPECT_EQ(ask(kOther, ReleaseEvProfile{kProfile}).outcome.error, 0);
  EXPECT_EQ(ask(kOther, ReleaseEvProfile{kProfile}).outcome.error, EINVAL);
  EXPECT_EQ(ask(kController, offline).outcome.error, EBUSY);
  agent.disconnect(kApplication);
  EXPECT_EQ(ask(kController, offline).outcome.error, 0);
  EXPECT_EQ(ask(kOther, UseEvProfile{kProfile}).outcome.error, EINVAL) << "it is OFFLINE";
}

TEST_F(AgentTest, CongestionControlProfilesAreUsedTheSameWay) {
  device.cc({.state = MRC_CTL_PROFILE_OFFLINE, .algorithm = ""});
  EXPECT_EQ(ask(kApplication, UseCcProfile{kCc}).outcome.error, EINVAL);
  device.cc({.state = MRC_CTL_PROFILE_ONLINE});
  EXPECT_EQ(ask(kApplication, UseCcProfile{kCc}).outcome.error, 0);
  EXPECT_EQ(device.cc({.state = MRC_CTL_PROFILE_OFFLINE}), EBUSY);
  EXPECT_EQ(ask(kApplication, ReleaseCcProfile{kCc}).outcome.error, 0);
  EXPECT_EQ(device.cc({.state = MRC_CTL_PROFILE_OFFLINE}), 0);
}

TEST_F(AgentTest, ChangesAreToldToThoseWhoSubscribed) {
  ask(kApplication, Subscribe{.changes = true});
  EXPECT_EQ(ask(kController, deny()).outcome.error, 0);
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0].first, kApplication);
  EXPECT_EQ(std::get<EvsChanged>(told[0].second).evs,
            (std::vector<EvStatus>{{first_ev, MRC_CTL_EV_DENIED}}));
  ask(kController, ModifyPort{PortNumber(2), false});
  ASSERT_EQ(told.size(), 1);
  EXPECT_FALSE(std::get<PortChanged>(told[0].second).enabled);
  ask(kApplication, Subscribe{});
  ask(kController, deny());
  EXPECT_TRUE(told.empty());
}

TEST_F(AgentTest, EventsGoToThoseWhoSubscribedIfTheMaskAsksForThem) {
  ask(kController, Subscribe{.events = true});
  const auto report = [&](ClientId client, mrc_ctl_ev_state state) {
    return ask(client, ReportEvs{kProfile, {{first_ev, state}}}).outcome.error;
  };
  EXPECT_EQ(report(kApplication, MRC_CTL_EV_ASSUMED_BAD), EINVAL) << "it does not use the profile";
  ask(kApplication, UseEvProfile{kProfile});
  EXPECT_EQ(report(kApplication, MRC_CTL_EV_ASSUMED_BAD), 0);
  ASSERT_EQ(told.size(), 1);
  EXPECT_EQ(told[0].first, kController);
  EXPECT_EQ(std::get<EvEvent>(told[0].second).seen, (EvStatus{first_ev, MRC_CTL_EV_ASSUMED_BAD}));
  EXPECT_EQ(report(kApplication, MRC_CTL_EV_GOOD), 0);
  EXPECT_TRUE(told.empty()) << "GOOD is not in the mask";

  agent.event_lost(kController);
  agent.event_lost(kController);
  report(kApplication, MRC_CTL_EV_ASSUMED_BAD);
  EXPECT_EQ(std::get<EvEvent>(told.at(0).second).lost, 2);
  report(kApplication, MRC_CTL_EV_ASSUMED_BAD);
  EXPECT_EQ(std::get<EvEvent>(told.at(0).second).lost, 0);
}

TEST_F(AgentTest, WhatMakesNoSenseIsAnsweredAndCounted) {
  const auto out = agent.handle(kApplication, R"({"call":8,"request":"reboot","body":{}})");
  ASSERT_EQ(out.size(), 1);
  const auto answer = decode_from_agent(out[0].message);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(std::get<NumberedReply>(*answer).call, 8);
  EXPECT_EQ(std::get<NumberedReply>(*answer).reply.outcome.error, EBADMSG);
  agent.handle(kApplication, "");
  EXPECT_EQ(agent.refused_messages(), 2);
  EXPECT_EQ(std::get<DeviceInfo>(ask(kApplication, QueryDevice{}).body).refused_messages, 2);
}

TEST_F(AgentTest, AChangeIsSavedBeforeItIsAnswered) {
  ask(kController, deny());
  EXPECT_EQ(saves, 1);
  EXPECT_EQ(saved_texts.at(0), state_text(device.store));
  ask(kController, ModifyPort{PortNumber(9), false});
  EXPECT_EQ(saves, 1) << "it was refused";
  ask(kApplication, UseEvProfile{kProfile});
  ask(kApplication, deny());
  EXPECT_EQ(saves, 1);
}

TEST_F(AgentTest, WhatCannotBeSavedIsUndoneAndNobodyHearsOfIt) {
  ask(kApplication, Subscribe{.changes = true});
  const std::string before = state_text(device.store);
  mrc_ctl_cc_nscc_cfg config{};
  config.base_rtt = 9000;
  const std::vector<Request> changes{
      ModifyPort{PortNumber(1), false},
      ModifyFormat{.id = FormatId(8), .change = {.mode = MRC_CTL_EV_FMT_MODE_STEV}}, deny(),
      ModifyEvProfile{.id = kProfile, .change = {.state = MRC_CTL_PROFILE_OFFLINE}},
      ModifyCcProfile{.id = kCc, .change = {.algorithm = kNsccName, .config = config}}};
  save_error = refused(ENOSPC, "no space");
  for (const Request& change : changes) {
    const Outcome outcome = ask(kController, change).outcome;
    EXPECT_EQ(outcome.error, ENOSPC);
    EXPECT_EQ(outcome.why, "no space");
    EXPECT_TRUE(told.empty());
    EXPECT_EQ(state_text(device.store), before);
  }
  EXPECT_EQ(saves, changes.size());
  EXPECT_EQ(ask(kOther, UseEvProfile{kProfile}).outcome.error, 0) << "it is ONLINE as before";
  save_error = {};
  for (const Request& change : changes | std::views::take(3)) {
    EXPECT_EQ(ask(kController, change).outcome.error, 0);
  }
}

TEST_F(AgentTest, EditsBeforeAWrongOneAreSavedOrUndoneToo) {
  const Request half{ModifyEvProfile{
      .id = kProfile,
      .change = {.edits = {{{.ev = first_ev, .state = MRC_CTL_EV_DENIED},
                            {.ev = ev({0xff, 0xff}, 9), .state = MRC_CTL_EV_DENIED}}}}}};
  const std::string before = state_text(device.store);
  save_error = refused(EROFS, "read-only");
  EXPECT_EQ(ask(kController, half).outcome.error, EROFS);
  EXPECT_EQ(state_text(device.store), before);
  save_error = {};
  const Outcome outcome = ask(kController, half).outcome;
  EXPECT_NE(outcome.error, 0);
  EXPECT_EQ(outcome.entries_done, 1);
  EXPECT_EQ(saved_texts.back(), state_text(device.store));
  EXPECT_NE(saved_texts.back(), before);
}

TEST_F(AgentTest, IsTheSameAfterARestart) {
  ask(kController, deny());
  ask(kController, ModifyPort{PortNumber(2), false});
  mrc_ctl_cc_nscc_cfg config{};
  config.base_rtt = 9000;
  config.gamma = 0.8F;
  device.cc({.state = MRC_CTL_PROFILE_OFFLINE, .algorithm = kNsccName, .config = config});
  device.cc({.state = MRC_CTL_PROFILE_ONLINE});
  const std::string saved = state_text(device.store);

  ProfileStore again({.planes = 2}, own_evs(2));
  std::vector<std::string> left_out;
  ASSERT_TRUE(restore_state(saved, again, left_out));
  EXPECT_TRUE(left_out.empty());
  EXPECT_EQ(again.evs().find(kProfile).evs, device.store.evs().find(kProfile).evs);
  EXPECT_EQ(again.evs().find(kProfile).state, MRC_CTL_PROFILE_ONLINE);
  EXPECT_TRUE(std::ranges::equal(again.evs().paths(kProfile)->entries(),
                                 device.store.evs().paths(kProfile)->entries()));
  EXPECT_FALSE(again.port_enabled(PortNumber(2)));
  EXPECT_EQ(again.ccs().find(kCc).config->gamma, 0.8F);
  EXPECT_EQ(state_text(again), saved);
}

TEST_F(AgentTest, LeavesOutWhatNoLongerFitsTheDevice) {
  ProfileStore smaller({.planes = 3}, own_evs(3));
  std::vector<std::string> left_out;
  ASSERT_TRUE(restore_state(state_text(device.store), smaller, left_out));
  ASSERT_EQ(left_out.size(), 1);
  EXPECT_NE(left_out[0].find("70"), std::string::npos) << left_out[0];
  EXPECT_EQ(smaller.formats().find(kFormat).state, MRC_CTL_PROFILE_ONLINE);
}

TEST(StateFile, HostileTextIsRefused) {
  for (const char* text : {"", "\n", "{", "[]", "{}", R"({"version":1})",
                           R"({"version":2,"disabled_ports":[],"formats":[],"ev_profiles":[],)"
                           R"("cc_profiles":[]})"}) {
    ProfileStore store({.planes = 2}, own_evs(2));
    std::vector<std::string> left_out;
    EXPECT_FALSE(restore_state(text, store, left_out)) << text;
  }
}

}  // namespace
}  // namespace openmrc::libmrc
