// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/lab/layout.h"
#include "openmrc/lab/spec.h"
#include "openmrc/lab/steps.h"

// The commands and files that make a lab of nothing.
namespace openmrc::lab {

struct Plan {
  std::vector<Stage> stages{};
  std::vector<File> files{};
};
Plan plan_of(const Spec& spec);

// How many bytes may wait behind a port of a switch, which drops what it has no room for.
std::int64_t queue_of_switch(std::int64_t bits_per_second);

// What an interface loses when it is set down, as lines of `ip -batch`: all of them may be
// repeated. `wanted` says which interfaces are to be written again, `is_up` by which ones a route
// over several may lead.
using InterfaceTest = std::function<bool(std::string_view interface)>;
std::vector<std::string> host_lines(const Spec& spec, fabric::HostIndex host,
                                    const InterfaceTest& wanted);
std::vector<std::string> switch_lines(const Spec& spec, const fabric::SwitchId& id,
                                      const InterfaceTest& wanted, const InterfaceTest& is_up);

// `ip` for a namespace, with these lines.
Step in_space(const Spec& spec, const std::string& space, std::vector<std::string> lines);

using fabric::kUsidTable;

}  // namespace openmrc::lab
