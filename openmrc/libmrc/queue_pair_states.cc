// SPDX-License-Identifier: BSD-3-Clause
// Attributes of a queue pair, step by step (MRC 10.1.2), and what it answers.
#include <mrc_openmrc.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "openmrc/libmrc/queue_pair.h"
#include "openmrc/verbs/profiles_in_use.h"
#include "openmrc/verbs/verbs_states.h"

using openmrc::Psn;
using openmrc::Qpn;
using openmrc::libmrc::bytes_of;
using openmrc::libmrc::error_number;
using openmrc::libmrc::gid_of;
using openmrc::libmrc::kNumberMask;
using openmrc::libmrc::verbs_state;

namespace {

constexpr int kMrcMask = MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST | MRC_QP_MPR | MRC_QP_MPR_DEST |
                         MRC_QP_TIMEOUT | MRC_QP_EV_PROFILE_ID | MRC_QP_CC_PROFILE_ID |
                         MRC_QP_HINT | MRC_QP_RETRY_CNT | MRC_QP_CAP | MRC_QP_VENDOR_CFG;
constexpr std::uint32_t kCaps = MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED | MRC_QP_CAP_DYNAMIC_MPR |
                                MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED;
constexpr std::uint8_t kPenaltyMax = 127;

// The hint counts remote queue pairs; those of one host share a window. Not set: none are known.
std::uint32_t senders_of(const mrc_qp_hint* hint) {
  if (hint == nullptr) return 1;
  const int per_host = std::max(hint->attr.num_qps_per_peer, 1);
  return static_cast<std::uint32_t>(std::max(hint->attr.num_remote_recv_peers / per_host, 1));
}

// Nothing if the bytes are not ours to read.
std::optional<std::uint8_t> penalty_of(const mrc_qp_attr& attr) {
  mrc_openmrc_qp_cfg cfg;
  static_assert(sizeof cfg <= sizeof attr.vendor_cfg);
  std::memcpy(&cfg, attr.vendor_cfg, sizeof cfg);
  if (cfg.magic != MRC_OPENMRC_QP_CFG) return std::nullopt;
  return cfg.receiver_penalty;
}

bool is_connected(ibv_qp_state state) { return state == IBV_QPS_RTR || state == IBV_QPS_RTS; }

}  // namespace

ibv_qp_state mrc_qp::state() const { return verbs_state(runtime_->state()); }

void mrc_qp::set_hint(mrc_qp_hint* hint) {
  if (mrc_attr_.qp_hint != nullptr) mrc_attr_.qp_hint->users.remove();
  if (hint != nullptr) hint->users.add();
  mrc_attr_.qp_hint = hint;
}

// The controller's profiles that the attributes name; 0 names the host's own.
int mrc_qp::use_profiles() {
  release_profiles();
  openmrc::libmrc::ProfilesInUse& profiles = context.device.profiles();
  if (const std::uint64_t id = mrc_attr_.profile.ev_profile_id; id != 0) {
    const auto used = profiles.use(openmrc::libmrc::EvProfileId(id));
    if (!used) return used.error();
    ev_profile_ = *used;
    ev_profile_used_ = id;
  }
  if (const std::uint64_t id = mrc_attr_.profile.cc_profile_id; id != 0) {
    const auto used = profiles.use(openmrc::libmrc::CcProfileId(id));
    if (!used) return used.error();
    cc_profile_ = *used;
    cc_profile_used_ = id;
  }
  return 0;
}

void mrc_qp::release_profiles() {
  openmrc::libmrc::ProfilesInUse& profiles = context.device.profiles();
  if (const std::uint64_t id = std::exchange(ev_profile_used_, 0); id != 0) {
    profiles.release(openmrc::libmrc::EvProfileId(id));
  }
  if (const std::uint64_t id = std::exchange(cc_profile_used_, 0); id != 0) {
    profiles.release(openmrc::libmrc::CcProfileId(id));
  }
  ev_profile_.reset();
  cc_profile_.reset();
}

// The attributes that the mask names, each within its limits.
int mrc_qp::take(const mrc_qp_attr& attr, int mask, mrc_qp_attr& into) const {
  const auto has = [&](int bit) { return (mask & bit) != 0; };
  if ((mask & ~kMrcMask) != 0) return EINVAL;
  if (has(MRC_QP_MPR)) into.mpr.mpr = attr.mpr.mpr;
  if (has(MRC_QP_MPR_DEST)) into.mpr.mpr_dest = attr.mpr.mpr_dest;
  if (has(MRC_QP_MAX_WIMM)) into.wimm.max_wimm = attr.wimm.max_wimm;
  if (has(MRC_QP_MAX_WIMM_DEST)) into.wimm.max_wimm_dest = attr.wimm.max_wimm_dest;
  if (has(MRC_QP_TIMEOUT)) into.timeout = attr.timeout;
  if (has(MRC_QP_RETRY_CNT)) into.retry = attr.retry;
  if (has(MRC_QP_EV_PROFILE_ID)) into.profile.ev_profile_id = attr.profile.ev_profile_id;
  if (has(MRC_QP_CC_PROFILE_ID)) into.profile.cc_profile_id = attr.profile.cc_profile_id;
  if (has(MRC_QP_CAP)) into.cap = attr.cap;
  if (has(MRC_QP_VENDOR_CFG)) std::memcpy(into.vendor_cfg, attr.vendor_cfg, sizeof attr.vendor_cfg);
  const bool hint_is_foreign =
      has(MRC_QP_HINT) && attr.qp_hint != nullptr && &attr.qp_hint->context != &context;
  const bool fits = into.mpr.mpr > 0 && into.mpr.mpr_dest > 0 && into.wimm.max_wimm > 0 &&
                    into.wimm.max_wimm_dest > 0 &&
                    into.timeout <= openmrc::core::kTimeoutExponentMax &&
                    into.retry.linear_cnt <= openmrc::core::kLinearRetriesMax &&
                    into.retry.exp_cnt <= openmrc::core::kExponentialRetriesMax &&
                    (into.cap & ~kCaps) == 0 && penalty_of(into).value_or(0) <= kPenaltyMax;
  const bool offers_too_much = has(MRC_QP_MPR_DEST) && dynamic_mpr_ && is_connected(state()) &&
                               into.mpr.mpr_dest > mpr_dest_max_;
  return fits && !hint_is_foreign && !offers_too_much ? 0 : EINVAL;
}

// Attributes may change in a state as long as a later step reads them, or the peer can be told.
int mrc_qp::check_change(ibv_qp_state state, int mask) const {
  if (mask == 0 || state == IBV_QPS_ERR) return EINVAL;
  if (is_connected(state) && (mask & MRC_QP_MPR_DEST) != 0 && !dynamic_mpr_) return EINVAL;
  constexpr int kAtAnyTime = MRC_QP_MPR_DEST | MRC_QP_VENDOR_CFG;
  return state == IBV_QPS_RTS && (mask & ~kAtAnyTime) != 0 ? EINVAL : 0;
}

// What of it concerns the peer of a connection goes into its next SACK.
void mrc_qp::tell_peer(int mask) {
  if (!is_connected(state())) return;
  if (dynamic_mpr_ && (mask & MRC_QP_MPR_DEST) != 0) runtime_->offer_mpr(mrc_attr_.mpr.mpr_dest);
  if (const auto penalty = penalty_of(mrc_attr_)) runtime_->set_receiver_penalty(*penalty);
}

// A call that fails changes nothing.
int mrc_qp::modify(const ibv_qp_attr& verbs_attr, int verbs_mask, const mrc_qp_attr& mrc_attr,
                   int mrc_mask) {
  const std::lock_guard lock(state_mutex_);
  const ibv_qp_state from = state();
  if ((verbs_mask & IBV_QP_CUR_STATE) != 0 && verbs_attr.cur_qp_state != from) return EINVAL;
  const mrc_qp_attr before = mrc_attr_;
  if (const int error = take(mrc_attr, mrc_mask, mrc_attr_)) {
    mrc_attr_ = before;
    return error;
  }
  int error = 0;
  if ((verbs_mask & IBV_QP_STATE) != 0) {
    error = change_state(verbs_attr, verbs_mask);
  } else {
    error = check_change(from, mrc_mask);
  }
  if (error != 0) {
    mrc_attr_ = before;
    return error;
  }
  if ((mrc_mask & MRC_QP_HINT) != 0) set_hint(mrc_attr.qp_hint);
  tell_peer(mrc_mask);
  return 0;
}

int mrc_qp::change_state(const ibv_qp_attr& verbs_attr, int verbs_mask) {
  try {
    switch (verbs_attr.qp_state) {
      case IBV_QPS_RESET: return to_reset();
      case IBV_QPS_INIT: return to_init(verbs_attr, verbs_mask);
      case IBV_QPS_RTR: return to_ready_to_recv(verbs_attr, verbs_mask);
      case IBV_QPS_RTS: return to_ready_to_send(verbs_attr, verbs_mask);
      case IBV_QPS_ERR: return to_error();
      default: return EINVAL;
    }
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int mrc_qp::to_init(const ibv_qp_attr& verbs_attr, int verbs_mask) {
  if ((verbs_mask & IBV_QP_PKEY_INDEX) != 0 && verbs_attr.pkey_index != 0) return EINVAL;
  // INIT to INIT is allowed in verbs, to change what was said.
  if (state() != IBV_QPS_INIT) {
    if (const int error = error_number(runtime_->to_init())) return error;
  }
  verbs_attr_.port_num = (verbs_mask & IBV_QP_PORT) != 0 ? verbs_attr.port_num : std::uint8_t{1};
  verbs_attr_.qp_access_flags = (verbs_mask & IBV_QP_ACCESS_FLAGS) != 0
                                    ? verbs_attr.qp_access_flags
                                    : unsigned{IBV_ACCESS_REMOTE_WRITE};
  return 0;
}

int mrc_qp::to_ready_to_recv(const ibv_qp_attr& verbs_attr, int verbs_mask) {
  constexpr int kNeeded = IBV_QP_AV | IBV_QP_DEST_QPN;
  if ((verbs_mask & kNeeded) != kNeeded || verbs_attr.ah_attr.is_global == 0) return EINVAL;
  if (verbs_attr.ah_attr.grh.sgid_index >= context.device.gids()) return EINVAL;
  const auto peer = context.device.destination_of(gid_of(verbs_attr.ah_attr.grh.dgid));
  if (!peer) return EHOSTUNREACH;
  if (const int error = use_profiles()) return error;
  openmrc::host::ReceiveAttributes attributes{
      .remote_qpn = Qpn(verbs_attr.dest_qp_num & kNumberMask),
      .ev_profile = ev_profile_,
      .cc_profile = cc_profile_,
      .mpr_dest = mrc_attr_.mpr.mpr_dest,
      .max_wimm_dest = mrc_attr_.wimm.max_wimm_dest,
      .dynamic_mpr = (mrc_attr_.cap & MRC_QP_CAP_DYNAMIC_MPR) != 0,
      .peer_sends_trim_nacks = (mrc_attr_.cap & MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED) == 0};
  if ((verbs_mask & IBV_QP_RQ_PSN) != 0)
    attributes.remote_psn = Psn(verbs_attr.rq_psn & kNumberMask);
  if ((verbs_mask & IBV_QP_PATH_MTU) != 0) {
    if (verbs_attr.path_mtu < IBV_MTU_256 || verbs_attr.path_mtu > IBV_MTU_4096) return EINVAL;
    attributes.mtu = bytes_of(verbs_attr.path_mtu);
  }
  if (const int error = error_number(runtime_->to_ready_to_recv(*peer, attributes))) return error;
  dynamic_mpr_ = attributes.dynamic_mpr;
  mpr_dest_max_ = attributes.mpr_dest;
  verbs_attr_.ah_attr = verbs_attr.ah_attr;
  verbs_attr_.dest_qp_num = attributes.remote_qpn.raw();
  verbs_attr_.rq_psn = attributes.remote_psn.raw();
  verbs_attr_.path_mtu = (verbs_mask & IBV_QP_PATH_MTU) != 0 ? verbs_attr.path_mtu : IBV_MTU_4096;
  return 0;
}

int mrc_qp::to_ready_to_send(const ibv_qp_attr& verbs_attr, int verbs_mask) {
  const std::uint32_t psn = (verbs_mask & IBV_QP_SQ_PSN) != 0 ? verbs_attr.sq_psn & kNumberMask : 0;
  const auto result = runtime_->to_ready_to_send({.first_psn = Psn(psn),
                                                  .mpr = mrc_attr_.mpr.mpr,
                                                  .max_wimm = mrc_attr_.wimm.max_wimm,
                                                  .timeout = mrc_attr_.timeout,
                                                  .linear_retries = mrc_attr_.retry.linear_cnt,
                                                  .exponential_retries = mrc_attr_.retry.exp_cnt,
                                                  .senders = senders_of(mrc_attr_.qp_hint)});
  if (result) verbs_attr_.sq_psn = psn;
  return error_number(result);
}

int mrc_qp::to_error() {
  if (state() == IBV_QPS_RESET) return EINVAL;
  return error_number(runtime_->to_error());
}

// What was posted is forgotten, and so are its completions.
int mrc_qp::to_reset() {
  if (const int error = error_number(runtime_->to_reset())) return error;
  init.send_cq->forget(number());
  init.recv_cq->forget(number());
  sends.release_all();
  receives.release_all();
  return 0;
}

int mrc_qp::query(ibv_qp_attr* verbs_attr, mrc_qp_attr* mrc_attr, mrc_qp_init_attr* init_attr) {
  const std::lock_guard lock(state_mutex_);
  if (verbs_attr != nullptr) {
    *verbs_attr = verbs_attr_;
    verbs_attr->qp_state = verbs_attr->cur_qp_state = state();
    verbs_attr->cap = init.cap;
    verbs_attr->timeout = mrc_attr_.timeout;
    verbs_attr->retry_cnt = mrc_attr_.retry.linear_cnt;
  }
  if (mrc_attr != nullptr) {
    *mrc_attr = mrc_attr_;
    if (const auto window = runtime_->send_window()) {
      mrc_attr->mpr.mpr = static_cast<std::uint8_t>(window->psns / openmrc::core::kPsnsPerMpr);
    }
  }
  if (init_attr != nullptr) *init_attr = init;
  return 0;
}
