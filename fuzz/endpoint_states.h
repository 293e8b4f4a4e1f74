// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "fuzz/endpoint_world.h"

namespace openmrc::fuzz {

// Where an input begins: what an endpoint has been through before the hostile peer speaks.
struct StartingState {
  std::string_view name;
  AddressFamily family;
  void (*build)(World& world);
};

std::span<const StartingState> starting_states();

std::unique_ptr<World> start(const StartingState& state);

}  // namespace openmrc::fuzz
