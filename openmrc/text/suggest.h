// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace openmrc::text {

// Letters to insert, delete or replace to turn one word into the other (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The index of the known word that was probably meant. None if no word is near enough.
std::optional<std::size_t> nearest_word(std::string_view word,
                                        std::span<const std::string_view> known);

}  // namespace openmrc::text
