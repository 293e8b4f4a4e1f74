// SPDX-License-Identifier: BSD-3-Clause
// The control interface as a controller calls it, with an agent in the same process.
#include <gtest/gtest.h>
#include <mrc_ctl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "openmrc/agent/agent_server.h"
#include "openmrc/agent/profiles/test_profiles.h"
#include "openmrc/libmrc/control/control_attributes.h"

namespace openmrc::libmrc {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

// One for all cases: the process finds its agent once.
struct CtlApi : ::testing::Test {
  static void SetUpTestSuite() {
    folder = ::testing::TempDir() + "ctl-api-" + std::to_string(::getpid());
    std::filesystem::create_directory(folder);
    ::setenv("OPENMRC_AGENT", (folder + "/mrcd.sock").c_str(), 1);
    device = std::make_unique<TestDevice>(8);
    agent = std::make_unique<Agent>(device->store, Agent::Names{});
    server =
        std::make_unique<AgentServer>(AgentServer::open(folder + "/mrcd.sock", *agent).value());
    stop = false;
    thread = std::thread([] {
      while (!stop) server->serve_once(10);
    });
  }
  static void TearDownTestSuite() {
    stop = true;
    thread.join();
    server.reset();
    std::filesystem::remove_all(folder);
  }

  // The functions look only whether there is one.
  mrc_context* const context = reinterpret_cast<mrc_context*>(&folder);
  ibv_context* const verbs = reinterpret_cast<ibv_context*>(&folder);

  static inline std::string folder;
  static inline std::unique_ptr<TestDevice> device;
  static inline std::unique_ptr<Agent> agent;
  static inline std::unique_ptr<AgentServer> server;
  static inline std::atomic<bool> stop;
  static inline std::thread thread;
};

TEST_F(CtlApi, TellsWhatTheDeviceCan) {
  mrc_ctl_device_attr attr{};
  int supported = 0;
  ASSERT_EQ(mrc_ctl_query_device_ex(verbs, context, &attr, &supported), 0);
  EXPECT_EQ(supported, 1);
  EXPECT_EQ(attr.phy_port_mask, 0x1feu);
  EXPECT_EQ(attr.ev.ev_count_align, 8u);
  EXPECT_EQ(attr.ev.ev_max_count_profile, 256u);
  mrc_ctl_device_attr same{};
  EXPECT_EQ(mrc_ctl_query_device(verbs, &same), 0);
  EXPECT_EQ(same.phy_port_mask, attr.phy_port_mask);
  EXPECT_EQ(mrc_ctl_query_device(nullptr, &same), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(CtlApi, HasAVersion) {
  uint32_t current = 0;
  uint32_t last = 1;
  uint32_t vendor = 0;
  mrc_ctl_query_version(&current, &last, &vendor, nullptr);
  EXPECT_EQ(current, 0x0100'0001u);
  EXPECT_EQ(last, 0u);
  EXPECT_EQ(vendor, 0x0100'0000u);
}

TEST_F(CtlApi, PortsGoDownAndUp) {
  mrc_ctl_port_attr attr{MRC_CTL_PORT_ADMIN_DISABLED};
  ASSERT_EQ(mrc_ctl_modify_port(context, 8, &attr, MRC_CTL_PORT_ADMIN_STATE), 0);
  mrc_ctl_port_attr read{MRC_CTL_PORT_ADMIN_ENABLED};
  ASSERT_EQ(mrc_ctl_query_port(context, 8, &read, MRC_CTL_PORT_ADMIN_STATE), 0);
  EXPECT_EQ(read.port_admin_state, MRC_CTL_PORT_ADMIN_DISABLED);
  attr.port_admin_state = MRC_CTL_PORT_ADMIN_ENABLED;
  ASSERT_EQ(mrc_ctl_modify_port(context, 8, &attr, MRC_CTL_PORT_ADMIN_STATE), 0);
  EXPECT_EQ(mrc_ctl_query_port(context, 9, &read, MRC_CTL_PORT_ADMIN_STATE), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(mrc_ctl_modify_port(context, 1, &attr, 2), -1);
  EXPECT_EQ(errno, EINVAL);
}

void make_format(mrc_context* context, std::uint64_t id) {
  std::array<mrc_ctl_ev_fmt_field, 2> fields{{{16}, {16}}};
  mrc_ctl_ev_fmt_profile_attr attr{};
  attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
  attr.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_STEV;
  attr.ev_fmt_op.fmt_fields = fields.data();
  attr.ev_fmt_op.fmt_field_count = 2;
  ASSERT_EQ(
      mrc_ctl_modify_ev_fmt_profile(
          context, id, &attr,
          MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP),
      0);
  attr.profile_state = MRC_CTL_PROFILE_ONLINE;
  ASSERT_EQ(mrc_ctl_modify_ev_fmt_profile(context, id, &attr, MRC_CTL_EV_FMT_PROFILE_STATE), 0);
  attr.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS;
  ASSERT_EQ(mrc_ctl_query_ev_fmt_profile(
                context, id, &attr, MRC_CTL_EV_FMT_PROFILE_CUR_STATE | MRC_CTL_EV_FMT_PROFILE_OP),
            0);
  ASSERT_EQ(attr.cur_profile_state, MRC_CTL_PROFILE_ONLINE);
}

// As a controller does it: a list of 256 EVs over 8 ports, one of them denied.
TEST_F(CtlApi, AListOfEvsGoesOnline) {
  make_format(context, 11);
  mrc_ctl_ev_profile_attr attr{};
  attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
  attr.ev_mode = MRC_CTL_EV_MODE_EXP;
  attr.ev_fmt_profile_id = 11;
  attr.ev_count = 256;
  ASSERT_EQ(mrc_ctl_modify_ev_profile(context, 12, &attr,
                                      MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MODE |
                                          MRC_CTL_EV_PROFILE_FMT_ID | MRC_CTL_EV_PROFILE_COUNT),
            0);
  std::vector<mrc_ctl_ev_op_entry> entries(256);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    entries[i].ev_new.val[3] = static_cast<std::uint8_t>(i);
    entries[i].ev_new.port = static_cast<std::uint8_t>(i % 8 + 1);
    entries[i].state = MRC_CTL_EV_GOOD;
  }
  attr.ev_op.entries = entries.data();
  attr.ev_op.entry_count = 256;
  attr.profile_state = MRC_CTL_PROFILE_ONLINE;
  attr.ev_min_active = 8;
  attr.ev_event_mask = MRC_CTL_EV_ASSUMED_BAD;
  ASSERT_EQ(mrc_ctl_modify_ev_profile(context, 12, &attr,
                                      MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
                                          MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_OP),
            0);
  EXPECT_EQ(attr.ev_op.entry_count, 256);

  entries[0].ev = entries[9].ev_new;
  entries[0].state = MRC_CTL_EV_DENIED;
  entries[1].ev = entries[10].ev_new;
  entries[1].ev.port = 1;  // not there
  attr.ev_op.op = MRC_CTL_EV_OP_MODIFY_EV_STATE;
  attr.ev_op.entry_count = 2;
  EXPECT_EQ(mrc_ctl_modify_ev_profile(context, 12, &attr, MRC_CTL_EV_PROFILE_EV_OP), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(attr.ev_op.entry_count, 1) << "the first was done";
  attr.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_STATE;
  entries[0].state = MRC_CTL_EV_GOOD;
  ASSERT_EQ(mrc_ctl_query_ev_profile(context, 12, &attr, MRC_CTL_EV_PROFILE_EV_OP), 0);
  EXPECT_EQ(entries[0].state, MRC_CTL_EV_DENIED);
  EXPECT_EQ(mrc_ctl_modify_ev_profile(context, 12, &attr, MRC_CTL_EV_PROFILE_EV_OP), -1);
  EXPECT_EQ(errno, EINVAL) << "a query is no change";
}

TEST_F(CtlApi, CongestionControlIsConfigured) {
  mrc_ctl_cc_nscc_cfg config{};
  config.base_rtt = 9000;
  mrc_ctl_cc_profile_attr attr{};
  attr.algorithm = "uet-1.0-nscc";
  attr.cc_config = &config;
  attr.profile_state = MRC_CTL_PROFILE_OFFLINE;
  ASSERT_EQ(mrc_ctl_modify_cc_profile(context, 5, &attr,
                                      MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_ALGORITHM |
                                          MRC_CTL_CC_PROFILE_CONFIG),
            0);
  mrc_ctl_cc_profile_attr read{};
  ASSERT_EQ(mrc_ctl_query_cc_profile(context, 5, &read,
                                     MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG),
            0);
  EXPECT_STREQ(read.algorithm, "uet-1.0-nscc");
  EXPECT_EQ(static_cast<const mrc_ctl_cc_nscc_cfg*>(read.cc_config)->base_rtt, 9000u);
}

TEST_F(CtlApi, ValuesWithoutANameAreRefused) {
  mrc_ctl_ev_profile_attr attr{};
  attr.profile_state = static_cast<mrc_ctl_profile_state>(3);
  EXPECT_EQ(mrc_ctl_modify_ev_profile(context, 13, &attr, MRC_CTL_EV_PROFILE_STATE), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(mrc_ctl_modify_ev_profile(nullptr, 13, &attr, 0), -1);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace openmrc::libmrc
