// SPDX-License-Identifier: BSD-3-Clause
// Makes packets for independent judges, and says what it put in.
//   judge_packets capture FILE.pcapng MANIFEST.jsonl   every opcode over every route, for tshark
//   judge_packets datagrams FILE.pcapng MANIFEST.jsonl datagrams, for tshark without our dissector
//   judge_packets random COUNT SEED                    one JSON object a line, for Scapy
#include <array>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "openmrc/base/rng.h"
#include "openmrc/wire/capture/pcapng_writer.h"
#include "openmrc/wire/encode.h"
#include "openmrc/wire/field/usid.h"
#include "openmrc/wire/header/ethernet.h"
#include "openmrc/wire/trim.h"
#include "tests/judges/packet_fields.h"
#include "tests/support/arbitrary_packet.h"

namespace openmrc::test {
namespace {

using namespace openmrc::wire;

constexpr int kPlanes = 4;
constexpr int kVariants = 4;
enum class RouteKind { kIpv4, kIpv6, kSrv6, kSrv6Srh };
constexpr std::array kRouteKinds{RouteKind::kIpv4, RouteKind::kIpv6, RouteKind::kSrv6,
                                 RouteKind::kSrv6Srh};
constexpr std::array<std::string_view, 4> kRouteNames{"ipv4", "ipv6", "srv6", "srv6+srh"};

constexpr std::array kDatagramOpcodes{Opcode::kUdSendOnly, Opcode::kUdSendOnlyImmediate};

Ipv6Address carrier(Rng& rng) {
  std::vector<Usid> path;
  const std::uint64_t hops = rng.between(1, UsidCarrier::kUsidsMax);
  for (std::uint64_t i = 0; i < hops; ++i) {
    path.emplace_back(static_cast<std::uint16_t>(rng.between(1, 0xffff)));
  }
  return UsidCarrier::of(0xfcbbbb00, path)->address();
}

Ipv6Address host(Rng& rng) {
  return Ipv6Address::of(
      {0xfd00, 0, 0, 0, 0, 0, 0, static_cast<std::uint16_t>(rng.below(0x10000))});
}

void set_route(Packet& packet, RouteKind kind, Rng& rng) {
  if (kind == RouteKind::kIpv4) {
    packet.route = Ipv4Route{
        .source = Ipv4Address(0x0a000000 + static_cast<std::uint32_t>(rng.below(1 << 24))),
        .destination = Ipv4Address(0x0a000000 + static_cast<std::uint32_t>(rng.below(1 << 24))),
        .ev_low = static_cast<std::uint16_t>(rng.next() & 0xffff)};
    return;
  }
  Ipv6Route route{.source = host(rng),
                  .destination = host(rng),
                  .ev = Ev(static_cast<std::uint32_t>(rng.next() & 0xffffffff)),
                  .encapsulation = std::nullopt};
  if (kind != RouteKind::kIpv6) {
    route.encapsulation =
        SrEncapsulation{.source = host(rng), .destination = carrier(rng), .srh = {}};
    if (kind == RouteKind::kSrv6Srh) route.encapsulation->srh = Srh{.segment = carrier(rng)};
  }
  packet.route = route;
}

Packet packet_with(Opcode opcode, RouteKind kind, Rng& rng) {
  const auto numbers = random_choices(rng);
  Choices choices(numbers);
  Packet packet;
  packet.transport = {.pkey = PKey(static_cast<std::uint16_t>(rng.next() & 0xffff)),
                      .body = arbitrary_body_of(choices, opcode)};
  packet.udp_port = rng.chance({1, 2}) ? kUdpPortRoce : kUdpPortAlternate;
  packet.traffic_class = is_write(opcode) ? TrafficClass::kTrimmable : TrafficClass::kControl;
  packet.ecn = Ecn::kCapable0;
  set_route(packet, kind, rng);
  return packet;
}

std::vector<std::byte> bytes_of(const Packet& packet) {
  std::vector<std::byte> bytes(encoded_size(packet));
  encode_packet(packet, WireSettings{}, bytes);
  return bytes;
}

// Writes frames and the manifest beside each other.
class CaptureWithManifest {
 public:
  explicit CaptureWithManifest(std::ostream& manifest) : manifest_(manifest), writer_(capture_) {
    for (int plane = 0; plane < kPlanes; ++plane) {
      planes_.push_back(writer_.add_interface("plane" + std::to_string(plane), "for the judges"));
    }
  }

  void add(const std::string& name, const Packet& packet, ConstBytes ip, nlohmann::json fields) {
    const bool is_ipv4 = std::holds_alternative<Ipv4Route>(packet.route);
    const Ethernet ethernet{.destination = MacAddress(0x020000000002),
                            .source = MacAddress(0x020000000001),
                            .type = is_ipv4 ? EtherType::kIpv4 : EtherType::kIpv6};
    std::vector<std::byte> frame(EthernetView::kSize);
    ethernet.write(std::span(frame).first<EthernetView::kSize>());
    frame.insert(frame.end(), ip.begin(), ip.end());
    writer_.add_frame({.interface = planes_[static_cast<std::size_t>(frames_ % kPlanes)],
                       .time = Instant(1'700'000'000'000'000'000) + microseconds(frames_),
                       .bytes = frame,
                       .comment = name});
    manifest_ << nlohmann::json{{"name", name}, {"fields", std::move(fields)}}.dump() << '\n';
    ++frames_;
  }

  [[nodiscard]] const std::vector<std::byte>& capture() const { return capture_; }
  [[nodiscard]] std::int64_t frames() const { return frames_; }

 private:
  std::ostream& manifest_;
  std::vector<std::byte> capture_;
  PcapngWriter writer_;
  std::vector<CaptureInterface> planes_;
  std::int64_t frames_ = 0;
};

void add_trimmed(CaptureWithManifest& capture, const std::string& name, const Packet& packet,
                 TrimPlace place) {
  const auto& write = std::get<RdmaWrite>(packet.transport.body);
  std::vector<std::byte> bytes = bytes_of(packet);
  const std::size_t behind_headers =
      write.payload.size() + pad_count(write.payload.size()) + kIcrcSize;
  const std::size_t headers = bytes.size() - behind_headers;
  const auto size = trim_packet(bytes, place, DscpMap{});
  if (!size) std::abort();
  bytes.resize(*size);
  const auto rest = ConstBytes(bytes).subspan(std::min(headers, bytes.size()));
  capture.add(name, packet, bytes, wireshark_fields_trimmed(packet, place, rest));
}

int save(const CaptureWithManifest& capture, const char* path, const std::ofstream& manifest) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(capture.capture().data()),
             static_cast<std::streamsize>(capture.capture().size()));
  file.close();
  std::cout << capture.frames() << " frames\n";
  return file && manifest ? 0 : 1;
}

int write_datagrams(const char* capture_path, const char* manifest_path) {
  std::ofstream manifest(manifest_path);
  CaptureWithManifest capture(manifest);
  Rng rng(4791);
  constexpr int kEach = 32;
  for (const Opcode opcode : kDatagramOpcodes) {
    for (int i = 0; i < kEach; ++i) {
      Packet packet = packet_with(opcode, kRouteKinds[static_cast<std::size_t>(i) % 4], rng);
      packet.udp_port = kUdpPortRoce;
      capture.add(std::string(name(opcode)), packet, bytes_of(packet), wireshark_fields(packet));
    }
  }
  return save(capture, capture_path, manifest);
}

int write_capture(const char* capture_path, const char* manifest_path) {
  std::ofstream manifest(manifest_path);
  CaptureWithManifest capture(manifest);
  Rng rng(4791);
  for (const Opcode opcode : kOpcodes) {
    for (std::size_t kind = 0; kind < kRouteKinds.size(); ++kind) {
      for (int variant = 0; variant < kVariants; ++variant) {
        const std::string base = std::string(name(opcode)) + "/" + std::string(kRouteNames[kind]);
        const Packet packet = packet_with(opcode, kRouteKinds[kind], rng);
        capture.add(base, packet, bytes_of(packet), wireshark_fields(packet));
        if (!is_write(opcode)) continue;
        add_trimmed(capture, base + "/trimmed", packet, TrimPlace::kOnPath);
        add_trimmed(capture, base + "/trimmed-last-hop", packet, TrimPlace::kLastHop);
      }
    }
  }
  return save(capture, capture_path, manifest);
}

nlohmann::json ip_fields(const Packet& packet) {
  if (const auto* ipv4 = std::get_if<Ipv4Route>(&packet.route)) {
    return {{"version", 4},
            {"source", to_string(ipv4->source)},
            {"destination", to_string(ipv4->destination)},
            {"source_port", ipv4->ev_low}};
  }
  const auto& ipv6 = std::get<Ipv6Route>(packet.route);
  return {{"version", 6},
          {"source", to_string(ipv6.source)},
          {"destination", to_string(ipv6.destination)},
          {"flow_label", ipv6.ev.raw() >> 16},
          {"source_port", ipv6.ev.raw() & 0xffff}};
}

int write_random(std::uint64_t count, std::uint64_t seed) {
  Rng rng(seed);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t which = rng.below(kOpcodes.size() + kDatagramOpcodes.size());
    const Opcode opcode =
        which < kOpcodes.size() ? kOpcodes[which] : kDatagramOpcodes[which - kOpcodes.size()];
    const RouteKind kind = i % 2 == 0 ? RouteKind::kIpv4 : RouteKind::kIpv6;
    const Packet packet = packet_with(opcode, kind, rng);
    const std::vector<std::byte> bytes = bytes_of(packet);
    const Dscp dscp = DscpMap{}.of(packet.traffic_class);
    std::cout << nlohmann::json{{"ip", ip_fields(packet)},
                                {"traffic_byte", traffic_byte(dscp, packet.ecn)},
                                {"port", packet.udp_port.raw()},
                                {"mrc", wireshark_fields(packet)},
                                {"bytes", hex_of(bytes)}}
                     .dump()
              << '\n';
  }
  return std::cout ? 0 : 1;
}

}  // namespace
}  // namespace openmrc::test

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 3 && arguments[0] == "capture") {
    return openmrc::test::write_capture(argv[2], argv[3]);
  }
  if (arguments.size() == 3 && arguments[0] == "datagrams") {
    return openmrc::test::write_datagrams(argv[2], argv[3]);
  }
  if (arguments.size() == 3 && arguments[0] == "random") {
    return openmrc::test::write_random(std::stoull(arguments[1]), std::stoull(arguments[2]));
  }
  std::cerr << "usage: judge_packets capture|datagrams FILE.pcapng MANIFEST.jsonl | random COUNT "
               "SEED\n";
  return 2;
}
