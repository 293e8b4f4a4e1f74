// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/emitted.h"

#include <fmt/format.h>

#include <utility>

#include "openmrc/lab/layout.h"

namespace openmrc::lab {
namespace {

using fabric::HostIndex;
using fabric::SwitchId;

std::filesystem::path emitted_folder(const Spec& spec, const std::string& device) {
  return folder_of(spec.name) / "emit" / device;
}

void add_files(const Spec& spec, const std::string& device,
               std::vector<fabric::EmittedFile> emitted, std::vector<File>& files) {
  for (fabric::EmittedFile& file : emitted) {
    files.push_back({emitted_folder(spec, device) / file.name, std::move(file.text)});
  }
}

Step inside(const std::string& space, std::vector<std::string> program) {
  program.insert(program.begin(), {"ip", "netns", "exec", space});
  return {.arguments = std::move(program)};
}

Stage script_stage(const Spec& spec) {
  Stage stage;
  const auto add = [&](const std::string& space, const std::string& device) {
    stage.push_back(inside(space, {"sh", (emitted_folder(spec, device) / "setup.sh").string()}));
  };
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    add(space_of(spec.name, HostIndex(i)), name_of(HostIndex(i)));
  }
  for (const SwitchId& id : all_switches(spec.fabric())) {
    add(space_of(spec.name, id), name_of(id));
  }
  return stage;
}

// The daemons of each switch have a folder of their own, so that they know nothing of others. They
// give up root; the user is that of the package.
std::vector<Stage> frr_stages(const Spec& spec) {
  Stage folders;
  Stage zebra;
  Stage staticd;
  Stage load;
  for (const SwitchId& id : all_switches(spec.fabric())) {
    const std::string space = space_of(spec.name, id);
    const std::string emitted = emitted_folder(spec, name_of(id)).string();
    const std::string run = emitted + "/run";
    const auto daemon = [&](std::string_view name) {
      Step step =
          inside(space, {fmt::format("{}/{}", kFrrFolder, name), "-d", "--vty_socket", run, "-z",
                         run + "/zserv.api", "-i", fmt::format("{}/{}.pid", run, name)});
      step.leaves_daemon = true;
      return step;
    };
    folders.push_back({.arguments = {"install", "-d", "-o", "frr", "-g", "frr", run}});
    zebra.push_back(daemon("zebra"));
    staticd.push_back(daemon("staticd"));
    load.push_back(inside(space, {"vtysh", "--vty_socket", run, "-f", emitted + "/frr.conf"}));
  }
  return {std::move(folders), std::move(zebra), std::move(staticd), std::move(load)};
}

}  // namespace

fabric::EmitKind emit_kind(const Spec& spec) {
  return spec.source == Source::kFrr ? fabric::EmitKind::kFrr84 : fabric::EmitKind::kIproute2;
}

fabric::EmitInput emit_input(const Spec& spec) {
  const fabric::Fabric fabric = spec.fabric();
  fabric::EmitInput input{fabric::UsidPlan(fabric), default_site(emit_kind(spec), fabric), {}};
  input.site.mtu = spec.mtu;
  return input;
}

std::vector<File> emitted_files(const Spec& spec) {
  const fabric::EmitInput input = emit_input(spec);
  const fabric::EmitKind kind = emit_kind(spec);
  std::vector<File> files;
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    add_files(spec, name_of(HostIndex(i)), emit(kind, input, HostIndex(i)), files);
  }
  for (const SwitchId& id : all_switches(spec.fabric())) {
    add_files(spec, name_of(id), emit(kind, input, id), files);
  }
  return files;
}

std::vector<Stage> emitted_stages(const Spec& spec) {
  std::vector<Stage> stages{script_stage(spec)};
  if (spec.source == Source::kFrr) {
    for (Stage& stage : frr_stages(spec)) stages.push_back(std::move(stage));
  }
  return stages;
}

}  // namespace openmrc::lab
