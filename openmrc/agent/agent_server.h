// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "openmrc/agent/admission.h"
#include "openmrc/agent/agent.h"
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

 private:
  struct Client {
    datapath::FileDescriptor socket{};
    uid_t user = 0;
    std::deque<std::string> waiting{};  // messages that it has not taken yet
    std::size_t waiting_bytes = 0;
    bool wants_to_write = false;  // epoll knows
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
  [[nodiscard]] bool watch(int descriptor, ClientId id, bool for_writing, int operation) const;

  std::string path_;  // empty if the socket is not ours to remove
  Agent* agent_;
  datapath::FileDescriptor listener_;
  datapath::FileDescriptor events_;
  Admission admission_;
  std::map<ClientId, Client> clients_;
  ClientId next_client_ = 1;  // 0 is the listener
};

}  // namespace openmrc::libmrc
