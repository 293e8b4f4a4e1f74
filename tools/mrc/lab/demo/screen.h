// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// What `mrc lab demo` shows while it runs.
namespace openmrc::lab {

struct DemoFrame {
  double seconds = 0;              // since traffic began
  std::vector<double> plane_gbps;  // that arrived, by plane
  std::vector<bool> plane_is_cut;  // by plane
  double link_gbps = 0;            // what a link carries at most
  std::string happening;           // "the cables of plane 2 are pulled"
};

std::size_t terminal_width();  // 80 if there is none
// Lines of at most this width, broken between words.
std::string wrapped(std::string_view text, std::size_t width);

// A picture of several lines, for a terminal of this width.
std::string picture_of(const DemoFrame& frame, std::size_t width, bool coloured);
// One line, for a log.
std::string line_of(const DemoFrame& frame);

// Shows frames: over each other on a terminal, or a line each second.
class DemoScreen {
 public:
  DemoScreen();

  void show(const DemoFrame& frame);

 private:
  bool on_terminal_;
  bool coloured_;
  std::size_t lines_ = 0;  // of the picture that is shown
  double shown_ = -1;      // the time of the last line
  std::string happening_;  // what the last line said
};

}  // namespace openmrc::lab
