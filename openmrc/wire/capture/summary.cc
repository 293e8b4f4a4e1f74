// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "openmrc/wire/capture/dissection.h"

namespace openmrc::wire {
namespace {

std::string flags_of(bool ack_request, bool retransmission, bool trimmed, bool has_timestamp) {
  std::string text;
  if (ack_request) text += " ackreq";
  if (retransmission) text += " rtx";
  if (has_timestamp) text += " ts";
  if (trimmed) text += " trimmed";
  return text;
}

struct Summary {
  std::string operator()(const RdmaWrite& w) const {
    std::string immediate;
    if (const auto data = w.part.immediate()) immediate = fmt::format(" imm 0x{:08x}", data->raw());
    return fmt::format("{} qp 0x{:06x} psn {} msn {} len {} of {} va 0x{:x} rkey 0x{:08x}{}{}",
                       name(w.part.opcode()), w.destination_qp.raw(), w.psn.raw(), w.meth.msn.raw(),
                       w.payload.size(), w.reth.dma_length, w.reth.virtual_address,
                       w.reth.rkey.raw(), immediate,
                       flags_of(w.ack_request, w.retransmission, false, w.sent.has_value()));
  }
  std::string operator()(const TrimmedWrite& w) const {
    return fmt::format("{} qp 0x{:06x} psn {} msn {}{}{}", name(opcode_of(w.kind)),
                       w.destination_qp.raw(), w.psn.raw(), w.meth.msn.raw(),
                       flags_of(w.ack_request, w.retransmission, true, w.sent.has_value()),
                       w.place == TrimPlace::kLastHop ? " at the last hop" : "");
  }
  std::string operator()(const Acknowledge& a) const {
    return fmt::format("{} qp 0x{:06x} psn {} msn {}", name(a.aeth.syndrome),
                       a.destination_qp.raw(), a.psn.raw(), a.aeth.msn.raw());
  }
  std::string operator()(const Sack& s) const {
    const std::string trigger = s.seth.trigger.is_probe()
                                    ? fmt::format("probe {}", s.seth.trigger.probe_id()->raw())
                                    : fmt::format("trigger {:+}", *s.seth.trigger.packet_offset());
    return fmt::format(
        "SACK qp 0x{:06x} cack {} {} mark {} bitmap 0x{:016x} from {:+} ev 0x{:08x}{}",
        s.destination_qp.raw(), s.seth.cack_psn.raw(), trigger, name(s.seth.mark),
        s.seth.sack_bitmap, s.seth.sack_offset, s.seth.entropy.raw(),
        s.retransmission ? " rtx" : "");
  }
  std::string operator()(const Nack& n) const {
    return fmt::format("NACK {} qp 0x{:06x} psn {} ev 0x{:08x}", name(n.neth.reason),
                       n.destination_qp.raw(), n.neth.psn.raw(), n.neth.entropy.raw());
  }
  std::string operator()(const ReliabilityProbe& p) const {
    return fmt::format("Reliability Probe qp 0x{:06x} id {}", p.destination_qp.raw(),
                       p.peth.id.raw());
  }
  std::string operator()(const EndpointRequest& r) const {
    const std::string ports = r.erth.op == EndpointOp::kPortStatusUpdate
                                  ? fmt::format(" ports 0x{:08x}", r.erth.port_status_mask)
                                  : "";
    return fmt::format("Endpoint Request {} id {}{}", name(r.erth.op), r.id.raw(), ports);
  }
  std::string operator()(const EndpointResponse& r) const {
    return fmt::format("Endpoint Response {} id {}", name(r.eeth.op), r.id.raw());
  }
  std::string operator()(const UdSend& d) const {
    const std::string immediate =
        d.immediate ? fmt::format(" imm 0x{:08x}", d.immediate->raw()) : "";
    return fmt::format("UD SEND qp 0x{:06x} from qp 0x{:06x} psn {} len {}{}",
                       d.destination_qp.raw(), d.deth.source_qp.raw(), d.psn.raw(),
                       d.payload.size(), immediate);
  }
};

}  // namespace

std::string summarize(const Packet& packet) { return std::visit(Summary{}, packet.transport.body); }

std::string source_of(const Packet& packet) {
  return std::visit([](const auto& route) { return to_string(route.source); }, packet.route);
}

std::string destination_of(const Packet& packet) {
  return std::visit([](const auto& route) { return to_string(route.destination); }, packet.route);
}

}  // namespace openmrc::wire
