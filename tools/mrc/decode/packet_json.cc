// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "tools/mrc/decode/packet_printer.h"

namespace openmrc::tools {
namespace {

using Json = nlohmann::ordered_json;

Json layer_json(const wire::DissectedLayer& layer) {
  Json json{{"layer", layer.name}, {"offset", layer.offset}, {"size", layer.size}};
  Json& fields = json["fields"] = Json::object();
  for (const wire::DissectedField& field : layer.fields) {
    std::visit([&](const auto& value) { fields[field.name] = value; }, field.value);
  }
  return json;
}

class JsonPrinter final : public PacketPrinter {
 public:
  explicit JsonPrinter(std::ostream& out) : out_(out) {}

  void print(const PrintedPacket& packet) override {
    const auto& frame = packet.frame;
    const auto& verdict = packet.dissection.verdict;
    Json json{{"number", packet.number},      {"time_ns", frame.time.ns()},
              {"interface", frame.interface}, {"interface_name", frame.interface_name},
              {"size", frame.bytes.size()},   {"original_size", frame.original_size}};
    if (!frame.comment.empty()) json["comment"] = frame.comment;
    if (verdict) {
      json["kind"] = name(opcode_of(verdict->transport.body));
      json["source"] = source_of(*verdict);
      json["destination"] = destination_of(*verdict);
      json["ev"] = fmt::format("0x{:08x}", ev_of(*verdict).raw());
      json["trimmed"] = std::holds_alternative<wire::TrimmedWrite>(verdict->transport.body);
      json["summary"] = summarize(*verdict);
    } else {
      json["rejected"] = describe(verdict.error()).counter;
      json["reason"] = describe(verdict.error()).text;
    }
    Json& layers = json["layers"] = Json::array();
    for (const wire::DissectedLayer& layer : packet.dissection.layers) {
      layers.push_back(layer_json(layer));
    }
    // Text out of a capture need not be UTF-8.
    out_ << json.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }

 private:
  std::ostream& out_;
};

}  // namespace

std::unique_ptr<PacketPrinter> make_json_printer(std::ostream& out) {
  return std::make_unique<JsonPrinter>(out);
}

}  // namespace openmrc::tools
