// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "openmrc/base/picoseconds.h"
#include "openmrc/base/time.h"
#include "openmrc/text/units.h"

// Tables of fields: which keys a file has, of what kind and range, and which member of a struct
// each one sets. Reading, messages and reference documents all follow the one table.
namespace openmrc::text {

inline constexpr std::uint64_t kWholeMax = std::numeric_limits<std::int64_t>::max();  // of TOML
inline constexpr double kBitsPerGigabit = 1e9;

struct Field {
  enum class Kind : std::uint8_t {
    kWhole,
    kHex,          // a whole number that people write in hex
    kDuration,     // in nanoseconds
    kPicoseconds,  // a duration in picoseconds
    kBytes,
    kRate,   // a string: "10gbit"; in bits per second
    kGbps,   // a number of Gb/s above 0, possibly with a fraction; in bits per second
    kShare,  // 0 to 1, in billionths
    kFlag,
    kText,
    kWord,  // one of `words`, by its index
  };
  std::string_view section{};  // empty: at the top of the file
  std::string_view name{};
  Kind kind = Kind::kText;
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  std::span<const std::string_view> words{};
  std::function<std::uint64_t()> get{};  // of every kind but text
  std::function<void(std::uint64_t)> set{};
  std::string* text = nullptr;
  std::string_view otherwise{};  // the default where that is no value; "required" if there is none
  std::string_view description{};  // one sentence for reference documents

  [[nodiscard]] std::string full_name() const;  // "paths.evs"

  template <class T>
  static Field number(Kind kind, std::string_view name, T& value, std::uint64_t least,
                      std::uint64_t most);

  // The most that any whole number of type T can be.
  template <class T>
  static constexpr std::uint64_t most_of();

  template <class T>
  static Field whole(std::string_view name, T& value, std::uint64_t least = 0,
                     std::uint64_t most = most_of<T>()) {
    return number(Kind::kWhole, name, value, least, most);
  }
  template <class T>
  static Field hex(std::string_view name, T& value, std::uint64_t least = 0,
                   std::uint64_t most = most_of<T>()) {
    return number(Kind::kHex, name, value, least, most);
  }
  static Field duration(std::string_view name, Duration& value, Duration least, Duration most);
  static Field duration(std::string_view name, Picoseconds& value,
                        Picoseconds least = Picoseconds{},
                        Picoseconds most = Picoseconds{kAmountMax});
  template <class T>
  static Field bytes(std::string_view name, T& value, std::uint64_t least = 0,
                     std::uint64_t most = most_of<T>()) {
    return number(Kind::kBytes, name, value, least, std::min(most, kAmountMax));
  }
  template <class T>
  static Field rate(std::string_view name, T& value, std::uint64_t least, std::uint64_t most) {
    return number(Kind::kRate, name, value, least, most);
  }
  template <class T>
  static Field gbps(std::string_view name, T& value, std::uint64_t most) {
    return number(Kind::kGbps, name, value, 1, most);
  }
  // T is a double from 0 to 1, or an integer of billionths.
  template <class T>
  static Field share(std::string_view name, T& value) {
    return number(Kind::kShare, name, value, 0, kShareOne);
  }
  static Field flag(std::string_view name, bool& value);
  static Field string(std::string_view name, std::string& value);
  // T is an enumeration from 0 on, `words` its names in that order. They must outlive the field.
  template <class T>
  static Field word(std::string_view name, T& value, std::span<const std::string_view> words) {
    Field field = number(Kind::kWord, name, value, 0, words.size() - 1);
    field.words = words;
    return field;
  }
};

// Adds the fields of one section to a table.
class Section {
 public:
  Section(std::vector<Field>& fields, std::string_view name) : fields_(fields), name_(name) {}

  Field& add(Field field);

  template <class T>
  Field& whole(std::string_view key, T& value, std::uint64_t least = 0,
               std::uint64_t most = Field::most_of<T>()) {
    return add(Field::whole(key, value, least, most));
  }
  template <class T>
  Field& hex(std::string_view key, T& value, std::uint64_t least, std::uint64_t most) {
    return add(Field::hex(key, value, least, most));
  }
  template <class T>  // Duration or Picoseconds
  Field& duration(std::string_view key, T& value, T least, T most) {
    return add(Field::duration(key, value, least, most));
  }
  Field& duration(std::string_view key, Picoseconds& value) {
    return add(Field::duration(key, value));
  }
  template <class T>
  Field& bytes(std::string_view key, T& value, std::uint64_t least = 0,
               std::uint64_t most = Field::most_of<T>()) {
    return add(Field::bytes(key, value, least, most));
  }
  template <class T>
  Field& rate(std::string_view key, T& value, std::uint64_t least, std::uint64_t most) {
    return add(Field::rate(key, value, least, most));
  }
  template <class T>
  Field& gbps(std::string_view key, T& value, std::uint64_t most) {
    return add(Field::gbps(key, value, most));
  }
  template <class T>
  Field& share(std::string_view key, T& value) {
    return add(Field::share(key, value));
  }
  Field& flag(std::string_view key, bool& value) { return add(Field::flag(key, value)); }
  Field& text(std::string_view key, std::string& value) { return add(Field::string(key, value)); }
  template <class T>
  Field& word(std::string_view key, T& value, std::span<const std::string_view> words) {
    return add(Field::word(key, value, words));
  }

 private:
  std::vector<Field>& fields_;
  std::string_view name_;
};

std::string value_text(const Field& field, std::uint64_t value);  // as a file would write it
std::string range_text(const Field& field);                       // "1 to 256"; may be empty
std::string default_text(const Field& field);
std::string_view type_text(const Field& field);  // "duration"

// From here on: how a member becomes a number and back.

namespace detail {

template <class T>
concept Optional = requires(const T& value) { value.has_value(); };

template <class T>
std::uint64_t to_number(const T& value) {
  if constexpr (Optional<T>) {
    return value ? to_number(*value) : 0;
  } else if constexpr (std::floating_point<T>) {
    return static_cast<std::uint64_t>(std::llround(value * kShareOne));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return static_cast<std::uint64_t>(value);
  } else {
    return static_cast<std::uint64_t>(value.raw());
  }
}

template <class T>
T from_number(std::uint64_t number) {
  if constexpr (Optional<T>) {
    return from_number<typename T::value_type>(number);
  } else if constexpr (std::floating_point<T>) {
    return static_cast<T>(number) / kShareOne;
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    return static_cast<T>(number);
  } else {
    return T(static_cast<decltype(std::declval<T>().raw())>(number));
  }
}

template <class T>
struct Representation {
  using Type = decltype(std::declval<T>().raw());
};
template <class T>
  requires std::is_arithmetic_v<T>
struct Representation<T> {
  using Type = T;
};
template <Optional T>
struct Representation<T> : Representation<typename T::value_type> {};

}  // namespace detail

template <class T>
constexpr std::uint64_t Field::most_of() {
  constexpr auto kMost = std::numeric_limits<typename detail::Representation<T>::Type>::max();
  return std::min(static_cast<std::uint64_t>(kMost), kWholeMax);
}

template <class T>
Field Field::number(Kind kind, std::string_view name, T& value, std::uint64_t least,
                    std::uint64_t most) {
  return {.name = name,
          .kind = kind,
          .least = least,
          .most = most,
          .get = [&value] { return detail::to_number(value); },
          .set = [&value](std::uint64_t number) { value = detail::from_number<T>(number); }};
}

}  // namespace openmrc::text
