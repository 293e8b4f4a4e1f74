// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/profiles_in_use.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <variant>

namespace openmrc::libmrc {
namespace {

bool is_same(const core::EvProfile& a, const core::EvProfile& b) {
  return a.mode() == b.mode() && std::ranges::equal(a.entries(), b.entries()) &&
         a.min_active() == b.min_active();
}

std::int32_t q16(float value) {
  return static_cast<std::int32_t>(std::lround(value * static_cast<float>(core::kQ16One)));
}
ByteCount bytes(std::uint32_t value) { return ByteCount(value); }

// The parameters have the same names (UET 3.6.13.3); what the interface has no name for, such as
// the MTU, is the network's.
core::NsccSettings nscc_of(const mrc_ctl_cc_nscc_cfg& from, core::NsccSettings to) {
  to.quick_adapt = from.disable_qa == 0;
  to.adjust_bytes = bytes(from.adjust_bytes_threshold);
  to.adjust_period = nanoseconds(from.adjust_period_threshold);
  to.base_rtt = nanoseconds(from.base_rtt);
  to.learns_base_rtt = false;
  to.eta = ByteCount(std::lround(from.eta));
  to.fi = ByteCount(std::lround(from.fi));
  to.fi_scale_q16 = q16(from.fi_scale);
  to.gamma_q16 = q16(from.gamma);
  to.max_md_jump_q16 = q16(from.max_md_jump);
  to.max_window = bytes(from.max_cwnd);
  to.qa_gate = from.qa_gate;
  to.qa_threshold = nanoseconds(from.qa_threshold);
  to.target_delay = nanoseconds(from.target_delay);
  return to;
}

mrc_ctl_ev_state control_state(core::EvState state) {
  switch (state) {
    case core::EvState::kGood:
    case core::EvState::kSkip:
    case core::EvState::kSuspect: return MRC_CTL_EV_GOOD;
    case core::EvState::kAssumedBad: return MRC_CTL_EV_ASSUMED_BAD;
    case core::EvState::kDenied: return MRC_CTL_EV_DENIED;
  }
  return MRC_CTL_EV_UNKNOWN;
}

}  // namespace

ProfilesInUse::ProfilesInUse(host::Host& runtime, AgentClient& agent)
    : runtime_(runtime), agent_(agent) {
  listener_ = agent_.listen({.changes = true}, [this](const Push& push) { on_push(push); });
  for (std::size_t i = 1; i <= runtime_.config().ports.size(); ++i) {
    const PortNumber port(static_cast<std::uint8_t>(i));
    if (!agent_.port_enabled(port)) on_push(PortChanged{.port = port, .enabled = false});
  }
}

ProfilesInUse::~ProfilesInUse() { agent_.unlisten(listener_); }

Result<std::optional<core::EvProfileId>, int> ProfilesInUse::use(EvProfileId id) {
  const auto image = agent_.use(id);
  if (!image) return failure(image.error().error);
  if (image->mode == MRC_CTL_EV_MODE_AUTO) return std::nullopt;
  const auto profile = expand(*image, runtime_.config().ports.size());
  if (!profile) {
    agent_.release(id);
    return failure(EINVAL);
  }
  const std::lock_guard one_by_one(use_mutex_);
  Known known = find(id);
  if (!known.profile || !is_same(*known.profile, **profile)) {
    known = {.profile = *profile, .number = runtime_.add_ev_profile(*profile)};
    const std::lock_guard lock(mutex_);
    known_[id] = known;
    ids_[known.number.raw()] = id;
  }
  // Once more: the controller may have changed something since.
  for (const EvStatus& status : agent_.states(id)) apply(known, status);
  return known.number;
}

Result<std::optional<core::CcProfileId>, int> ProfilesInUse::use(CcProfileId id) {
  const auto profile = agent_.use(id);
  if (!profile) return failure(profile.error().error);
  const core::NsccSettings own = profile::nscc_settings(runtime_.config().transport, {});
  const bool is_off = profile->algorithm && profile->algorithm->empty();
  if (is_off) {
    return runtime_.add_cc_profile(core::FixedWindowSettings{.window = core::NsccLimits::kWindowMax,
                                                             .base_rtt = own.base_rtt});
  }
  if (!profile->config) return std::nullopt;
  return runtime_.add_cc_profile(nscc_of(*profile->config, own));
}

ProfilesInUse::Known ProfilesInUse::find(EvProfileId id) {
  const std::lock_guard lock(mutex_);
  const auto found = known_.find(id);
  return found == known_.end() ? Known{} : found->second;
}

void ProfilesInUse::apply(const Known& known, const EvStatus& status) {
  for (const core::EvIndex ev : places_of(*known.profile, status.ev)) {
    runtime_.set_ev_denied(known.number, ev, status.state == MRC_CTL_EV_DENIED);
  }
}

void ProfilesInUse::on_push(const Push& push) {
  if (const auto* port = std::get_if<PortChanged>(&push)) {
    if (port->port.raw() == 0 || port->port.raw() > runtime_.config().ports.size()) return;
    runtime_.set_port_enabled(Plane(static_cast<std::uint8_t>(port->port.raw() - 1)),
                              port->enabled);
    return;
  }
  const auto* changed = std::get_if<EvsChanged>(&push);
  if (changed == nullptr) return;
  const Known known = find(changed->id);
  if (!known.profile) return;
  for (const EvStatus& status : changed->evs) apply(known, status);
}

void ProfilesInUse::on_event(const core::Event& event) {
  const auto* change = std::get_if<core::EvChange>(&event);
  if (change == nullptr || change->after == core::EvState::kDenied) return;
  // Watchers are told what lasts; a suspicion does not (API: GOOD, ASSUMED_BAD).
  if (control_state(change->before) == control_state(change->after)) return;
  EvProfileId id;
  EvKey key;
  {
    const std::lock_guard lock(mutex_);
    const auto found = ids_.find(change->profile);
    if (found == ids_.end()) return;
    id = found->second;
    key = key_at(*known_.at(id).profile, change->index);
  }
  agent_.report(id, {.ev = key, .state = control_state(change->after)});
}

}  // namespace openmrc::libmrc
