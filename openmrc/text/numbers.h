// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "openmrc/base/picoseconds.h"

// Numbers for people: three significant digits and a unit that suits the size. Zeros at the end say
// something: "2 ms" is exactly that, "2.00 ms" is rounded.
namespace openmrc::text {

enum class Unit : std::uint8_t { kPicoseconds, kBytes, kBitsPerSecond, kPartsPerMillion, kCount };

// What to divide by, and what the result is called.
struct Scale {
  double divisor = 1;
  std::string_view name{};
};

// The scale in which `largest` reads well: 1.92 ms rather than 1920000000 ps.
Scale scale_for(Unit unit, double largest);

std::string human(double value, Unit unit);  // "1.92 ms", "385 Gb/s", "97.3 %", "131,072"
std::string human(Picoseconds time);
std::string human_bytes(std::uint64_t bytes);
std::string human_count(std::uint64_t count);
std::string human_rate(double bits_per_second);
// A part of a whole. What is not all of it never reads "100 %", and what is not nothing never "0
// %".
std::string human_share(double part, double whole);

// With a prefix for thousands, and a unit if there is one: "5.61 M", "5.61 MW".
std::string human_si(double amount, std::string_view unit = {});

std::string significant(double value);     // "1.92", "19.2", "192"
std::string grouped(std::uint64_t count);  // all digits: "1,234,567"

}  // namespace openmrc::text
