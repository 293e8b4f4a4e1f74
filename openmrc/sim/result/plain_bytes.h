// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "openmrc/base/check.h"

// Values as they are in memory, for other processes of the same program.
namespace openmrc::sim {

template <class T>
void put_plain(std::string& bytes, const T& value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}
template <class T>
void put_plain(std::string& bytes, const std::vector<T>& values) {
  static_assert(std::is_trivially_copyable_v<T>);
  put_plain(bytes, values.size());
  const std::size_t at = bytes.size();
  bytes.resize(at + values.size() * sizeof(T));
  if (!values.empty()) std::memcpy(bytes.data() + at, values.data(), values.size() * sizeof(T));
}

template <class T>
void take_plain(std::string_view& bytes, T& value) {
  OPENMRC_CHECK(bytes.size() >= sizeof(T), "what another process sends is whole");
  bytes.copy(reinterpret_cast<char*>(&value), sizeof(T));
  bytes.remove_prefix(sizeof(T));
}
template <class T>
void take_plain(std::string_view& bytes, std::vector<T>& values) {
  std::size_t count = 0;
  take_plain(bytes, count);
  OPENMRC_CHECK(bytes.size() / sizeof(T) >= count, "what another process sends is whole");
  values.resize(count);
  bytes.copy(reinterpret_cast<char*>(values.data()), count * sizeof(T));
  bytes.remove_prefix(count * sizeof(T));
}

}  // namespace openmrc::sim
