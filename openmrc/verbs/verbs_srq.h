// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>

#include "openmrc/host/message_queue_pair.h"

namespace openmrc::libmrc {

struct SoftSharedQueue {
  // Says that few receives are left.
  class Sink final : public host::MessageSink {
   public:
    explicit Sink(SoftSharedQueue& queue) : queue_(queue) {}
    void on_completion(const messages::Completion& /*completion*/) override {}
    void on_event(const messages::Event& event) override;

   private:
    SoftSharedQueue& queue_;
  };

  ibv_srq verbs{};  // first: applications have pointers to it
  ibv_srq_attr attributes{};
  std::atomic<std::uint32_t> limit = 0;  // 0 once it was reached
  std::uint32_t events_fetched = 0;      // guarded by verbs.mutex
  std::atomic<std::uint32_t> users = 0;  // queue pairs
  Sink sink{*this};
  std::unique_ptr<host::SharedReceiveQueue> runtime;
};

inline SoftSharedQueue& soft(ibv_srq& srq) { return reinterpret_cast<SoftSharedQueue&>(srq); }

}  // namespace openmrc::libmrc
