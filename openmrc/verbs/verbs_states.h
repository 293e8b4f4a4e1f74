// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <span>

#include "openmrc/base/result.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/host/host.h"

// States of queue pairs in the words of verbs; for those of libmrc, too.
namespace openmrc::libmrc {

inline constexpr std::uint32_t kNumberMask = 0xff'ffff;  // of queue pairs and packets

inline ibv_qp_state verbs_state(core::QueuePairState state) {
  using core::QueuePairState;
  switch (state) {
    case QueuePairState::kReset: return IBV_QPS_RESET;
    case QueuePairState::kInit: return IBV_QPS_INIT;
    case QueuePairState::kReadyToRecv: return IBV_QPS_RTR;
    case QueuePairState::kReadyToSend: return IBV_QPS_RTS;
    case QueuePairState::kError: return IBV_QPS_ERR;
  }
  return IBV_QPS_UNKNOWN;
}

inline int error_number(const Result<void, core::ModifyError>& result) {
  if (result) return 0;
  return result.error() == core::ModifyError::kNoQueuePair ? ENOENT : EINVAL;
}

constexpr std::uint32_t bytes_of(ibv_mtu mtu) { return 128U << mtu; }

// What InfiniBand demands on the way to a state, and allows besides (11.2.5.2).
struct Transition {
  ibv_qp_state from;
  ibv_qp_state to;
  int needed;
  int allowed;
};

// Whether the attributes that a mask names go with the step. To RESET and ERROR there are none.
inline bool is_allowed(std::span<const Transition> transitions, ibv_qp_state from, ibv_qp_state to,
                       int mask) {
  const int given = mask & ~(IBV_QP_STATE | IBV_QP_CUR_STATE);
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return given == 0;
  return std::ranges::any_of(transitions, [&](const Transition& one) {
    return one.from == from && one.to == to && (given & one.needed) == one.needed &&
           (given & ~(one.needed | one.allowed)) == 0;
  });
}

}  // namespace openmrc::libmrc
