// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "openmrc/datapath/datapath.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/settings.h"

namespace openmrc::datapath {

// A network inside a process, without the kernel, for tests. Packets travel as bytes, as a receiver
// would get them: without encapsulation. Each data path may belong to a thread of its own.
class LoopbackNetwork {
 public:
  // A ring takes so many packets; what comes while it is full is dropped, as by a switch.
  static constexpr std::size_t kRingDefault = 4096;

  explicit LoopbackNetwork(const wire::WireSettings& wire = {}, std::size_t ring = kRingDefault);
  LoopbackNetwork(const LoopbackNetwork&) = delete;
  LoopbackNetwork& operator=(const LoopbackNetwork&) = delete;
  ~LoopbackNetwork();

  // A host with an address in each plane. Hosts with the same addresses are one, and share its
  // packets as shards do. It may outlive the network.
  std::unique_ptr<Datapath> add(std::vector<wire::Ipv6Address> addresses);

  class State;  // of the implementation

 private:
  std::shared_ptr<State> state_;
};

}  // namespace openmrc::datapath
