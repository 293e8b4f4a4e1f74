// SPDX-License-Identifier: BSD-3-Clause
// Datagrams of verbs.
#include "openmrc/verbs/verbs_ud.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <span>

#include "openmrc/messages/scatter.h"
#include "openmrc/verbs/verbs_ah.h"
#include "openmrc/verbs/verbs_route.h"
#include "openmrc/verbs/verbs_states.h"

namespace openmrc::libmrc {
namespace {

// InfiniBand 10.2.5: such a Q_Key in a request stands for that of the queue pair.
constexpr std::uint32_t kOwnQkey = 0x8000'0000;
constexpr std::uint8_t kNextHeaderBth = 0x1b;
constexpr std::uint8_t kHopLimit = 64;
constexpr std::size_t kSendQueueMax = 1024;  // to the ports; each has room for an MTU

constexpr std::array kUdTransitions{
    Transition{IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
    Transition{IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
    Transition{IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    Transition{IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, IBV_QP_QKEY},
    Transition{IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_QKEY},
};

// What programs find in front of a datagram (InfiniBand 11.4.1.2): who sent it, and to whom. UCX
// compares the latter with the GIDs of the port.
ibv_grh grh_of(const Device& device, const host::Datagram& datagram) {
  ibv_grh grh{};
  grh.version_tclass_flow = htonl(6U << 28);
  grh.paylen = htons(static_cast<std::uint16_t>(datagram.payload.size()));
  grh.next_hdr = kNextHeaderBth;
  grh.hop_limit = kHopLimit;
  copy_gid(datagram.source, grh.sgid);
  copy_gid(device.gid(Device::kGidIpv4), grh.dgid);
  return grh;
}

}  // namespace

Datagrams::Datagrams(SoftQueuePair& qp, Device& device)
    : qp_(qp),
      device_(device),
      memory_{device.memory(), soft_domain(qp.verbs.pd)->domain},
      sends_(soft(*qp.verbs.send_cq)),
      receives_(soft(*qp.verbs.recv_cq)),
      queue_({.requests = qp.cap.max_recv_wr, .segments = std::max(qp.cap.max_recv_sge, 1U)}) {}

std::unique_ptr<Transport> make_datagrams(SoftQueuePair& qp) {
  if (qp.verbs.srq != nullptr) return null(EOPNOTSUPP);
  auto made = std::make_unique<Datagrams>(qp, *device_of(qp.verbs.context));
  if (!made->open()) return nullptr;
  return made;
}

bool Datagrams::open() {
  const auto runtime = device_.runtime();
  if (!runtime) return errno = EIO, false;
  auto made = (*runtime)->create_datagram_queue_pair(
      *this, {.send_queue = std::clamp<std::size_t>(qp_.cap.max_send_wr, 1, kSendQueueMax)});
  if (!made) return errno = ENOMEM, false;
  runtime_ = std::move(*made);
  sends_.set_runtime(**runtime);
  receives_.set_runtime(**runtime);
  return true;
}

// ---- states ----

int Datagrams::modify(const ibv_qp_attr& attributes, int mask) {
  const std::lock_guard lock(state_mutex_);
  const ibv_qp_state from = state_;
  const ibv_qp_state to = (mask & IBV_QP_STATE) != 0 ? attributes.qp_state : from;
  if ((mask & IBV_QP_CUR_STATE) != 0 && attributes.cur_qp_state != from) return EINVAL;
  if (to == IBV_QPS_SQD || to == IBV_QPS_SQE) return EOPNOTSUPP;
  if (!is_allowed(kUdTransitions, from, to, mask)) return EINVAL;
  return change_state(attributes, mask);
}

int Datagrams::change_state(const ibv_qp_attr& attributes, int mask) {
  const auto has = [&](int bit) { return (mask & bit) != 0; };
  if (has(IBV_QP_PKEY_INDEX) && attributes.pkey_index != 0) return EINVAL;
  if (has(IBV_QP_PORT)) {
    if (attributes.port_num < 1 || attributes.port_num > device_.ports()) return EINVAL;
    attributes_.port_num = attributes.port_num;
  }
  if (has(IBV_QP_QKEY)) {
    attributes_.qkey = attributes.qkey;
    qkey_ = attributes.qkey;
    runtime_->set_qkey(attributes.qkey);
  }
  if (has(IBV_QP_SQ_PSN)) attributes_.sq_psn = attributes.sq_psn;
  if (!has(IBV_QP_STATE)) return 0;
  state_ = attributes.qp_state;
  const std::lock_guard lock(receive_mutex_);
  if (state_ == IBV_QPS_ERR) flush_receives();
  if (state_ != IBV_QPS_RESET) return 0;
  while (!queue_.empty()) queue_.give_back(queue_.take());
  sends_.forget(number());
  receives_.forget(number());
  attributes_ = {};
  return 0;
}

void Datagrams::flush_receives() {
  while (!queue_.empty()) {
    const auto slot = queue_.take();
    ibv_wc to{};
    to.wr_id = queue_[slot].id;
    to.status = IBV_WC_WR_FLUSH_ERR;
    to.qp_num = number();
    receives_.push(to, true);
    queue_.give_back(slot);
  }
}

void Datagrams::query(ibv_qp_attr& attributes) const {
  const std::lock_guard lock(state_mutex_);
  attributes = attributes_;
}

// ---- sending ----

int Datagrams::post_send(ibv_send_wr* first, ibv_send_wr** bad) {
  const std::lock_guard lock(send_mutex_);
  for (ibv_send_wr* wr = first; wr != nullptr; wr = wr->next) {
    if (const int error = send_one(*wr)) {
      *bad = wr;
      return fail(error);
    }
  }
  return 0;
}

int Datagrams::send_one(const ibv_send_wr& wr) {
  const ibv_qp_state state = state_;
  if (state != IBV_QPS_RTS && state != IBV_QPS_ERR) return EINVAL;
  const bool is_send = wr.opcode == IBV_WR_SEND || wr.opcode == IBV_WR_SEND_WITH_IMM;
  if (!is_send || wr.num_sge < 0 || static_cast<unsigned>(wr.num_sge) > qp_.cap.max_send_sge ||
      wr.wr.ud.ah == nullptr) {
    return EINVAL;
  }
  if (state == IBV_QPS_ERR) {
    complete_send(wr, IBV_WC_WR_FLUSH_ERR);
    return 0;
  }
  const std::span list(wr.sg_list, static_cast<std::size_t>(wr.num_sge));
  const bool is_inline = (wr.send_flags & IBV_SEND_INLINE) != 0;
  std::array<std::span<const std::byte>, kSgeMax> pieces;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::byte* data =
        is_inline ? std::bit_cast<const std::byte*>(list[i].addr)
                  : memory_.table.find(list[i].lkey, memory_.domain, list[i].addr, list[i].length);
    if (data == nullptr && list[i].length > 0) {
      complete_send(wr, IBV_WC_LOC_PROT_ERR);
      state_ = IBV_QPS_ERR;
      return 0;
    }
    pieces[i] = {data, list[i].length};
  }
  std::optional<std::uint32_t> immediate;
  if (wr.opcode == IBV_WR_SEND_WITH_IMM) immediate = ntohl(wr.imm_data);
  const std::uint32_t qkey =
      (wr.wr.ud.remote_qkey & kOwnQkey) != 0 ? qkey_.load() : wr.wr.ud.remote_qkey;
  const auto sent =
      runtime_->send(soft(*wr.wr.ud.ah).destination, Qpn(wr.wr.ud.remote_qpn & kNumberMask), qkey,
                     immediate, std::span(pieces).first(list.size()));
  // Where there is no room it is lost, as by any switch.
  const bool is_lost = !sent && sent.error() == host::PostError::kLimit;
  if (!sent && !is_lost) {
    if (sent.error() != host::PostError::kTooLong) return EINVAL;
    complete_send(wr, IBV_WC_LOC_LEN_ERR);
    state_ = IBV_QPS_ERR;
    return 0;
  }
  complete_send(wr, IBV_WC_SUCCESS);
  return 0;
}

void Datagrams::complete_send(const ibv_send_wr& wr, ibv_wc_status status) {
  const bool is_signaled = (wr.send_flags & IBV_SEND_SIGNALED) != 0 || qp_.sq_sig_all != 0;
  if (status == IBV_WC_SUCCESS && !is_signaled) return;
  ibv_wc to{};
  to.wr_id = wr.wr_id;
  to.status = status;
  to.opcode = IBV_WC_SEND;
  to.qp_num = number();
  sends_.push(to, status != IBV_WC_SUCCESS);
}

// ---- receiving ----

int Datagrams::post_receive(ibv_recv_wr* first, ibv_recv_wr** bad) {
  if (state_ == IBV_QPS_RESET) return fail(EINVAL);
  return post_receives(memory_, first, bad, [&](auto batch) {
    const std::lock_guard lock(receive_mutex_);
    host::SharedReceiveQueue::Posted posted;
    for (const messages::ReceiveRequest& one : batch) {
      posted.last = queue_.post(one);
      if (!posted.last) break;
      ++posted.count;
    }
    if (state_ == IBV_QPS_ERR) flush_receives();
    return posted;
  });
}

void Datagrams::on_datagram(const host::Datagram& datagram) {
  const std::lock_guard lock(receive_mutex_);
  const ibv_qp_state state = state_;
  if ((state != IBV_QPS_RTR && state != IBV_QPS_RTS) || queue_.empty()) return;
  const auto slot = queue_.take();
  const messages::ReceiveQueue::Receive& receive = queue_[slot];
  const ibv_grh grh = grh_of(device_, datagram);
  const std::size_t length = sizeof grh + datagram.payload.size();
  ibv_wc to{};
  to.wr_id = receive.id;
  to.opcode = IBV_WC_RECV;
  to.byte_len = static_cast<std::uint32_t>(length);
  to.qp_num = number();
  to.src_qp = datagram.source_qp.raw();
  to.wc_flags = IBV_WC_GRH;
  if (datagram.immediate) {
    to.wc_flags |= IBV_WC_WITH_IMM;
    to.imm_data = htonl(*datagram.immediate);
  }
  if (!receive.keys_ok) {
    to.status = IBV_WC_LOC_PROT_ERR;
  } else if (length > receive.size) {
    to.status = IBV_WC_LOC_LEN_ERR;
  } else {
    const auto segments = queue_.segments(slot);
    messages::scatter(segments, 0, std::as_bytes(std::span(&grh, 1)));
    messages::scatter(segments, sizeof grh, datagram.payload);
  }
  queue_.give_back(slot);
  // MRC sends the bit for it as 0.
  receives_.push(to, true);
}

}  // namespace openmrc::libmrc
