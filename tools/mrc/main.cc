// SPDX-License-Identifier: BSD-3-Clause
// mrc: one command, many verbs. Each verb is a file of its own that adds itself to the command
// line.
#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>

#include "decode_command.h"

int main(int argc, char** argv) {
  CLI::App app{"OpenMRC: look at, plan and run MRC (Multipath Reliable Connection) networks",
               "mrc"};
  app.set_version_flag("--version", "mrc " OPENMRC_VERSION);
  app.require_subcommand(1);
  app.failure_message(CLI::FailureMessage::help);

  int exit_code = 0;
  openmrc::tools::add_decode_command(app, exit_code);

  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
