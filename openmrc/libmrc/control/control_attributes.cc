// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/libmrc/control/control_attributes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

namespace openmrc::libmrc {
namespace {

constexpr int kFormatMask = MRC_CTL_EV_FMT_PROFILE_STATE | MRC_CTL_EV_FMT_PROFILE_CUR_STATE |
                            MRC_CTL_EV_FMT_PROFILE_MODE | MRC_CTL_EV_FMT_PROFILE_OP |
                            MRC_CTL_EV_FMT_VENDOR_CFG;
constexpr int kEvMask = MRC_CTL_EV_PROFILE_STATE | MRC_CTL_EV_PROFILE_CUR_STATE |
                        MRC_CTL_EV_PROFILE_MODE | MRC_CTL_EV_PROFILE_FMT_ID |
                        MRC_CTL_EV_PROFILE_COUNT | MRC_CTL_EV_PROFILE_MIN_ACTIVE |
                        MRC_CTL_EV_PROFILE_EVENT_MASK | MRC_CTL_EV_PROFILE_EV_OP |
                        MRC_CTL_EV_PROFILE_EV_FIELDS_OP | MRC_CTL_EV_PROFILE_VENDOR_CFG;
constexpr int kCcMask = MRC_CTL_CC_PROFILE_STATE | MRC_CTL_CC_PROFILE_CUR_STATE |
                        MRC_CTL_CC_PROFILE_ALGORITHM | MRC_CTL_CC_PROFILE_CONFIG |
                        MRC_CTL_CC_PROFILE_VENDOR_CFG;
constexpr int kBothOps = MRC_CTL_EV_PROFILE_EV_OP | MRC_CTL_EV_PROFILE_EV_FIELDS_OP;

bool has(int mask, int bit) { return (mask & bit) != 0; }

// A list of the interface, if it can be one.
template <class T>
Result<std::span<T>, int> list_of(T* first, int count) {
  if (count < 0 || (count > 0 && first == nullptr)) return failure(EINVAL);
  return std::span<T>(first, static_cast<std::size_t>(count));
}

VendorConfig vendor_of(const std::uint8_t (&bytes)[MRC_CTL_MAX_VENDOR_CFG_SIZE]) {
  return std::to_array(bytes);
}

// Copies a list out, if there is room for it. `count` becomes what there is in any case.
template <class From, class To, class Convert>
int copy_out(const std::vector<From>& from, To* first, int& count, Convert convert) {
  const auto room = list_of(first, count);
  if (!room) return room.error();
  count = static_cast<int>(from.size());
  if (room->size() < from.size()) return E2BIG;
  std::ranges::transform(from, room->begin(), convert);
  return 0;
}

Result<std::vector<EvEdit>, int> edits_of(const mrc_ctl_ev_profile_attr& attr) {
  const auto entries = list_of(attr.ev_op.entries, attr.ev_op.entry_count);
  if (!entries) return failure(entries.error());
  if (entries->size() > core::kEvsPerProfileMax) return failure(E2BIG);
  const bool replaces = attr.ev_op.op == MRC_CTL_EV_OP_REPLACE_EV;
  if (!replaces && attr.ev_op.op != MRC_CTL_EV_OP_MODIFY_EV_STATE) return failure(EINVAL);
  std::vector<EvEdit> edits;
  for (const mrc_ctl_ev_op_entry& entry : *entries) {
    if ((entry.flags & ~std::uint32_t{MRC_CTL_EV_OP_F_ALL_COPIES}) != 0) return failure(EINVAL);
    EvEdit& edit = edits.emplace_back();
    edit.ev = key_of(entry.ev);
    if (replaces) edit.replacement = key_of(entry.ev_new);
    edit.state = entry.state;
    edit.all_copies = (entry.flags & MRC_CTL_EV_OP_F_ALL_COPIES) != 0;
  }
  return edits;
}

Result<std::vector<core::EvField>, int> fields_of(const mrc_ctl_ev_profile_attr& attr) {
  if (attr.ev_fields_op.op != MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS) return failure(EINVAL);
  const auto given = list_of(attr.ev_fields_op.fields, attr.ev_fields_op.field_count);
  if (!given) return failure(given.error());
  if (given->size() > core::kEvSlotsMax) return failure(EINVAL);
  std::vector<core::EvField> fields;
  for (const mrc_ctl_ev_field& each : *given) {
    fields.push_back({each.width, each.init_val, each.min_val, each.max_val, each.mask});
  }
  return fields;
}

int query_states(const EvProfile& profile, mrc_ctl_ev_profile_attr& attr) {
  const auto entries = list_of(attr.ev_op.entries, attr.ev_op.entry_count);
  if (!entries) return entries.error();
  for (std::size_t i = 0; i < entries->size(); ++i) {
    mrc_ctl_ev_op_entry& entry = (*entries)[i];
    const auto found = std::ranges::find(profile.evs, key_of(entry.ev), &EvStatus::ev);
    if (found == profile.evs.end()) {
      attr.ev_op.entry_count = static_cast<int>(i);
      return ENOENT;
    }
    entry.state = found->state;
  }
  return 0;
}

int query_evs(const EvProfile& profile, mrc_ctl_ev_profile_attr& attr) {
  switch (attr.ev_op.op) {
    case MRC_CTL_EV_OP_QUERY_EV_STATE: return query_states(profile, attr);
    case MRC_CTL_EV_OP_QUERY_EV_ARRAY:
      return copy_out(profile.evs, attr.ev_op.entries, attr.ev_op.entry_count,
                      [](const EvStatus& each) {
                        mrc_ctl_ev_op_entry entry{};
                        entry.ev = ev_of(each.ev);
                        entry.state = each.state;
                        return entry;
                      });
    case MRC_CTL_EV_OP_REPLACE_EV:
    case MRC_CTL_EV_OP_MODIFY_EV_STATE: break;
  }
  return EINVAL;
}

int query_fields(const EvProfile& profile, mrc_ctl_ev_profile_attr& attr) {
  if (attr.ev_fields_op.op != MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS) return EINVAL;
  return copy_out(profile.fields, attr.ev_fields_op.fields, attr.ev_fields_op.field_count,
                  [](const core::EvField& each) {
                    return mrc_ctl_ev_field{each.width, each.init, each.min, each.max, each.mask};
                  });
}

}  // namespace

EvKey key_of(const mrc_ctl_ev& ev) {
  EvKey key{.port = PortNumber(ev.port)};
  std::ranges::transform(ev.val, key.value.begin(),
                         [](std::uint8_t byte) { return std::byte{byte}; });
  return key;
}

mrc_ctl_ev ev_of(const EvKey& key) {
  mrc_ctl_ev ev{};
  ev.port = key.port.raw();
  std::ranges::transform(key.value, std::begin(ev.val),
                         [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return ev;
}

Result<FormatChange, int> change_of(const mrc_ctl_ev_fmt_profile_attr& attr, int mask) {
  if ((mask & ~kFormatMask) != 0) return failure(EINVAL);
  FormatChange change;
  if (has(mask, MRC_CTL_EV_FMT_PROFILE_STATE)) change.state = attr.profile_state;
  if (has(mask, MRC_CTL_EV_FMT_PROFILE_CUR_STATE)) change.expected_state = attr.cur_profile_state;
  if (has(mask, MRC_CTL_EV_FMT_PROFILE_MODE)) change.mode = attr.ev_fmt_mode;
  if (has(mask, MRC_CTL_EV_FMT_VENDOR_CFG)) change.vendor = vendor_of(attr.vendor_cfg);
  if (has(mask, MRC_CTL_EV_FMT_PROFILE_OP)) {
    if (attr.ev_fmt_op.op != MRC_CTL_EV_FMT_OP_MODIFY_FIELDS) return failure(EINVAL);
    const auto fields = list_of(attr.ev_fmt_op.fmt_fields, attr.ev_fmt_op.fmt_field_count);
    if (!fields) return failure(fields.error());
    if (fields->size() > core::kEvSlotsMax) return failure(E2BIG);
    change.widths.emplace();
    for (const mrc_ctl_ev_fmt_field& field : *fields) change.widths->push_back(field.width);
  }
  return change;
}

int fill(const FormatProfile& profile, int mask, mrc_ctl_ev_fmt_profile_attr& attr) {
  if ((mask & ~kFormatMask) != 0) return EINVAL;
  if (has(mask, MRC_CTL_EV_FMT_PROFILE_STATE)) attr.profile_state = profile.state;
  if (has(mask, MRC_CTL_EV_FMT_PROFILE_CUR_STATE)) attr.cur_profile_state = profile.state;
  if (has(mask, MRC_CTL_EV_FMT_PROFILE_MODE)) {
    attr.ev_fmt_mode = profile.mode.value_or(mrc_ctl_ev_fmt_mode{});
  }
  if (has(mask, MRC_CTL_EV_FMT_VENDOR_CFG)) {
    std::ranges::copy(profile.vendor, std::begin(attr.vendor_cfg));
  }
  if (!has(mask, MRC_CTL_EV_FMT_PROFILE_OP)) return 0;
  if (attr.ev_fmt_op.op != MRC_CTL_EV_FMT_OP_QUERY_FIELDS) return EINVAL;
  return copy_out(profile.widths, attr.ev_fmt_op.fmt_fields, attr.ev_fmt_op.fmt_field_count,
                  [](std::uint8_t width) { return mrc_ctl_ev_fmt_field{width}; });
}

Result<EvProfileChange, int> change_of(const mrc_ctl_ev_profile_attr& attr, int mask) {
  if ((mask & ~kEvMask) != 0 || (mask & kBothOps) == kBothOps) return failure(EINVAL);
  EvProfileChange change;
  if (has(mask, MRC_CTL_EV_PROFILE_STATE)) change.state = attr.profile_state;
  if (has(mask, MRC_CTL_EV_PROFILE_CUR_STATE)) change.expected_state = attr.cur_profile_state;
  if (has(mask, MRC_CTL_EV_PROFILE_MODE)) change.mode = attr.ev_mode;
  if (has(mask, MRC_CTL_EV_PROFILE_FMT_ID)) change.format = FormatId(attr.ev_fmt_profile_id);
  if (has(mask, MRC_CTL_EV_PROFILE_COUNT)) change.count = attr.ev_count;
  if (has(mask, MRC_CTL_EV_PROFILE_MIN_ACTIVE)) change.min_active = attr.ev_min_active;
  if (has(mask, MRC_CTL_EV_PROFILE_EVENT_MASK)) {
    if (attr.ev_event_mask < 0) return failure(EINVAL);  // UNKNOWN makes no event
    change.event_mask = attr.ev_event_mask;
  }
  if (has(mask, MRC_CTL_EV_PROFILE_VENDOR_CFG)) change.vendor = vendor_of(attr.vendor_cfg);
  if (has(mask, MRC_CTL_EV_PROFILE_EV_OP)) {
    auto edits = edits_of(attr);
    if (!edits) return failure(edits.error());
    change.edits = std::move(*edits);
  }
  if (has(mask, MRC_CTL_EV_PROFILE_EV_FIELDS_OP)) {
    auto fields = fields_of(attr);
    if (!fields) return failure(fields.error());
    change.fields = std::move(*fields);
  }
  return change;
}

int fill(const EvProfile& profile, int mask, mrc_ctl_ev_profile_attr& attr) {
  if ((mask & ~kEvMask) != 0 || (mask & kBothOps) == kBothOps) return EINVAL;
  if (has(mask, MRC_CTL_EV_PROFILE_STATE)) attr.profile_state = profile.state;
  if (has(mask, MRC_CTL_EV_PROFILE_CUR_STATE)) attr.cur_profile_state = profile.state;
  if (has(mask, MRC_CTL_EV_PROFILE_MODE)) attr.ev_mode = profile.mode.value_or(mrc_ctl_ev_mode{});
  if (has(mask, MRC_CTL_EV_PROFILE_FMT_ID)) {
    attr.ev_fmt_profile_id = profile.format.value_or(FormatId{}).raw();
  }
  if (has(mask, MRC_CTL_EV_PROFILE_COUNT)) {
    attr.ev_count = profile.state == MRC_CTL_PROFILE_INIT
                        ? profile.wanted_count.value_or(0)
                        : static_cast<std::uint32_t>(profile.evs.size());
  }
  if (has(mask, MRC_CTL_EV_PROFILE_MIN_ACTIVE)) attr.ev_min_active = profile.min_active.value_or(0);
  if (has(mask, MRC_CTL_EV_PROFILE_EVENT_MASK)) attr.ev_event_mask = profile.event_mask.value_or(0);
  if (has(mask, MRC_CTL_EV_PROFILE_VENDOR_CFG)) {
    std::ranges::copy(profile.vendor, std::begin(attr.vendor_cfg));
  }
  if (has(mask, MRC_CTL_EV_PROFILE_EV_OP)) return query_evs(profile, attr);
  if (has(mask, MRC_CTL_EV_PROFILE_EV_FIELDS_OP)) return query_fields(profile, attr);
  return 0;
}

Result<CcProfileChange, int> change_of(const mrc_ctl_cc_profile_attr& attr, int mask) {
  if ((mask & ~kCcMask) != 0) return failure(EINVAL);
  CcProfileChange change;
  if (has(mask, MRC_CTL_CC_PROFILE_STATE)) change.state = attr.profile_state;
  if (has(mask, MRC_CTL_CC_PROFILE_CUR_STATE)) change.expected_state = attr.cur_profile_state;
  if (has(mask, MRC_CTL_CC_PROFILE_ALGORITHM)) {
    change.algorithm = attr.algorithm == nullptr ? "" : attr.algorithm;
    if (attr.algorithm != nullptr && *change.algorithm != kNsccName) return failure(EINVAL);
  }
  if (has(mask, MRC_CTL_CC_PROFILE_CONFIG)) {
    if (attr.cc_config == nullptr) return failure(EINVAL);
    change.config = *static_cast<const mrc_ctl_cc_nscc_cfg*>(attr.cc_config);
  }
  if (has(mask, MRC_CTL_CC_PROFILE_VENDOR_CFG)) change.vendor = vendor_of(attr.vendor_cfg);
  return change;
}

int fill(const CcProfile& profile, int mask, mrc_ctl_cc_nscc_cfg& config,
         mrc_ctl_cc_profile_attr& attr) {
  if ((mask & ~kCcMask) != 0) return EINVAL;
  if (has(mask, MRC_CTL_CC_PROFILE_STATE)) attr.profile_state = profile.state;
  if (has(mask, MRC_CTL_CC_PROFILE_CUR_STATE)) attr.cur_profile_state = profile.state;
  if (has(mask, MRC_CTL_CC_PROFILE_ALGORITHM)) {
    attr.algorithm = profile.algorithm == kNsccName ? kNsccName : nullptr;
  }
  if (has(mask, MRC_CTL_CC_PROFILE_CONFIG)) {
    config = profile.config.value_or(mrc_ctl_cc_nscc_cfg{});
    attr.cc_config = profile.config ? &config : nullptr;
  }
  if (has(mask, MRC_CTL_CC_PROFILE_VENDOR_CFG)) {
    std::ranges::copy(profile.vendor, std::begin(attr.vendor_cfg));
  }
  return 0;
}

void fill(const DeviceInfo& device, mrc_ctl_device_attr& attr) {
  static const char* algorithms[] = {kNsccName, nullptr};
  attr = {};
  attr.mrc_ctl_protocol_version = MRC_CTL_PROTOCOL_VERSION_1;
  attr.ev.ev_max_fmt_profiles = static_cast<std::uint32_t>(device.formats_max);
  attr.ev.ev_max_profiles = static_cast<std::uint32_t>(device.ev_profiles_max);
  attr.ev.ev_max_count = static_cast<std::uint32_t>(device.evs_max);
  attr.ev.ev_free_count = static_cast<std::uint32_t>(device.evs_free);
  attr.ev.ev_max_count_profile = static_cast<std::uint32_t>(device.evs_per_profile_max);
  attr.ev.ev_count_align = static_cast<std::uint32_t>(device.ev_align);
  attr.ev.ev_max_width = 8 * MRC_CTL_EV_MAX_BYTES;
  attr.ev.ev_fmt_mode_mask =
      MRC_CTL_EV_FMT_MODE_STEV | MRC_CTL_EV_FMT_MODE_SRV6 | MRC_CTL_EV_FMT_MODE_UDP;
  attr.ev.ev_mode_mask = MRC_CTL_EV_MODE_AUTO | MRC_CTL_EV_MODE_EXP | MRC_CTL_EV_MODE_GEN;
  attr.ev.ev_op_max_entries = core::kEvsPerProfileMax;
  attr.cc.cc_max_profiles = static_cast<std::uint32_t>(device.cc_profiles_max);
  attr.cc.algorithms = algorithms;
  for (const PortInfo& port : device.ports) {
    if (port.port.raw() <= core::kPlanesMax) attr.phy_port_mask |= 1u << port.port.raw();
  }
  attr.opt_attr = MRC_CTL_OPT_CAP_EV_EVENT | MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT |
                  MRC_CTL_OPT_CAP_EP_OP_EV_PROBE;
}

}  // namespace openmrc::libmrc
