// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "openmrc/agent/profiles/profile_types.h"
#include "openmrc/base/result.h"
#include "openmrc/host/agent_path.h"

// What the node's agent (mrcd) and programs say to each other. One message is one JSON object in
// one packet of a UNIX socket (SOCK_SEQPACKET). A program sends requests, each with a number of its
// choice; the agent answers each with one reply of the same number, and notifies the subscribers
// of changes. Nothing that arrives is trusted.
namespace openmrc::libmrc {

inline constexpr std::size_t kAgentMessageMax = 128 * 1024;

using host::agent_socket_path;

struct QueryDevice {};
struct ListProfiles {};
struct QueryPort {
  PortNumber port{};
};
struct ModifyPort {
  PortNumber port{};
  bool enabled = true;
};
struct QueryFormat {
  FormatId id{};
};
struct ModifyFormat {
  FormatId id{};
  FormatChange change{};
};
struct QueryEvProfile {
  EvProfileId id{};
};
struct ModifyEvProfile {
  EvProfileId id{};
  EvProfileChange change{};
};
struct QueryCcProfile {
  CcProfileId id{};
};
struct ModifyCcProfile {
  CcProfileId id{};
  CcProfileChange change{};
};
// From now on the process uses it; until it says otherwise, or its connection ends.
struct UseEvProfile {
  EvProfileId id{};
};
struct ReleaseEvProfile {
  EvProfileId id{};
};
struct UseCcProfile {
  CcProfileId id{};
};
struct ReleaseCcProfile {
  CcProfileId id{};
};
// What the process has seen of paths.
struct ReportEvs {
  EvProfileId id{};
  std::vector<EvStatus> evs{};
};
struct Subscribe {
  bool changes = false;  // what the controller does: EvsChanged, PortChanged
  bool events = false;   // what applications report: EvEvent
};
// The page of a process that publishes its counters comes with it (host/publisher.h). From
// then on the connection is for this alone.
struct PublishMetrics {};
struct QueryMetrics {};
// Under the names of RDMA (rdma_counters.h).
struct QueryRdmaCounters {
  PortNumber port{};
};

using Request =
    std::variant<QueryDevice, ListProfiles, QueryPort, ModifyPort, QueryFormat, ModifyFormat,
                 QueryEvProfile, ModifyEvProfile, QueryCcProfile, ModifyCcProfile, UseEvProfile,
                 ReleaseEvProfile, UseCcProfile, ReleaseCcProfile, ReportEvs, Subscribe,
                 PublishMetrics, QueryMetrics, QueryRdmaCounters>;

struct PortInfo {
  PortNumber port{};
  bool enabled = true;
  std::string name{};  // of the interface
};
struct DeviceInfo {
  std::string host{};
  std::uint64_t planes = 1;
  std::uint64_t formats_max = 0;
  std::uint64_t ev_profiles_max = 0;
  std::uint64_t cc_profiles_max = 0;
  std::uint64_t evs_max = 0;
  std::uint64_t evs_free = 0;
  std::uint64_t evs_per_profile_max = 0;
  std::uint64_t ev_align = 1;
  std::vector<PortInfo> ports{};
  std::uint64_t clients = 0;           // connected now
  std::uint64_t refused_messages = 0;  // that made no sense, since the agent runs
};
struct ProfileSummary {
  std::uint64_t id = 0;
  ProfileState state = MRC_CTL_PROFILE_INIT;
  std::uint64_t uses = 0;  // processes
};
struct ProfileList {
  std::vector<ProfileSummary> formats{};
  std::vector<ProfileSummary> ev_profiles{};
  std::vector<ProfileSummary> cc_profiles{};
};
// Prometheus text, as over HTTP, but only with the processes that there is room for.
struct Metrics {
  std::vector<std::string> lines{};
};
struct RdmaCounter {
  std::string name{};
  std::uint64_t value = 0;
};
struct RdmaCounters {
  std::vector<RdmaCounter> counters{};
};

// Nothing, if the request asks for nothing or was refused.
using ReplyBody = std::variant<std::monostate, DeviceInfo, ProfileList, PortInfo, FormatProfile,
                               EvProfile, CcProfile, EvProfileImage, Metrics, RdmaCounters>;

struct Reply {
  Outcome outcome{};
  ReplyBody body{};
};

// The controller has set the states of these EVs.
struct EvsChanged {
  EvProfileId id{};
  std::vector<EvStatus> evs{};
};
struct PortChanged {
  PortNumber port{};
  bool enabled = true;
};
// An application reports a path that fails or recovers.
struct EvEvent {
  EvProfileId id{};
  EvStatus seen{};
  std::uint64_t lost = 0;  // events that could not be delivered since the last
};
using Push = std::variant<EvsChanged, PortChanged, EvEvent>;

using CallNumber = std::uint64_t;

struct NumberedRequest {
  CallNumber call = 0;
  Request request{};
};
struct NumberedReply {
  CallNumber call = 0;
  Reply reply{};
};
using FromAgent = std::variant<NumberedReply, Push>;

struct ProtocolError {
  CallNumber call = 0;  // 0: it has not even a number
  std::string what{};
};

std::string encode(const NumberedRequest& message);
std::string encode(const NumberedReply& message);
std::string encode(const Push& message);
Result<NumberedRequest, ProtocolError> decode_request(std::string_view message);
Result<FromAgent, ProtocolError> decode_from_agent(std::string_view message);

}  // namespace openmrc::libmrc
