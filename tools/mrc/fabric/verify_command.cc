// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/fabric/verify_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "openmrc/fabric/names.h"
#include "openmrc/fabric/verify/verify.h"
#include "openmrc/lab/build.h"
#include "openmrc/lab/emitted.h"
#include "openmrc/lab/layout.h"
#include "tools/mrc/complaint.h"
#include "tools/mrc/fabric/load_site.h"
#include "tools/mrc/fabric/output_of.h"
#include "tools/mrc/fabric/verify_dump.h"

namespace openmrc::tools {
namespace {

using fabric::Device;
using fabric::EmitInput;
using fabric::EmitKind;
using fabric::Finding;
using fabric::HostIndex;
using fabric::SwitchId;
using Words = std::vector<std::string>;

constexpr std::chrono::seconds kAnswerMax{60};
constexpr std::string_view kPlaceholder = "{device}";

struct VerifyOptions {
  std::string file;
  std::string kind = "iproute2";
  std::string site;
  std::string run;
  std::string dump;
  std::string lab;
  Words devices;
  unsigned jobs = 4;
  bool json = false;
};

// What is to be compared, and how devices are asked.
struct Task {
  EmitInput input;
  EmitKind kind = EmitKind::kIproute2;
  Words prefix{};
  std::string dump{};  // a folder; empty: devices are asked
};

struct Answer {
  std::string device{};
  std::vector<Finding> findings{};
  std::string error{};  // it could not be asked
};

Result<Task, std::string> task_of_lab(const std::string& name) {
  const auto spec = lab::load(name);
  if (!spec) return failure(spec.error());
  if (spec->ip == wire::IpVersion::kV4 || is_soft(spec->switches)) {
    return failure(fmt::format("the lab '{}' has no SRv6 in the kernel to compare", name));
  }
  return Task{lab::emit_input(*spec),
              lab::emit_kind(*spec),
              {"ip", "netns", "exec", lab::space_prefix(name) + std::string(kPlaceholder)}};
}

Result<Task, std::string> task_of(const VerifyOptions& options) {
  if (options.file.empty() == options.lab.empty()) {
    return failure(std::string("give either a FILE or --lab NAME; see mrc fabric verify --help"));
  }
  if (!options.lab.empty()) return task_of_lab(options.lab);
  const EmitKind kind = *fabric::emit_kind_named(options.kind);
  auto input = load_emit_input(kind, options.file, options.site);
  if (!input) return failure(std::move(input.error()));
  Task task{*std::move(input), kind, {}, options.dump};
  if (options.dump.empty() ? kind == EmitKind::kSonic : !can_be_dumped(kind)) {
    return failure(std::string("--kind sonic needs --dump, which is for frr, frr-8.4 and sonic"));
  }
  if (!options.dump.empty()) return task;
  std::istringstream words(options.run);
  for (std::string word; words >> word;) task.prefix.push_back(word);
  const bool tells_apart = options.run.find(kPlaceholder) != std::string::npos;
  if (!tells_apart && options.devices.size() != 1) {
    return failure(
        fmt::format("--run must have {} in it, where the name of a device stands; "
                    "without it one --device is compared with one machine",
                    kPlaceholder));
  }
  return task;
}

Result<std::vector<Device>, std::string> devices_of(const Task& task, const Words& names) {
  const fabric::Fabric& fabric = task.input.plan.fabric();
  std::vector<Device> devices;
  const auto add = [&](const auto& id) {
    devices.push_back(device_of(task.input.plan, task.input.site, task.kind, id));
  };
  for (const std::string& name : names) {
    if (const auto host = parse_host(fabric, name)) {
      if (!task.dump.empty()) return failure(name + " is no switch: --dump has only those");
      add(*host);
    } else if (const auto id = parse_switch(fabric, name)) {
      add(*id);
    } else {
      return failure(to_string(name.starts_with('h') ? host.error() : id.error()));
    }
  }
  if (!names.empty()) return devices;
  for (const SwitchId& id : all_switches(fabric)) add(id);
  if (!task.dump.empty()) return devices;
  for (std::uint32_t i = 0; i < fabric.hosts(); ++i) add(HostIndex(i));
  return devices;
}

// Asks one device.
class Asker {
 public:
  Asker(const Task& task, const Device& device) : task_(task), device_(device) {}

  Answer ask() {
    fabric::DeviceOutput output;
    output.links = must({"ip", "-j", "link", "show"});
    output.addresses = must({"ip", "-6", "-j", "address", "show"});
    output.routes = must({"ip", "-6", "-j", "route", "show"});
    output.neighbours = must({"ip", "-6", "-j", "neighbour", "show"});
    output.rules = must({"ip", "-6", "-j", "rule", "show"});
    Words settings{"sysctl", "-e"};
    std::ranges::move(settings_to_read(device_), std::back_inserter(settings));
    output.settings = must(settings);
    // The table exists if it has a route, and namespaces have names only where `ip netns` made
    // them.
    const std::string table = fmt::format("{}", fabric::kUsidTable);
    output.usid_routes = may({"ip", "-6", "-j", "route", "show", "table", table});
    output.spaces = may({"ip", "-j", "netns", "list-id"});
    Answer answer{device_.name, {}, error_};
    if (!error_.empty()) return answer;
    const auto found = read_device(output);
    if (found) {
      answer.findings =
          verify(device_, task_.input.site, task_.kind, task_.input.plan.block(), *found);
    } else {
      answer.error = found.error();
    }
    return answer;
  }

 private:
  std::string must(const Words& command) {
    if (!error_.empty()) return "";
    auto said = run(command);
    if (!said) error_ = said.error();
    return said ? *std::move(said) : "";
  }
  std::string may(const Words& command) {
    if (!error_.empty()) return "";
    return run(command).value_or("");
  }
  [[nodiscard]] Result<std::string, std::string> run(const Words& command) const {
    Words words;
    for (std::string word : task_.prefix) {
      if (const std::size_t at = word.find(kPlaceholder); at != std::string::npos) {
        word.replace(at, kPlaceholder.size(), device_.name);
      }
      words.push_back(std::move(word));
    }
    words.insert(words.end(), command.begin(), command.end());
    return output_of(words, fabric::kDeviceOutputBytesMax, kAnswerMax);
  }

  const Task& task_;
  const Device& device_;
  std::string error_{};
};

Answer read_dump(const Task& task, const Device& device) {
  Answer answer{.device = device.name};
  auto findings = verify_dump(task.dump, device, task.kind, task.input.plan.block());
  if (findings) {
    answer.findings = *std::move(findings);
  } else {
    answer.error = std::move(findings.error());
  }
  return answer;
}

// What a device complained, on one line and without control characters.
std::string one_line(std::string text) {
  for (char& c : text) c = c >= ' ' && c < 0x7f ? c : ' ';
  return text;
}

// Several at a time: most of the time is spent waiting for their answers.
std::vector<Answer> ask_all(const Task& task, const std::vector<Device>& devices, unsigned jobs) {
  std::vector<Answer> answers(devices.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < devices.size(); i = next++) {
      answers[i] = task.dump.empty() ? Asker(task, devices[i]).ask() : read_dump(task, devices[i]);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < jobs; ++i) threads.emplace_back(work);
  work();
  threads.clear();
  return answers;
}

void print_text(const std::vector<Answer>& answers) {
  std::size_t differences = 0;
  std::size_t devices = 0;
  std::size_t silent = 0;
  for (const Answer& answer : answers) {
    for (const Finding& finding : answer.findings) {
      std::cout << fmt::format("{:<10} {:<8} {}\n", answer.device,
                               name_of(difference_of(finding.mistake)), finding.what);
      if (!finding.found.empty())
        std::cout << fmt::format("{:<10} found    {}\n", "", finding.found);
      if (!finding.layer.empty())
        std::cout << fmt::format("{:<10} layer    {}\n", "", finding.layer);
      if (!finding.fix.empty()) std::cout << fmt::format("{:<10} fix      {}\n", "", finding.fix);
    }
    if (!answer.error.empty())
      std::cout << fmt::format("{:<10} silent   {}\n", answer.device, one_line(answer.error));
    differences += answer.findings.size();
    devices += answer.findings.empty() ? 0U : 1U;
    silent += answer.error.empty() ? 0U : 1U;
  }
  const auto count = [](std::size_t number, std::string_view thing) {
    return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
  };
  if (differences + silent == 0) {
    std::cout << fmt::format("{} as planned.\n", count(answers.size(), "device"));
    return;
  }
  std::cout << fmt::format("{} on {} of {}", count(differences, "difference"), devices,
                           count(answers.size(), "device"));
  std::cout << (silent == 0 ? ".\n" : fmt::format("; {} could not be asked.\n", silent));
}

void print_json(const std::vector<Answer>& answers) {
  auto findings = nlohmann::ordered_json::array();
  auto silent = nlohmann::ordered_json::array();
  for (const Answer& answer : answers) {
    for (const Finding& finding : answer.findings) {
      findings.push_back({{"device", answer.device},
                          {"difference", name_of(difference_of(finding.mistake))},
                          {"mistake", name_of(finding.mistake)},
                          {"planned", finding.what},
                          {"found", finding.found},
                          {"layer", finding.layer},
                          {"fix", finding.fix}});
    }
    if (!answer.error.empty()) {
      silent.push_back({{"device", answer.device}, {"error", answer.error}});
    }
  }
  const nlohmann::ordered_json object{
      {"devices", answers.size()}, {"findings", findings}, {"silent", silent}};
  // What devices say may be no UTF-8.
  std::cout << object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

int run_verify(const VerifyOptions& options) {
  const auto task = task_of(options);
  if (!task) return complain("fabric", task.error());
  const auto devices = devices_of(*task, options.devices);
  if (!devices) return complain("fabric", devices.error());
  const auto answers = ask_all(*task, *devices, options.jobs);
  options.json ? print_json(answers) : print_text(answers);
  const bool as_planned = std::ranges::all_of(answers, [](const Answer& answer) {
    return answer.findings.empty() && answer.error.empty();
  });
  return as_planned ? 0 : 1;
}

}  // namespace

void add_verify_command(CLI::App& parent, int& exit_code) {
  const auto options = std::make_shared<VerifyOptions>();
  CLI::App* command = parent.add_subcommand("verify", "Compare what devices have with the plan");
  command->add_option("file", options->file, "Fabric file, as of mrc fabric emit")
      ->type_name("FILE");
  command->add_option("--kind", options->kind, "What was emitted: iproute2, frr, frr-8.4 or sonic")
      ->check(CLI::IsMember({"iproute2", "frr", "frr-8.4", "sonic"}))
      ->option_text("KIND [iproute2]");
  command->add_option("--site", options->site, "Site file, as of mrc fabric emit")
      ->type_name("FILE");
  command
      ->add_option("--run", options->run,
                   "Words before every command that reads a device, with {device} for its name")
      ->type_name("PREFIX");
  command
      ->add_option("--dump", options->dump,
                   "Instead of asking, read what switches printed: a folder for each below this")
      ->type_name("DIR");
  command->add_option("--lab", options->lab, "Devices of a lab, instead of all the above")
      ->type_name("LAB");
  command
      ->add_option("--device", options->devices,
                   "Only this device, such as p0.t0-1 or h3; may be repeated")
      ->type_name("NAME");
  command->add_option("--jobs", options->jobs, "Devices to ask at a time; default 4")
      ->check(CLI::Range(1U, 256U))
      ->option_text("N");
  command->add_flag("--json", options->json, "One JSON object, for programs");
  command->footer(
      "Examples:\n"
      "  sudo mrc fabric verify --lab lab\n"
      "  mrc fabric verify examples/fabrics/small.toml --run 'ssh root@{device}'\n"
      "  mrc fabric verify examples/fabrics/small.toml --device h3");
  command->callback([options, &exit_code] { exit_code = run_verify(*options); });
}

}  // namespace openmrc::tools
