// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <expected>
#include <utility>

namespace openmrc {

// A value, or the reason why there is none. What a peer or a caller can get wrong is returned this
// way; pure code throws nothing.
template <class T, class E>
using Result = std::expected<T, E>;

template <class E>
constexpr auto failure(E reason) {
  return std::unexpected<E>(std::move(reason));
}

}  // namespace openmrc
