// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

// How charts look, in light and in dark.
namespace openmrc::sim {

// Of a page with charts.
std::string chart_css();
// Shows the numbers under the pointer. A page may do without.
std::string chart_script();

// Eight colors that keep apart; then they repeat.
std::string series_color(std::size_t index);
// Shades for things of one kind that stand on each other.
std::string shade_color(std::size_t index, std::size_t count);

}  // namespace openmrc::sim
