// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/strong.h"
#include "openmrc/base/time.h"

namespace openmrc::wire {

// Counts from 0 within a capture.
using CaptureInterface = Strong<struct CaptureInterfaceTag, std::uint32_t>;

// A capture in pcapng form, as Wireshark and tcpdump read it, of Ethernet frames with times in
// nanoseconds. Give each plane an interface of its own. This only makes bytes: each call appends to
// `out`, and the owner of `out` may write it to a file and clear it at any time between calls.
class PcapngWriter {
 public:
  // Appends the section header. `out` must outlive the writer.
  explicit PcapngWriter(std::vector<std::byte>& out);

  CaptureInterface add_interface(std::string_view name, std::string_view description);

  struct Frame {
    CaptureInterface interface;
    Instant time;  // since the Unix epoch
    ConstBytes bytes;
    std::string_view comment = {};  // shown by Wireshark as the packet comment; may be empty
  };
  void add_frame(const Frame& frame);

 private:
  std::vector<std::byte>& out_;
  std::uint32_t interfaces_ = 0;
};

}  // namespace openmrc::wire
