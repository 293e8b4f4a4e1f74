// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "openmrc/host/datagram_queue_pair.h"
#include "openmrc/host/message_queue_pair.h"
#include "openmrc/messages/receive_queue.h"
#include "openmrc/verbs/verbs_cq.h"
#include "openmrc/verbs/verbs_qp.h"
#include "openmrc/verbs/verbs_work.h"

namespace openmrc::libmrc {

// IBV_QPT_UD: a queue pair for datagrams. What arrives while there is no receive is dropped, and so
// is what is sent while the queue to the ports is full.
class Datagrams final : public Transport, private host::DatagramSink {
 public:
  Datagrams(SoftQueuePair& qp, Device& device);
  // False, and errno: there cannot be one.
  [[nodiscard]] bool open();

  [[nodiscard]] std::uint32_t number() const override { return runtime_->number().raw(); }
  [[nodiscard]] ibv_qp_state state() const override { return state_.load(); }
  int modify(const ibv_qp_attr& attributes, int mask) override;
  void query(ibv_qp_attr& attributes) const override;
  int post_send(ibv_send_wr* first, ibv_send_wr** bad) override;
  int post_receive(ibv_recv_wr* first, ibv_recv_wr** bad) override;
  // A send is done, or dropped, when it has been posted.
  [[nodiscard]] std::size_t free_sends() const override { return qp_.cap.max_send_wr; }

 private:
  void on_datagram(const host::Datagram& datagram) override;
  // These hold the lock of their queue.
  int send_one(const ibv_send_wr& wr);
  void complete_send(const ibv_send_wr& wr, ibv_wc_status status);
  void flush_receives();
  [[nodiscard]] int change_state(const ibv_qp_attr& attributes, int mask);

  SoftQueuePair& qp_;
  Device& device_;
  const LocalMemory memory_;
  SoftCompletionQueue& sends_;
  SoftCompletionQueue& receives_;
  std::atomic<ibv_qp_state> state_ = IBV_QPS_RESET;
  mutable std::mutex state_mutex_;  // one change of state at a time
  ibv_qp_attr attributes_{};        // as was last set
  std::mutex send_mutex_;
  std::atomic<std::uint32_t> qkey_ = 0;
  std::mutex receive_mutex_;  // also the shard's thread takes it
  messages::ReceiveQueue queue_;
  std::unique_ptr<host::DatagramQueuePair> runtime_;  // last: it calls this object until it is gone
};

}  // namespace openmrc::libmrc
