// SPDX-License-Identifier: BSD-3-Clause
// Work requests that are built by calls: ibv_wr_start, ibv_wr_send, ..., ibv_wr_complete.
#include "openmrc/verbs/verbs_wr.h"

#include <cerrno>
#include <exception>
#include <numeric>

#include "openmrc/verbs/call_guard.h"
#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc {

void WorkBatch::start() {
  mutex_.lock();
  reset();
}

void WorkBatch::abort() { mutex_.unlock(); }

void WorkBatch::reset() {
  requests_.clear();
  parts_.clear();
  segments_.clear();
  copies_.clear();
  error_ = 0;
}

ibv_send_wr* WorkBatch::last() {
  if (requests_.size() == parts_.size() && !requests_.empty()) return &requests_.back();
  if (error_ == 0) error_ = EINVAL;
  return nullptr;
}

ibv_send_wr* WorkBatch::add(const ibv_qp_ex& qp, ibv_wr_opcode opcode) {
  try {
    parts_.push_back({.first_segment = segments_.size()});
    requests_.push_back({});
  } catch (const std::exception&) {
    error_ = ENOMEM;
    return nullptr;
  }
  ibv_send_wr& made = requests_.back();
  made.wr_id = qp.wr_id;
  made.opcode = opcode;
  // Whether data is copied is said by how it is given.
  made.send_flags = qp.wr_flags & ~static_cast<unsigned>(IBV_SEND_INLINE);
  return &made;
}

void WorkBatch::set_segments(std::span<const ibv_sge> list) {
  ibv_send_wr* request = last();
  if (request == nullptr) return;
  if (list.size() > cap_.max_send_sge) {
    error_ = EINVAL;
    return;
  }
  parts_.back() = {.first_segment = segments_.size()};
  request->send_flags &= ~static_cast<unsigned>(IBV_SEND_INLINE);
  request->num_sge = static_cast<int>(list.size());
  try {
    segments_.insert(segments_.end(), list.begin(), list.end());
  } catch (const std::exception&) {
    error_ = ENOMEM;
  }
}

void WorkBatch::set_copy(std::span<const ibv_data_buf> list) {
  ibv_send_wr* request = last();
  if (request == nullptr) return;
  const std::size_t offset = copies_.size();
  const std::size_t length =
      std::accumulate(list.begin(), list.end(), std::size_t{0},
                      [](std::size_t sum, const ibv_data_buf& one) { return sum + one.length; });
  if (length > cap_.max_inline_data) {
    error_ = ENOMEM;
    return;
  }
  const ibv_sge whole{.addr = offset, .length = static_cast<std::uint32_t>(length), .lkey = 0};
  set_segments({&whole, 1});
  parts_.back().is_copy = true;
  request->send_flags |= IBV_SEND_INLINE;
  try {
    for (const ibv_data_buf& one : list) {
      const auto* bytes = static_cast<const std::byte*>(one.addr);
      copies_.insert(copies_.end(), bytes, bytes + one.length);
    }
  } catch (const std::exception&) {
    error_ = ENOMEM;
  }
}

// Now that nothing moves any more.
void WorkBatch::link() {
  for (std::size_t i = 0; i < requests_.size(); ++i) {
    ibv_send_wr& request = requests_[i];
    request.sg_list = segments_.data() + parts_[i].first_segment;
    request.next = i + 1 < requests_.size() ? &requests_[i + 1] : nullptr;
    if (parts_[i].is_copy) {
      request.sg_list->addr =
          reinterpret_cast<std::uint64_t>(copies_.data()) + request.sg_list->addr;
    }
  }
}

int WorkBatch::complete(ibv_qp& qp) {
  const std::lock_guard lock(mutex_, std::adopt_lock);
  if (error_ != 0) return error_;
  if (requests_.empty()) return 0;
  if (requests_.size() > 1 && requests_.size() > soft(qp).transport->free_sends()) return ENOMEM;
  link();
  ibv_send_wr* bad = nullptr;
  return soft_verbs::post_send(&qp, requests_.data(), &bad);
}

namespace {

WorkBatch& batch_of(ibv_qp_ex* qp) { return *soft(qp->qp_base).batch; }

void add_remote(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t address,
                __be32 immediate = 0) {
  ibv_send_wr* made = batch_of(qp).add(*qp, opcode);
  if (made == nullptr) return;
  made->wr.rdma.remote_addr = address;
  made->wr.rdma.rkey = rkey;
  made->imm_data = immediate;
}

void add_atomic(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t address,
                std::uint64_t compare_add, std::uint64_t swap) {
  ibv_send_wr* made = batch_of(qp).add(*qp, opcode);
  if (made == nullptr) return;
  made->wr.atomic.remote_addr = address;
  made->wr.atomic.rkey = rkey;
  made->wr.atomic.compare_add = compare_add;
  made->wr.atomic.swap = swap;
}

void set_remote_operations(ibv_qp_ex& qp) {
  qp.wr_rdma_write = [](ibv_qp_ex* to, std::uint32_t rkey, std::uint64_t address) {
    add_remote(to, IBV_WR_RDMA_WRITE, rkey, address);
  };
  qp.wr_rdma_write_imm = [](ibv_qp_ex* to, std::uint32_t rkey, std::uint64_t address,
                            __be32 immediate) {
    add_remote(to, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address, immediate);
  };
  qp.wr_rdma_read = [](ibv_qp_ex* to, std::uint32_t rkey, std::uint64_t address) {
    add_remote(to, IBV_WR_RDMA_READ, rkey, address);
  };
  qp.wr_atomic_cmp_swp = [](ibv_qp_ex* to, std::uint32_t rkey, std::uint64_t address,
                            std::uint64_t compare, std::uint64_t swap) {
    add_atomic(to, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address, compare, swap);
  };
  qp.wr_atomic_fetch_add = [](ibv_qp_ex* to, std::uint32_t rkey, std::uint64_t address,
                              std::uint64_t by) {
    add_atomic(to, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address, by, 0);
  };
}

void set_send_operations(ibv_qp_ex& qp) {
  qp.wr_send = [](ibv_qp_ex* to) { batch_of(to).add(*to, IBV_WR_SEND); };
  qp.wr_send_imm = [](ibv_qp_ex* to, __be32 immediate) {
    ibv_send_wr* made = batch_of(to).add(*to, IBV_WR_SEND_WITH_IMM);
    if (made != nullptr) made->imm_data = immediate;
  };
  qp.wr_set_ud_addr = [](ibv_qp_ex* to, ibv_ah* ah, std::uint32_t qpn, std::uint32_t qkey) {
    if (ibv_send_wr* request = batch_of(to).last(); request != nullptr) {
      request->wr.ud = {.ah = ah, .remote_qpn = qpn, .remote_qkey = qkey};
    }
  };
}

void set_data_operations(ibv_qp_ex& qp) {
  qp.wr_set_sge = [](ibv_qp_ex* to, std::uint32_t lkey, std::uint64_t address,
                     std::uint32_t length) {
    const ibv_sge one{.addr = address, .length = length, .lkey = lkey};
    batch_of(to).set_segments({&one, 1});
  };
  qp.wr_set_sge_list = [](ibv_qp_ex* to, std::size_t count, const ibv_sge* list) {
    batch_of(to).set_segments({list, count});
  };
  qp.wr_set_inline_data = [](ibv_qp_ex* to, void* address, std::size_t length) {
    const ibv_data_buf one{.addr = address, .length = length};
    batch_of(to).set_copy({&one, 1});
  };
  qp.wr_set_inline_data_list = [](ibv_qp_ex* to, std::size_t count, const ibv_data_buf* list) {
    batch_of(to).set_copy({list, count});
  };
}

}  // namespace

void set_wr_operations(ibv_qp_ex& qp) {
  set_remote_operations(qp);
  set_send_operations(qp);
  set_data_operations(qp);
  qp.wr_start = [](ibv_qp_ex* to) { batch_of(to).start(); };
  qp.wr_complete = [](ibv_qp_ex* to) {
    const int error = batch_of(to).complete(to->qp_base);
    return error == 0 ? 0 : fail(error);
  };
  qp.wr_abort = [](ibv_qp_ex* to) { batch_of(to).abort(); };
}

namespace soft_verbs {

ibv_qp* create_qp_ex(ibv_context* /*context*/, ibv_qp_init_attr_ex* attributes) {
  constexpr std::uint32_t kKnown = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  const bool asks_for_more = (attributes->comp_mask & ~kKnown) != 0 ||
                             (attributes->send_ops_flags & ~kSendOperations) != 0;
  if ((attributes->comp_mask & IBV_QP_INIT_ATTR_PD) == 0) return null(EINVAL);
  if (asks_for_more) return null(EOPNOTSUPP);
  return guarded([](int error) -> ibv_qp* { return null(error); },
                 [&]() -> ibv_qp* {
                   // It begins as the other one does.
                   ibv_qp* qp = soft_verbs::ibv_create_qp(
                       attributes->pd, reinterpret_cast<ibv_qp_init_attr*>(attributes));
                   if (qp == nullptr) return nullptr;
                   SoftQueuePair& made = soft(*qp);
                   made.batch = std::make_unique<WorkBatch>(made.cap);
                   set_wr_operations(made.extended);
                   return qp;
                 });
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  SoftQueuePair& queue_pair = soft(*qp);
  return queue_pair.batch != nullptr ? &queue_pair.extended : null(EOPNOTSUPP);
}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc
