// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "openmrc/base/bytes.h"
#include "openmrc/wire/packet.h"

namespace openmrc::test {

// What the Wireshark dissector must show for a packet, under the names of its filter fields. Taken
// from the record that was put in, never from decoded bytes.
nlohmann::json wireshark_fields(const wire::Packet& packet);

// The same for `packet` after a switch trimmed it; `rest` is what is left behind its headers.
nlohmann::json wireshark_fields_trimmed(const wire::Packet& packet, wire::TrimPlace place,
                                        ConstBytes rest);

std::string hex_of(ConstBytes bytes);

}  // namespace openmrc::test
