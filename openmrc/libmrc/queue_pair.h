// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mrc.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "openmrc/libmrc/completion_queue.h"
#include "openmrc/libmrc/context.h"
#include "openmrc/verbs/verbs_objects.h"

namespace openmrc::libmrc {

// What the library allows; a device reports it.
inline constexpr std::uint32_t kWorkRequestsMax = 16384;
inline constexpr std::uint32_t kScatterMax = 4;
inline constexpr std::uint32_t kInlineMax = 256;

// What is remembered of a work request until it is complete. Its address is its id in the runtime.
struct WorkSlot {
  mrc_qp* qp = nullptr;
  std::uint64_t id = 0;
  bool signaled = true;
  std::vector<std::byte> copied{};  // data that the application need not keep
};

// The slots of one direction. Work completes in the order in which it was posted.
class WorkQueue {
 public:
  WorkQueue(mrc_qp& qp, std::uint32_t size) : slots_(size) {
    for (WorkSlot& slot : slots_) slot.qp = &qp;
  }
  // Null: none is free. Whoever takes slots holds `mutex`.
  WorkSlot* take() {
    if (slots_.empty() || taken_.load(std::memory_order_acquire) == slots_.size()) return nullptr;
    WorkSlot& slot = slots_[next_];
    next_ = next_ + 1 == slots_.size() ? 0 : next_ + 1;
    taken_.fetch_add(1, std::memory_order_relaxed);
    return &slot;
  }
  // The last that was taken was not posted.
  void give_back() {
    next_ = next_ == 0 ? slots_.size() - 1 : next_ - 1;
    release();
  }
  void release() { taken_.fetch_sub(1, std::memory_order_release); }
  void release_all() { taken_.store(0, std::memory_order_release); }
  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(slots_.size()); }

  std::mutex mutex;

 private:
  std::vector<WorkSlot> slots_;
  std::size_t next_ = 0;
  std::atomic<std::size_t> taken_ = 0;
};

}  // namespace openmrc::libmrc

struct mrc_qp {
  mrc_qp(mrc_context& of, const mrc_qp_init_attr& from);
  ~mrc_qp();
  // False: errno says why.
  [[nodiscard]] bool open();

  // These return 0 or an error number.
  int modify(const ibv_qp_attr& verbs_attr, int verbs_mask, const mrc_qp_attr& mrc_attr,
             int mrc_mask);
  int query(ibv_qp_attr* verbs_attr, mrc_qp_attr* mrc_attr, mrc_qp_init_attr* init_attr);
  int post_send(ibv_send_wr* wr, ibv_send_wr** bad);
  int post_receive(ibv_recv_wr* wr, ibv_recv_wr** bad);

  [[nodiscard]] std::uint32_t number() const { return runtime_->number().raw(); }
  [[nodiscard]] const openmrc::host::QueuePair& runtime() const { return *runtime_; }

  mrc_context& context;
  mrc_qp_init_attr init;
  openmrc::libmrc::SoftProtectionDomain& domain;
  openmrc::libmrc::FetchedEvents events;
  openmrc::libmrc::WorkQueue sends;
  openmrc::libmrc::WorkQueue receives;

 private:
  // queue_pair_states.cc
  [[nodiscard]] ibv_qp_state state() const;
  int change_state(const ibv_qp_attr& verbs_attr, int verbs_mask);
  int to_init(const ibv_qp_attr& verbs_attr, int verbs_mask);
  int to_ready_to_recv(const ibv_qp_attr& verbs_attr, int verbs_mask);
  int to_ready_to_send(const ibv_qp_attr& verbs_attr, int verbs_mask);
  int to_error();
  int to_reset();
  int take(const mrc_qp_attr& attr, int mask, mrc_qp_attr& into) const;
  [[nodiscard]] int check_change(ibv_qp_state state, int mask) const;
  void tell_peer(int mask);
  void set_hint(mrc_qp_hint* hint);
  int use_profiles();
  void release_profiles();

  // queue_pair.cc
  struct Batch;
  int prepare(const ibv_send_wr& wr, openmrc::host::Write& write, bool& is_local_fault);
  int gather(const ibv_send_wr& wr, openmrc::libmrc::WorkSlot& slot, openmrc::host::Write& write,
             bool& is_local_fault);
  int post_one(ibv_send_wr* wr, ibv_send_wr** bad);
  int send_batch(Batch& batch, ibv_send_wr** bad);
  int refuse(openmrc::core::PostError why, std::size_t slots, ibv_send_wr* first,
             ibv_send_wr** bad);
  int flush_sends(ibv_send_wr* wr, ibv_send_wr** bad, ibv_wc_status first_status);

  std::unique_ptr<openmrc::host::QueuePair> runtime_;
  mutable std::mutex state_mutex_;  // one change at a time
  ibv_qp_attr verbs_attr_{};        // as was last set
  mrc_qp_attr mrc_attr_{};
  bool dynamic_mpr_ = false;  // the connection's, and the largest window that it may offer
  std::uint8_t mpr_dest_max_ = 0;
  // The controller's profiles as the runtime knows them; nothing: the host's own.
  std::optional<openmrc::core::EvProfileId> ev_profile_;
  std::optional<openmrc::core::CcProfileId> cc_profile_;
  std::uint64_t ev_profile_used_ = 0;  // by the controller's number, to be released
  std::uint64_t cc_profile_used_ = 0;
};
