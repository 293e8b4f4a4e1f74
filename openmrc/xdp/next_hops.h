// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/header/ethernet.h"

namespace openmrc::xdp {

// Which MAC address packets go to that leave by an interface: what the kernel's routes and
// neighbours say. It is asked once for each block of uSIDs and first switch, and from time to time
// again.
class NextHops {
 public:
  static Result<NextHops, datapath::Error> open(int interface_index);

  // Nothing: the kernel is to send this packet. It does not know the neighbour yet, and finds out
  // by sending; or it knows it, and has to be given a packet to see whether it is still there.
  [[nodiscard]] std::optional<wire::MacAddress> find(const wire::Ipv6Address& to, Instant now);

  // Something has changed.
  void forget() { entries_ = {}; }

 private:
  // Routes are by uSID: 16 bits behind a block of 32.
  static constexpr std::size_t kPrefixBytes = 6;
  static constexpr std::size_t kEntries = 64;
  static constexpr Duration kKnownFor = seconds(4);
  static constexpr Duration kUnknownFor = milliseconds(10);

  struct Entry {
    std::uint64_t prefix = 0;
    Instant until{};
    std::optional<wire::MacAddress> mac{};
  };
  struct Neighbour {
    wire::MacAddress mac{};
    bool is_confirmed = false;
  };

  NextHops(datapath::FileDescriptor socket, int interface_index)
      : socket_(std::move(socket)), interface_index_(interface_index) {}

  [[nodiscard]] std::optional<wire::Ipv6Address> gateway_to(const wire::Ipv6Address& to);
  [[nodiscard]] std::optional<Neighbour> neighbour(const wire::Ipv6Address& address);

  datapath::FileDescriptor socket_;
  int interface_index_;
  std::array<Entry, kEntries> entries_{};
};

}  // namespace openmrc::xdp
