// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <mutex>

#include "openmrc/host/message_queue_pair.h"
#include "openmrc/verbs/verbs_cq.h"
#include "openmrc/verbs/verbs_qp.h"
#include "openmrc/verbs/verbs_work.h"

namespace openmrc::libmrc {

// IBV_QPT_RC: a queue pair with messages over all planes.
class ReliableConnection final : public Transport, private host::MessageSink {
 public:
  ReliableConnection(SoftQueuePair& qp, Device& device);
  // False, and errno: there cannot be one.
  [[nodiscard]] bool open();

  [[nodiscard]] std::uint32_t number() const override { return runtime_->number().raw(); }
  [[nodiscard]] ibv_qp_state state() const override;
  int modify(const ibv_qp_attr& attributes, int mask) override;
  void query(ibv_qp_attr& attributes) const override;
  int post_send(ibv_send_wr* first, ibv_send_wr** bad) override;
  int post_receive(ibv_recv_wr* first, ibv_recv_wr** bad) override;
  [[nodiscard]] std::size_t free_sends() const override { return runtime_->free_sends(); }

 private:
  void on_completion(const messages::Completion& completion) override;
  void on_event(const messages::Event& event) override;

  int change_state(const ibv_qp_attr& attributes, int mask);
  int to_init(const ibv_qp_attr& attributes);
  int to_ready_to_recv(const ibv_qp_attr& attributes);
  int to_ready_to_send(const ibv_qp_attr& attributes);
  int to_error();
  int to_reset();
  // The attributes that the mask names.
  void take(const ibv_qp_attr& attributes, int mask);

  int prepare(const ibv_send_wr& wr, messages::SendRequest& request,
              std::span<messages::Segment> segments) const;

  SoftQueuePair& qp_;
  Device& device_;
  const LocalMemory memory_;
  SoftCompletionQueue& sends_;
  SoftCompletionQueue& receives_;
  std::unique_ptr<host::MessageQueuePair> runtime_;
  mutable std::mutex mutex_;  // one change of state at a time
  ibv_qp_attr attributes_{};  // as was last set
};

}  // namespace openmrc::libmrc
