// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace openmrc::sim {

using Row = std::vector<std::string>;

// A table for terminals, the head first: so many columns stand at the left, figures at the right.
std::string aligned(const std::vector<Row>& rows, std::size_t at_left);

}  // namespace openmrc::sim
