// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/chakra/trace.h"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "openmrc/sim/chakra/wire_reader.h"
#include "openmrc/text/file_limits.h"

namespace openmrc::sim {
namespace {

// Numbers of fields in the schema.
enum NodeField : std::uint32_t {
  kNodeId = 1,
  kNodeName = 2,
  kNodeType = 3,
  kNodeControlDependencies = 4,
  kNodeDataDependencies = 5,
  kNodeStart = 6,
  kNodeDuration = 7,
  kNodeAttribute = 10,
};
enum AttributeField : std::uint32_t {
  kAttributeName = 1,
  kAttributeFirstNumber = 7,  // int32_val; lists have the numbers between
  kAttributeSint32 = 15,
  kAttributeSint64 = 17,
  kAttributeLastNumber = 27,  // bool_val
  kAttributeText = 29,
};

// An attribute whose value is one whole number or a text; others are passed over.
struct Attribute {
  std::string_view name{};
  std::optional<std::uint64_t> number{};
  std::string_view text{};
};

std::uint64_t unzigzag(std::uint64_t value) { return (value >> 1) ^ (~(value & 1) + 1); }

std::optional<Attribute> parse_attribute(std::string_view message) {
  Attribute attribute;
  WireReader reader(message);
  while (const auto field = reader.next()) {
    const bool is_bytes = field->kind == WireReader::Kind::kBytes;
    if (field->number == kAttributeName && is_bytes) attribute.name = field->bytes;
    if (field->number == kAttributeText && is_bytes) attribute.text = field->bytes;
    if (is_bytes || field->number < kAttributeFirstNumber || field->number > kAttributeLastNumber) {
      continue;
    }
    const bool zigzag = field->number == kAttributeSint32 || field->number == kAttributeSint64;
    attribute.number = zigzag ? unzigzag(field->value) : field->value;
  }
  if (!reader.ok()) return std::nullopt;
  return attribute;
}

class NodeReader {
 public:
  Result<TraceNode, std::string> read(std::string_view message) {
    WireReader reader(message);
    while (const auto field = reader.next()) take(*field);
    if (!reader.ok()) complain("is not a protobuf message");
    if (node_.kind == TraceKind::kInvalid) complain("has no type");
    if (problem_.empty()) return std::move(node_);
    return failure(fmt::format("node {} {}", node_.id, problem_));
  }

 private:
  void complain(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }

  void take(const WireReader::Field& field) {
    switch (field.number) {
      case kNodeId: node_.id = field.value; break;
      case kNodeName: node_.name = field.bytes.substr(0, kTraceNameMax); break;
      case kNodeType: take_kind(field.value); break;
      case kNodeControlDependencies:
      case kNodeDataDependencies: take_dependencies(field); break;
      case kNodeStart: node_.start_us = field.value; break;
      case kNodeDuration: node_.duration_us = field.value; break;
      case kNodeAttribute: take_attribute(field.bytes); break;
      default: break;
    }
  }

  void take_kind(std::uint64_t kind) {
    if (kind == 0 || kind > kTraceKindMax) return complain(fmt::format("has type {}", kind));
    node_.kind = static_cast<TraceKind>(kind);
  }

  // One, or a packed list.
  void take_dependencies(const WireReader::Field& field) {
    if (field.kind != WireReader::Kind::kBytes) return node_.waits_for.push_back(field.value);
    WireReader list(field.bytes);
    while (!list.at_end()) {
      const auto id = list.varint();
      if (!id) return complain("has a broken list of dependencies");
      node_.waits_for.push_back(*id);
    }
  }

  void take_attribute(std::string_view message) {
    const auto attribute = parse_attribute(message);
    if (!attribute) return complain("has a broken attribute");
    if (attribute->name == "pg_name") {
      node_.group = attribute->text.substr(0, kTraceNameMax);
      if (node_.group.empty() && attribute->number)
        node_.group = std::to_string(*attribute->number);
    }
    if (!attribute->number) return;
    const std::uint64_t number = *attribute->number;
    if (attribute->name == "comm_type") take_collective(number);
    if (attribute->name == "is_cpu_op") node_.on_cpu = number != 0;
    for (const auto& [name, member] : numbers()) {
      if (attribute->name == name) take_number(name, number, node_.*member);
    }
  }

  static std::vector<std::pair<std::string_view, std::uint64_t TraceNode::*>> numbers() {
    return {{"comm_size", &TraceNode::bytes},         {"comm_src", &TraceNode::source},
            {"comm_dst", &TraceNode::destination},    {"comm_tag", &TraceNode::tag},
            {"root_rank", &TraceNode::root},          {"num_ops", &TraceNode::operations},
            {"tensor_size", &TraceNode::tensor_bytes}};
  }

  // Signed numbers below 0 come as very large ones.
  void take_number(std::string_view name, std::uint64_t number, std::uint64_t& member) {
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
      return complain(fmt::format("has a negative {}", name));
    }
    member = number;
  }

  void take_collective(std::uint64_t number) {
    if (number > kTraceCollectiveMax) return complain(fmt::format("has comm_type {}", number));
    node_.collective = static_cast<TraceCollective>(number);
  }

  TraceNode node_;
  std::string problem_;
};

}  // namespace

Result<RankTrace, std::string> parse_rank_trace(std::string_view file) {
  if (auto fits = text::check_size(file, text::kTrafficBytesMax); !fits) {
    return failure(to_string(fits.error()));
  }
  RankTrace trace;
  WireReader reader(file);
  bool is_metadata = true;
  while (!reader.at_end()) {
    const auto length = reader.varint();
    const auto message = length ? reader.bytes(*length) : std::nullopt;
    if (!message) return failure(std::string("is cut off, or no Chakra trace"));
    if (std::exchange(is_metadata, false)) continue;
    auto node = NodeReader().read(*message);
    if (!node) return failure(node.error());
    if (trace.size() == kTraceNodesMax) {
      return failure(fmt::format("has more than {} nodes", kTraceNodesMax));
    }
    trace.push_back(std::move(*node));
  }
  if (trace.empty()) return failure(std::string("has no nodes"));
  return trace;
}

Result<TraceGroups, std::string> parse_trace_groups(std::string_view json) {
  if (const auto depth = text::check_json_depth(json); !depth) return failure(depth.error());
  const auto parsed = nlohmann::json::parse(json, nullptr, false);
  if (!parsed.is_object()) return failure(std::string("is not a JSON object of groups"));
  TraceGroups groups;
  for (const auto& [name, ranks] : parsed.items()) {
    if (!ranks.is_array()) return failure(fmt::format("group {} is not a list", name));
    for (const auto& rank : ranks) {
      if (!rank.is_number_unsigned() ||
          rank.get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max()) {
        return failure(fmt::format("group {} has a rank that is no whole number", name));
      }
      groups[name].push_back(rank.get<std::uint32_t>());
    }
  }
  return groups;
}

}  // namespace openmrc::sim
