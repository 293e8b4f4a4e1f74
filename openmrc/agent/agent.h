// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/agent/agent_protocol.h"
#include "openmrc/agent/profiles/profile_store.h"
#include "openmrc/agent/publishers.h"
#include "openmrc/host/metrics.h"

namespace openmrc::libmrc {

using ClientId = std::uint64_t;

// The node's agent without its sockets: who is connected, who uses what, who may do what, and who
// is told of it. One thread owns it.
class Agent {
 public:
  struct Outgoing {
    ClientId to = 0;
    std::string message{};
    bool may_be_lost = false;  // an event: a reader that is too slow does without it
  };
  struct Names {
    std::string host{};
    std::vector<std::string> interfaces{};  // by port
    std::string version{};
  };

  // Makes what is in the store outlive the agent, before a change is answered. If it fails, the
  // change is undone, and the outcome is the answer.
  using Save = std::function<Outcome()>;

  // `store` outlives this.
  Agent(
      ProfileStore& store, Names names, Save save = [] { return Outcome{}; })
      : store_(store), names_(std::move(names)), save_(std::move(save)), publishers_(::geteuid()) {
    note_ports();
  }

  // `may_modify`: it belongs to the administrator.
  void connect(ClientId client, bool may_modify);
  // Its uses end with it.
  void disconnect(ClientId client);

  // What a client says, and what is to be sent to whom because of it, in this order.
  std::vector<Outgoing> handle(ClientId client, std::string_view message);

  // The same of a part of the agent itself, which may do what an administrator may.
  Reply handle_own(const Request& request, std::vector<Outgoing>& also);

  // The message of an event was not sent: the next one says so.
  void event_lost(ClientId client);

  [[nodiscard]] std::uint64_t refused_messages() const { return refused_messages_; }

  // Processes that publish their counters. Any thread may use it.
  [[nodiscard]] Publishers& publishers() { return publishers_; }
  // What else is shown to those who monitor, by any thread. Set before anybody asks.
  using MoreSamples = std::function<std::vector<host::Sample>()>;
  void also_show(MoreSamples more) { more_samples_ = std::move(more); }
  // For monitoring; any thread may ask. A port that is being changed may be as it was.
  [[nodiscard]] std::vector<host::Sample> samples(std::size_t processes_max);

 private:
  struct Client {
    bool may_modify = false;
    bool wants_changes = false;
    bool wants_events = false;
    std::uint64_t lost_events = 0;
    std::set<EvProfileId> ev_uses{};
    std::set<CcProfileId> cc_uses{};
  };

  Reply answer(Client& client, const Request& request, std::vector<Outgoing>& also);
  template <class Modification>
  Reply modify(Client& client, const Modification& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const QueryDevice& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const ListProfiles& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const QueryPort& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const ModifyPort& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const QueryFormat& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const ModifyFormat& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const QueryEvProfile& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const ModifyEvProfile& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const QueryCcProfile& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const ModifyCcProfile& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const UseEvProfile& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const ReleaseEvProfile& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const UseCcProfile& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const ReleaseCcProfile& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const ReportEvs& request, std::vector<Outgoing>& also);
  static Reply do_request(Client& client, const Subscribe& request, std::vector<Outgoing>& also);
  static Reply do_request(Client& client, const PublishMetrics& request,
                          std::vector<Outgoing>& also);
  Reply do_request(Client& client, const QueryMetrics& request, std::vector<Outgoing>& also);
  Reply do_request(Client& client, const QueryRdmaCounters& request, std::vector<Outgoing>& also);

  [[nodiscard]] PortInfo port_info(PortNumber port) const;
  void note_ports();
  void tell_changes(const Push& push, std::vector<Outgoing>& also) const;
  void tell_event(EvProfileId id, const EvStatus& seen, std::vector<Outgoing>& also);

  ProfileStore& store_;
  Names names_;
  Save save_;
  std::map<ClientId, Client> clients_;
  std::atomic<std::uint64_t> refused_messages_ = 0;
  std::atomic<std::uint64_t> client_count_ = 0;
  std::atomic<std::uint32_t> disabled_ports_ = 0;  // bit n: port n, for those who monitor
  Publishers publishers_;
  MoreSamples more_samples_{};
};

}  // namespace openmrc::libmrc
