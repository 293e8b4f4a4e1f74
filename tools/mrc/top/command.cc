// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/top/command.h"

#include <fmt/core.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <string>

#include "openmrc/agent/agent_client.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/text/units.h"
#include "tools/mrc/colour.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/top/screen.h"
#include "tools/mrc/top/source.h"
#include "tools/mrc/top/view.h"

namespace openmrc::tools {
namespace top {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string url{};
  std::string socket = libmrc::agent_socket_path();
  std::string interval = "1s";
  bool once = false;
  bool json = false;
};

struct Look {
  Exposition text;
  Clock::time_point at;
};

Result<Look, host::Error> look_at(Source& source) {
  auto text = source.fetch();
  if (!text) return failure(std::move(text.error()));
  return Look{.text = Exposition(*text), .at = Clock::now()};
}

// A signal ends it early.
void wait(Duration time) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec left{.tv_sec = time.raw() / kSecond, .tv_nsec = time.raw() % kSecond};
  ::nanosleep(&left, nullptr);
}

double seconds_between(const Look& before, const Look& now) {
  return std::chrono::duration<double>(now.at - before.at).count();
}

void show(const View& view, const Options& options, Screen* screen) {
  const bool colour = wants_colour(STDOUT_FILENO);
  if (options.json) {
    fmt::print("{}\n", json_of(view));
    std::fflush(stdout);
  } else if (screen == nullptr) {
    fmt::print("{}", text_of(view, {.colour = colour}));
  } else {
    screen->draw(text_of(view, {.colour = colour, .rows = screen->rows()}));
  }
}

// Until Ctrl-C, which is how it is meant to end.
int watch(Source& source, Duration interval, const Options& options) {
  auto before = look_at(source);
  if (!before) return complain("top", before.error());
  std::optional<Screen> screen;
  if (!options.json && !options.once) screen.emplace();
  for (;;) {
    wait(interval);
    if (screen) screen->stop_if_asked();
    if (host::interrupted()) return 0;
    auto now = look_at(source);
    if (host::interrupted()) return 0;
    if (!now) {
      screen.reset();
      return complain("top", now.error());
    }
    show(compare(before->text, now->text, seconds_between(*before, *now)), options,
         screen ? &*screen : nullptr);
    if (options.once) return 0;
    before = std::move(now);
  }
}

int run(const Options& options) {
  const auto interval = text::parse_duration(options.interval);
  if (!interval) return complain("top", "--interval: " + interval.error());
  if (*interval < milliseconds(100) || *interval > seconds(3600)) {
    return complain("top", "--interval: 100ms to 3600s");
  }
  const auto source = options.url.empty() ? agent_source(options.socket) : http_source(options.url);
  if (!source) {
    return complain("top", options.url + " is no address of a host",
                    "such as h3, h3:9917 or http://h3:9917/metrics");
  }
  host::catch_interrupts();
  return watch(*source, *interval, options);
}

}  // namespace
}  // namespace top

void add_top_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<top::Options>();
  CLI::App* top =
      app.add_subcommand("top", "What a host's planes, paths and processes do now, redrawn");
  top->add_option("host", options->url, "Host whose mrcd serves metrics; default: this host's mrcd")
      ->type_name("HOST[:PORT]");
  top->add_option("--socket", options->socket, "Socket of this host's mrcd; default $OPENMRC_AGENT")
      ->type_name("PATH");
  top->add_option("--interval", options->interval, "Time between two looks")
      ->type_name("TIME")
      ->capture_default_str();
  top->add_flag("--once", options->once, "Print one interval, and end");
  top->add_flag("--json", options->json, "A line of JSON for each interval");
  top->footer(
      "Examples:\n  mrc top\n  mrc top h3:9917\n  mrc top --once --json | jq .planes\n\nCtrl-C "
      "ends "
      "it.");
  top->callback([options, &exit_code] { exit_code = top::run(*options); });
}

}  // namespace openmrc::tools
