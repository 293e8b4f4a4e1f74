// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/report/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>

#include "openmrc/base/check.h"
#include "openmrc/sim/report/markup.h"
#include "openmrc/sim/report/ruler.h"

namespace openmrc::sim {
namespace {

using text::human;
using text::Unit;

constexpr double kLineHeight = 18;
constexpr double kLeft = 52;  // of the plot: room for the numbers of its axis
constexpr int kTicksUp = 5;   // about
constexpr std::size_t kHoverPointsMax = 240;
constexpr std::size_t kSpanLabelRows = 2;
constexpr std::size_t kSpanLabelMax = 36;  // characters

std::string coordinate(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

// About, and rather too much: which font it will be is not known.
double text_width(std::string_view text) {
  double width = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;  // not the first byte of its character
    if (std::isupper(byte) != 0) {
      width += 8;
    } else {
      width += std::string_view(" .,:;'|!il()").find(c) == std::string_view::npos ? 6.8 : 3.8;
    }
  }
  return width;
}

// Cut between characters, never inside one.
std::string shortened(const std::string& text, std::size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  std::size_t at = bytes_max;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return text.substr(0, at) + "...";
}

std::string text_at(double x, double y, std::string_view anchor, std::string_view text,
                    std::string_view extra_class = "") {
  return fmt::format(R"(<text class="{}{}" x="{}" y="{}">{}</text>)", anchor, extra_class,
                     coordinate(x), coordinate(y), escaped(text));
}

// The areas of a chart as they stand on each other: its upper edge for each.
std::vector<std::vector<double>> stacked(const Chart& chart) {
  std::vector<std::vector<double>> edges;
  std::vector<double> sum;
  for (const ChartSeries& series : chart.series) {
    if (series.drawn != Drawn::kArea) continue;
    sum.resize(std::max(sum.size(), series.points.size()));
    OPENMRC_DCHECK(sum.size() == series.points.size(), "areas have the same x");
    for (std::size_t i = 0; i < series.points.size(); ++i) sum[i] += series.points[i].y;
    edges.push_back(sum);
  }
  return edges;
}

double x_end(const Chart& chart) {
  if (chart.x.to > 0) return chart.x.to;
  double largest = 0;
  for (const ChartSeries& series : chart.series) {
    for (const Point& point : series.points) largest = std::max(largest, point.x);
  }
  return largest;
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart),
        edges_(stacked(chart)),
        x_(chart.x.unit, chart.x.from, x_end(chart), chart.x.logarithmic,
           std::max(3, chart.width / 90)),
        y_(chart.y.unit, 0, y_end(chart), false, kTicksUp) {}

  std::string svg() {
    draw_legend();
    label_top();
    draw_spans();
    draw_grid();
    draw_series();
    draw_references();
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" viewBox="0 0 {} {}" )"
        R"(style="min-width:{}px"{}><title>{}</title>{}</svg>)",
        chart_.width, chart_.height, chart_.width * 3 / 5, hover(), escaped(chart_.title), out_);
  }

 private:
  [[nodiscard]] double right() const { return chart_.width - 14; }
  [[nodiscard]] double bottom() const { return chart_.height - 38; }
  [[nodiscard]] double at_x(double x) const { return kLeft + x_.place_of(x) * (right() - kLeft); }
  [[nodiscard]] double at_y(double y) const {
    return bottom() - y_.place_of(y) * (bottom() - top_);
  }

  static std::string axis_title(const Axis& axis, const Ruler& ruler) {
    const std::string_view unit = ruler.unit_name();
    return unit.empty() ? axis.name : fmt::format("{} ({})", axis.name, unit);
  }

  void draw_legend() {
    if (chart_.series.size() < 2) return;
    double x = 0;
    double y = 12;
    for (const ChartSeries& series : chart_.series) {
      const double width = text_width(series.name) + 34;
      if (x > 0 && x + width > chart_.width) {
        x = 0;
        y += kLineHeight;
      }
      out_ += swatch(series, x, y) + text_at(x + 20, y, "s", series.name, " k");
      x += width;
      top_ = y + 6;
    }
  }

  static std::string swatch(const ChartSeries& series, double x, double y) {
    if (series.drawn == Drawn::kArea || series.drawn == Drawn::kBars) {
      return fmt::format(R"(<rect x="{}" y="{}" width="14" height="10" rx="2" style="fill:{}"/>)",
                         coordinate(x), coordinate(y - 9), series.color);
    }
    if (series.drawn == Drawn::kDots) {
      return fmt::format(R"(<circle cx="{}" cy="{}" r="4" style="fill:{}"/>)", coordinate(x + 7),
                         coordinate(y - 4), series.color);
    }
    return fmt::format(R"(<path class="l{}" d="M{} {}h16" style="stroke:{}"/>)",
                       series.dashed ? " d" : "", coordinate(x), coordinate(y - 4), series.color);
  }

  // Above the plot: what goes upwards, and the labels of spans. Labels keep out of each other's
  // way: they stand in the first row that has room, or are left out.
  void label_top() {
    const std::string title = axis_title(chart_.y, y_);
    std::array<double, kSpanLabelRows> taken{text_width(title) + 12};
    std::size_t rows = 1;
    out_ += text_at(0, top_ + kLineHeight - 4, "s", title);
    for (const Span& span : chart_.spans) {
      const std::string label = shortened(span.label, kSpanLabelMax);
      const double width = text_width(label) + 6;
      const double x = std::clamp(at_x(span.from), kLeft, std::max(kLeft, right() - width));
      const auto* row =
          std::find_if(taken.cbegin(), taken.cend(), [&](double end) { return end <= x; });
      if (row == taken.cend()) continue;
      const auto index = static_cast<std::size_t>(std::distance(taken.cbegin(), row));
      taken[index] = x + width;
      rows = std::max(rows, index + 1);
      const double y = top_ + kLineHeight * static_cast<double>(index + 1) - 4;
      out_ += text_at(x + 2, y, "s", label, " f");
    }
    top_ += kLineHeight * static_cast<double>(rows) + 4;
  }

  // Where spans overlap the shade stays the same; each has its edge.
  void draw_spans() {
    double shaded_to = kLeft;
    for (const Span& span : chart_.spans) {
      const double edge = std::clamp(at_x(span.from), kLeft, right());
      const double from = std::max(edge, shaded_to);
      const double to = std::clamp(at_x(span.to), from, right());
      out_ += fmt::format(
          R"(<g><title>{}</title><rect class="span" x="{}" y="{}" width="{}" height="{}"/>)"
          R"(<path class="edge" d="M{} {}V{}"/></g>)",
          escaped(span.label), coordinate(from), coordinate(top_), coordinate(to - from),
          coordinate(bottom() - top_), coordinate(edge), coordinate(top_), coordinate(bottom()));
      shaded_to = to;
    }
  }

  void draw_grid() {
    for (const double tick : y_.ticks()) {
      const double y = bottom() - y_.place_of_tick(tick) * (bottom() - top_);
      out_ += fmt::format(R"(<path class="grid" d="M{} {}H{}"/>)", coordinate(kLeft), coordinate(y),
                          coordinate(right()));
      out_ += text_at(kLeft - 7, y + 4, "e", y_.label(tick));
    }
    out_ += fmt::format(R"(<path class="axis" d="M{} {}H{}"/>)", coordinate(kLeft),
                        coordinate(bottom()), coordinate(right()));
    for (const double tick : x_.ticks()) {
      const double x = kLeft + x_.place_of_tick(tick) * (right() - kLeft);
      out_ +=
          fmt::format(R"(<path class="axis" d="M{} {}v4"/>)", coordinate(x), coordinate(bottom()));
      out_ += text_at(x, bottom() + 17, "m", x_.label(tick));
    }
    out_ += text_at(right(), chart_.height - 5, "e", axis_title(chart_.x, x_));
  }

  void draw_series() {
    std::size_t area = 0;
    for (const ChartSeries& series : chart_.series) {
      switch (series.drawn) {
        case Drawn::kArea: draw_area(series, area++); break;
        case Drawn::kDots: draw_dots(series); break;
        case Drawn::kBars: draw_bars(series); break;
        case Drawn::kLine:
        case Drawn::kSteps: draw_line(series); break;
      }
    }
  }

  void draw_line(const ChartSeries& series) {
    std::string path;
    for (const Point& point : series.points) {
      if (path.empty()) {
        path = fmt::format("M{} {}", coordinate(at_x(point.x)), coordinate(at_y(point.y)));
      } else if (series.drawn == Drawn::kSteps) {
        path += fmt::format("H{}V{}", coordinate(at_x(point.x)), coordinate(at_y(point.y)));
      } else {
        path += fmt::format("L{} {}", coordinate(at_x(point.x)), coordinate(at_y(point.y)));
      }
    }
    if (path.empty()) return;
    out_ += fmt::format(R"(<path class="l{}" d="{}" style="stroke:{}"/>)",
                        series.dashed ? " d" : "", path, series.color);
  }

  void draw_area(const ChartSeries& series, std::size_t area) {
    if (series.points.empty()) return;
    const auto upper = [&](std::size_t i) { return coordinate(at_y(edges_[area][i])); };
    const auto lower = [&](std::size_t i) {
      return coordinate(area == 0 ? bottom() : at_y(edges_[area - 1][i]));
    };
    const auto x = [&](std::size_t i) { return coordinate(at_x(series.points[i].x)); };
    std::string path = fmt::format("M{} {}", x(0), upper(0));
    const std::size_t last = series.points.size() - 1;
    for (std::size_t i = 1; i <= last; ++i) path += fmt::format("H{}V{}", x(i), upper(i));
    path += fmt::format("V{}", lower(last));
    for (std::size_t i = last; i > 0; --i) path += fmt::format("V{}H{}", lower(i - 1), x(i - 1));
    out_ += fmt::format(R"(<path class="a" d="{}Z" style="fill:{}"/>)", path, series.color);
  }

  void draw_dots(const ChartSeries& series) {
    const char* radius = series.points.size() > 100 ? "2" : "3.5";
    for (const Point& point : series.points) {
      out_ +=
          fmt::format(R"(<circle cx="{}" cy="{}" r="{}" style="fill:{}"/>)",
                      coordinate(at_x(point.x)), coordinate(at_y(point.y)), radius, series.color);
    }
  }

  void draw_bars(const ChartSeries& series) {
    const double room = at_x(chart_.x.from + 1) - at_x(chart_.x.from);
    const double width = std::clamp(room * 0.8, 0.5, 40.0);
    for (const Point& point : series.points) {
      const double y = at_y(point.y);
      out_ += fmt::format(R"(<rect x="{}" y="{}" width="{}" height="{}" style="fill:{}"/>)",
                          coordinate(at_x(point.x) - width / 2), coordinate(y), coordinate(width),
                          coordinate(bottom() - y), series.color);
    }
  }

  void draw_references() {
    double label_y = bottom() - 8;  // low: curves that rise are high by then
    for (const Reference& reference : chart_.references) {
      if (reference.vertical) {
        const double x = at_x(reference.at);
        const bool to_the_left = x + text_width(reference.label) + 6 > right();
        out_ += fmt::format(R"(<path class="ref" d="M{} {}V{}"/>)", coordinate(x), coordinate(top_),
                            coordinate(bottom()));
        out_ += text_at(to_the_left ? x - 5 : x + 5, label_y, to_the_left ? "e" : "s",
                        reference.label, " r");
        label_y -= 15;
      } else {
        const double y = at_y(reference.at);
        out_ += fmt::format(R"(<path class="ref" d="M{} {}H{}"/>)", coordinate(kLeft),
                            coordinate(y), coordinate(right()));
        out_ += text_at(right() - 2, y - 5, "e", reference.label, " r");
      }
    }
  }

  // What stands under the pointer, as text: names, and for each place its x and the values there.
  [[nodiscard]] std::string hover() const;
  [[nodiscard]] std::string hover_row(double x) const;

  const Chart& chart_;
  std::vector<std::vector<double>> edges_;
  Ruler x_;
  Ruler y_;
  double top_ = 0;
  std::string out_;
};

std::optional<double> value_at(const ChartSeries& series, double x) {
  const auto after =
      std::upper_bound(series.points.begin(), series.points.end(), x,
                       [](double value, const Point& point) { return value < point.x; });
  if (after == series.points.begin()) return std::nullopt;
  const Point& point = *(after - 1);
  const bool holds = series.drawn != Drawn::kBars && series.drawn != Drawn::kDots;
  // A series that ended earlier has no value any more.
  if (point.x < x && (!holds || after == series.points.end())) return std::nullopt;
  return point.y;
}

// Fields are separated by bars, rows by line feeds; a name may have neither.
std::string hover_field(std::string text) {
  std::replace(text.begin(), text.end(), '|', '/');
  std::replace(text.begin(), text.end(), '\n', ' ');
  return escaped(text);
}

std::string Drawing::hover_row(double x) const {
  std::string row = fmt::format("{}|{}", coordinate(at_x(x)), human(x, chart_.x.unit));
  double sum = 0;
  std::string values;
  for (const ChartSeries& series : chart_.series) {
    const std::optional<double> value = value_at(series, x);
    if (series.drawn == Drawn::kArea) sum += value.value_or(0);
    values += "|" + (value ? human(*value, chart_.y.unit) : "");
  }
  if (!chart_.total.empty()) row += "|" + human(sum, chart_.y.unit);
  return row + values;
}

std::string Drawing::hover() const {
  std::vector<double> places;
  for (const ChartSeries& series : chart_.series) {
    for (const Point& point : series.points) places.push_back(point.x);
  }
  if (places.empty()) return {};
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  const std::size_t stride = places.size() / kHoverPointsMax + 1;
  std::string rows;
  for (std::size_t i = 0; i < places.size(); i += stride) {
    rows += (rows.empty() ? "" : "&#10;") + hover_row(places[i]);
  }
  std::string names = hover_field(chart_.x.name);
  if (!chart_.total.empty()) names += "|" + hover_field(chart_.total);
  for (const ChartSeries& series : chart_.series) {
    names += "|" + hover_field(series.name.empty() ? chart_.y.name : series.name);
  }
  return fmt::format(R"( data-names="{}" data-top="{}" data-bottom="{}" data-rows="{}")", names,
                     coordinate(top_), coordinate(bottom()), rows);
}

}  // namespace

double y_end(const Chart& chart) {
  if (chart.y.to > 0) return chart.y.to;
  double largest = 0;
  for (const ChartSeries& series : chart.series) {
    for (const Point& point : series.points) largest = std::max(largest, point.y);
  }
  for (const std::vector<double>& edge : stacked(chart)) {
    for (const double y : edge) largest = std::max(largest, y);
  }
  for (const Reference& reference : chart.references) {
    if (!reference.vertical) largest = std::max(largest, reference.at);
  }
  // Half a packet on an axis helps nobody.
  if (chart.y.unit == Unit::kCount) largest = std::max<double>(largest, kTicksUp);
  return largest * 1.08;
}

std::string render_svg(const Chart& chart) { return Drawing(chart).svg(); }

}  // namespace openmrc::sim
