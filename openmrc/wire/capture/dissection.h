// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/wire/capture/capture_reader.h"
#include "openmrc/wire/field/reject.h"
#include "openmrc/wire/packet.h"
#include "openmrc/wire/settings.h"

// A packet taken apart for people. Works on views, so that a packet which cannot be understood is
// shown as far as it can be, with the reason why not further.
namespace openmrc::wire {

struct DissectedField {
  std::string name;
  // Addresses, keys and bit patterns are text in hexadecimal; counts are numbers.
  std::variant<std::uint64_t, std::int64_t, std::string> value;
  std::string note;  // what the value means; may be empty
};

struct DissectedLayer {
  std::string name;
  std::size_t offset = 0;  // in the bytes given
  std::size_t size = 0;
  std::vector<DissectedField> fields;
};

struct Dissection {
  std::vector<DissectedLayer> layers;  // from the outermost in
  Result<Packet, Reject> verdict;      // what the decoder says of it
};

Dissection dissect(ConstBytes frame, LinkType link_type, const WireSettings& settings);

// One line: what kind of packet it is and what it says.
std::string summarize(const Packet& packet);

// From where to where, as text.
std::string source_of(const Packet& packet);
std::string destination_of(const Packet& packet);

}  // namespace openmrc::wire
