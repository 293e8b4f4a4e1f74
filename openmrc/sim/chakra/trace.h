// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"

namespace openmrc::sim {

// Chakra execution traces (MLCommons, schema 0.0.4 and later): a file for each rank, of protobuf
// messages with their lengths before them. The first is metadata, the others are nodes.

inline constexpr std::size_t kTraceNodesMax = std::size_t{1} << 20;  // of a rank
inline constexpr std::size_t kTraceNameMax = 256;                    // what is kept of a name

// NodeType of the schema.
enum class TraceKind : std::uint8_t {
  kInvalid = 0,
  kMetadata = 1,
  kMemoryLoad = 2,
  kMemoryStore = 3,
  kCompute = 4,
  kSend = 5,
  kReceive = 6,
  kCollective = 7,
};
// Kinds of storage, batch and checkpoint nodes follow.
inline constexpr std::uint64_t kTraceKindMax = 10;

// CollectiveCommType of the schema.
enum class TraceCollective : std::uint8_t {
  kAllReduce = 0,
  kReduce = 1,
  kAllGather = 2,
  kGather = 3,
  kScatter = 4,
  kBroadcast = 5,
  kAllToAll = 6,
  kReduceScatter = 7,
  kReduceScatterBlock = 8,
  kBarrier = 9,
};
inline constexpr std::uint64_t kTraceCollectiveMax = 9;

struct TraceNode {
  std::uint64_t id = 0;
  std::string name{};
  TraceKind kind = TraceKind::kInvalid;
  std::vector<std::uint64_t> waits_for{};  // ids: of data and of control
  std::uint64_t start_us = 0;
  std::uint64_t duration_us = 0;
  // Attributes; what is not there is 0 or empty.
  TraceCollective collective = TraceCollective::kAllReduce;
  std::uint64_t bytes = 0;  // comm_size: what each rank puts in
  std::uint64_t source = 0;
  std::uint64_t destination = 0;
  std::uint64_t tag = 0;
  std::uint64_t root = 0;
  std::string group{};  // pg_name; empty: all ranks
  std::uint64_t operations = 0;
  std::uint64_t tensor_bytes = 0;
  bool on_cpu = false;
};

using RankTrace = std::vector<TraceNode>;  // in the order of the file
using TraceGroups = std::map<std::string, std::vector<std::uint32_t>>;

Result<RankTrace, std::string> parse_rank_trace(std::string_view file);
// A JSON object as ASTRA-sim and the generators of traces have it: the ranks of each group.
Result<TraceGroups, std::string> parse_trace_groups(std::string_view json);

}  // namespace openmrc::sim
