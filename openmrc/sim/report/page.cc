// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/page.h"

#include <fmt/format.h>

#include "openmrc/sim/report/chart_style.h"
#include "openmrc/sim/report/markup.h"
#include "openmrc/sim/report/report_style.h"

namespace openmrc::sim {
namespace {

std::string cells(const std::vector<Cell>& row, std::string_view tag) {
  std::string out = "<tr>";
  for (const Cell& cell : row) {
    out += fmt::format("<{}{}>{}</{}>", tag, cell.number ? R"( class="n")" : "", escaped(cell.text),
                       tag);
  }
  return out + "</tr>\n";
}

}  // namespace

std::string table(const std::vector<Cell>& head, const std::vector<std::vector<Cell>>& rows) {
  std::string out = R"(<div class="scroll"><table>)";
  if (!head.empty()) out += "<thead>" + cells(head, "th") + "</thead>";
  out += "<tbody>\n";
  for (const std::vector<Cell>& row : rows) out += cells(row, "td");
  return out + "</tbody></table></div>\n";
}

std::string section(std::string_view title, std::string_view note, const std::string& content) {
  return fmt::format("<section class=\"card\"><h2>{}</h2>{}{}</section>\n", escaped(title),
                     note.empty() ? "" : fmt::format("<p class=\"note\">{}</p>", escaped(note)),
                     content);
}

std::string paragraph(std::string_view css_class, const std::string& text) {
  if (text.empty()) return {};
  return fmt::format("<p class=\"{}\">{}</p>\n", css_class, escaped(text));
}

// Nothing is loaded from anywhere, and the browser is told to hold us to it.
std::string page_begin(const std::string& title) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\"/>\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n<main>\n",
      escaped(title), chart_css(), report_css());
}

std::string page_end(const std::string& foot) {
  return paragraph("foot", foot) +
         fmt::format("</main>\n<script>{}</script>\n</body>\n</html>\n", chart_script());
}

}  // namespace openmrc::sim
