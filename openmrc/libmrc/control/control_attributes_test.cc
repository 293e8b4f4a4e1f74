// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/libmrc/control/control_attributes.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "openmrc/agent/profiles/test_profiles.h"

namespace openmrc::libmrc {
namespace {

using namespace test;  // NOLINT(google-build-using-namespace)

TEST(FormatAttributes, OnlyWhatTheMaskNamesIsTaken) {
  std::array<mrc_ctl_ev_fmt_field, 2> fields{{{16}, {12}}};
  mrc_ctl_ev_fmt_profile_attr attr{};
  attr.profile_state = MRC_CTL_PROFILE_ONLINE;
  attr.ev_fmt_mode = MRC_CTL_EV_FMT_MODE_SRV6;
  attr.ev_fmt_op.fmt_fields = fields.data();
  attr.ev_fmt_op.fmt_field_count = 2;
  const auto nothing = change_of(attr, 0);
  ASSERT_TRUE(nothing.has_value());
  EXPECT_FALSE(nothing->state || nothing->mode || nothing->widths || nothing->vendor);
  const auto all = change_of(attr, MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_MODE |
                                       MRC_CTL_EV_FMT_PROFILE_OP | MRC_CTL_EV_FMT_VENDOR_CFG);
  ASSERT_TRUE(all.has_value());
  EXPECT_EQ(all->state, MRC_CTL_PROFILE_ONLINE);
  EXPECT_EQ(all->mode, MRC_CTL_EV_FMT_MODE_SRV6);
  EXPECT_EQ(all->widths, (std::vector<std::uint8_t>{16, 12}));
  EXPECT_TRUE(all->vendor.has_value());
}

TEST(FormatAttributes, WrongOnesAreRefused) {
  mrc_ctl_ev_fmt_profile_attr attr{};
  EXPECT_EQ(change_of(attr, 1 << 20).error(), EINVAL) << "a bit that is not defined";
  attr.ev_fmt_op.fmt_field_count = 1;
  EXPECT_EQ(change_of(attr, MRC_CTL_EV_FMT_PROFILE_OP).error(), EINVAL) << "no pointer";
  attr.ev_fmt_op.fmt_field_count = -1;
  EXPECT_EQ(change_of(attr, MRC_CTL_EV_FMT_PROFILE_OP).error(), EINVAL);
  std::array<mrc_ctl_ev_fmt_field, 33> many{};
  attr.ev_fmt_op.fmt_fields = many.data();
  attr.ev_fmt_op.fmt_field_count = 33;
  EXPECT_EQ(change_of(attr, MRC_CTL_EV_FMT_PROFILE_OP).error(), E2BIG);
  attr.ev_fmt_op.fmt_field_count = 1;
  attr.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS;
  EXPECT_EQ(change_of(attr, MRC_CTL_EV_FMT_PROFILE_OP).error(), EINVAL) << "it only asks";
}

TEST(FormatAttributes, AQueryTellsHowMuchRoomItNeeds) {
  const FormatProfile profile{
      .state = MRC_CTL_PROFILE_ONLINE, .mode = MRC_CTL_EV_FMT_MODE_STEV, .widths = {16, 8, 8}};
  std::array<mrc_ctl_ev_fmt_field, 3> fields{};
  mrc_ctl_ev_fmt_profile_attr attr{};
  attr.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_QUERY_FIELDS;
  attr.ev_fmt_op.fmt_fields = fields.data();
  attr.ev_fmt_op.fmt_field_count = 2;
  EXPECT_EQ(fill(profile, MRC_CTL_EV_FMT_PROFILE_OP, attr), E2BIG);
  EXPECT_EQ(attr.ev_fmt_op.fmt_field_count, 3);
  EXPECT_EQ(fill(profile, MRC_CTL_EV_FMT_PROFILE_OP | MRC_CTL_EV_FMT_PROFILE_CUR_STATE, attr), 0);
  EXPECT_EQ(fields[2].width, 8);
  EXPECT_EQ(attr.cur_profile_state, MRC_CTL_PROFILE_ONLINE);
  attr.ev_fmt_op.op = MRC_CTL_EV_FMT_OP_MODIFY_FIELDS;
  EXPECT_EQ(fill(profile, MRC_CTL_EV_FMT_PROFILE_OP, attr), EINVAL);
}

TEST(EvAttributes, EntriesBecomeEdits) {
  std::array<mrc_ctl_ev_op_entry, 1> entries{};
  entries[0].ev_new = ev_of(ev({0xb7, 0xd0}, 3));
  entries[0].state = MRC_CTL_EV_GOOD;
  entries[0].flags = MRC_CTL_EV_OP_F_ALL_COPIES;
  mrc_ctl_ev_profile_attr attr{};
  attr.ev_op.entries = entries.data();
  attr.ev_op.entry_count = 1;
  const auto replace = change_of(attr, MRC_CTL_EV_PROFILE_EV_OP);
  ASSERT_TRUE(replace.has_value());
  EXPECT_EQ(replace->edits->at(0), (EvEdit{.ev = kUnpopulated,
                                           .replacement = ev({0xb7, 0xd0}, 3),
                                           .state = MRC_CTL_EV_GOOD,
                                           .all_copies = true}));
  attr.ev_op.op = MRC_CTL_EV_OP_MODIFY_EV_STATE;
  EXPECT_FALSE(change_of(attr, MRC_CTL_EV_PROFILE_EV_OP)->edits->at(0).replacement.has_value());
  attr.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY;
  EXPECT_EQ(change_of(attr, MRC_CTL_EV_PROFILE_EV_OP).error(), EINVAL);
  attr.ev_op.op = MRC_CTL_EV_OP_REPLACE_EV;
  entries[0].flags = 2;
  EXPECT_EQ(change_of(attr, MRC_CTL_EV_PROFILE_EV_OP).error(), EINVAL);
}

TEST(EvAttributes, WrongOnesAreRefused) {
  mrc_ctl_ev_profile_attr attr{};
  EXPECT_EQ(change_of(attr, MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP).error(),
            EINVAL);
  EXPECT_EQ(fill(EvProfile{}, MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP, attr),
            EINVAL);
  EXPECT_EQ(change_of(attr, 1 << 9).error(), EINVAL);
  attr.ev_event_mask = MRC_CTL_EV_UNKNOWN;
  EXPECT_EQ(change_of(attr, MRC_CTL_EV_PROFILE_EVENT_MASK).error(), EINVAL);
  std::vector<mrc_ctl_ev_op_entry> many(257);
  attr.ev_op.entries = many.data();
  attr.ev_op.entry_count = 257;
  EXPECT_EQ(change_of(attr, MRC_CTL_EV_PROFILE_EV_OP).error(), E2BIG);
}

struct QueriedEvs : ::testing::Test {
  EvProfile profile{.state = MRC_CTL_PROFILE_ONLINE,
                    .fields = {{.width = 16, .init = 1, .min = 2, .max = 3, .mask = 7}},
                    .evs = {{ev({1}, 1), MRC_CTL_EV_GOOD}, {ev({2}, 2), MRC_CTL_EV_DENIED}}};
  std::array<mrc_ctl_ev_op_entry, 2> entries{};
  mrc_ctl_ev_profile_attr attr{};
};

TEST_F(QueriedEvs, AnArrayNeedsRoom) {
  attr.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_ARRAY;
  EXPECT_EQ(fill(profile, MRC_CTL_EV_PROFILE_EV_OP, attr), E2BIG);
  EXPECT_EQ(attr.ev_op.entry_count, 2);
  attr.ev_op.entries = entries.data();
  EXPECT_EQ(fill(profile, MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_COUNT, attr), 0);
  EXPECT_EQ(attr.ev_count, 2);
  EXPECT_EQ(key_of(entries[1].ev), ev({2}, 2));
  EXPECT_EQ(entries[1].state, MRC_CTL_EV_DENIED);
}

TEST_F(QueriedEvs, StatesAreFoundOneByOne) {
  attr.ev_op.op = MRC_CTL_EV_OP_QUERY_EV_STATE;
  attr.ev_op.entries = entries.data();
  attr.ev_op.entry_count = 2;
  entries[0].ev = ev_of(ev({2}, 2));
  entries[1].ev = ev_of(ev({2}, 1));
  EXPECT_EQ(fill(profile, MRC_CTL_EV_PROFILE_EV_OP, attr), ENOENT);
  EXPECT_EQ(attr.ev_op.entry_count, 1);
  EXPECT_EQ(entries[0].state, MRC_CTL_EV_DENIED);
}

TEST_F(QueriedEvs, FieldsComeBack) {
  mrc_ctl_ev_field field{};
  attr.ev_fields_op.op = MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS;
  EXPECT_EQ(fill(profile, MRC_CTL_EV_PROFILE_EV_FIELDS_OP, attr), E2BIG);
  EXPECT_EQ(attr.ev_fields_op.field_count, 1);
  attr.ev_fields_op.fields = &field;
  EXPECT_EQ(fill(profile, MRC_CTL_EV_PROFILE_EV_FIELDS_OP, attr), 0);
  EXPECT_EQ(field.mask, 7);
  EXPECT_EQ(field.init_val, 1);
}

TEST(CcAttributes, NoAlgorithmIsANullPointer) {
  mrc_ctl_cc_profile_attr attr{};
  EXPECT_EQ(change_of(attr, MRC_CTL_CC_PROFILE_ALGORITHM)->algorithm, "");
  attr.algorithm = "reno";
  EXPECT_EQ(change_of(attr, MRC_CTL_CC_PROFILE_ALGORITHM).error(), EINVAL);
  attr.algorithm = kNsccName;
  EXPECT_EQ(change_of(attr, MRC_CTL_CC_PROFILE_ALGORITHM)->algorithm, kNsccName);
  EXPECT_EQ(change_of(attr, MRC_CTL_CC_PROFILE_CONFIG).error(), EINVAL) << "no configuration";

  mrc_ctl_cc_nscc_cfg config{};
  EXPECT_EQ(fill(CcProfile{.algorithm = ""}, MRC_CTL_CC_PROFILE_ALGORITHM, config, attr), 0);
  EXPECT_EQ(attr.algorithm, nullptr);
  CcProfile profile{.algorithm = kNsccName, .config = mrc_ctl_cc_nscc_cfg{}};
  profile.config->base_rtt = 77;
  EXPECT_EQ(fill(profile, MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG, config, attr),
            0);
  EXPECT_EQ(std::string_view(attr.algorithm), kNsccName);
  EXPECT_EQ(static_cast<const mrc_ctl_cc_nscc_cfg*>(attr.cc_config)->base_rtt, 77);
}

TEST(DeviceAttributes, NameThePortsAndTheAlgorithm) {
  DeviceInfo device{.ports = {{.port = PortNumber(1)}, {.port = PortNumber(2)}}};
  mrc_ctl_device_attr attr{};
  fill(device, attr);
  EXPECT_EQ(attr.phy_port_mask, 0b110u);
  EXPECT_EQ(std::string_view(attr.cc.algorithms[0]), "uet-1.0-nscc");
  EXPECT_EQ(attr.cc.algorithms[1], nullptr);
  EXPECT_EQ(attr.ev.ev_max_width, 256u);
}

}  // namespace
}  // namespace openmrc::libmrc
