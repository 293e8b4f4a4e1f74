// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "openmrc/agent/agent_protocol.h"
#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/datapath/file_descriptor.h"

namespace openmrc::libmrc {

// A process's connection to the node's agent. That there is none is no error: it looks for one in
// the background, and when it has found one, also after a restart, it announces all that the
// process uses. Any thread may call.
class AgentClient {
 public:
  struct Options {
    std::string path = agent_socket_path();
    Duration retry_interval = milliseconds(100);  // between two attempts to connect
    Duration timeout = seconds(5);                // of a call
  };
  // Told on a thread of the client's own; it must not call the client except for report().
  using Listener = std::function<void(const Push&)>;
  using ListenerId = std::uint64_t;

  explicit AgentClient(Options options);
  ~AgentClient();
  AgentClient(const AgentClient&) = delete;
  AgentClient& operator=(const AgentClient&) = delete;

  // The one of this process; it stays until the process ends.
  static AgentClient& of_process();

  [[nodiscard]] bool connected() const;
  [[nodiscard]] const std::string& path() const { return options_.path; }

  // Waits for the answer. ENOTCONN: there is no agent. ETIMEDOUT: it does not answer.
  Reply call(const Request& request);

  // The profile as it is now. Used until it is released as often; changes of its EVs reach
  // listeners from now on.
  Result<EvProfileImage, Outcome> use(EvProfileId id);
  Result<CcProfile, Outcome> use(CcProfileId id);
  void release(EvProfileId id);
  void release(CcProfileId id);
  // The EVs of a profile in use as last reported. Whoever has put a profile to work looks once
  // more: a change may have come in between.
  [[nodiscard]] std::vector<EvStatus> states(EvProfileId id) const;
  [[nodiscard]] bool port_enabled(PortNumber port) const;

  // A path of a profile in use has failed or recovered. Never waits; if there is no agent, it is
  // told when there is one.
  void report(EvProfileId id, const EvStatus& seen);

  // What the controller did while there was no connection is reported as a change, too.
  ListenerId listen(Subscribe what, const Listener& listener);
  // When this returns the listener is not called and will not be.
  void unlisten(ListenerId id);

 private:
  using Handler = std::function<void(const Reply&)>;  // on the client's thread, with the lock
  struct Use {
    std::size_t count = 0;
    std::vector<EvStatus> known{};
    std::map<EvKey, mrc_ctl_ev_state> reported{};  // the last of each
  };
  struct Heard {
    Subscribe what{};
    Listener listener{};
  };

  // On the client's thread.
  void run();
  void wait(Duration longest);
  void try_connect();
  void announce_all();
  void read_all();
  void disconnect();
  void send_reports();
  void take_reply(const NumberedReply& reply);
  void take_push(const Push& push);
  void notify(const Push& push);

  void wake() const;
  [[nodiscard]] Subscribe wanted() const;
  Reply call(const Request& request, const Handler& first);
  // The following with the lock. 0, or an errno value.
  int send(const Request& request, Handler handler, CallNumber* number = nullptr);
  // For requests without a reply handler. An agent that takes nothing any more is left and looked
  // for again.
  void send_or_leave(const Request& request, Handler handler = [](const Reply&) {});
  void keep_states(EvProfileId id, const Reply& reply);
  void keep_ports(const Reply& reply);
  [[nodiscard]] std::string why_not_connected() const;

  const Options options_;
  mutable std::mutex mutex_;
  std::condition_variable answered_;
  datapath::FileDescriptor socket_;
  datapath::FileDescriptor wake_;
  bool connected_ = false;
  bool stop_ = false;
  bool leave_ = false;   // the connection is of no use
  std::string refusal_;  // why the agent takes no connection of ours; empty: it does
  CallNumber next_call_ = 1;
  std::map<CallNumber, Handler> pending_;
  std::map<EvProfileId, Use> ev_uses_;
  std::map<CcProfileId, std::size_t> cc_uses_;
  std::deque<std::pair<EvProfileId, EvStatus>> unsent_;  // reports, while connected
  std::uint32_t disabled_ports_ = 0;                     // bit n: port n
  std::vector<Push> to_notify_;  // what answers brought that listeners must know

  mutable std::mutex listeners_mutex_;  // held while they are notified; taken before mutex_
  std::map<ListenerId, Heard> listeners_;
  ListenerId next_listener_ = 1;

  std::thread thread_;
};

}  // namespace openmrc::libmrc
