// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/check.h"
#include "openmrc/base/ids.h"
#include "openmrc/core/context/settings.h"
#include "openmrc/core/memory/datagram_handler.h"
#include "openmrc/wire/field/ip_address.h"
#include "openmrc/wire/header/deth.h"
#include "openmrc/wire/header/immdt.h"
#include "openmrc/wire/payload.h"

namespace openmrc::core {

struct DatagramAttributes {
  wire::QKey qkey{};
  std::uint32_t mtu = 4096;     // the longest payload, sent or received
  std::size_t send_queue = 64;  // how many may wait to be sent, 1 to kDatagramQueueMax
};

// One to be sent. It is copied.
struct DatagramRequest {
  // The receiver's host, as ReadyToRecvAttributes have it.
  std::span<const wire::Ipv6Address> addresses{};  // one for each plane
  wire::Ipv6Address path_overlay{};
  EvProfileId ev_profile{};
  // And its queue pair there.
  Qpn remote_qpn{};
  wire::QKey qkey{};
  std::optional<wire::Immediate> immediate{};
  std::span<const ConstBytes> pieces{};  // of the payload, in order
};

// A datagram queue pair: whom it tells of what arrives, and what waits to be sent. All memory is
// allocated when it is made.
class DatagramQueue {
 public:
  DatagramQueue(DatagramHandler& told, const DatagramAttributes& attributes, std::size_t planes)
      : handler(told),
        qkey(attributes.qkey),
        mtu(attributes.mtu),
        planes_(planes),
        waiting_(attributes.send_queue),
        addresses_(attributes.send_queue * planes),
        bytes_(attributes.send_queue * attributes.mtu) {}

  struct Waiting {
    std::span<const wire::Ipv6Address> addresses{};
    wire::Ipv6Address path_overlay{};
    EvProfileId ev_profile{};
    Qpn remote_qpn{};
    wire::QKey qkey{};
    std::optional<wire::Immediate> immediate{};
    wire::Payload payload{};
  };

  [[nodiscard]] std::size_t size() const { return pushed_ - popped_; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] bool full() const { return size() == waiting_.size(); }

  // There is room, and `request` fits: as many addresses as planes, not more bytes than the MTU.
  void push(const DatagramRequest& request) {
    OPENMRC_CHECK(!full() && request.addresses.size() == planes_, "there is no room");
    const std::size_t at = pushed_ % waiting_.size();
    const std::span addresses = std::span(addresses_).subspan(at * planes_, planes_);
    std::ranges::copy(request.addresses, addresses.begin());
    const MutableBytes room = MutableBytes(bytes_).subspan(at * mtu, mtu);
    std::size_t length = 0;
    for (const ConstBytes piece : request.pieces) {
      OPENMRC_CHECK(piece.size() <= room.size() - length, "a datagram has at most the MTU");
      std::ranges::copy(piece, room.subspan(length).begin());
      length += piece.size();
    }
    waiting_[at] = {.addresses = addresses,
                    .path_overlay = request.path_overlay,
                    .ev_profile = request.ev_profile,
                    .remote_qpn = request.remote_qpn,
                    .qkey = request.qkey,
                    .immediate = request.immediate,
                    .payload = wire::Payload::of_bytes(room.first(length))};
    ++pushed_;
  }
  [[nodiscard]] const Waiting& front() const { return waiting_[popped_ % waiting_.size()]; }
  // Its bytes stay until the next `push`.
  void pop() { ++popped_; }

  DatagramHandler& handler;
  wire::QKey qkey;
  std::uint32_t mtu;
  Qpn number{};
  Psn next_psn{};

 private:
  std::size_t planes_;
  std::vector<Waiting> waiting_;  // a ring
  std::vector<wire::Ipv6Address> addresses_;
  std::vector<std::byte> bytes_;
  std::size_t pushed_ = 0;
  std::size_t popped_ = 0;
};

}  // namespace openmrc::core
