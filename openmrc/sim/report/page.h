// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Pieces of the pages that we write: one file, nothing loaded, no script needed.
namespace openmrc::sim {

struct Cell {
  std::string text{};
  bool number = false;  // stands at the right
};

std::string table(const std::vector<Cell>& head, const std::vector<std::vector<Cell>>& rows);
// A card; `content` is markup, the title and the note are text.
std::string section(std::string_view title, std::string_view note, const std::string& content);
std::string paragraph(std::string_view css_class, const std::string& text);  // none if empty

std::string page_begin(const std::string& title);
std::string page_end(const std::string& foot);

}  // namespace openmrc::sim
