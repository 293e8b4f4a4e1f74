// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"

namespace openmrc::xdp {

// Whether interfaces, routes or neighbours of this network namespace have changed (rtnetlink). What
// has changed is not asked: whoever remembers any of it looks again.
class NetworkChanges {
 public:
  static Result<NetworkChanges, datapath::Error> watch();

  // Whether there was one since the last call.
  [[nodiscard]] bool take() const;
  // Readable when take() would say so.
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  explicit NetworkChanges(datapath::FileDescriptor socket) : socket_(std::move(socket)) {}

  datapath::FileDescriptor socket_;
};

}  // namespace openmrc::xdp
