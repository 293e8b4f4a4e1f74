// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/lab/spec.h"

namespace openmrc::lab {

struct CaptureLimits {
  std::optional<Duration> span{};
  std::optional<std::uint64_t> frames{};
};

struct CaptureCount {
  std::uint64_t frames = 0;
  std::uint64_t dropped = 0;  // by the kernel: they came faster than they were written
};

// Writes what crosses a link to a file, in pcapng form with an interface for each direction, until
// a limit or Ctrl-C. The file is whole then. `file` is open for writing.
Result<CaptureCount, std::string> capture_link(const Spec& spec, const fabric::LinkId& link,
                                               int file, const CaptureLimits& limits);

}  // namespace openmrc::lab
