// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/lab/demo/screen.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tools/mrc/colour.h"

namespace openmrc::lab {
namespace {

constexpr std::size_t kWidthDefault = 80;
constexpr std::size_t kBesideBar = 28;  // name, figure, state and an empty column
constexpr std::size_t kBarMax = 60;

std::string bar(double share, std::size_t width) {
  const double cells = std::clamp(share, 0.0, 1.0) * static_cast<double>(width);
  const auto full = static_cast<std::size_t>(std::lround(cells));
  return std::string(full, '#') + std::string(width - full, ' ');
}

double total(const DemoFrame& frame) {
  return std::accumulate(frame.plane_gbps.begin(), frame.plane_gbps.end(), 0.0);
}

}  // namespace

std::size_t terminal_width() {
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kWidthDefault;
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string lines;
  while (text.size() > width) {
    std::size_t end = text.rfind(' ', width);
    if (end == std::string_view::npos || text.find_first_not_of(' ') > end) {
      end = text.find(' ', width);  // a word that is longer than a line
    }
    if (end == std::string_view::npos) break;
    lines.append(text.substr(0, end)).append("\n");
    text.remove_prefix(end + 1);
  }
  return lines.append(text).append("\n");
}

std::string picture_of(const DemoFrame& frame, std::size_t width, bool coloured) {
  const std::size_t bar_width = std::min(width - std::min(width, kBesideBar), kBarMax);
  const auto row = [&](const std::string& name, double gbps, double most, bool cut) {
    const auto colour = cut ? tools::Colour::kBad : tools::Colour::kGood;
    return fmt::format("  {:<8} {} {:>5.2f} Gb/s{}\n", name,
                       tools::painted(bar(gbps / most, bar_width), colour, coloured), gbps,
                       cut ? "  CUT" : "");
  };
  std::string text =
      wrapped(fmt::format("  {:>4.1f} s   {}", frame.seconds, frame.happening), width - 1) + "\n";
  for (std::size_t plane = 0; plane < frame.plane_gbps.size(); ++plane) {
    text += row(fmt::format("plane {}", plane), frame.plane_gbps[plane], frame.link_gbps,
                frame.plane_is_cut[plane]);
  }
  const double most = frame.link_gbps * static_cast<double>(frame.plane_gbps.size());
  return text + row("all", total(frame), most, false);
}

std::string line_of(const DemoFrame& frame) {
  std::string text = fmt::format("{:>4.0f} s ", frame.seconds);
  for (std::size_t plane = 0; plane < frame.plane_gbps.size(); ++plane) {
    text += fmt::format("  p{} {:.2f}{}", plane, frame.plane_gbps[plane],
                        frame.plane_is_cut[plane] ? " CUT" : "");
  }
  return text + fmt::format("  all {:.2f} Gb/s\n", total(frame));
}

DemoScreen::DemoScreen()
    : on_terminal_(isatty(STDOUT_FILENO) == 1), coloured_(tools::wants_colour(STDOUT_FILENO)) {}

void DemoScreen::show(const DemoFrame& frame) {
  if (on_terminal_) {
    const std::string picture = picture_of(frame, terminal_width(), coloured_);
    if (lines_ > 0) fmt::print("\x1b[{}A\x1b[J", lines_);
    fmt::print("{}", picture);
    lines_ = static_cast<std::size_t>(std::ranges::count(picture, '\n'));
  } else {
    if (frame.happening != happening_) fmt::print("{}\n", frame.happening);
    happening_ = frame.happening;
    if (frame.seconds >= shown_ + 1) {
      fmt::print("{}", line_of(frame));
      shown_ = std::floor(frame.seconds);
    }
  }
  std::fflush(stdout);
}

}  // namespace openmrc::lab
