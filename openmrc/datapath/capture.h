// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "openmrc/base/result.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/open.h"

namespace openmrc::datapath {

struct CaptureSettings {
  std::string file{};                                // is written anew
  std::uint64_t bytes_max = std::uint64_t{1} << 30;  // then it ends, and a notice says so
};

// Writes all packets, in both directions, to a pcapng file: an interface for each plane, "plane0"
// and so on, and the direction as the packet's comment. Packets are as they are on the wire beside
// this host, behind an Ethernet header of zeros. In mode kUsid the ICRC of what is sent is right
// for the address at the end of the path, not for the one that the capture shows.
//
// `settings` are those that `inner` was opened with.
Result<std::unique_ptr<Datapath>, Error> with_capture(std::unique_ptr<Datapath> inner,
                                                      const Settings& settings,
                                                      const CaptureSettings& capture);

}  // namespace openmrc::datapath
