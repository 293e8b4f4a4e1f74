// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/fabric/emit_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "openmrc/fabric/emit/emit.h"
#include "openmrc/fabric/names.h"
#include "openmrc/text/numbers.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/fabric/load_site.h"

namespace openmrc::tools {
namespace {

namespace fs = std::filesystem;
using fabric::EmitInput;
using fabric::EmitKind;
using fabric::EmittedFile;
using fabric::HostIndex;
using fabric::SwitchId;

struct EmitOptions {
  std::string kind;
  std::string file;
  std::string site;
  std::string device;
  std::string only;
  std::string output;
};

// Writes files below a folder, and counts them.
class Writer {
 public:
  explicit Writer(fs::path folder) : folder_(std::move(folder)) {}

  bool write(const std::string& device, const std::vector<EmittedFile>& files) {
    const fs::path folder = folder_ / device;
    std::error_code ignored;  // the files cannot be written then, which is said
    fs::create_directories(folder, ignored);
    return std::ranges::all_of(
        files, [&](const EmittedFile& file) { return write_file(folder / file.name, file.text); });
  }

  [[nodiscard]] const std::string& failed() const { return failed_; }
  [[nodiscard]] std::uint64_t files() const { return files_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  bool write_file(const fs::path& path, const std::string& text) {
    std::ofstream out(path, std::ios::trunc | std::ios::binary);
    out << text << std::flush;
    if (!out) failed_ = path.string();
    ++files_;
    bytes_ += text.size();
    std::error_code ignored;
    if (out && path.extension() == ".sh") {
      fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, ignored);
    }
    return failed_.empty();
  }

  fs::path folder_;
  std::string failed_{};
  std::uint64_t files_ = 0;
  std::uint64_t bytes_ = 0;
};

bool write_all(EmitKind kind, const EmitInput& input, const std::string& only, Writer& writer) {
  const fabric::Fabric& fabric = input.plan.fabric();
  if (only != "hosts") {
    for (const SwitchId& id : all_switches(fabric)) {
      if (!writer.write(name_of(id), emit(kind, input, id))) return false;
    }
  }
  if (only != "switches") {
    for (std::uint32_t i = 0; i < fabric.hosts(); ++i) {
      const HostIndex host(i);
      if (!writer.write(name_of(host), emit(kind, input, host))) return false;
    }
  }
  return writer.write("", emit_whole(kind, input));
}

int write_folder(EmitKind kind, const EmitInput& input, const EmitOptions& options) {
  Writer writer(options.output);
  if (!write_all(kind, input, options.only, writer)) {
    return complain("fabric", fmt::format("cannot write '{}'", writer.failed()));
  }
  std::cout << fmt::format("{} files, {} bytes, in {}\n", text::grouped(writer.files()),
                           text::grouped(writer.bytes()), options.output);
  return 0;
}

// One device on standard output, its files one after the other.
int print_device(EmitKind kind, const EmitInput& input, const std::string& name) {
  const fabric::Fabric& fabric = input.plan.fabric();
  std::vector<EmittedFile> files;
  if (const auto host = parse_host(fabric, name)) {
    files = emit(kind, input, *host);
  } else if (const auto id = parse_switch(fabric, name)) {
    files = emit(kind, input, *id);
  } else {
    return complain("fabric", to_string(name.starts_with('h') ? host.error() : id.error()));
  }
  for (const EmittedFile& file : files) {
    if (files.size() > 1) std::cout << fmt::format("==> {}/{} <==\n", name, file.name);
    std::cout << file.text;
  }
  return 0;
}

int run_emit(const EmitOptions& options) {
  if (options.output.empty() == options.device.empty()) {
    return complain("fabric",
                    "give either --output DIR, for all devices, or --device NAME, to print one");
  }
  const EmitKind kind = *fabric::emit_kind_named(options.kind);
  const auto input = load_emit_input(kind, options.file, options.site);
  if (!input) return complain("fabric", input.error());
  return options.output.empty() ? print_device(kind, *input, options.device)
                                : write_folder(kind, *input, options);
}

}  // namespace

void add_emit_command(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<EmitOptions>();
  CLI::App* command =
      parent.add_subcommand("emit", "Write the configuration of every switch and host");
  command
      ->add_option("kind", options->kind,
                   "iproute2, frr (10.3 and later), frr-8.4, sonic, cumulus, eos or containerlab")
      ->check(CLI::IsMember(fabric::emit_kind_names()))
      ->type_name("KIND")
      ->option_text("KIND")
      ->required();
  command->add_option("file", options->file, "Fabric file, as of mrc fabric plan")
      ->type_name("FILE")
      ->required();
  command
      ->add_option("--site", options->site,
                   "Site file (TOML): names of ports, platform, thresholds of queues")
      ->type_name("FILE");
  command->add_option("-o,--output", options->output, "Folder to write: a folder for each device")
      ->type_name("DIR");
  command->add_option("--only", options->only, "With --output: switches or hosts only")
      ->check(CLI::IsMember({"switches", "hosts"}))
      ->option_text("switches|hosts");
  command
      ->add_option("--device", options->device, "Print one device instead, such as p0.t0-1 or h3")
      ->type_name("NAME");
  command->footer(
      "Examples:\n"
      "  mrc fabric emit iproute2 examples/fabrics/small.toml -o out\n"
      "  mrc fabric emit sonic examples/fabrics/published.toml --site site.toml --device p0.t0-0");
  command->callback([options, &exit_code] { exit_code = run_emit(*options); });
}

}  // namespace openmrc::tools
