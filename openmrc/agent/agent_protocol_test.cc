// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent_protocol.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "openmrc/agent/profiles/test_profiles.h"
#include "openmrc/base/rng.h"

namespace openmrc::libmrc {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

ModifyEvProfile full_change() {
  return {.id = kProfile,
          .change = {.state = MRC_CTL_PROFILE_OFFLINE,
                     .expected_state = MRC_CTL_PROFILE_INIT,
                     .mode = MRC_CTL_EV_MODE_EXP,
                     .format = kFormat,
                     .count = 8,
                     .min_active = 2,
                     .event_mask = 3,
                     .fields = {{{.width = 16, .init = 1, .min = 2, .max = 3, .mask = 0xff}}},
                     .edits = {{{.ev = ev({0xb7, 0xd0}, 1),
                                 .replacement = ev({1}, 2),
                                 .state = MRC_CTL_EV_DENIED,
                                 .all_copies = true}}},
                     .vendor = VendorConfig{1, 2, 3}}};
}

TEST(AgentProtocol, ARequestComesBackAsItWas) {
  const ModifyEvProfile sent = full_change();
  const auto got = decode_request(encode(NumberedRequest{.call = 9, .request = sent}));
  ASSERT_TRUE(got.has_value()) << got.error().what;
  EXPECT_EQ(got->call, 9);
  const auto& change = std::get<ModifyEvProfile>(got->request).change;
  EXPECT_EQ(change.state, sent.change.state);
  EXPECT_EQ(change.expected_state, sent.change.expected_state);
  EXPECT_EQ(change.mode, sent.change.mode);
  EXPECT_EQ(change.format, sent.change.format);
  EXPECT_EQ(change.count, sent.change.count);
  EXPECT_EQ(change.min_active, sent.change.min_active);
  EXPECT_EQ(change.event_mask, sent.change.event_mask);
  EXPECT_EQ(change.edits, sent.change.edits);
  EXPECT_EQ(change.vendor, sent.change.vendor);
  ASSERT_EQ(change.fields->size(), 1);
  EXPECT_EQ(change.fields->front().mask, 0xff);
}

TEST(AgentProtocol, WhatIsNotGivenIsNotThere) {
  const auto got = decode_request(
      encode(NumberedRequest{.call = 1, .request = ModifyEvProfile{.id = kProfile}}));
  ASSERT_TRUE(got.has_value());
  const auto& change = std::get<ModifyEvProfile>(got->request).change;
  EXPECT_FALSE(change.state || change.mode || change.count || change.edits || change.fields);
}

// Every kind of request finds its way back to its own type.
template <std::size_t kIndex = 0>
void expect_each_kind() {
  if constexpr (kIndex < std::variant_size_v<Request>) {
    const Request request(std::in_place_index<kIndex>);
    const auto got = decode_request(encode(NumberedRequest{.call = 1, .request = request}));
    ASSERT_TRUE(got.has_value()) << got.error().what;
    EXPECT_EQ(got->request.index(), kIndex);
    expect_each_kind<kIndex + 1>();
  }
}
TEST(AgentProtocol, EveryKindOfRequestIsKnown) { expect_each_kind(); }

template <std::size_t kIndex = 0>
void expect_each_body() {
  if constexpr (kIndex < std::variant_size_v<ReplyBody>) {
    const Reply reply{.outcome = refused(22, "why", 3),
                      .body = ReplyBody(std::in_place_index<kIndex>)};
    const auto got = decode_from_agent(encode(NumberedReply{.call = 5, .reply = reply}));
    ASSERT_TRUE(got.has_value()) << got.error().what;
    const auto& back = std::get<NumberedReply>(*got);
    EXPECT_EQ(back.call, 5);
    EXPECT_EQ(back.reply.body.index(), kIndex);
    EXPECT_EQ(back.reply.outcome.error, 22);
    EXPECT_EQ(back.reply.outcome.why, "why");
    EXPECT_EQ(back.reply.outcome.entries_done, 3);
    expect_each_body<kIndex + 1>();
  }
}
TEST(AgentProtocol, EveryKindOfReplyIsKnown) { expect_each_body(); }

TEST(AgentProtocol, PushesComeBackAsTheyWere) {
  const EvStatus status{ev({1, 2}, 3), MRC_CTL_EV_DENIED};
  const auto changed = decode_from_agent(encode(Push{EvsChanged{kProfile, {status}}}));
  ASSERT_TRUE(changed.has_value());
  EXPECT_EQ(std::get<EvsChanged>(std::get<Push>(*changed)).evs, std::vector{status});
  const auto event = decode_from_agent(encode(Push{EvEvent{kProfile, status, 7}}));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(std::get<EvEvent>(std::get<Push>(*event)).lost, 7);
  const auto port = decode_from_agent(encode(Push{PortChanged{PortNumber(2), false}}));
  ASSERT_TRUE(port.has_value());
  EXPECT_FALSE(std::get<PortChanged>(std::get<Push>(*port)).enabled);
}

struct Hostile {
  const char* what;
  std::string message;
};

TEST(AgentProtocol, HostileMessagesAreRefusedWithAReason) {
  const std::string good = R"({"call":1,"request":"query-port","body":{"port":1}})";
  ASSERT_TRUE(decode_request(good).has_value());
  const std::vector<Hostile> all{
      {"empty", ""},
      {"no JSON", "hello"},
      {"cut off", good.substr(0, good.size() - 1)},
      {"a list", "[1]"},
      {"no number", R"({"request":"query-port","body":{"port":1}})"},
      {"number 0", R"({"call":0,"request":"query-port","body":{"port":1}})"},
      {"negative number", R"({"call":-1,"request":"query-port","body":{"port":1}})"},
      {"unknown request", R"({"call":1,"request":"reboot","body":{}})"},
      {"request of another type", R"({"call":1,"request":7,"body":{}})"},
      {"no body", R"({"call":1,"request":"query-device"})"},
      {"body of another type", R"({"call":1,"request":"query-port","body":[]})"},
      {"key too few", R"({"call":1,"request":"query-port","body":{}})"},
      {"key too many", R"({"call":1,"request":"query-port","body":{"port":1,"x":1}})"},
      {"key too many outside", R"({"call":1,"request":"query-port","body":{"port":1},"x":1})"},
      {"out of range", R"({"call":1,"request":"query-port","body":{"port":256}})"},
      {"negative", R"({"call":1,"request":"query-port","body":{"port":-1}})"},
      {"fraction", R"({"call":1,"request":"query-port","body":{"port":1.5}})"},
      {"text for number", R"({"call":1,"request":"query-port","body":{"port":"1"}})"},
      {"unknown state",
       R"({"call":1,"request":"modify-format","body":{"id":1,"change":{"state":"GONE"}}})"},
      {"EV too long", R"({"call":1,"request":"report-evs","body":{"id":1,"evs":[{"ev":{"value":")" +
                          std::string(66, 'a') + R"(","port":1},"state":"GOOD"}]}})"},
      {"EV no hex",
       R"({"call":1,"request":"report-evs","body":{"id":1,"evs":[{"ev":{"value":"-1","port":1},"state":"GOOD"}]}})"},
      {"deep", R"({"call":1,"request":"query-port","body":)" + std::string(100'000, '[')},
      {"deep and closed", R"({"call":1,"request":"query-port","body":)" + std::string(60'000, '[') +
                              std::string(60'000, ']') + "}"},
      {"too long", good + std::string(kAgentMessageMax, ' ')},
      {"bytes", std::string("\xff\xfe\x00\x01", 4)},
  };
  for (const Hostile& each : all) {
    const auto got = decode_request(each.message);
    ASSERT_FALSE(got.has_value()) << each.what;
    EXPECT_FALSE(got.error().what.empty()) << each.what;
  }
}

TEST(AgentProtocol, AListThatIsTooLongIsRefused) {
  std::string widths = "1";
  for (int i = 0; i < 5000; ++i) widths += ",1";
  EXPECT_FALSE(
      decode_request(R"({"call":1,"request":"modify-format","body":{"id":1,"change":{"widths":[)" +
                     widths + "]}}}"));
}

// What a fuzzer does, in small: changed bytes are refused or understood, and never more than that.
TEST(AgentProtocol, ChangedBytesAreHarmless) {
  const std::string good = encode(NumberedRequest{.call = 77, .request = full_change()});
  Rng rng(1);
  std::size_t refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string message = good;
    for (int n = 0; n < 3; ++n) {
      message[rng.below(message.size())] = static_cast<char>(rng.below(256));
    }
    const auto got = decode_request(message);
    if (!got) ++refused;
    if (got) encode(*got);
    static_cast<void>(decode_from_agent(message));
  }
  EXPECT_GT(refused, 1000);
}

TEST(AgentProtocol, AListOfAllProfilesFitsIntoAMessage) {
  ProfileList list;
  const ProfileSummary largest{
      .id = ~std::uint64_t{0}, .state = MRC_CTL_PROFILE_OFFLINE, .uses = 999};
  const DeviceLimits limits;
  list.formats.assign(limits.formats_max, largest);
  list.ev_profiles.assign(limits.ev_profiles_max, largest);
  list.cc_profiles.assign(limits.cc_profiles_max, largest);
  EXPECT_LE(encode(NumberedReply{.call = 1, .reply = {.body = list}}).size(), kAgentMessageMax);
}

TEST(AgentProtocol, TheLargestProfileFitsIntoAMessage) {
  EvKey widest{.port = PortNumber(31)};
  widest.value.fill(std::byte{0xff});
  const EvEdit edit{
      .ev = widest, .replacement = widest, .state = MRC_CTL_EV_ASSUMED_BAD, .all_copies = true};
  const ModifyEvProfile change{
      .id = kProfile, .change = {.edits = std::vector<EvEdit>(core::kEvsPerProfileMax, edit)}};
  EXPECT_LE(encode(NumberedRequest{.call = 1, .request = change}).size(), kAgentMessageMax);
}

}  // namespace
}  // namespace openmrc::libmrc
