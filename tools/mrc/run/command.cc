// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/run/command.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "openmrc/host/config.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/run/environment.h"
#include "tools/mrc/run/libraries.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;

// As shells and env(1) say it.
constexpr int kNotStarted = 126;
constexpr int kNotFound = 127;

struct RunOptions {
  std::optional<std::string> config{};
  bool verbose = false;
  bool quiet = false;
};

std::string variable_now(const std::string& name) {
  const char* const value = std::getenv(name.c_str());  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

// The file that execvp would start; empty if there is none.
fs::path file_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return program;
  const std::string path = variable_now("PATH");
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path file = fs::path(path.substr(begin, end - begin)) / program;
    if (access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return {};
}

// The loader hears nothing of us in programs that have rights of their own.
bool has_own_rights(const fs::path& file) {
  struct stat status{};
  return !file.empty() && stat(file.c_str(), &status) == 0 && geteuid() != status.st_uid &&
         (status.st_mode & S_ISUID) != 0;
}

Result<host::Config, int> load(const RunOptions& options) {
  auto config = host::load_config(options.config);
  if (config) return std::move(*config);
  std::string all;
  for (const host::ConfigError& error : config.error()) {
    all += (all.empty() ? "" : "\n") + to_string(error);
  }
  return failure(complain("run", all,
                          "mrc config init writes one for this host; mrc run --config FILE names "
                          "another; hosts of a lab have theirs: mrc lab exec h0 mrc run ..."));
}

Result<VerbsLibraries, int> libraries() {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const auto folders = verbs_folders(self.parent_path());
  if (auto found = find_verbs_libraries(folders)) return std::move(*found);
  std::string places;
  for (const fs::path& folder : folders) places += (places.empty() ? "" : ", ") + folder.string();
  return failure(complain("run",
                          fmt::format("the soft verbs device is not installed: none of {} has "
                                      "libibverbs.so.1 and libopenmrc-sysfs.so.0",
                                      places),
                          "install the package openmrc-verbs; in a build tree: cmake --build DIR "
                          "--target verbs_shared sysfs_shared"));
}

void describe(const VerbsLibraries& found, const host::Config& config) {
  fmt::print(stderr, "mrc run: openmrc0 is host '{}' of {}, {} ports\n", config.name,
             config.file.string(), config.ports.size());
  if (found.system) {
    fmt::print(stderr, "mrc run: behind it is {}\n", found.system->string());
  } else {
    fmt::print(stderr,
               "mrc run: this machine has no libibverbs.so.1 of rdma-core; if it should, make {} "
               "a link to it\n",
               (found.folder / "libibverbs-system.so.1").string());
  }
}

int become(const std::vector<std::string>& program) {
  std::vector<std::string> words = program;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  const int error = errno;
  complain("run", fmt::format("cannot run '{}': {}", program.front(), std::strerror(error)),
           error == ENOENT ? "install it, or write its path" : "");
  return error == ENOENT ? kNotFound : kNotStarted;
}

int run(const RunOptions& options, const std::vector<std::string>& program) {
  if (program.empty()) {
    complain("run", "nothing to run", "write the program behind it: mrc run -- ibv_devinfo");
    return 2;
  }
  const auto found = libraries();
  if (!found) return found.error();
  const auto config = load(options);
  if (!config) return config.error();
  if (has_own_rights(file_of(program.front()))) {
    return complain("run",
                    fmt::format("'{}' runs with the rights of another user, and the loader ignores "
                                "what mrc run sets for such programs",
                                program.front()),
                    "put mrc run behind it: sudo mrc run -- PROGRAM");
  }
  const auto variables = variables_for(*found, *config, variable_now);
  if (!variables) {
    return complain("run", variables.error(), "install OpenMRC, or build it, somewhere else");
  }
  if (options.verbose) describe(*found, *config);
  if (!options.quiet) fmt::print(stderr, "mrc run: {}\n", to_string(*variables));
  for (const Variable& variable : *variables) {
    setenv(variable.name.c_str(), variable.value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  }
  return become(program);
}

}  // namespace

std::vector<std::string> take_program(std::vector<std::string>& words) {
  if (words.empty() || words.front() != "run") return {};
  auto word = words.begin() + 1;
  while (word != words.end() && *word != "--" && word->starts_with('-')) {
    const bool has_value = *word == "--config" && word + 1 != words.end();
    word += has_value ? 2 : 1;
  }
  const auto program = word != words.end() && *word == "--" ? word + 1 : word;
  std::vector<std::string> taken(program, words.end());
  words.erase(word, words.end());
  return taken;
}

void add_run_command(CLI::App& app, int& exit_code, std::vector<std::string> program) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "Run a program of verbs (RDMA) on the device openmrc0");
  command->prefix_command();
  command
      ->add_option(
          "--config", options->config,
          "Configuration of the host; default $OPENMRC_CONFIG or /etc/openmrc/openmrc.toml")
      ->type_name("FILE");
  auto* verbose = command->add_flag("-v,--verbose", options->verbose,
                                    "Also say which host and which libraries these are");
  command->add_flag("-q,--quiet", options->quiet, "Do not say what is set")->excludes(verbose);
  command->footer(
      "mrc run [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n"
      "Sets what makes the program find the device, says so on standard error, and becomes the\n"
      "program. Real RDMA devices are still there, behind it. Examples:\n"
      "  mrc run -- ibv_devinfo\n"
      "  sudo mrc lab exec h0 mrc run -- ucx_info -d");
  command->callback(
      [options, program = std::move(program), &exit_code] { exit_code = run(*options, program); });
}

}  // namespace openmrc::tools
