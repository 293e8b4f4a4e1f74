// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "openmrc/agent/admission.h"
#include "openmrc/agent/agent.h"
#include "openmrc/agent/agent_socket.h"
#include "openmrc/base/result.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/host/error.h"

namespace openmrc::libmrc {

// The sockets of the node's agent: one thread, event-driven.
class AgentServer {
 public:
  // Makes the socket, with its folder. Refused if another agent serves there; what a dead one has
  // left behind is removed. `agent` outlives this.
  static Result<AgentServer, host::Error> open(const std::string& path, Agent& agent);
  // Serves a socket that is listened on already, and that its maker removes.
  static Result<AgentServer, host::Error> adopt(datapath::FileDescriptor listener, Agent& agent);
  AgentServer(AgentServer&&) = default;
  ~AgentServer();

  // Serves what has come, or waits for it at most so long (below 0: for ever). A signal ends the
  // wait. False if it cannot go on.
  bool serve_once(int timeout_milliseconds);

  // A request of a part of the agent itself; clients that it concerns are told.
  Outcome apply(const Request& request);

  [[nodiscard]] std::size_t clients() const { return clients_.size(); }
  [[nodiscard]] std::size_t publishers() const { return publishers_.size(); }

 private:
  struct Client {
    datapath::FileDescriptor socket{};
    Publication who{};
    std::deque<std::string> waiting{};  // messages that it has not taken yet
    std::size_t waiting_bytes = 0;
    bool wants_to_write = false;  // epoll knows
  };
  // A connection that was a client's before: nothing is said on it any more. A child made by fork()
  // holds it open when the process has died, so its end is noticed by the process, too.
  struct PublisherConnection {
    datapath::FileDescriptor socket{};
    datapath::FileDescriptor process{};  // a pidfd; none for one of another PID namespace
  };

  AgentServer(std::string path, Agent& agent, datapath::FileDescriptor listener,
              datapath::FileDescriptor events);
  static Result<AgentServer, host::Error> serve_on(std::string path,
                                                   datapath::FileDescriptor listener, Agent& agent);
  void accept_clients();
  void add_client(datapath::FileDescriptor socket);
  // False if the client is gone.
  bool read_from(ClientId id);
  bool write_waiting(ClientId id);
  void send(const Agent::Outgoing& message);
  void close(ClientId id);
  // The client has sent a descriptor: it becomes a publisher, or is gone.
  void take_publication(ClientId id, const MessageWithDescriptor& message);
  void end_publication(ClientId id);
  [[nodiscard]] bool watch(int descriptor, ClientId id, bool for_writing, int operation) const;

  std::string path_;  // empty if the socket is not ours to remove
  Agent* agent_;
  datapath::FileDescriptor listener_;
  datapath::FileDescriptor events_;
  Admission admission_;
  std::map<ClientId, Client> clients_;
  std::map<ClientId, PublisherConnection> publishers_;
  ClientId next_client_ = 1;  // 0 is the listener
};

}  // namespace openmrc::libmrc
