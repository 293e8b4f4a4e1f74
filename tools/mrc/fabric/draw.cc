// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/fabric/draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <string_view>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/fabric/text.h"

namespace openmrc::tools {
namespace {

using fabric::Fabric;
using fabric::LinkId;
using fabric::name_of;
using fabric::Shape;
using fabric::SwitchId;
using fabric::Tier;

// How many of each a reader can tell apart.
constexpr std::uint32_t kPlanesDrawn = 4;
constexpr std::uint32_t kSwitchesDrawn = 6;
constexpr std::uint32_t kHostsDrawn = 4;  // of a rack
constexpr std::uint32_t kPanelsAbreast = 2;

// In pixels.
constexpr double kMargin = 24;
constexpr double kHeader = 64;
constexpr double kPanelHeight = 260;
constexpr double kT2Y = -20;  // with three tiers all of it stands lower, by a tier
constexpr double kTierStep = 80;
constexpr double kT1Y = 60;
constexpr double kT0Y = 140;
constexpr double kHostY = 218;
constexpr double kHostStep = 26;
constexpr double kSwitchWidth = 56;
constexpr double kSwitchHeight = 24;

constexpr std::array<std::string_view, 4> kColours{"#1b6ca8", "#b3541e", "#2e7d4f", "#7a3e9d"};

// The first few and the last of `count`; with a gap before the last if some are left out.
std::vector<std::uint32_t> sample(std::uint32_t count, std::uint32_t most) {
  std::vector<std::uint32_t> chosen(std::min(count, most));
  std::iota(chosen.begin(), chosen.end(), 0U);
  if (count > most) chosen.back() = count - 1;
  return chosen;
}

struct Sample {
  std::vector<std::uint32_t> planes;
  std::vector<std::uint32_t> t2s;
  std::vector<std::uint32_t> t1s;
  std::vector<std::uint32_t> racks;
  std::vector<std::uint32_t> downlinks;

  explicit Sample(const Fabric& fabric)
      : planes(sample(fabric.shape().planes, kPlanesDrawn)),
        t2s(sample(fabric.t2s(), kSwitchesDrawn)),
        t1s(sample(fabric.t1s(), kSwitchesDrawn)),
        racks(sample(fabric.shape().racks, kSwitchesDrawn)),
        downlinks(sample(fabric.shape().hosts_per_rack, kHostsDrawn)) {}

  [[nodiscard]] double rack_width() const {
    return std::max(kHostStep * static_cast<double>(downlinks.size()), kSwitchWidth + 20);
  }
  [[nodiscard]] double panel_width() const {
    const double below = rack_width() * static_cast<double>(racks.size());
    const double above =
        (kSwitchWidth + 20) * static_cast<double>(std::max(t1s.size(), t2s.size()));
    return std::max(below, above) + 2 * kMargin;
  }
  [[nodiscard]] double panel_height() const { return kPanelHeight + (t2s.empty() ? 0 : kTierStep); }
};

// What a reader has to know besides, such as "A sample: 4 of 8 planes, 6 of 256 T1s."
std::string caption(const Fabric& fabric, const Sample& drawn) {
  const Shape& shape = fabric.shape();
  std::string left_out;
  const auto add = [&](std::size_t some, std::uint32_t all, std::string_view things) {
    if (some == all) return;
    left_out += fmt::format("{}{} of {} {}", left_out.empty() ? "A sample: " : ", ", some,
                            text::grouped(all), things);
  };
  add(drawn.planes.size(), shape.planes, "planes");
  add(drawn.t2s.size(), fabric.t2s(), "T2s");
  add(drawn.t1s.size(), fabric.t1s(), "T1s");
  add(drawn.racks.size(), shape.racks, "T0s");
  add(drawn.downlinks.size(), shape.hosts_per_rack, "hosts of a rack");
  if (!left_out.empty()) left_out += ". ";
  return left_out + (shape.planes > 1 ? "All planes have the same hosts." : "");
}

class Drawing {
 public:
  void open(double width, double height) {
    put("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
        "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
        width, height);
  }
  void close() { put("</svg>\n"); }

  void text(double x, double y, double size, std::string_view anchor, std::string_view words) {
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{:.0f}\" text-anchor=\"{}\">{}</text>\n", x, y,
        size, anchor, words);
  }
  void frame(double x, double y, double width, double height) {
    put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#fafafa\" "
        "stroke=\"#cccccc\" rx=\"6\"/>\n",
        x, y, width, height);
  }
  void link(double x1, double y1, double x2, double y2, std::string_view colour,
            const std::string& name) {
    put("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
        "stroke-opacity=\"0.55\"><title>{}</title></line>\n",
        x1, y1, x2, y2, colour, name);
  }
  void box(double x, double y, std::string_view colour, const std::string& name,
           const std::string& label) {
    put("<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.0f}\" height=\"{:.0f}\" "
        "rx=\"4\" fill=\"{}\"/>",
        name, x - kSwitchWidth / 2, y - kSwitchHeight / 2, kSwitchWidth, kSwitchHeight, colour);
    put("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"white\" "
        "text-anchor=\"middle\">{}</text></g>\n",
        x, y + 4, label);
  }
  void host(double x, double y, const std::string& name) {
    put("<g><title>{0}</title><circle cx=\"{1:.1f}\" cy=\"{2:.1f}\" r=\"6\" fill=\"#444444\"/>"
        "</g>\n",
        name, x, y);
  }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  std::string text_{};
};

// One plane, with its upper left corner at (x, y).
class Panel {
 public:
  Panel(const Fabric& fabric, const Sample& drawn, Plane plane, double x, double y)
      : fabric_(fabric),
        drawn_(drawn),
        plane_(plane),
        colour_(kColours[plane.raw() % kColours.size()]),
        x_(x),
        top_(y),
        y_(y + drawn.panel_height() - kPanelHeight) {}

  // Links first, so that switches lie on top of them.
  void draw(Drawing& on) const {
    on.frame(x_, top_, drawn_.panel_width(), drawn_.panel_height());
    on.text(x_ + 12, top_ + 22, 14, "start", fmt::format("plane {}", name_of(plane_)));
    if (fabric_.has_t1()) on.text(x_ + 8, y_ + (kT1Y + kT0Y) / 2, 11, "start", uplink_speed());
    on.text(x_ + 8, y_ + kT0Y + 28, 11, "start", host_link_speed());  // left of the links
    for (std::size_t rack = 0; rack < drawn_.racks.size(); ++rack) draw_links(on, rack);
    draw_links_of_t2s(on);
    for (std::size_t i = 0; i < drawn_.t2s.size(); ++i) {
      draw_switch(on, {plane_, Tier::kT2, drawn_.t2s[i]}, t2_x(i), y_ + kT2Y);
    }
    for (std::size_t i = 0; i < drawn_.t1s.size(); ++i) {
      draw_switch(on, {plane_, Tier::kT1, drawn_.t1s[i]}, t1_x(i), y_ + kT1Y);
    }
    for (std::size_t rack = 0; rack < drawn_.racks.size(); ++rack) draw_rack(on, rack);
    draw_gaps(on);
  }

 private:
  [[nodiscard]] double spread(std::size_t at, std::size_t count) const {
    const double step = (drawn_.panel_width() - 2 * kMargin) / static_cast<double>(count);
    return x_ + kMargin + step * (static_cast<double>(at) + 0.5);
  }
  [[nodiscard]] double t2_x(std::size_t at) const { return spread(at, drawn_.t2s.size()); }
  [[nodiscard]] double t1_x(std::size_t at) const { return spread(at, drawn_.t1s.size()); }
  [[nodiscard]] double t0_x(std::size_t at) const { return spread(at, drawn_.racks.size()); }
  [[nodiscard]] double host_x(std::size_t rack, std::size_t at) const {
    const double middle = static_cast<double>(drawn_.downlinks.size() - 1) / 2;
    return t0_x(rack) + (static_cast<double>(at) - middle) * kHostStep;
  }

  [[nodiscard]] std::string host_link_speed() const {
    return text::human_rate(static_cast<double>(fabric_.shape().host_link_bits_per_second));
  }

  // The first of those between a T0 and a T1.
  [[nodiscard]] LinkId uplink(std::uint32_t rack, std::uint32_t t1) const {
    return fabric_.t1_link(plane_, t1, fabric_.t1_port(rack, 0));
  }
  [[nodiscard]] std::string uplink_speed() const {
    const Shape& shape = fabric_.shape();
    const auto each = text::human_rate(static_cast<double>(shape.uplink_bits_per_second));
    return shape.links_per_t1 == 1 ? each : fmt::format("{} x {}", shape.links_per_t1, each);
  }

  static std::string titled(const LinkId& link, const std::string& speed) {
    return fmt::format("{}, {}", name_of(link), speed);
  }

  void draw_links(Drawing& on, std::size_t rack) const {
    using enum LinkId::Kind;
    for (std::size_t i = 0; i < drawn_.t1s.size(); ++i) {
      if (fabric_.pod_of_rack(drawn_.racks[rack]) != fabric_.pod_of_t1(drawn_.t1s[i])) continue;
      on.link(t0_x(rack), y_ + kT0Y, t1_x(i), y_ + kT1Y, colour_,
              titled(uplink(drawn_.racks[rack], drawn_.t1s[i]), uplink_speed()));
    }
    for (std::size_t i = 0; i < drawn_.downlinks.size(); ++i) {
      on.link(t0_x(rack), y_ + kT0Y, host_x(rack, i), y_ + kHostY, colour_,
              titled({kHost, plane_, drawn_.racks[rack], drawn_.downlinks[i]}, host_link_speed()));
    }
  }

  // Each to one T1 of every pod.
  void draw_links_of_t2s(Drawing& on) const {
    for (std::size_t i = 0; i < drawn_.t2s.size(); ++i) {
      for (std::size_t k = 0; k < drawn_.t1s.size(); ++k) {
        const std::uint32_t pod = fabric_.pod_of_t1(drawn_.t1s[k]);
        const LinkId link = fabric_.t2_link(plane_, drawn_.t2s[i], pod);
        if (link.rack != drawn_.t1s[k]) continue;
        on.link(t2_x(i), y_ + kT2Y, t1_x(k), y_ + kT1Y, colour_, titled(link, uplink_speed()));
      }
    }
  }

  void draw_switch(Drawing& on, const SwitchId& id, double x, double y) const {
    const std::string name = name_of(id);
    on.box(x, y, colour_, name, name.substr(name.find('.') + 1));
  }

  void draw_rack(Drawing& on, std::size_t rack) const {
    draw_switch(on, {plane_, Tier::kT0, drawn_.racks[rack]}, t0_x(rack), y_ + kT0Y);
    std::string first;
    std::string last;
    for (std::size_t i = 0; i < drawn_.downlinks.size(); ++i) {
      last = name_of(fabric_.host_at(drawn_.racks[rack], drawn_.downlinks[i]));
      if (i == 0) first = last;
      on.host(host_x(rack, i), y_ + kHostY, last);
    }
    on.text(t0_x(rack), y_ + kHostY + 24, 11, "middle",
            first == last ? first : fmt::format("{} - {}", first, last));
  }

  // Dots where something was left out.
  void draw_gaps(Drawing& on) const {
    const Shape& shape = fabric_.shape();
    const auto dots_between = [&](double left, double right, double y) {
      on.text((left + right) / 2, y + 4, 14, "middle", "...");
    };
    if (const std::size_t t2s = drawn_.t2s.size(); t2s < fabric_.t2s()) {
      dots_between(t2_x(t2s - 2), t2_x(t2s - 1), y_ + kT2Y);
    }
    if (const std::size_t t1s = drawn_.t1s.size(); t1s < fabric_.t1s()) {
      dots_between(t1_x(t1s - 2), t1_x(t1s - 1), y_ + kT1Y);
    }
    if (const std::size_t racks = drawn_.racks.size(); racks < shape.racks) {
      dots_between(t0_x(racks - 2), t0_x(racks - 1), y_ + kT0Y);
    }
    if (const std::size_t hosts = drawn_.downlinks.size(); hosts < shape.hosts_per_rack) {
      for (std::size_t rack = 0; rack < drawn_.racks.size(); ++rack) {
        dots_between(host_x(rack, hosts - 2), host_x(rack, hosts - 1), y_ + kHostY - 2);
      }
    }
  }

  const Fabric& fabric_;
  const Sample& drawn_;
  Plane plane_;
  std::string_view colour_;
  double x_;
  double top_;
  double y_;  // from here all but T2s is measured
};

}  // namespace

std::string draw_fabric(const Fabric& fabric) {
  const Sample drawn(fabric);
  const auto panels = static_cast<std::uint32_t>(drawn.planes.size());
  const std::uint32_t abreast = std::min(panels, kPanelsAbreast);
  const std::uint32_t deep = (panels + abreast - 1) / abreast;
  const double step_x = drawn.panel_width() + kMargin;
  const double step_y = drawn.panel_height() + kMargin;
  Drawing drawing;
  drawing.open(std::max(560.0, kMargin + abreast * step_x), kHeader + deep * step_y);
  drawing.text(kMargin, 28, 16, "start", one_line(fabric));
  drawing.text(kMargin, 48, 12, "start", caption(fabric, drawn));
  for (std::uint32_t i = 0; i < panels; ++i) {
    const std::uint32_t column = i % abreast;
    const std::uint32_t line = i / abreast;
    Panel(fabric, drawn, Plane(static_cast<std::uint8_t>(drawn.planes[i])),
          kMargin + column * step_x, kHeader + line * step_y)
        .draw(drawing);
  }
  drawing.close();
  return drawing.take();
}

}  // namespace openmrc::tools
