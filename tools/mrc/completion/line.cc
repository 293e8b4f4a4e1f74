// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/completion/line.h"

#include <algorithm>

namespace openmrc::tools {
namespace {

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

const CLI::App* verb_named(const CLI::App& command, const std::string& name) {
  const auto verbs =
      command.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == name; });
  return verbs.empty() ? nullptr : verbs.front();
}

class LineReader {
 public:
  explicit LineReader(const CLI::App& app) { line_.command = &app; }

  void take(const std::string& word) {
    if (line_.option != nullptr && word == "=") return;  // bash makes it a word of its own
    if (line_.option != nullptr) {
      take_value(word);
    } else if (!is_option(word)) {
      take_word(word);
    } else if (word == "--") {
      line_.only_positional = true;
    } else {
      take_option(word);
    }
  }

  TypedLine finish(const std::string& word) {
    line_.word = word;
    if (line_.option != nullptr) {
      if (word == "=") line_.word.clear();
      return line_;
    }
    const std::size_t equals = word.find('=');
    if (!is_option(word) || equals == std::string::npos) return line_;
    line_.option = line_.command->get_option_no_throw(word.substr(0, equals));
    if (line_.option == nullptr) return line_;
    line_.prefix = word.substr(0, equals + 1);
    line_.word = word.substr(equals + 1);
    return line_;
  }

 private:
  [[nodiscard]] bool is_option(const std::string& word) const {
    return !line_.only_positional && word.size() > 1 && word.front() == '-';
  }

  // A program that follows, with options of its own, begins behind the last positional.
  [[nodiscard]] bool is_program() const {
    return line_.command->get_prefix_command() && !line_.positional.empty();
  }

  void take_word(const std::string& word) {
    const CLI::App* const verb =
        line_.positional.empty() ? verb_named(*line_.command, word) : nullptr;
    if (verb != nullptr) {
      line_.command = verb;
      return;
    }
    line_.positional.push_back(word);
    if (is_program()) line_.only_positional = true;
  }

  void take_option(const std::string& word) {
    const std::size_t equals = word.find('=');
    const CLI::Option* const option = line_.command->get_option_no_throw(word.substr(0, equals));
    if (option == nullptr) return;
    line_.given.insert(option);
    if (!takes_value(*option)) return;
    line_.option = option;
    if (equals != std::string::npos) take_value(word.substr(equals + 1));
  }

  void take_value(const std::string& word) {
    const auto& names = line_.option->get_lnames();
    if (std::ranges::find(names, "lab") != names.end()) line_.lab = word;
    line_.option = nullptr;
  }

  TypedLine line_{};
};

}  // namespace

TypedLine read_line(const CLI::App& app, std::span<const std::string> words) {
  LineReader reader(app);
  for (const std::string& word : words.first(words.size() - 1)) reader.take(word);
  return reader.finish(words.back());
}

bool is_shown(const CLI::App& command) {
  return !command.get_name().empty() && !command.get_group().empty();
}
bool is_shown(const CLI::Option& option) { return !option.get_group().empty(); }

}  // namespace openmrc::tools
