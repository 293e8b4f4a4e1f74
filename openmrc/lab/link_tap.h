// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/lab/spec.h"

namespace openmrc::lab {

// Frames of both directions of a cable, as its T0 sends and receives them.
class LinkTap {
 public:
  // Enters the namespace of the T0 for good, so that who removes the lab ends this process, too.
  static Result<LinkTap, std::string> open(const Spec& spec, const fabric::LinkId& link);

  struct Frame {
    ConstBytes bytes{};
    Instant time{};  // since the Unix epoch
    bool sent_by_t0 = false;
  };
  using Taker = std::function<void(const Frame&)>;
  // Waits at most so long, or until Ctrl-C, for frames, and gives out a burst of those that there
  // are. None come while the link is cut.
  void receive(Duration at_most, const Taker& take);

  // Frames that the kernel dropped since the last call, because they were not received in time.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  explicit LinkTap(datapath::FileDescriptor socket);

  datapath::FileDescriptor socket_;
  std::vector<std::byte> room_;
};

}  // namespace openmrc::lab
