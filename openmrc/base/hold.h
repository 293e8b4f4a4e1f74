// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <variant>

namespace openmrc {

// The alternative T of a variant, to be filled in. One that is there already is used again: to
// clear it would cost more than to overwrite it.
template <class T, class Variant>
constexpr T& hold(Variant& variant) {
  if (T* there = std::get_if<T>(&variant)) [[likely]]
    return *there;
  return variant.template emplace<T>();
}

}  // namespace openmrc
