// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "openmrc/fabric/emit/device.h"
#include "openmrc/fabric/emit/port_config.h"
#include "openmrc/fabric/emit/site.h"
#include "openmrc/fabric/usid_plan.h"

// Configuration of a whole network, device by device: text from data, nothing is read or written.
namespace openmrc::fabric {

struct EmitInput {
  UsidPlan plan;
  Site site{};
  PortConfig platform{};  // SONiC only; may be empty
};

struct EmittedFile {
  std::string name{};  // in the folder of its device
  std::string text{};
};

std::vector<EmittedFile> emit(EmitKind kind, const EmitInput& input, const SwitchId& id);
std::vector<EmittedFile> emit(EmitKind kind, const EmitInput& input, HostIndex host);
// Files that belong to no device.
std::vector<EmittedFile> emit_whole(EmitKind kind, const EmitInput& input);

// What is wrong before anything is written; each is a sentence.
std::vector<std::string> check_emit(EmitKind kind, const EmitInput& input);

}  // namespace openmrc::fabric
