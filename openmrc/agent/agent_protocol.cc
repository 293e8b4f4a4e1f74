// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent_protocol.h"

#include <utility>

#include "openmrc/agent/profiles/profile_json.h"
#include "openmrc/text/file_limits.h"

namespace openmrc::libmrc {

// Names of messages, by type.
template <class T>
constexpr const char* kName = nullptr;
template <>
constexpr const char* kName<QueryDevice> = "query-device";
template <>
constexpr const char* kName<ListProfiles> = "list-profiles";
template <>
constexpr const char* kName<QueryPort> = "query-port";
template <>
constexpr const char* kName<ModifyPort> = "modify-port";
template <>
constexpr const char* kName<QueryFormat> = "query-format";
template <>
constexpr const char* kName<ModifyFormat> = "modify-format";
template <>
constexpr const char* kName<QueryEvProfile> = "query-ev-profile";
template <>
constexpr const char* kName<ModifyEvProfile> = "modify-ev-profile";
template <>
constexpr const char* kName<QueryCcProfile> = "query-cc-profile";
template <>
constexpr const char* kName<ModifyCcProfile> = "modify-cc-profile";
template <>
constexpr const char* kName<UseEvProfile> = "use-ev-profile";
template <>
constexpr const char* kName<ReleaseEvProfile> = "release-ev-profile";
template <>
constexpr const char* kName<UseCcProfile> = "use-cc-profile";
template <>
constexpr const char* kName<ReleaseCcProfile> = "release-cc-profile";
template <>
constexpr const char* kName<ReportEvs> = "report-evs";
template <>
constexpr const char* kName<Subscribe> = "subscribe";
template <>
constexpr const char* kName<PublishMetrics> = "publish-metrics";
template <>
constexpr const char* kName<QueryMetrics> = "query-metrics";
template <>
constexpr const char* kName<QueryRdmaCounters> = "query-rdma-counters";
template <>
constexpr const char* kName<std::monostate> = "nothing";
template <>
constexpr const char* kName<DeviceInfo> = "device";
template <>
constexpr const char* kName<ProfileList> = "profiles";
template <>
constexpr const char* kName<PortInfo> = "port";
template <>
constexpr const char* kName<FormatProfile> = "format";
template <>
constexpr const char* kName<EvProfile> = "ev-profile";
template <>
constexpr const char* kName<CcProfile> = "cc-profile";
template <>
constexpr const char* kName<EvProfileImage> = "ev-image";
template <>
constexpr const char* kName<Metrics> = "metrics";
template <>
constexpr const char* kName<RdmaCounters> = "rdma-counters";
template <>
constexpr const char* kName<EvsChanged> = "evs-changed";
template <>
constexpr const char* kName<PortChanged> = "port-changed";
template <>
constexpr const char* kName<EvEvent> = "ev-event";

template <class T, class... Records>
concept AnyOf = (As<T, Records> || ...);

template <class Archive,
          AnyOf<QueryDevice, ListProfiles, PublishMetrics, QueryMetrics, std::monostate> T>
static void fields(Archive& /*archive*/, T& /*empty*/) {}
template <class Archive, AnyOf<QueryPort, QueryRdmaCounters> T>
static void fields(Archive& archive, T& message) {
  archive("port", message.port);
}
template <class Archive, AnyOf<ModifyPort, PortChanged> T>
static void fields(Archive& archive, T& message) {
  archive("port", message.port);
  archive("enabled", message.enabled);
}
template <class Archive, AnyOf<QueryFormat, QueryEvProfile, QueryCcProfile, UseEvProfile,
                               ReleaseEvProfile, UseCcProfile, ReleaseCcProfile>
                             T>
static void fields(Archive& archive, T& message) {
  archive("id", message.id);
}
template <class Archive, AnyOf<ModifyFormat, ModifyEvProfile, ModifyCcProfile> T>
static void fields(Archive& archive, T& message) {
  archive("id", message.id);
  archive("change", message.change);
}
template <class Archive, AnyOf<ReportEvs, EvsChanged> T>
static void fields(Archive& archive, T& message) {
  archive("id", message.id);
  archive("evs", message.evs);
}
template <class Archive, AnyOf<Subscribe> T>
static void fields(Archive& archive, T& message) {
  archive("changes", message.changes);
  archive("events", message.events);
}
template <class Archive, AnyOf<EvEvent> T>
static void fields(Archive& archive, T& message) {
  archive("id", message.id);
  archive("seen", message.seen);
  archive("lost", message.lost);
}
template <class Archive, AnyOf<PortInfo> T>
static void fields(Archive& archive, T& info) {
  archive("port", info.port);
  archive("enabled", info.enabled);
  archive("name", info.name);
}
template <class Archive, AnyOf<DeviceInfo> T>
static void fields(Archive& archive, T& info) {
  archive("host", info.host);
  archive("planes", info.planes);
  archive("formats_max", info.formats_max);
  archive("ev_profiles_max", info.ev_profiles_max);
  archive("cc_profiles_max", info.cc_profiles_max);
  archive("evs_max", info.evs_max);
  archive("evs_free", info.evs_free);
  archive("evs_per_profile_max", info.evs_per_profile_max);
  archive("ev_align", info.ev_align);
  archive("ports", info.ports);
  archive("clients", info.clients);
  archive("refused_messages", info.refused_messages);
}
template <class Archive, AnyOf<ProfileSummary> T>
static void fields(Archive& archive, T& summary) {
  archive("id", summary.id);
  archive("state", summary.state);
  archive("uses", summary.uses);
}
template <class Archive, AnyOf<ProfileList> T>
static void fields(Archive& archive, T& list) {
  archive("formats", list.formats);
  archive("ev_profiles", list.ev_profiles);
  archive("cc_profiles", list.cc_profiles);
}
template <class Archive, AnyOf<Metrics> T>
static void fields(Archive& archive, T& metrics) {
  archive("lines", metrics.lines);
}
template <class Archive, AnyOf<RdmaCounter> T>
static void fields(Archive& archive, T& counter) {
  archive("name", counter.name);
  archive("value", counter.value);
}
template <class Archive, AnyOf<RdmaCounters> T>
static void fields(Archive& archive, T& counters) {
  archive("counters", counters.counters);
}
template <class Archive, AnyOf<Outcome> T>
static void fields(Archive& archive, T& outcome) {
  archive("error", outcome.error);
  archive("why", outcome.why);
  archive("entries_done", outcome.entries_done);
}

namespace {

// {"<key>": "<name of the type>", "body": {...}} to one of the types. Empty, or what is wrong.
template <class... Types>
std::string read_variant(std::string_view name, const Json& body, std::variant<Types...>& into) {
  std::string error = "is of a kind that is not known";
  const auto try_type = [&]<class T>(T record) {
    if (name != kName<T>) return false;
    error = read_json(body, record);
    into = std::move(record);
    return true;
  };
  static_cast<void>((try_type(Types{}) || ...));
  return error;
}

template <class... Types>
void write_variant(const char* key, const std::variant<Types...>& from, Json& json) {
  std::visit(
      [&]<class T>(const T& record) {
        json[key] = kName<T>;
        json["body"] = json_of(record);
      },
      from);
}

// Names with bytes that are not UTF-8 must not throw.
std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// A message before its body is looked at.
struct Envelope {
  Json json{};
  CallNumber call = 0;
  std::string error{};

  [[nodiscard]] std::string_view text(const char* key) const {
    const auto found = json.find(key);
    if (found == json.end() || !found->is_string()) return {};
    return found->get_ref<const std::string&>();
  }
  [[nodiscard]] const Json& part(const char* key) const {
    static const Json kNothing;
    const auto found = json.find(key);
    return found == json.end() ? kNothing : *found;
  }
};

Envelope open_envelope(std::string_view message) {
  Envelope envelope;
  if (message.size() > kAgentMessageMax) {
    envelope.error = "is longer than a message may be";
    return envelope;
  }
  if (const auto depth = text::check_json_depth(message); !depth) {
    envelope.error = "is too deep: " + depth.error();
    return envelope;
  }
  envelope.json = Json::parse(message, nullptr, false);
  if (!envelope.json.is_object()) {
    envelope.error = "is no JSON object";
    return envelope;
  }
  const Json& call = envelope.part("call");
  if (call.is_number_unsigned()) envelope.call = call.get<CallNumber>();
  return envelope;
}

auto wrong(const Envelope& envelope, const std::string& what) {
  return failure(ProtocolError{.call = envelope.call, .what = "the message " + what});
}

}  // namespace

std::string encode(const NumberedRequest& message) {
  Json json{{"call", message.call}};
  write_variant("request", message.request, json);
  return text_of(json);
}

std::string encode(const NumberedReply& message) {
  Json json{{"call", message.call}, {"outcome", json_of(message.reply.outcome)}};
  write_variant("reply", message.reply.body, json);
  return text_of(json);
}

std::string encode(const Push& message) {
  Json json = Json::object();
  write_variant("push", message, json);
  return text_of(json);
}

Result<NumberedRequest, ProtocolError> decode_request(std::string_view message) {
  const Envelope envelope = open_envelope(message);
  if (!envelope.error.empty()) return wrong(envelope, envelope.error);
  if (envelope.json.size() != 3 || envelope.call == 0) {
    return wrong(envelope, "needs a call number above 0, a request and a body, and no more");
  }
  NumberedRequest request{.call = envelope.call};
  const std::string error =
      read_variant(envelope.text("request"), envelope.part("body"), request.request);
  if (!error.empty()) return wrong(envelope, error);
  return request;
}

Result<FromAgent, ProtocolError> decode_from_agent(std::string_view message) {
  const Envelope envelope = open_envelope(message);
  if (!envelope.error.empty()) return wrong(envelope, envelope.error);
  if (envelope.json.contains("push")) {
    Push push;
    const std::string error = read_variant(envelope.text("push"), envelope.part("body"), push);
    if (!error.empty()) return wrong(envelope, error);
    return push;
  }
  NumberedReply reply{.call = envelope.call};
  std::string error = read_json(envelope.part("outcome"), reply.reply.outcome);
  if (error.empty()) {
    error = read_variant(envelope.text("reply"), envelope.part("body"), reply.reply.body);
  }
  if (!error.empty()) return wrong(envelope, error);
  return reply;
}

}  // namespace openmrc::libmrc
