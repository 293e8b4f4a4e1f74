// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/usage_error.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "openmrc/text/suggest.h"

namespace openmrc::tools {
namespace {

using Words = std::vector<std::string>;

// The long names of the options; short ones are all alike.
Words options_of(const CLI::App& command) {
  Words names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Words commands_of(const CLI::App& command) {
  Words names;
  for (const CLI::App* each :
       command.get_subcommands([](const CLI::App* sub) { return !sub->get_name().empty(); })) {
    names.push_back(each->get_name());
  }
  return names;
}

// ": did you mean '--duration'?"
std::string suggestion(std::string_view word, const Words& known) {
  const std::vector<std::string_view> views(known.begin(), known.end());
  const auto nearest = text::nearest_word(word, views);
  return nearest ? fmt::format(": did you mean '{}'?", known[*nearest]) : "";
}

std::string unknown_word(const CLI::App& command, const std::string& word) {
  if (word.starts_with('-')) {
    const std::string name = word.substr(0, word.find('='));
    return fmt::format("unknown option '{}'{}", name, suggestion(name, options_of(command)));
  }
  const Words commands = commands_of(command);
  if (commands.empty()) return fmt::format("unexpected argument '{}'", word);
  const std::string hint = suggestion(word, commands);
  return fmt::format("unknown command '{}'{}", word,
                     hint.empty() ? fmt::format(": use {}", fmt::join(commands, ", ")) : hint);
}

std::string usage_reason(const CLI::App& command, const Words& left_over, const CLI::Error& error) {
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  if (code != CLI::ExitCodes::ExtrasError && code != CLI::ExitCodes::RequiredError) {
    return error.what();
  }
  if (!left_over.empty()) return unknown_word(command, left_over.front());
  const Words commands = commands_of(command);
  if (commands.empty() || code == CLI::ExitCodes::ExtrasError) return error.what();
  return fmt::format("a command is required: {}", fmt::join(commands, ", "));
}

}  // namespace

std::string usage_error_text(const CLI::App* app, const CLI::Error& error) {
  const CLI::App* command = app;
  std::string names = app->get_display_name();
  for (auto given = app->get_subcommands(); !given.empty(); given = command->get_subcommands()) {
    command = given.front();
    names += " " + command->get_name();
  }
  return fmt::format("mrc: {}\nTry '{} --help'.\n",
                     usage_reason(*command, app->remaining(true), error), names);
}

}  // namespace openmrc::tools
