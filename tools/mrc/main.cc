// SPDX-License-Identifier: BSD-3-Clause
// mrc: one command, many verbs. Each verb is a file of its own that adds itself to the command
// line.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "tools/mrc/completion/command.h"
#include "tools/mrc/config/command.h"
#include "tools/mrc/ctl/command.h"
#include "tools/mrc/decode/command.h"
#include "tools/mrc/doctor/command.h"
#include "tools/mrc/fabric/command.h"
#include "tools/mrc/lab/command.h"
#include "tools/mrc/map/command.h"
#include "tools/mrc/perf/command.h"
#include "tools/mrc/ping/command.h"
#include "tools/mrc/run/command.h"
#include "tools/mrc/sim/command.h"
#include "tools/mrc/top/command.h"
#include "tools/mrc/usage_error.h"

namespace {

int run(std::vector<std::string> words) {
  std::vector<std::string> program = openmrc::tools::take_program(words);
  CLI::App app{"OpenMRC: inspect, plan and run MRC (Multipath Reliable Connection) networks",
               "mrc"};
  app.set_version_flag("--version", "mrc " OPENMRC_VERSION);
  app.failure_message(openmrc::tools::usage_error_text);
  app.require_subcommand(0, 1);

  int exit_code = 0;
  openmrc::tools::add_config_command(app, exit_code);
  openmrc::tools::add_ctl_command(app, exit_code);
  openmrc::tools::add_decode_command(app, exit_code);
  openmrc::tools::add_doctor_command(app, exit_code);
  openmrc::tools::add_fabric_command(app, exit_code);
  openmrc::tools::add_lab_command(app, exit_code);
  openmrc::tools::add_map_command(app, exit_code);
  openmrc::tools::add_perf_command(app, exit_code);
  openmrc::tools::add_ping_command(app, exit_code);
  openmrc::tools::add_run_command(app, exit_code, std::move(program));
  openmrc::tools::add_sim_command(app, exit_code);
  openmrc::tools::add_top_command(app, exit_code);

  if (!words.empty() && words.front() == openmrc::tools::kCompleteCommand) {
    words.erase(words.begin());
    openmrc::tools::print_completions(app, words);
    return 0;
  }
  try {
    std::ranges::reverse(words);  // as it wants them
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;  // 0 for --help and --version
  }
  if (app.get_subcommands().empty()) {
    std::cout << app.help();
    return 2;
  }
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(std::vector<std::string>(argv + 1, argv + argc));
} catch (const std::bad_alloc&) {
  std::cerr << "mrc: out of memory\n";
  return 1;
} catch (const std::exception& error) {
  std::cerr << "mrc: " << error.what() << '\n';
  return 1;
}
