// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/network/packet_size.h"

#include <variant>

namespace openmrc::sim {
namespace {

struct SizeOf {
  std::uint32_t operator()(const wire::RdmaWrite& write) const {
    return write_size(write.payload.size(), write.part.has_immediate());
  }
  std::uint32_t operator()(const wire::TrimmedWrite&) const { return kTrimmedSize; }
  std::uint32_t operator()(const wire::Acknowledge&) const { return kOutside + wire::kAethSize; }
  std::uint32_t operator()(const wire::Sack&) const { return kSackSize; }
  std::uint32_t operator()(const wire::Nack&) const { return kOutside + wire::kNethSize; }
  std::uint32_t operator()(const wire::ReliabilityProbe&) const {
    return kOutside + wire::kPethSize;
  }
  std::uint32_t operator()(const wire::EndpointRequest&) const {
    return kOutside + wire::kErthSize;
  }
  std::uint32_t operator()(const wire::EndpointResponse&) const {
    return kOutside + wire::kEethSize;
  }
  std::uint32_t operator()(const wire::UdSend& datagram) const {
    return static_cast<std::uint32_t>(kOutside + wire::kDethSize +
                                      (datagram.immediate ? wire::kImmdtSize : 0) +
                                      wire::padded_size(datagram.payload.size()));
  }
};

}  // namespace

std::uint32_t size_on_wire(const wire::Body& body) { return std::visit(SizeOf{}, body); }

}  // namespace openmrc::sim
