// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/completion/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <string_view>
#include <vector>

#include "openmrc/lab/build.h"
#include "tools/mrc/completion/lab_names.h"
#include "tools/mrc/completion/line.h"
#include "tools/mrc/lab/cli.h"

namespace openmrc::tools {
namespace {

using Words = std::span<const std::string>;
using Names = std::vector<std::string>;

constexpr const char* kFiles = ":files";
constexpr const char* kFolders = ":folders";
constexpr const char* kPrograms = ":programs";
constexpr const char* kHosts = ":hosts";

// Prints what begins like the word.
class Candidates {
 public:
  explicit Candidates(const TypedLine& line) : word_(line.word), prefix_(line.prefix) {}

  void add(const std::string& name, std::string_view description = {}) const {
    if (!name.starts_with(word_)) return;
    std::cout << prefix_ << name;
    if (!description.empty()) std::cout << '\t' << description;
    std::cout << '\n';
  }
  void add_all(const Names& names) const {
    for (const std::string& name : names) add(name);
  }
  static void leave_to_shell(const char* what) { std::cout << what << '\n'; }

 private:
  const std::string& word_;
  const std::string& prefix_;
};

// "MODE:{srv6,usid,udp}": the words that a validator takes.
Names words_in_braces(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}', open);
  if (open == std::string::npos || close == std::string::npos) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

bool is_file(std::string_view type) {
  return type == "FILE" || type == "PATH" || type == "DIR" || type.starts_with("FILE.") ||
         type.ends_with(".toml") || type.ends_with(".json");
}

// What a value of a type may be, as the help calls the type. `inside`: a program of a lab's host.
void add_values(const std::string& type, const std::string& lab, bool inside,
                const Candidates& candidates) {
  if (const Names words = words_in_braces(type); !words.empty()) {
    candidates.add_all(words);
  } else if (is_file(type)) {
    Candidates::leave_to_shell(kFiles);
  } else if (type == "DIR") {
    Candidates::leave_to_shell(kFolders);
  } else if (type == "NAME") {
    candidates.add_all(lab::labs_there());
  } else if (type == "LINK") {
    candidates.add_all(links_of_lab(lab));
  } else if (type == "WHAT") {
    candidates.add_all(targets_of_lab(lab));
  } else if (type == "HOST" && inside) {
    candidates.add_all(hosts_of_lab(lab));
  } else if (type == "HOST") {
    Candidates::leave_to_shell(kHosts);
  }
}

void add_options(const TypedLine& line, const Candidates& candidates) {
  for (const CLI::Option* option : line.command->get_options()) {
    const bool again = option->get_items_expected_max() > 1;
    if (!is_shown(*option) || (line.given.contains(option) && !again)) continue;
    for (const std::string& name : option->get_lnames()) {
      candidates.add("--" + name, option->get_description());
    }
    if (!option->get_lnames().empty()) continue;
    for (const std::string& name : option->get_snames()) {
      candidates.add("-" + name, option->get_description());
    }
  }
}

bool has_verbs(const CLI::App& command) {
  return !command.get_subcommands([](const CLI::App*) { return true; }).empty();
}

void add_verbs(const CLI::App& command, const Candidates& candidates) {
  for (const CLI::App* verb : command.get_subcommands([](const CLI::App*) { return true; })) {
    if (is_shown(*verb)) candidates.add(verb->get_name(), verb->get_description());
  }
}

// The types of a command's positionals, in order; the last one is that of all further words, too.
Names positional_types(const CLI::App& command) {
  Names types;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    for (const std::string& type : CLI::detail::split(option->get_type_name(), ' ')) {
      types.push_back(type);
    }
  }
  return types;
}

bool takes_more(const CLI::App& command) {
  return std::ranges::any_of(command.get_options(), [](const CLI::Option* option) {
    return option->get_positional() &&
           option->get_items_expected_max() >= CLI::detail::expected_max_vector_size;
  });
}

void complete(const CLI::App& app, Words words, const std::string& lab, bool inside);

// `mrc lab exec h0 PROGRAM ...`, `mrc run PROGRAM ...`
void complete_program(const CLI::App& app, Words program, const std::string& lab) {
  if (!program.empty() && program.front() == "--") program = program.subspan(1);
  if (program.size() <= 1) {
    Candidates::leave_to_shell(kPrograms);
  } else if (std::filesystem::path(program.front()).filename() == app.get_name()) {
    complete(app, program.subspan(1), lab, true);
  } else {
    Candidates::leave_to_shell(kFiles);
  }
}

void add_positional(const CLI::App& app, TypedLine line, bool inside) {
  const Candidates candidates(line);
  const Names types = positional_types(*line.command);
  const bool in_lab = line.command->get_option_no_throw("--lab") != nullptr;
  // The name of a lab may stand in front of its parts.
  if (in_lab && line.positional.empty() && line.lab.empty() && !types.empty() &&
      types.front() != "NAME") {
    candidates.add_all(lab::labs_there());
  }
  if (in_lab) lab::take_name(line.lab, line.positional);
  const std::size_t position = line.positional.size();
  if (position < types.size() || (takes_more(*line.command) && !types.empty())) {
    add_values(types[std::min(position, types.size() - 1)], line.lab, inside || in_lab, candidates);
  } else if (line.command->get_prefix_command() && !has_verbs(*line.command)) {
    Names program(line.positional.begin() + static_cast<std::ptrdiff_t>(types.size()),
                  line.positional.end());
    program.push_back(line.word);
    complete_program(app, program, line.lab);
  }
}

void complete(const CLI::App& app, Words words, const std::string& lab, bool inside) {
  TypedLine line = read_line(app, words);
  if (line.lab.empty()) line.lab = lab;
  const Candidates candidates(line);
  if (line.option != nullptr) {
    add_values(line.option->get_type_name(), line.lab, inside, candidates);
  } else if (line.word.starts_with('-') && !line.only_positional) {
    add_options(line, candidates);
  } else {
    if (line.positional.empty()) add_verbs(*line.command, candidates);
    add_positional(app, line, inside);
  }
}

}  // namespace

void print_completions(const CLI::App& app, std::span<const std::string> words) {
  if (!words.empty()) complete(app, words, {}, false);
}

}  // namespace openmrc::tools
