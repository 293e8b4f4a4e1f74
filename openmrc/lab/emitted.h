// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "openmrc/fabric/emit/emit.h"
#include "openmrc/lab/spec.h"
#include "openmrc/lab/steps.h"

// A lab as a site for which `mrc fabric emit` writes.
namespace openmrc::lab {

fabric::EmitKind emit_kind(const Spec& spec);
fabric::EmitInput emit_input(const Spec& spec);

// What is emitted for every device, in the lab's folder; and what makes the network of it.
std::vector<File> emitted_files(const Spec& spec);
std::vector<Stage> emitted_stages(const Spec& spec);

// Where Debian's package frr has the daemons.
inline constexpr std::string_view kFrrFolder = "/usr/lib/frr";

}  // namespace openmrc::lab
