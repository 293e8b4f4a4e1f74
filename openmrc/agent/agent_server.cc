// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent_server.h"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include "openmrc/agent/agent_protocol.h"

namespace openmrc::libmrc {
namespace {

using datapath::FileDescriptor;
using host::Error;

constexpr ClientId kListener = 0;
// A client that is further behind has stopped reading. It is cut off, and may connect again.
constexpr std::size_t kWaitingMax = 1024;
constexpr std::size_t kWaitingBytesMax = std::size_t{1024} * 1024;
// Messages of one client before others have their turn.
constexpr int kBurst = 16;
// New clients before those that are connected have their turn.
constexpr int kAcceptBurst = 64;

std::string reason(int error) { return std::error_code(error, std::generic_category()).message(); }

std::optional<Publication> who_is_behind(int socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return std::nullopt;
  return Publication{.process = peer.pid, .user = peer.uid};
}

FileDescriptor descriptor_of(pid_t process) {
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
}

bool is_publication(std::string_view message) {
  const auto request = decode_request(message);
  return request && std::holds_alternative<PublishMetrics>(request->request);
}

}  // namespace

AgentServer::AgentServer(std::string path, Agent& agent, FileDescriptor listener,
                         FileDescriptor events)
    : path_(std::move(path)),
      agent_(&agent),
      listener_(std::move(listener)),
      events_(std::move(events)),
      admission_(::geteuid()) {}

AgentServer::~AgentServer() {
  if (listener_.is_open() && !path_.empty()) ::unlink(path_.c_str());
}

Result<AgentServer, Error> AgentServer::open(const std::string& path, Agent& agent) {
  if (connect_to_agent(path)) {
    return failure(Error{.what = path + " is served already",
                         .remedy = "end the other mrcd, or name another socket with --socket"});
  }
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);
  if (std::filesystem::is_socket(path, error)) ::unlink(path.c_str());
  auto listener = listen_as_agent(path);
  if (!listener) {
    return failure(Error{.what = path + " cannot be served: " + reason(listener.error()),
                         .remedy = "run as root, or name a socket in a folder of yours: --socket"});
  }
  return serve_on(path, std::move(*listener), agent);
}

Result<AgentServer, Error> AgentServer::adopt(FileDescriptor listener, Agent& agent) {
  return serve_on({}, std::move(listener), agent);
}

Result<AgentServer, Error> AgentServer::serve_on(std::string path, FileDescriptor listener,
                                                 Agent& agent) {
  FileDescriptor events(::epoll_create1(EPOLL_CLOEXEC));
  AgentServer server(std::move(path), agent, std::move(listener), std::move(events));
  if (!server.events_.is_open() ||
      !server.watch(server.listener_.get(), kListener, false, EPOLL_CTL_ADD)) {
    return failure(Error{.what = "epoll: " + reason(errno)});
  }
  return server;
}

bool AgentServer::watch(int descriptor, ClientId id, bool for_writing, int operation) const {
  epoll_event event{};
  event.events = EPOLLIN | (for_writing ? EPOLLOUT : 0u);
  event.data.u64 = id;
  return ::epoll_ctl(events_.get(), operation, descriptor, &event) == 0;
}

bool AgentServer::serve_once(int timeout_milliseconds) {
  std::array<epoll_event, 64> ready{};
  const int found = ::epoll_wait(events_.get(), ready.data(), static_cast<int>(ready.size()),
                                 timeout_milliseconds);
  if (found < 0) return errno == EINTR;
  for (int i = 0; i < found; ++i) {
    const epoll_event& event = ready[static_cast<std::size_t>(i)];
    const ClientId id = event.data.u64;
    if (id == kListener) {
      accept_clients();
      continue;
    }
    if (publishers_.contains(id)) {
      end_publication(id);
      continue;
    }
    if (!clients_.contains(id)) continue;  // closed a moment ago
    if ((event.events & EPOLLOUT) != 0 && !write_waiting(id)) continue;
    if ((event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_from(id);
  }
  return true;
}

void AgentServer::accept_clients() {
  for (int i = 0; i < kAcceptBurst; ++i) {
    FileDescriptor socket(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket.is_open()) return;
    add_client(std::move(socket));
  }
}

void AgentServer::add_client(FileDescriptor socket) {
  const auto who = who_is_behind(socket.get());
  if (!who) return;
  if (auto admitted = admission_.admit(who->user); !admitted) {
    const NumberedReply refusal{.reply = {.outcome = std::move(admitted.error())}};
    send_message(socket.get(), encode(refusal));
    return;
  }
  const ClientId id = next_client_++;
  if (!watch(socket.get(), id, false, EPOLL_CTL_ADD)) {
    admission_.leave(who->user);
    return;
  }
  agent_->connect(id, admission_.is_administrator(who->user));
  clients_[id] = {.socket = std::move(socket), .who = *who};
}

bool AgentServer::read_from(ClientId id) {
  for (int i = 0; i < kBurst; ++i) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) return false;
    auto message = receive_with_descriptor(found->second.socket.get());
    if (!message) {
      if (message.error() == EAGAIN) return true;
      if (message.error() != EMSGSIZE) {
        close(id);
        return false;
      }
      message = MessageWithDescriptor{};  // too long: answered like all that makes no sense
    }
    if (message->descriptor.is_open()) {
      take_publication(id, *message);
      return false;
    }
    for (const Agent::Outgoing& each : agent_->handle(id, message->text)) send(each);
  }
  return true;
}

Outcome AgentServer::apply(const Request& request) {
  std::vector<Agent::Outgoing> also;
  Reply reply = agent_->handle_own(request, also);
  for (const Agent::Outgoing& each : also) send(each);
  return std::move(reply.outcome);
}

void AgentServer::send(const Agent::Outgoing& message) {
  const auto found = clients_.find(message.to);
  if (found == clients_.end()) return;
  Client& client = found->second;
  if (client.waiting.empty()) {
    const int error = send_message(client.socket.get(), message.message);
    if (error == 0) return;
    if (error != EAGAIN) {
      close(message.to);
      return;
    }
  }
  if (message.may_be_lost) {
    agent_->event_lost(message.to);
    return;
  }
  client.waiting_bytes += message.message.size();
  if (client.waiting.size() >= kWaitingMax || client.waiting_bytes > kWaitingBytesMax) {
    close(message.to);
    return;
  }
  client.waiting.push_back(message.message);
  if (!client.wants_to_write) {
    client.wants_to_write = watch(client.socket.get(), message.to, true, EPOLL_CTL_MOD);
  }
}

bool AgentServer::write_waiting(ClientId id) {
  Client& client = clients_[id];
  while (!client.waiting.empty()) {
    const int error = send_message(client.socket.get(), client.waiting.front());
    if (error == EAGAIN) return true;
    if (error != 0) {
      close(id);
      return false;
    }
    client.waiting_bytes -= client.waiting.front().size();
    client.waiting.pop_front();
  }
  client.wants_to_write = !watch(client.socket.get(), id, false, EPOLL_CTL_MOD);
  return true;
}

void AgentServer::close(ClientId id) {
  const auto found = clients_.find(id);
  if (found == clients_.end()) return;
  admission_.leave(found->second.who.user);
  clients_.erase(found);
  agent_->disconnect(id);
}

void AgentServer::take_publication(ClientId id, const MessageWithDescriptor& message) {
  const Publication who = clients_[id].who;
  PublisherConnection connection{.process = descriptor_of(who.process)};
  const bool is_taken = is_publication(message.text) &&
                        agent_->publishers().add(id, who, message.descriptor).has_value();
  if (is_taken) connection.socket = std::move(clients_[id].socket);
  close(id);
  if (!is_taken) return;
  if (connection.process.is_open() && !watch(connection.process.get(), id, false, EPOLL_CTL_ADD)) {
    return agent_->publishers().remove(id);
  }
  publishers_[id] = std::move(connection);
}

void AgentServer::end_publication(ClientId id) {
  publishers_.erase(id);
  agent_->publishers().remove(id);
}

}  // namespace openmrc::libmrc
