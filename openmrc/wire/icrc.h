// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/base/bytes.h"

namespace openmrc::wire {

// The invariant CRC of RoCEv2 that ends every packet (MRC 6.2): CRC-32 over the packet from the IP
// header on, with the fields that the network may change set to ones. Under SRv6 it is the inner IP
// header that counts, because the outer one changes at every hop.
//
// Fed piece by piece, so a payload that lies scattered in memory is not copied:
//   Icrc icrc(headers);  icrc.update(piece);  ...  icrc.value() (WIRE-76)
class Icrc {
 public:
  // `headers`: from the (inner) IP header through BTH and its extended headers; it may also be the
  // whole packet without its ICRC. It must hold at least IP, UDP and BTH.
  explicit Icrc(ConstBytes headers);

  void update(ConstBytes bytes);

  // As the four bytes stand in the packet, read in little-endian order.
  [[nodiscard]] std::uint32_t value() const { return crc_; }

 private:
  std::uint32_t crc_;
};

// The ICRC that stands at the end of `packet`, which holds at least that.
std::uint32_t stored_icrc(ConstBytes packet);

// The ICRC of a packet whose payload lies in pieces; the pad is added here.
std::uint32_t icrc_of(ConstBytes headers, std::span<const ConstBytes> payload_pieces);

}  // namespace openmrc::wire
