// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/settings.h"
#include "openmrc/xdp/patience.h"
#include "openmrc/xdp/steer.h"

// Made by bpftool from steer.bpf.c.
struct steer;  // NOLINT(readability-identifier-naming): C

namespace openmrc::xdp {

// The program in the kernel that gives a port's MRC packets to AF_XDP sockets (steer.bpf.c). It
// leaves the interface when this is gone, or the process.
class Program {
 public:
  struct Settings {
    std::string interface{};
    int interface_index = 0;
    wire::Ipv6Address address{};
    wire::WireSettings wire{};
    datapath::Slot slot{};
  };
  static Result<Program, datapath::Error> attach(const Settings& settings, Patience patience);

  // Of the program, for whoever runs it with frames of his own.
  [[nodiscard]] int descriptor() const;
  // What a receive queue gets is from now on the socket's.
  [[nodiscard]] Result<void, datapath::Error> add_socket(std::uint32_t queue, int socket);

 private:
  struct Unload {
    void operator()(steer* program) const;
  };
  explicit Program(std::unique_ptr<steer, Unload> program) : program_(std::move(program)) {}

  std::unique_ptr<steer, Unload> program_;
};

}  // namespace openmrc::xdp
