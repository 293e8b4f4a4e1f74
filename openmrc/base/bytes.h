// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

namespace openmrc {

using ConstBytes = std::span<const std::byte>;
using MutableBytes = std::span<std::byte>;

}  // namespace openmrc
