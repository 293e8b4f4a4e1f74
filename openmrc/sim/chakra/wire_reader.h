// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace openmrc::sim {

// The fields of one protobuf message, one after the other, as they are on the wire: varints, fixed
// words, and bytes with their length. Reads nothing outside the message, whatever is in it.
class WireReader {
 public:
  enum class Kind : std::uint8_t { kVarint, kFixed, kBytes };
  struct Field {
    std::uint32_t number = 0;
    Kind kind = Kind::kVarint;
    std::uint64_t value = 0;  // of kVarint and kFixed
    std::string_view bytes{};
  };

  explicit WireReader(std::string_view message) : left_(message) {}

  // Nothing at the end, or if the rest is no protobuf; then ok() is false.
  std::optional<Field> next();
  // A varint, as in packed lists and before messages in a file.
  std::optional<std::uint64_t> varint();
  // So many bytes.
  std::optional<std::string_view> bytes(std::uint64_t count);

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return left_.empty(); }

 private:
  std::optional<std::uint64_t> fixed(std::size_t bytes);
  std::nullopt_t fail();

  std::string_view left_;
  bool ok_ = true;
};

}  // namespace openmrc::sim
