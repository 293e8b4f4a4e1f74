// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string_view>

namespace openmrc::tools::top {

// A terminal that is drawn again and again, on its second screen: what was on it comes back when
// this is destroyed, and while the program is stopped by Ctrl-Z. Where standard output is no
// terminal, texts follow each other.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  [[nodiscard]] bool is_terminal() const { return is_terminal_; }
  // Lines that fit; 0: any number.
  [[nodiscard]] std::size_t rows() const;
  void draw(std::string_view text);
  // Stops the program if that was asked for, with the terminal as it was before.
  void stop_if_asked();

 private:
  void enter();
  void leave();

  bool is_terminal_;
};

}  // namespace openmrc::tools::top
