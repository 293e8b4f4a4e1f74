// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/interval_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "openmrc/sim/report/chart_style.h"
#include "openmrc/sim/report/markup.h"
#include "openmrc/sim/report/ruler.h"

namespace openmrc::sim {
namespace {

constexpr double kWidth = 520;
constexpr double kRight = kWidth - 14;
constexpr double kTop = 6;
constexpr double kRowHeight = 22;
constexpr double kBelow = 40;  // room for the numbers of the axis and its name
constexpr double kCharacterWidth = 6.4;
constexpr std::size_t kNameMax = 34;  // characters
constexpr int kTicks = 5;             // about

struct Range {
  double from = 0;
  double to = 1;
};

// Some room at both ends, so that no mark stands on the edge.
Range range_of(const IntervalChart& chart) {
  if (chart.rows.empty()) return {};
  const double least = std::ranges::min(chart.rows, {}, &IntervalRow::low).low;
  const double most = std::ranges::max(chart.rows, {}, &IntervalRow::high).high;
  const double room = most > least ? (most - least) * 0.06 : std::max(most * 0.02, 1.0);
  const bool from_zero = least < most / 2 || least - room < 0;
  return {from_zero ? 0 : least - room, most + room};
}

// Cut between characters, never inside one.
std::string shortened(const std::string& name) {
  if (name.size() <= kNameMax) return name;
  std::size_t at = kNameMax;
  while (at > 0 && (static_cast<unsigned char>(name[at]) & 0xC0) == 0x80) --at;
  return name.substr(0, at) + "...";
}

double name_width(const IntervalChart& chart) {
  std::size_t longest = 0;
  for (const IntervalRow& row : chart.rows) {
    longest = std::max(longest, shortened(row.name).size());
  }
  return static_cast<double>(longest) * kCharacterWidth + 12;
}

class IntervalDrawing {
 public:
  explicit IntervalDrawing(const IntervalChart& chart)
      : chart_(chart),
        range_(range_of(chart)),
        ruler_(chart.unit, range_.from, range_.to, false, kTicks),
        left_(name_width(chart)),
        bottom_(kTop + kRowHeight * static_cast<double>(chart.rows.size())) {}

  std::string svg() {
    draw_axis();
    for (std::size_t i = 0; i < chart_.rows.size(); ++i) draw_row(i);
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox="0 0 {} {}" )"
        R"(style="min-width:{}px"><title>{}</title>{}</svg>)",
        kWidth, bottom_ + kBelow, kWidth * 3 / 5, escaped(chart_.title), out_);
  }

 private:
  [[nodiscard]] double at(double place) const { return left_ + place * (kRight - left_); }
  [[nodiscard]] double at_value(double value) const { return at(ruler_.place_of(value)); }

  void draw_axis() {
    for (const double tick : ruler_.ticks()) {
      const double x = at(ruler_.place_of_tick(tick));
      out_ += fmt::format(R"(<path class="grid" d="M{:.1f} {}V{}"/>)", x, kTop, bottom_);
      out_ += fmt::format(R"(<text class="m" x="{:.1f}" y="{}">{}</text>)", x, bottom_ + 17,
                          escaped(ruler_.label(tick)));
    }
    out_ += fmt::format(R"(<path class="axis" d="M{:.1f} {}H{}"/>)", left_, bottom_, kRight);
    out_ += fmt::format(R"(<text class="e" x="{}" y="{}">{}</text>)", kRight, bottom_ + 34,
                        escaped(ruler_.unit_name()));
  }

  void draw_row(std::size_t index) {
    const IntervalRow& row = chart_.rows[index];
    const double y = kTop + kRowHeight * (static_cast<double>(index) + 0.5);
    const std::string color = series_color(row.color);
    const double low = at_value(row.low);
    const double high = at_value(row.high);
    out_ += fmt::format(
        R"(<g><title>{}: {} [{}, {}]</title><text class="s k" x="0" y="{:.1f}">{}</text>)",
        escaped(row.name), escaped(text::human(row.at, chart_.unit)),
        escaped(text::human(row.low, chart_.unit)), escaped(text::human(row.high, chart_.unit)),
        y + 4, escaped(shortened(row.name)));
    out_ += fmt::format(
        R"(<path class="l" d="M{0:.1f} {1:.1f}v8m0 -4H{2:.1f}m0 -4v8" style="stroke:{3}"/>)", low,
        y - 4, high, color);
    out_ += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="4" style="fill:{}"/></g>)",
                        at_value(row.at), y, color);
  }

  const IntervalChart& chart_;
  Range range_;
  Ruler ruler_;
  double left_;
  double bottom_;
  std::string out_;
};

}  // namespace

std::string render_svg(const IntervalChart& chart) { return IntervalDrawing(chart).svg(); }

bool begins_above_zero(const IntervalChart& chart) { return range_of(chart).from > 0; }

}  // namespace openmrc::sim
