// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/fabric/shape_keys.h"
#include "openmrc/host/config.h"
#include "openmrc/text/fields.h"
#include "openmrc/text/table_reader.h"

// The one table of the keys of openmrc.toml: reading, messages and the reference all follow it.
namespace openmrc::host {

struct PortDraft {
  std::string interface{};
  std::string address{};
  std::uint32_t line = 0;  // of its [[port]]
  std::uint32_t address_line = 0;
};

struct PeerDraft {
  std::string name{};
  std::vector<std::string> addresses{};
  std::uint32_t line = 0;  // of its [[peer]]
};

enum class Icrc : std::uint8_t { kVerify, kIgnore, kOff };

// What the file says, before it is known to fit together.
struct Draft {
  Config config{};
  std::vector<PortDraft> ports{};
  std::vector<PeerDraft> peers{};
  fabric::ShapeKeys shape{};
  std::string host{};
  std::string block = "fcbb:bb00::";
  Icrc icrc = Icrc::kVerify;
  std::string capture{};
  FaultConfig faults{};
};

std::vector<text::Field> fields_of(Draft& draft);
std::vector<text::Field> port_fields_of(PortDraft& port);  // section "port"
// Section "peer". `addresses` is a list: the second field is that of one of its elements.
std::vector<text::Field> peer_fields_of(PeerDraft& peer, std::string& address);

// Reads the file into the draft; what is wrong is among its diagnostics.
void read_draft(text::TomlReader& file, Draft& draft);

// Checks what was read against itself and completes the configuration.
void check_draft(Draft& draft, text::Diagnostics& diagnostics);

}  // namespace openmrc::host
