// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/lab/spec.h"

// Making and removing labs.
namespace openmrc::lab {

enum class Built : std::uint8_t {
  kNew,      // it was made
  kThere,    // it was there and whole; its links are as at the beginning
  kRebuilt,  // parts of it were missing, and it was rebuilt
};

// An error leaves nothing behind.
Result<Built, std::string> build(const Spec& spec);
// What `build` would run, as a shell script.
std::string script_of(const Spec& spec);

// Also what is left of a lab that was never finished. Nothing is wrong if there is none.
Result<void, std::string> remove(const std::string& lab);

// Those of which there is something.
std::vector<std::string> labs_there();
// What a lab is made of, or why it cannot be used.
Result<Spec, std::string> load(const std::string& lab);
// The same, also while it is incomplete.
Result<Spec, std::string> load_spec(const std::string& lab);
// Whether it was built to the end.
bool is_complete(const std::string& lab);
// And whether all its namespaces and interfaces are there.
bool is_whole(const Spec& spec);

// Names what the kernel or the installation lacks.
Result<void, std::string> check_machine(const Spec& spec);

}  // namespace openmrc::lab
