// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <iosfwd>
#include <memory>

#include "openmrc/wire/capture/capture_reader.h"
#include "openmrc/wire/capture/dissection.h"

namespace openmrc::tools {

struct PrintedPacket {
  std::uint64_t number;  // counts from 1
  const wire::CapturedFrame& frame;
  const wire::Dissection& dissection;
};

class PacketPrinter {
 public:
  PacketPrinter() = default;
  PacketPrinter(const PacketPrinter&) = delete;
  PacketPrinter& operator=(const PacketPrinter&) = delete;
  virtual ~PacketPrinter() = default;

  virtual void print(const PrintedPacket& packet) = 0;
  virtual void finish() {}  // after the last packet
};

// A line for each packet, with a count at the end.
std::unique_ptr<PacketPrinter> make_line_printer(std::ostream& out);
// Every header and field of each packet.
std::unique_ptr<PacketPrinter> make_detail_printer(std::ostream& out);
// A JSON object for each packet, one a line.
std::unique_ptr<PacketPrinter> make_json_printer(std::ostream& out);

}  // namespace openmrc::tools
