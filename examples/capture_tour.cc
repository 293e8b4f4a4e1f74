// SPDX-License-Identifier: BSD-3-Clause
// Writes a capture that shows each kind of MRC packet once, as a small story: host A writes to host
// B over four planes, a path is congested, a packet is trimmed, one is lost, a port goes down.
//
//   capture_tour FILE.pcapng      then      mrc decode FILE.pcapng
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/wire/capture/pcapng_writer.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/field/usid.h"
#include "openmrc/wire/header/ethernet.h"
#include "openmrc/wire/trim.h"

namespace {

using namespace openmrc;
using namespace openmrc::wire;

constexpr unsigned kPlanes = 4;
constexpr std::uint32_t kMtu = 1024;
constexpr Qpn kQpOfA{0x000a01};
constexpr Qpn kQpOfB{0x000b02};
constexpr std::uint32_t kMessageSize = 4 * kMtu + 100;

enum class From { kA, kB };

// A path: a plane and one of its upper switches. Its EV says both.
struct Path {
  unsigned plane;
  unsigned upper_switch;

  [[nodiscard]] Ev ev() const { return Ev(plane << 16 | (0xc000 + upper_switch)); }
};

Ipv6Address address(From host, unsigned plane) {
  return Ipv6Address::of({0xfd00, static_cast<std::uint16_t>(plane), 0, 0, 0, 0, 0,
                          static_cast<std::uint16_t>(host == From::kA ? 0xa : 0xb)});
}

// Through the leaf of the sender, an upper switch and the leaf of the receiver to its port.
Ipv6Address usid_path(From sender, Path path) {
  const auto in_plane = [&](unsigned number) {
    return Usid(static_cast<std::uint16_t>(path.plane << 12 | number));
  };
  const unsigned near_leaf = sender == From::kA ? 0x001 : 0x002;
  const unsigned far_leaf = sender == From::kA ? 0x002 : 0x001;
  const std::array hops{in_plane(near_leaf), in_plane(0x100 + path.upper_switch),
                        in_plane(far_leaf), in_plane(0xe01)};
  return UsidCarrier::of(0xfcbbbb00, hops)->address();
}

class Tour {
 public:
  Tour() : writer_(capture_) {
    for (unsigned plane = 0; plane < kPlanes; ++plane) {
      writer_.add_interface("plane" + std::to_string(plane),
                            "port " + std::to_string(plane + 1) + " of host B");
    }
    for (std::size_t i = 0; i < payload_.size(); ++i)
      payload_[i] = static_cast<std::byte>(i & 0xff);
  }

  void tell() {
    write(0, {0, 1}, "A cuts a message into packets and sprays them over the planes");
    write(1, {1, 2}, "every packet says where its data goes: it is placed in any order");
    write(2, {2, 0}, "marked by a switch: this path is congested", Ecn::kCongested);
    write(3, {3, 3}, "a full queue cut this one down to its headers", Ecn::kCapable0, true);
    write(4, {0, 2}, "the end of the message, with an immediate");
    sack({2, 0}, "B has packets 100 to 102 and 104; SKIP_ONCE: use that path less",
         PathMark::kSkipOnce);
    nack({3, 3}, "B requests the trimmed packet: congestion, not failure");
    write(3, {3, 1}, "retransmitted, on another path of the same plane", Ecn::kCapable0, false,
          true);
    probe({1, 1}, "A receives nothing and probes for what has arrived");
    probe_answer({1, 1}, "B answers the probe: all there");
    acknowledge({0, 2}, "the transport's word: message 1 is complete");
    ev_probe({2, 3}, "A probes a path that it had disabled");
    ev_probe_answer({2, 3}, "the path works again");
    port_status({1, 0}, "B lost its port in plane 2 and notifies A over another plane");
    single_packet_write({3, 2}, "a message of one packet");
    single_packet_write({1, 3}, "a message of one packet with an immediate", Immediate(0x00c0ffee));
  }

  [[nodiscard]] const std::vector<std::byte>& capture() const { return capture_; }

 private:
  static constexpr Psn kFirstPsn{100};

  void write(std::uint32_t index, Path path, std::string_view comment, Ecn ecn = Ecn::kCapable0,
             bool trimmed = false, bool again = false) {
    const std::uint32_t start = index * kMtu;
    const std::uint32_t size = std::min(kMtu, kMessageSize - start);
    const bool last = start + size == kMessageSize;
    add(From::kA, path, comment,
        RdmaWrite{.destination_qp = kQpOfB,
                  .psn = kFirstPsn + index,
                  .ack_request = last,
                  .retransmission = again,
                  .part = last         ? MessagePart::last(Immediate(0x2a))
                          : index == 0 ? MessagePart::first()
                                       : MessagePart::middle(),
                  .meth = {.rqmsn = Rqmsn(1), .msn = Msn(1)},
                  .sent = TxTimestamp{.ticks = ticks()},
                  .reth = {.virtual_address = 0x7f2a'0000'0000u + start,
                           .rkey = RKey(0x1234),
                           .dma_length = kMessageSize},
                  .payload = Payload::of_bytes(ConstBytes(payload_).first(size))},
        ecn, trimmed);
  }

  void single_packet_write(Path path, std::string_view comment,
                           std::optional<Immediate> immediate = std::nullopt) {
    add(From::kA, path, comment,
        RdmaWrite{
            .destination_qp = kQpOfB,
            .psn = kFirstPsn + (immediate ? 6 : 5),
            .part = immediate ? MessagePart::only(*immediate) : MessagePart::only(),
            .meth = {.rqmsn = Rqmsn(immediate ? 2 : 0), .msn = Msn(immediate ? 3 : 2)},
            .sent = std::nullopt,
            .reth = {.virtual_address = 0x7f2a'0001'0000, .rkey = RKey(0x1234), .dma_length = 63},
            .payload = Payload::of_bytes(ConstBytes(payload_).first(63))});
  }

  static Seth seth(Path path) {
    return {.entropy = path.ev(), .spdcid = connection_id(kQpOfB), .dpdcid = connection_id(kQpOfA)};
  }

  void sack(Path marked, std::string_view comment, PathMark mark) {
    Seth state = seth(marked);
    state.mark = mark;
    state.cack_psn = kFirstPsn + 2;
    state.trigger = SackTrigger::packet(0);
    state.sack_offset = 1;
    state.sack_bitmap = 0b10;
    add(From::kB, {2, 1}, comment,
        Sack{.destination_qp = kQpOfA,
             .seth = state,
             .cc_state = {.tx_ticks = ticks(),
                          .ooo_count = 1,
                          .received_units = received_units(ByteCount(3 * 1136 + 216))}});
  }

  void probe_answer(Path path, std::string_view comment) {
    Seth state = seth(path);
    state.trigger = SackTrigger::probe(ProbeId(7));
    state.cack_psn = kFirstPsn + 4;
    state.sack_offset = 1;
    add(From::kB, path, comment,
        Sack{.destination_qp = kQpOfA,
             .seth = state,
             .cc_state = {.tx_ticks = ticks(),
                          .received_units = received_units(ByteCount(4 * 1136 + 216))}});
  }

  void nack(Path trimmed_on, std::string_view comment) {
    add(From::kB, {3, 0}, comment,
        Nack{.destination_qp = kQpOfA,
             .neth = {.reason = NackReason::kTrimmed,
                      .entropy = trimmed_on.ev(),
                      .spdcid = connection_id(kQpOfB),
                      .dpdcid = connection_id(kQpOfA),
                      .psn = kFirstPsn + 3,
                      .tx_ticks = ticks()}});
  }

  void probe(Path path, std::string_view comment) {
    add(From::kA, path, comment,
        ReliabilityProbe{.destination_qp = kQpOfB,
                         .peth = {.id = ProbeId(7),
                                  .spdcid = connection_id(kQpOfA),
                                  .dpdcid = connection_id(kQpOfB),
                                  .sent = {.ticks = ticks()}}});
  }

  void acknowledge(Path path, std::string_view comment) {
    add(From::kB, path, comment,
        Acknowledge{.destination_qp = kQpOfA,
                    .psn = kFirstPsn + 4,
                    .aeth = {.syndrome = AckSyndrome::kAck, .msn = AckMsn(1)}});
  }

  void ev_probe(Path path, std::string_view comment) {
    add(From::kA, path, comment,
        EndpointRequest{.id = EndpointRequestId(17),
                        .erth = {.op = EndpointOp::kEvProbe, .sent = {.ticks = ticks()}}});
  }

  void ev_probe_answer(Path path, std::string_view comment) {
    add(From::kB, path, comment,
        EndpointResponse{.id = EndpointRequestId(17),
                         .eeth = {.op = EndpointOp::kEvProbe, .tx_ticks = ticks()}});
  }

  void port_status(Path path, std::string_view comment) {
    // Bit n stands for port n, and ports count from 1: all but port 3.
    add(From::kB, path, comment,
        EndpointRequest{.id = EndpointRequestId(3),
                        .erth = {.op = EndpointOp::kPortStatusUpdate,
                                 .port_status_mask = 0b10110,
                                 .sent = {.ticks = ticks()}}});
  }

  void add(From sender, Path path, std::string_view comment, const Body& body,
           Ecn ecn = Ecn::kCapable0, bool trimmed = false) {
    const From receiver = sender == From::kA ? From::kB : From::kA;
    const Packet packet{
        .route = Ipv6Route{.source = address(sender, path.plane),
                           .destination = address(receiver, path.plane),
                           .ev = path.ev(),
                           .encapsulation = SrEncapsulation{.source = address(sender, path.plane),
                                                            .destination = usid_path(sender, path),
                                                            .srh = std::nullopt}},
        .traffic_class = std::holds_alternative<RdmaWrite>(body) ? TrafficClass::kTrimmable
                                                                 : TrafficClass::kControl,
        .ecn = ecn,
        .transport = {.body = body}};
    std::vector<std::byte> frame(EthernetView::kSize + encoded_size(packet));
    const auto ip = std::span(frame).subspan(EthernetView::kSize);
    Ethernet{.destination = MacAddress(0x02'00'00'00'00'02),
             .source = MacAddress(0x02'00'00'00'00'01),
             .type = EtherType::kIpv6}
        .write(std::span(frame).first<EthernetView::kSize>());
    encode_packet(packet, WireSettings{}, ip);
    if (trimmed) {
      frame.resize(EthernetView::kSize + trim_packet(ip, TrimPlace::kOnPath, DscpMap{}).value());
    }
    now_ = now_ + nanoseconds(640);
    writer_.add_frame({.interface = CaptureInterface(path.plane),
                       .time = now_,
                       .bytes = frame,
                       .comment = comment});
  }

  [[nodiscard]] std::uint16_t ticks() const {
    return static_cast<std::uint16_t>(now_.ns() / 128 & 0xffff);
  }

  std::vector<std::byte> capture_;
  PcapngWriter writer_;
  std::array<std::byte, kMtu> payload_{};
  Instant now_{1'778'000'000'000'000'000};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: capture_tour FILE.pcapng\n";
    return 2;
  }
  Tour tour;
  tour.tell();
  std::ofstream file(argv[1], std::ios::binary);
  file.write(reinterpret_cast<const char*>(tour.capture().data()),
             static_cast<std::streamsize>(tour.capture().size()));
  file.close();
  if (!file) {
    std::cerr << "capture_tour: cannot write '" << argv[1] << "'\n";
    return 1;
  }
  return 0;
}
