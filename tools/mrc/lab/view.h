// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "openmrc/lab/faults.h"
#include "openmrc/lab/spec.h"

// What a lab looks like, for people and for programs.
namespace openmrc::lab {

// A picture of every plane: hosts, T0s, T1s and the links between them, broken ones marked.
std::string draw(const Spec& spec, const LinkStates& states);

std::string status_text(const Spec& spec, const LinkStates& states, bool coloured);
std::string status_json(const Spec& spec, const LinkStates& states);

// What to type next.
std::string next_steps(const Spec& spec);

}  // namespace openmrc::lab
