// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// For tests: protobuf messages as Chakra's tools write them.
namespace openmrc::sim {

inline std::string wire_varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}
inline std::string wire_number(std::uint32_t field, std::uint64_t value) {
  return wire_varint(std::uint64_t{field} << 3) + wire_varint(value);
}
inline std::string wire_bytes(std::uint32_t field, std::string_view bytes) {
  return wire_varint(std::uint64_t{field} << 3 | 2) + wire_varint(bytes.size()) +
         std::string(bytes);
}
inline std::string delimited(std::string_view message) {
  return wire_varint(message.size()) + std::string(message);
}

// One node; attributes are added to it.
class WrittenNode {
 public:
  WrittenNode(std::uint64_t id, std::uint32_t kind, const std::vector<std::uint64_t>& after = {})
      : message_(wire_number(1, id) + wire_bytes(2, "a node") + wire_number(3, kind)) {
    std::string packed;
    for (const std::uint64_t other : after) packed += wire_varint(other);
    if (!after.empty()) message_ += wire_bytes(5, packed);
  }
  WrittenNode& lasts(std::uint64_t start_us, std::uint64_t duration_us) {
    message_ += wire_number(6, start_us) + wire_number(7, duration_us);
    return *this;
  }
  // As an int64, or by another number of the schema.
  WrittenNode& with(std::string_view name, std::uint64_t value, std::uint32_t field = 9) {
    message_ += wire_bytes(10, wire_bytes(1, name) + wire_number(field, value));
    return *this;
  }
  WrittenNode& with(std::string_view name, std::string_view text) {
    message_ += wire_bytes(10, wire_bytes(1, name) + wire_bytes(29, text));
    return *this;
  }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::string message_;
};

inline std::string trace_file(const std::vector<WrittenNode>& nodes) {
  std::string file = delimited(wire_bytes(1, "0.0.4"));
  for (const WrittenNode& node : nodes) file += delimited(node.message());
  return file;
}

}  // namespace openmrc::sim
