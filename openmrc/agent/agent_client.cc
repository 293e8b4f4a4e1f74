// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent_client.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <variant>

#include "openmrc/agent/agent_socket.h"

namespace openmrc::libmrc {
namespace {

using datapath::FileDescriptor;

// An agent that is so far behind is not notified of every change any more.
constexpr std::size_t kUnsentMax = 65536;

std::chrono::nanoseconds chrono_of(Duration duration) {
  return std::chrono::nanoseconds(duration.raw());
}

Reply failed(int error, std::string why) { return {.outcome = refused(error, std::move(why))}; }

}  // namespace

AgentClient& AgentClient::of_process() {
  // Never destroyed: threads of the application may outlive static objects.
  static auto* client = new AgentClient({});
  return *client;
}

AgentClient::AgentClient(Options options)
    : options_(std::move(options)), wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  try_connect();
  thread_ = std::thread([this] { run(); });
}

AgentClient::~AgentClient() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake();
  thread_.join();
}

bool AgentClient::connected() const {
  const std::lock_guard lock(mutex_);
  return connected_;
}

void AgentClient::wake() const {
  const std::uint64_t one = 1;
  static_cast<void>(::write(wake_.get(), &one, sizeof one));
}

int AgentClient::send(const Request& request, Handler handler, CallNumber* number) {
  if (!socket_.is_open()) return ENOTCONN;
  const CallNumber call = next_call_++;
  const std::string message = encode(NumberedRequest{.call = call, .request = request});
  if (message.size() > kAgentMessageMax) return EMSGSIZE;
  if (const int error = send_message(socket_.get(), message); error != 0) return error;
  pending_[call] = std::move(handler);
  if (number != nullptr) *number = call;
  return 0;
}

void AgentClient::send_or_leave(const Request& request, Handler handler) {
  const int error = send(request, std::move(handler));
  if (error == 0 || error == ENOTCONN) return;
  leave_ = true;
  wake();
}

Reply AgentClient::call(const Request& request) {
  return call(request, [](const Reply&) {});
}

Reply AgentClient::call(const Request& request, const Handler& first) {
  const auto answer = std::make_shared<std::optional<Reply>>();
  const auto handler = [answer, first](const Reply& reply) {
    first(reply);
    *answer = reply;
  };
  const auto end = std::chrono::steady_clock::now() + chrono_of(options_.timeout);
  std::unique_lock lock(mutex_);
  CallNumber number = 0;
  int error = send(request, handler, &number);
  while (error == EAGAIN && std::chrono::steady_clock::now() < end) {  // the agent is busy
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
    error = send(request, handler, &number);
  }
  // The agent has closed; its last word, if there is one, is read on the client's thread.
  if (error == EPIPE || error == ECONNRESET) {
    answered_.wait_until(lock, end, [&] { return !connected_; });
  }
  if (error == EMSGSIZE) return failed(E2BIG, "the request is longer than a message may be");
  if (error != 0 && error != EAGAIN) {
    return failed(ENOTCONN, why_not_connected());
  }
  if (error == 0 && answered_.wait_until(lock, end, [&] { return answer->has_value(); })) {
    return std::move(**answer);
  }
  pending_.erase(number);
  return failed(ETIMEDOUT, "the agent at " + options_.path + " does not answer");
}

std::string AgentClient::why_not_connected() const {
  if (!refusal_.empty()) return refusal_;
  return "no agent answers at " + options_.path + ": is mrcd running?";
}

Result<EvProfileImage, Outcome> AgentClient::use(EvProfileId id) {
  {
    const std::lock_guard lock(mutex_);
    ++ev_uses_[id].count;
  }
  Reply reply =
      call(UseEvProfile{id}, [this, id](const Reply& answer) { keep_states(id, answer); });
  auto* const image = std::get_if<EvProfileImage>(&reply.body);
  if (image != nullptr) return std::move(*image);
  const std::lock_guard lock(mutex_);
  if (--ev_uses_[id].count == 0) ev_uses_.erase(id);
  return failure(reply.outcome);
}

Result<CcProfile, Outcome> AgentClient::use(CcProfileId id) {
  Reply reply = call(UseCcProfile{id});
  auto* const profile = std::get_if<CcProfile>(&reply.body);
  if (profile == nullptr) return failure(reply.outcome);
  const std::lock_guard lock(mutex_);
  ++cc_uses_[id];
  return std::move(*profile);
}

void AgentClient::release(EvProfileId id) {
  const std::lock_guard lock(mutex_);
  const auto found = ev_uses_.find(id);
  if (found == ev_uses_.end() || --found->second.count > 0) return;
  ev_uses_.erase(found);
  send_or_leave(ReleaseEvProfile{id});
}

void AgentClient::release(CcProfileId id) {
  const std::lock_guard lock(mutex_);
  const auto found = cc_uses_.find(id);
  if (found == cc_uses_.end() || --found->second > 0) return;
  cc_uses_.erase(found);
  send_or_leave(ReleaseCcProfile{id});
}

std::vector<EvStatus> AgentClient::states(EvProfileId id) const {
  const std::lock_guard lock(mutex_);
  const auto found = ev_uses_.find(id);
  return found == ev_uses_.end() ? std::vector<EvStatus>{} : found->second.known;
}

bool AgentClient::port_enabled(PortNumber port) const {
  const std::lock_guard lock(mutex_);
  return port.raw() >= 32 || (disabled_ports_ >> port.raw() & 1) == 0;
}

void AgentClient::report(EvProfileId id, const EvStatus& seen) {
  {
    const std::lock_guard lock(mutex_);
    const auto found = ev_uses_.find(id);
    if (found == ev_uses_.end()) return;
    found->second.reported[seen.ev] = seen.state;
    // The last of each is reported when there is an agent.
    if (!connected_ || unsent_.size() >= kUnsentMax) return;
    unsent_.emplace_back(id, seen);
  }
  wake();
}

// Changes always: states() and port_enabled() are to be right.
Subscribe AgentClient::wanted() const {
  const bool events =
      std::ranges::any_of(listeners_, [](const auto& each) { return each.second.what.events; });
  return {.changes = true, .events = events};
}

AgentClient::ListenerId AgentClient::listen(Subscribe what, const Listener& listener) {
  const std::lock_guard listeners_lock(listeners_mutex_);
  const ListenerId id = next_listener_++;
  listeners_[id] = {what, listener};
  const std::lock_guard lock(mutex_);
  send_or_leave(wanted());
  return id;
}

void AgentClient::unlisten(ListenerId id) {
  const std::lock_guard listeners_lock(listeners_mutex_);
  listeners_.erase(id);
  const std::lock_guard lock(mutex_);
  send_or_leave(wanted());
}

}  // namespace openmrc::libmrc
