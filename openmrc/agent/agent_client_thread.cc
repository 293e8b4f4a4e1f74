// SPDX-License-Identifier: BSD-3-Clause
// What the client does on its own thread: connect, announce, read.
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <variant>

#include "openmrc/agent/admission.h"
#include "openmrc/agent/agent_client.h"
#include "openmrc/agent/agent_socket.h"

namespace openmrc::libmrc {
namespace {

using datapath::FileDescriptor;

constexpr std::size_t kReportsPerMessage = 256;
constexpr Duration kForEver = seconds(3600);
// An agent that takes no more clients is not asked so often.
constexpr Duration kRefusedRetryInterval = seconds(1);

bool is_denied(const EvStatus& status) { return status.state == MRC_CTL_EV_DENIED; }

void set_state(std::vector<EvStatus>& evs, const EvStatus& status) {
  for (EvStatus& each : evs) {
    if (each.ev == status.ev) each.state = status.state;
  }
}

// EVs that were denied, or allowed again, between two lists of one profile.
std::vector<EvStatus> denials(const std::vector<EvStatus>& before,
                              const std::vector<EvStatus>& after) {
  std::vector<EvStatus> changed;
  for (const EvStatus& each : after) {
    const auto old = std::ranges::find(before, each.ev, &EvStatus::ev);
    if (old != before.end() && is_denied(*old) != is_denied(each)) changed.push_back(each);
  }
  return changed;
}

}  // namespace

void AgentClient::run() {
  for (;;) {
    bool connected = false;
    Duration longest = kForEver;
    {
      const std::lock_guard lock(mutex_);
      if (stop_) return;
      connected = connected_;
      if (!connected) longest = refusal_.empty() ? options_.retry_interval : kRefusedRetryInterval;
    }
    wait(longest);
    if (!connected) {
      try_connect();
      continue;
    }
    read_all();
    send_reports();
  }
}

// Until the agent says something, or a thread of the application wants something.
void AgentClient::wait(Duration longest) {
  // Only this thread opens and closes the socket. poll() passes over a descriptor of -1.
  std::array<pollfd, 2> asked{{{.fd = wake_.get(), .events = POLLIN, .revents = 0},
                               {.fd = socket_.get(), .events = POLLIN, .revents = 0}}};
  ::poll(asked.data(), asked.size(), static_cast<int>(longest.raw() / 1'000'000));
  std::uint64_t count = 0;
  static_cast<void>(::read(wake_.get(), &count, sizeof count));
}

void AgentClient::try_connect() {
  auto socket = connect_to_agent(options_.path);
  if (!socket) return;
  const std::lock_guard listeners_lock(listeners_mutex_);
  const std::lock_guard lock(mutex_);
  socket_ = std::move(*socket);
  connected_ = true;
  announce_all();
}

// With both locks. What an agent that has just been started cannot know.
void AgentClient::announce_all() {
  send_or_leave(wanted());
  send_or_leave(QueryDevice{}, [this](const Reply& reply) { keep_ports(reply); });
  for (const auto& [id, use] : ev_uses_) {
    send_or_leave(UseEvProfile{id}, [this, id](const Reply& reply) { keep_states(id, reply); });
    for (const auto& [ev, state] : use.reported) unsent_.push_back({id, {ev, state}});
  }
  for (const auto& [id, count] : cc_uses_) send_or_leave(UseCcProfile{id});
  wake();
}

void AgentClient::read_all() {
  for (;;) {
    const auto message = receive_message(socket_.get());
    if (!message && message.error() == EMSGSIZE) continue;
    if (!message) {
      if (message.error() != EAGAIN) disconnect();
      return;
    }
    const auto decoded = decode_from_agent(*message);
    if (!decoded)
      continue;  // an agent of another version; a caller that waits for a reply times out
    if (const auto* const reply = std::get_if<NumberedReply>(&*decoded)) {
      take_reply(*reply);
    } else {
      take_push(std::get<Push>(*decoded));
    }
  }
}

void AgentClient::disconnect() {
  const std::lock_guard lock(mutex_);
  socket_ = FileDescriptor();
  connected_ = false;
  leave_ = false;
  unsent_.clear();
  const Reply gone{.outcome = refused(ENOTCONN, refusal_.empty()
                                                    ? "the agent at " + options_.path + " has gone"
                                                    : refusal_)};
  for (const auto& [number, handler] : std::exchange(pending_, {})) handler(gone);
  answered_.notify_all();
}

void AgentClient::send_reports() {
  std::unique_lock lock(mutex_);
  while (!unsent_.empty() && !leave_) {
    ReportEvs message{.id = unsent_.front().first};
    while (!unsent_.empty() && unsent_.front().first == message.id &&
           message.evs.size() < kReportsPerMessage) {
      message.evs.push_back(unsent_.front().second);
      unsent_.pop_front();
    }
    send_or_leave(message);
  }
  const bool leave = leave_;
  lock.unlock();
  if (leave) disconnect();
}

void AgentClient::take_reply(const NumberedReply& reply) {
  std::vector<Push> pushes;
  {
    const std::lock_guard lock(mutex_);
    const bool is_refusal = reply.call == 0 && reply.reply.outcome.error == kTooManyClients;
    refusal_ = is_refusal ? reply.reply.outcome.why : std::string{};
    const auto handler = pending_.extract(reply.call);
    if (handler.empty()) return;  // its caller does not wait any more
    handler.mapped()(reply.reply);
    pushes = std::exchange(to_notify_, {});
  }
  answered_.notify_all();
  for (const Push& push : pushes) notify(push);
}

void AgentClient::keep_states(EvProfileId id, const Reply& reply) {
  const auto* const image = std::get_if<EvProfileImage>(&reply.body);
  const auto use = ev_uses_.find(id);
  if (image == nullptr || use == ev_uses_.end()) return;
  std::vector<EvStatus> changed = denials(use->second.known, image->evs);
  use->second.known = image->evs;
  if (!changed.empty()) to_notify_.emplace_back(EvsChanged{id, std::move(changed)});
}

void AgentClient::keep_ports(const Reply& reply) {
  const auto* const device = std::get_if<DeviceInfo>(&reply.body);
  if (device == nullptr) return;
  for (const PortInfo& port : device->ports) {
    if (port.port.raw() > core::kPlanesMax) continue;
    const std::uint32_t bit = std::uint32_t{1} << port.port.raw();
    if (((disabled_ports_ & bit) == 0) == port.enabled) continue;
    disabled_ports_ ^= bit;
    to_notify_.emplace_back(PortChanged{port.port, port.enabled});
  }
}

void AgentClient::take_push(const Push& push) {
  {
    const std::lock_guard lock(mutex_);
    if (const auto* const evs = std::get_if<EvsChanged>(&push)) {
      const auto use = ev_uses_.find(evs->id);
      for (const EvStatus& each : evs->evs) {
        if (use != ev_uses_.end()) set_state(use->second.known, each);
      }
    } else if (const auto* const port = std::get_if<PortChanged>(&push)) {
      if (port->port.raw() > core::kPlanesMax) return;
      const std::uint32_t bit = std::uint32_t{1} << port->port.raw();
      disabled_ports_ = port->enabled ? disabled_ports_ & ~bit : disabled_ports_ | bit;
    }
  }
  notify(push);
}

void AgentClient::notify(const Push& push) {
  const bool event = std::holds_alternative<EvEvent>(push);
  const std::lock_guard lock(listeners_mutex_);
  for (const auto& [id, heard] : listeners_) {
    if (event ? heard.what.events : heard.what.changes) heard.listener(push);
  }
}

}  // namespace openmrc::libmrc
