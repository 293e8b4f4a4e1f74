// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/top/screen.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

namespace openmrc::tools::top {
namespace {

volatile std::sig_atomic_t g_stop = 0;

void on_stop(void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigaction(SIGTSTP, &action, nullptr);
}
void remember_stop(int /*signal*/) { g_stop = 1; }

void write_out(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// A line that was longer before must not show behind the new one.
std::string with_ends_cleared(std::string_view text) {
  std::string cleared;
  for (const char c : text) {
    if (c == '\n') cleared += "\x1b[K";
    cleared += c;
  }
  return cleared;
}

}  // namespace

Screen::Screen() : is_terminal_(::isatty(STDOUT_FILENO) == 1) { enter(); }
Screen::~Screen() { leave(); }

void Screen::enter() {
  if (!is_terminal_) return;
  on_stop(remember_stop);
  write_out("\x1b[?1049h\x1b[?25l");  // second screen, no cursor
}

void Screen::leave() {
  if (!is_terminal_) return;
  write_out("\x1b[?25h\x1b[?1049l");
  on_stop(SIG_DFL);
}

std::size_t Screen::rows() const {
  winsize size{};
  if (!is_terminal_ || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return 0;
  return size.ws_row > 1 ? size.ws_row - 1U : 0U;
}

void Screen::draw(std::string_view text) {
  if (!is_terminal_) return write_out(text);
  write_out("\x1b[H" + with_ends_cleared(text) + "\x1b[J");
}

void Screen::stop_if_asked() {
  if (g_stop == 0) return;
  g_stop = 0;
  leave();
  ::raise(SIGTSTP);
  enter();
}

}  // namespace openmrc::tools::top
