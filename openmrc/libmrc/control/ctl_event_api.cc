// SPDX-License-Identifier: BSD-3-Clause
// mrc_ctl.h: the completion queue of EV events.
#include <mrc_ctl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "openmrc/agent/agent_client.h"
#include "openmrc/libmrc/completion_queue.h"
#include "openmrc/libmrc/control/ev_event_queue.h"
#include "openmrc/verbs/call_guard.h"

namespace {

using openmrc::libmrc::AgentClient;
using openmrc::libmrc::EvEvent;
using openmrc::libmrc::EvEventQueue;
using openmrc::libmrc::guarded;
using openmrc::libmrc::Push;

// More would be memory that a program asked for by mistake.
constexpr int kEventsMax = 1 << 20;

// Events of agents, for one context. Otherwise a queue like others, so that channels and
// mrc_destroy_cq take it for one.
struct EvEventCq final : mrc_cq {
  EvEventCq(mrc_context& of, std::size_t capacity, void* cookie, mrc_comp_channel* to)
      : mrc_cq(of, cookie, to), waiting(capacity) {
    listener = AgentClient::of_process().listen({.events = true}, [this](const Push& push) {
      if (waiting.push(std::get<EvEvent>(push))) report();
    });
  }
  ~EvEventCq() override { AgentClient::of_process().unlisten(listener); }

  EvEventQueue waiting;
  AgentClient::ListenerId listener = 0;
};

}  // namespace

extern "C" {

struct mrc_cq* mrc_ctl_create_ev_event_cq(struct mrc_context* mrc_ctx, int cqe, void* cq_context,
                                          struct mrc_comp_channel* channel, int comp_vector) {
  const auto refuse = [](int error) -> mrc_cq* {
    errno = error;
    return nullptr;
  };
  return guarded(refuse, [&]() -> mrc_cq* {
    if (mrc_ctx == nullptr || cqe <= 0 || cqe > kEventsMax || comp_vector < 0) {
      return refuse(EINVAL);
    }
    return new EvEventCq(*mrc_ctx, static_cast<std::size_t>(cqe), cq_context, channel);
  });
}

int mrc_ctl_poll_ev_event(struct mrc_cq* ev_cq, int num_entries,
                          struct mrc_ctl_ev_event* ev_event) {
  return guarded(std::negate<int>(), [&]() -> int {
    auto* const events = dynamic_cast<EvEventCq*>(ev_cq);
    if (events == nullptr || num_entries < 0 || (num_entries > 0 && ev_event == nullptr)) {
      return -EINVAL;
    }
    const std::size_t size = openmrc::libmrc::ev_event_size(events->context.api_version);
    const std::span into(reinterpret_cast<std::byte*>(ev_event),
                         static_cast<std::size_t>(num_entries) * size);
    return static_cast<int>(events->waiting.take(into, size));
  });
}

}  // extern "C"
