// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>
#include <vector>

#include "openmrc/profile/transport_profile.h"
#include "openmrc/text/fields.h"
#include "openmrc/text/table_reader.h"

// The keys of the section [transport], the same in openmrc.toml and in scenarios.
namespace openmrc::profile {

inline constexpr std::string_view kTransportSection = "transport";

// All keys but `preset`. They refer to `profile`; their defaults are what it holds.
[[nodiscard]] std::vector<text::Field> transport_fields(TransportProfile& profile);

// Reads the keys of [transport]. A `preset` counts first: all other values start from it, whatever
// `profile` held before. The caller may read keys of its own from the same section.
void read_transport(text::TableReader& section, TransportProfile& profile);

[[nodiscard]] text::Field preset_field(Preset& preset);

}  // namespace openmrc::profile
