// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/open.h"

namespace openmrc::xdp {

namespace {

datapath::Error not_built() {
  return {.what = "mode \"xdp\" is not in this build",
          .remedy =
              "build it with libxdp-dev, libbpf-dev, bpftool and clang installed, or set mode = "
              "\"srv6\""};
}

}  // namespace

Result<std::unique_ptr<datapath::Datapath>, datapath::Error> open(const datapath::Settings&) {
  return failure(not_built());
}

Result<PortCheck, datapath::Error> check_port(const datapath::Settings&, const datapath::Port&) {
  return failure(not_built());
}

}  // namespace openmrc::xdp
