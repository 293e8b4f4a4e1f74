// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/config/command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/mrc/complaint.h"
#include "tools/mrc/config/init.h"
#include "tools/mrc/config/interfaces.h"

namespace openmrc::tools {
namespace {

struct InitOptions {
  std::vector<std::string> planes;
  std::string output;
  int ip = 0;  // 0: what there is
};

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "host";
}

int init(const InitOptions& options) {
  const auto here = config::interfaces_here();
  if (!here) return complain("config", here.error());
  std::optional<wire::IpVersion> version;
  if (options.ip != 0) version = static_cast<wire::IpVersion>(options.ip);
  const auto choice = config::choose(*here, options.planes, version);
  if (!choice) return complain("config", choice.error(), "mrc config init --planes eth0,eth1");
  const std::string text = config::config_text(host_name(), *choice);
  if (options.output.empty()) {
    std::cout << text;
    return 0;
  }
  if (std::filesystem::exists(options.output)) {
    return complain("config", fmt::format("{} exists and is left as it is", options.output),
                    "name another file with --output, or remove it");
  }
  std::ofstream file(options.output);
  if (!(file << text) || !file.flush()) {
    return complain("config", fmt::format("cannot write {}", options.output));
  }
  std::cout << fmt::format("{}: {} planes. Next: mrc doctor --config {}\n", options.output,
                           choice->ports.size(), options.output);
  return 0;
}

}  // namespace

void add_config_command(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("config", "Write a configuration for this machine");
  command->require_subcommand(1);
  const auto options = std::make_shared<InitOptions>();
  CLI::App* init_command =
      command->add_subcommand("init", "An openmrc.toml for this machine's interfaces");
  init_command
      ->add_option("--planes", options->planes,
                   "Interfaces, one for each plane; default: all that are up and have an address")
      ->delimiter(',')
      ->type_name("INTERFACE,...");
  init_command
      ->add_option("--ip", options->ip,
                   "Addresses to use, 4 or 6; default: those that more interfaces have")
      ->check(CLI::IsMember({4, 6}))
      ->type_name("VERSION");
  init_command->add_option("-o,--output", options->output, "File to write; default: print it")
      ->type_name("FILE");
  init_command->footer(
      "Examples:\n"
      "  mrc config init --planes eth0,eth1\n"
      "  sudo mrc config init -o /etc/openmrc/openmrc.toml");
  init_command->callback([options, &exit_code] { exit_code = init(*options); });
}

}  // namespace openmrc::tools
