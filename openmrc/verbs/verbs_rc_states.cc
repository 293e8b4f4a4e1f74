// SPDX-License-Identifier: BSD-3-Clause
// Reliable connections: states and attributes.
#include <algorithm>
#include <array>

#include "openmrc/verbs/verbs_rc.h"
#include "openmrc/verbs/verbs_route.h"
#include "openmrc/verbs/verbs_states.h"

namespace openmrc::libmrc {
namespace {

constexpr std::uint8_t kRnrRetryMax = 7;

constexpr int kAccess = IBV_QP_ACCESS_FLAGS;
constexpr int kPlace = IBV_QP_PKEY_INDEX | IBV_QP_PORT;
constexpr int kIgnored = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
constexpr std::array kRcTransitions{
    Transition{IBV_QPS_RESET, IBV_QPS_INIT, kPlace | kAccess, 0},
    Transition{IBV_QPS_INIT, IBV_QPS_INIT, 0, kPlace | kAccess},
    Transition{IBV_QPS_INIT, IBV_QPS_RTR,
               IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
               IBV_QP_PKEY_INDEX | kAccess | kIgnored},
    Transition{IBV_QPS_RTR, IBV_QPS_RTS,
               IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                   IBV_QP_MAX_QP_RD_ATOMIC,
               kAccess | IBV_QP_MIN_RNR_TIMER | kIgnored},
    Transition{IBV_QPS_RTS, IBV_QPS_RTS, 0, kIgnored},
};

}  // namespace

ibv_qp_state ReliableConnection::state() const { return verbs_state(runtime_->state()); }

int ReliableConnection::modify(const ibv_qp_attr& attributes, int mask) {
  const std::lock_guard lock(mutex_);
  const ibv_qp_state from = state();
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attributes.qp_state : from;
  if ((mask & IBV_QP_CUR_STATE) != 0 && attributes.cur_qp_state != from) return EINVAL;
  if (to == IBV_QPS_SQD || to == IBV_QPS_SQE) return EOPNOTSUPP;
  if (!is_allowed(kRcTransitions, from, to, mask)) return EINVAL;
  const int error = from == to ? 0 : change_state(attributes, mask);
  if (error == 0) take(attributes, mask);
  return error;
}

int ReliableConnection::change_state(const ibv_qp_attr& attributes, int /*mask*/) {
  switch (attributes.qp_state) {
    case IBV_QPS_RESET: return to_reset();
    case IBV_QPS_INIT: return to_init(attributes);
    case IBV_QPS_RTR: return to_ready_to_recv(attributes);
    case IBV_QPS_RTS: return to_ready_to_send(attributes);
    case IBV_QPS_ERR: return to_error();
    default: return EINVAL;
  }
}

void ReliableConnection::take(const ibv_qp_attr& attributes, int mask) {
  const auto copy = [&](int bit, auto ibv_qp_attr::* member) {
    if ((mask & bit) != 0) attributes_.*member = attributes.*member;
  };
  copy(IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index);
  copy(IBV_QP_PORT, &ibv_qp_attr::port_num);
  copy(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
  copy(IBV_QP_AV, &ibv_qp_attr::ah_attr);
  copy(IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu);
  copy(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
  copy(IBV_QP_RQ_PSN, &ibv_qp_attr::rq_psn);
  copy(IBV_QP_SQ_PSN, &ibv_qp_attr::sq_psn);
  copy(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
  copy(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
  copy(IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer);
  copy(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
  copy(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
  copy(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
}

void ReliableConnection::query(ibv_qp_attr& attributes) const {
  const std::lock_guard lock(mutex_);
  attributes = attributes_;
}

int ReliableConnection::to_init(const ibv_qp_attr& attributes) {
  if (attributes.pkey_index != 0 || attributes.port_num < 1 ||
      attributes.port_num > device_.ports()) {
    return EINVAL;
  }
  const auto has = [&](unsigned flag) { return (attributes.qp_access_flags & flag) != 0; };
  return error_number(
      runtime_->to_init({.remote_write = has(IBV_ACCESS_REMOTE_WRITE),
                         .messages = {.remote_read = has(IBV_ACCESS_REMOTE_READ),
                                      .remote_atomic = has(IBV_ACCESS_REMOTE_ATOMIC)}}));
}

int ReliableConnection::to_ready_to_recv(const ibv_qp_attr& attributes) {
  const ibv_ah_attr& address = attributes.ah_attr;
  if (address.is_global == 0 || address.grh.sgid_index >= device_.gids()) return EINVAL;
  if (attributes.path_mtu < IBV_MTU_256 || attributes.path_mtu > IBV_MTU_4096) return EINVAL;
  const auto peer = device_.destination_of(gid_of(address.grh.dgid));
  if (!peer) return EHOSTUNREACH;
  const auto depth = std::min(attributes.max_dest_rd_atomic, messages::kDepthMax);
  const host::MessageQueuePair::Peer remote{.qpn = Qpn(attributes.dest_qp_num & kNumberMask),
                                            .psn = Psn(attributes.rq_psn & kNumberMask),
                                            .mtu = bytes_of(attributes.path_mtu)};
  const auto timer =
      static_cast<messages::RnrTimer>(attributes.min_rnr_timer & messages::kRnrTimerMax);
  return error_number(
      runtime_->to_ready_to_recv(*peer, remote, {.depth = depth, .rnr_timer = timer}));
}

int ReliableConnection::to_ready_to_send(const ibv_qp_attr& attributes) {
  if (attributes.rnr_retry > kRnrRetryMax) return EINVAL;
  const auto depth = std::min(attributes.max_rd_atomic, messages::kDepthMax);
  return error_number(runtime_->to_ready_to_send(
      Psn(attributes.sq_psn & kNumberMask), {.depth = depth, .rnr_retry = attributes.rnr_retry}));
}

int ReliableConnection::to_error() {
  if (state() == IBV_QPS_RESET) return EINVAL;
  return error_number(runtime_->to_error());
}

// What was posted is forgotten, and so are its completions.
int ReliableConnection::to_reset() {
  if (const int error = error_number(runtime_->to_reset())) return error;
  sends_.forget(number());
  receives_.forget(number());
  attributes_ = {};
  return 0;
}

}  // namespace openmrc::libmrc
