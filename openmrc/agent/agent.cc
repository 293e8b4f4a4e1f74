// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent.h"

#include <cerrno>
#include <type_traits>
#include <utility>

#include "openmrc/base/check.h"

namespace openmrc::libmrc {
namespace {

template <class T>
constexpr bool kModifies = std::is_same_v<T, ModifyPort> || std::is_same_v<T, ModifyFormat> ||
                           std::is_same_v<T, ModifyEvProfile> || std::is_same_v<T, ModifyCcProfile>;

Reply reply_of(Outcome outcome) { return {.outcome = std::move(outcome)}; }

}  // namespace

void Agent::connect(ClientId client, bool may_modify) {
  clients_[client] = {.may_modify = may_modify};
  client_count_ = clients_.size();
}

void Agent::disconnect(ClientId client) {
  const auto found = clients_.find(client);
  if (found == clients_.end()) return;
  for (const EvProfileId id : found->second.ev_uses) store_.evs().release(id);
  for (const CcProfileId id : found->second.cc_uses) store_.ccs().release(id);
  clients_.erase(found);
  client_count_ = clients_.size();
}

std::vector<Agent::Outgoing> Agent::handle(ClientId client, std::string_view message) {
  const auto found = clients_.find(client);
  OPENMRC_CHECK(found != clients_.end(), "a client that never connected");
  std::vector<Outgoing> out;
  const auto request = decode_request(message);
  if (!request) {
    ++refused_messages_;
    out.push_back(
        {client, encode(NumberedReply{.call = request.error().call,
                                      .reply = reply_of(refused(EBADMSG, request.error().what))})});
    return out;
  }
  Reply reply = answer(found->second, request->request, out);
  out.push_back({client, encode(NumberedReply{.call = request->call, .reply = std::move(reply)})});
  return out;
}

Reply Agent::handle_own(const Request& request, std::vector<Outgoing>& also) {
  Client own{.may_modify = true};
  return answer(own, request, also);
}

void Agent::event_lost(ClientId client) {
  const auto found = clients_.find(client);
  if (found != clients_.end()) ++found->second.lost_events;
}

Reply Agent::answer(Client& client, const Request& request, std::vector<Outgoing>& also) {
  return std::visit(
      [&]<class T>(const T& each) {
        if constexpr (kModifies<T>) {
          return this->modify(client, each, also);
        } else {
          return this->do_request(client, each, also);
        }
      },
      request);
}

template <class Modification>
Reply Agent::modify(Client& client, const Modification& request, std::vector<Outgoing>& also) {
  if (!client.may_modify) {
    return reply_of(refused(EPERM, "only the administrator may change this"));
  }
  ProfileStore::Snapshot before = store_.snapshot();
  Reply reply = do_request(client, request, also);
  const bool changed = reply.outcome.ok() || reply.outcome.entries_done > 0;
  if (!changed) return reply;
  Outcome saved = save_();
  if (saved.ok()) return reply;
  store_.roll_back(std::move(before));
  note_ports();
  also.clear();
  return reply_of(std::move(saved));
}

Reply Agent::do_request(Client& /*client*/, const QueryDevice& /*request*/,
                        std::vector<Outgoing>& /*also*/) {
  const DeviceLimits& limits = store_.limits();
  DeviceInfo info{.host = names_.host,
                  .planes = limits.planes,
                  .formats_max = limits.formats_max,
                  .ev_profiles_max = limits.ev_profiles_max,
                  .cc_profiles_max = limits.cc_profiles_max,
                  .evs_max = limits.evs_max,
                  .evs_free = store_.evs().evs_free(),
                  .evs_per_profile_max = limits.evs_per_profile_max(),
                  .ev_align = limits.ev_align(),
                  .clients = clients_.size(),
                  .refused_messages = refused_messages_};
  for (std::size_t port = 1; port <= limits.planes; ++port) {
    info.ports.push_back(port_info(PortNumber(static_cast<std::uint8_t>(port))));
  }
  return {.body = std::move(info)};
}

Reply Agent::do_request(Client& /*client*/, const ListProfiles& /*request*/,
                        std::vector<Outgoing>& /*also*/) {
  ProfileList list;
  for (const auto& [id, profile] : store_.formats().all()) {
    list.formats.push_back({id.raw(), profile.state});
  }
  for (const auto& [id, profile] : store_.evs().all()) {
    list.ev_profiles.push_back({id.raw(), profile.state, store_.evs().uses(id)});
  }
  for (const auto& [id, profile] : store_.ccs().all()) {
    list.cc_profiles.push_back({id.raw(), profile.state, store_.ccs().uses(id)});
  }
  return {.body = std::move(list)};
}

PortInfo Agent::port_info(PortNumber port) const {
  const std::size_t plane = port.raw() - std::size_t{1};
  return {.port = port,
          .enabled = store_.port_enabled(port),
          .name = plane < names_.interfaces.size() ? names_.interfaces[plane] : std::string{}};
}

Reply Agent::do_request(Client& /*client*/, const QueryPort& request,
                        std::vector<Outgoing>& /*also*/) {
  if (!store_.has_port(request.port)) {
    return reply_of(refused(EINVAL, "the device has no such port"));
  }
  return {.body = port_info(request.port)};
}

Reply Agent::do_request(Client& /*client*/, const ModifyPort& request,
                        std::vector<Outgoing>& also) {
  Outcome outcome = store_.set_port(request.port, request.enabled);
  if (outcome.ok()) tell_changes(PortChanged{request.port, request.enabled}, also);
  note_ports();
  return reply_of(std::move(outcome));
}

Reply Agent::do_request(Client& /*client*/, const QueryFormat& request,
                        std::vector<Outgoing>& /*also*/) {
  return {.body = store_.formats().find(request.id)};
}

Reply Agent::do_request(Client& /*client*/, const ModifyFormat& request,
                        std::vector<Outgoing>& /*also*/) {
  return reply_of(store_.modify(request.id, request.change));
}

Reply Agent::do_request(Client& /*client*/, const QueryEvProfile& request,
                        std::vector<Outgoing>& /*also*/) {
  return {.body = std::as_const(store_).evs().find(request.id)};
}

Reply Agent::do_request(Client& /*client*/, const ModifyEvProfile& request,
                        std::vector<Outgoing>& also) {
  std::vector<EvStatus> changed;
  Outcome outcome = store_.modify(request.id, request.change, changed);
  if (!changed.empty()) tell_changes(EvsChanged{request.id, std::move(changed)}, also);
  return reply_of(std::move(outcome));
}

Reply Agent::do_request(Client& /*client*/, const QueryCcProfile& request,
                        std::vector<Outgoing>& /*also*/) {
  return {.body = std::as_const(store_).ccs().find(request.id)};
}

Reply Agent::do_request(Client& /*client*/, const ModifyCcProfile& request,
                        std::vector<Outgoing>& /*also*/) {
  return reply_of(store_.modify(request.id, request.change));
}

Reply Agent::do_request(Client& client, const UseEvProfile& request,
                        std::vector<Outgoing>& /*also*/) {
  if (!client.ev_uses.contains(request.id)) {
    if (auto outcome = store_.evs().use(request.id); !outcome.ok()) return reply_of(outcome);
    client.ev_uses.insert(request.id);
  }
  return {.body = store_.evs().image(request.id)};
}

Reply Agent::do_request(Client& client, const ReleaseEvProfile& request,
                        std::vector<Outgoing>& /*also*/) {
  if (client.ev_uses.erase(request.id) == 0) {
    return reply_of(refused(EINVAL, "the process does not use this EV profile"));
  }
  store_.evs().release(request.id);
  return {};
}

Reply Agent::do_request(Client& client, const UseCcProfile& request,
                        std::vector<Outgoing>& /*also*/) {
  if (!client.cc_uses.contains(request.id)) {
    if (auto outcome = store_.ccs().use(request.id); !outcome.ok()) return reply_of(outcome);
    client.cc_uses.insert(request.id);
  }
  return {.body = std::as_const(store_).ccs().find(request.id)};
}

Reply Agent::do_request(Client& client, const ReleaseCcProfile& request,
                        std::vector<Outgoing>& /*also*/) {
  if (client.cc_uses.erase(request.id) == 0) {
    return reply_of(refused(EINVAL, "the process does not use this congestion control profile"));
  }
  store_.ccs().release(request.id);
  return {};
}

// Only of what it uses: no other process has seen anything of the profile's paths.
Reply Agent::do_request(Client& client, const ReportEvs& request, std::vector<Outgoing>& also) {
  if (!client.ev_uses.contains(request.id)) {
    return reply_of(refused(EINVAL, "the process does not use this EV profile"));
  }
  for (const EvStatus& seen : request.evs) {
    if (store_.evs().report(request.id, seen)) tell_event(request.id, seen, also);
  }
  return {};
}

Reply Agent::do_request(Client& client, const Subscribe& request, std::vector<Outgoing>& /*also*/) {
  client.wants_changes = request.changes;
  client.wants_events = request.events;
  return {};
}

void Agent::tell_changes(const Push& push, std::vector<Outgoing>& also) const {
  std::string message;
  for (const auto& [id, client] : clients_) {
    if (!client.wants_changes) continue;
    if (message.empty()) message = encode(push);
    also.push_back({id, message});
  }
}

void Agent::tell_event(EvProfileId id, const EvStatus& seen, std::vector<Outgoing>& also) {
  for (auto& [to, client] : clients_) {
    if (!client.wants_events) continue;
    const std::uint64_t lost = std::exchange(client.lost_events, 0);
    also.push_back({to, encode(Push{EvEvent{id, seen, lost}}), true});
  }
}

}  // namespace openmrc::libmrc
