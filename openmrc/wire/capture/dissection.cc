// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/wire/capture/dissection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "openmrc/wire/decode.h"
#include "openmrc/wire/field/ev_halves.h"
#include "openmrc/wire/field/usid.h"
#include "openmrc/wire/header/bth.h"
#include "openmrc/wire/header/ethernet.h"
#include "openmrc/wire/header/ipv4.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/udp.h"
#include "openmrc/wire/icrc.h"

namespace openmrc::wire {
namespace {

// Fields that are names and bit patterns rather than counts.
constexpr std::array kHexFields{
    std::string_view("opcode"),        std::string_view("pkey"),
    std::string_view("dqp"),           std::string_view("va"),
    std::string_view("rkey"),          std::string_view("immediate"),
    std::string_view("syndrome"),      std::string_view("entropy"),
    std::string_view("spdcid"),        std::string_view("dpdcid"),
    std::string_view("bitmap"),        std::string_view("cc_flags"),
    std::string_view("vendor_info"),   std::string_view("checksum"),
    std::string_view("reason"),        std::string_view("flow_label"),
    std::string_view("type"),          std::string_view("port_status_mask"),
    std::string_view("traffic_class"), std::string_view("tos"),
    std::string_view("qkey"),          std::string_view("sqp")};

bool is_shown_in_hex(std::string_view field) {
  return std::ranges::find(kHexFields, field) != kHexFields.end();
}

// Fields with no meaning yet (nh, next header, is Ultra Ethernet's).
constexpr bool is_reserved(std::string_view field) {
  return field.contains("reserved") || field == "nh";
}

std::string hex(std::uint64_t value, std::size_t bits) {
  return fmt::format("0x{:0{}x}", value, (bits + 3) / 4);
}

std::string mac_text(std::uint64_t mac) {
  std::string text;
  for (int shift = 40; shift >= 0; shift -= 8) {
    fmt::format_to(std::back_inserter(text), "{}{:02x}", text.empty() ? "" : ":",
                   mac >> shift & 0xff);
  }
  return text;
}

// One layer from the fields that its header is made of. Reserved fields are shown only where they
// are not zero.
template <class Layout>
DissectedLayer layer_of(std::string_view name, ConstBytes frame, std::size_t offset) {
  const HeaderView<Layout> view(frame.subspan(offset).first<kWireSize<Layout>>());
  DissectedLayer layer{
      .name = std::string(name), .offset = offset, .size = kWireSize<Layout>, .fields = {}};
  Layout::Fields::for_each([&]<class Field> {
    if constexpr (NumberField<Field>) {
      const std::uint64_t value = view.template get<Field>();
      const bool reserved = is_reserved(Field::kName);
      if (reserved && value == 0) return;
      DissectedField field{.name = std::string(Field::kName), .value = value, .note = {}};
      if (is_shown_in_hex(Field::kName) || reserved) field.value = hex(value, Field::kWidth);
      if (reserved) field.note = "reserved, should be 0";
      layer.fields.push_back(std::move(field));
    } else {
      layer.fields.push_back({.name = std::string(Field::kName),
                              .value = to_string(Ipv6Address{view.template get<Field>()}),
                              .note = {}});
    }
  });
  return layer;
}

DissectedField& field_of(DissectedLayer& layer, std::string_view name) {
  return *std::ranges::find(layer.fields, name, &DissectedField::name);
}
void annotate(DissectedLayer& layer, std::string_view field, std::string note) {
  field_of(layer, field).note = std::move(note);
}
template <class Value>
void replace(DissectedLayer& layer, std::string_view field, Value value) {
  field_of(layer, field).value = value;
}
void append(DissectedLayer& layer, std::string name, std::string value, std::string note = {}) {
  layer.fields.push_back(
      {.name = std::move(name), .value = std::move(value), .note = std::move(note)});
}

std::string_view ecn_text(Ecn ecn) {
  switch (ecn) {
    case Ecn::kNotCapable: return "not ECN capable";
    case Ecn::kCapable0: return "ECN capable (0)";
    case Ecn::kCapable1: return "ECN capable (1)";
    case Ecn::kCongested: return "congestion experienced";
  }
  return {};
}

std::string_view class_text(Dscp dscp, const DscpMap& map) {
  if (const auto place = map.trim_place(dscp)) {
    return *place == TrimPlace::kLastHop ? "TRIMMED_LASTHOP" : "TRIMMED";
  }
  switch (map.traffic_class(dscp)) {
    case TrafficClass::kControl: return "CONTROL";
    case TrafficClass::kNoTrim: return "NO_TRIM";
    case TrafficClass::kTrimmable: return "TRIMMABLE";
    case TrafficClass::kTrimmableRetransmission: return "TRIMMABLE_RETX";
    case TrafficClass::kUnknown: return "no MRC class";
  }
  return {};
}

std::string traffic_note(std::uint8_t traffic, const DscpMap& map) {
  const Dscp dscp = dscp_of(traffic);
  return fmt::format("DSCP {} {}, {}", dscp.raw(), class_text(dscp, map),
                     ecn_text(ecn_of(traffic)));
}

std::string usid_list(const Ipv6Address& address) {
  std::string text;
  for (const Usid usid : UsidCarrier(address).remaining()) {
    fmt::format_to(std::back_inserter(text), "{}{:04x}", text.empty() ? "" : " > ", usid.raw());
  }
  return text.empty() ? "none" : text;
}

// Walks a frame and collects its layers.
class Dissector {
 public:
  Dissector(ConstBytes frame, const WireSettings& settings) : frame_(frame), settings_(settings) {}

  std::vector<DissectedLayer> run(LinkType link_type) {
    if (link_type == LinkType::kEthernet) {
      ethernet();
    } else {
      ip();
    }
    return std::move(layers_);
  }

 private:
  [[nodiscard]] ConstBytes rest() const { return frame_.subspan(at_); }

  // Adds the header that comes next and steps over it; nothing if the bytes do not suffice.
  template <class Layout>
  DissectedLayer* add(std::string_view name) {
    if (rest().size() < kWireSize<Layout>) return nullptr;
    layers_.push_back(layer_of<Layout>(name, frame_, at_));
    at_ += kWireSize<Layout>;
    return &layers_.back();
  }
  template <class Layout>
  [[nodiscard]] HeaderView<Layout> last() const {
    return HeaderView<Layout>(
        frame_.subspan(at_ - kWireSize<Layout>).template first<kWireSize<Layout>>());
  }
  void add_bytes(std::string_view name, std::size_t size, std::string note = {}) {
    if (size == 0) return;
    DissectedLayer layer{.name = std::string(name), .offset = at_, .size = size, .fields = {}};
    constexpr std::size_t kShown = 32;
    std::string text;
    for (const std::byte byte : rest().first(std::min(size, kShown))) {
      fmt::format_to(std::back_inserter(text), "{:02x}", std::to_integer<unsigned>(byte));
    }
    if (size > kShown) text += "...";
    layer.fields.push_back({.name = "size", .value = std::uint64_t{size}, .note = std::move(note)});
    append(layer, "bytes", std::move(text));
    layers_.push_back(std::move(layer));
    at_ += size;
  }

  void ethernet() {
    auto* layer = add<EthernetLayout>("Ethernet");
    if (layer == nullptr) return add_bytes("Bytes", rest().size());
    const auto view = last<EthernetLayout>();
    replace(*layer, "destination", mac_text(view.get<EthernetLayout::Destination>()));
    replace(*layer, "source", mac_text(view.get<EthernetLayout::Source>()));
    const auto type = static_cast<EtherType>(view.get<EthernetLayout::Type>());
    if (type == EtherType::kIpv4 || type == EtherType::kIpv6) return ip();
    add_bytes("Bytes", rest().size());
  }

  void ip() {
    const unsigned version = rest().empty() ? 0 : std::to_integer<unsigned>(rest()[0] >> 4);
    if (version == 4) return ipv4();
    if (version == 6) return ipv6(0);
    add_bytes("Bytes", rest().size());
  }

  void ipv4() {
    covered_from_ = at_;
    auto* layer = add<Ipv4Layout>("IPv4");
    if (layer == nullptr) return add_bytes("Bytes", rest().size());
    const auto view = last<Ipv4Layout>();
    see_traffic(*layer, "tos", view.get<Ipv4Layout::TrafficByte>());
    replace(*layer, "source", to_string(Ipv4Address(view.get<Ipv4Layout::Source>())));
    replace(*layer, "destination", to_string(Ipv4Address(view.get<Ipv4Layout::Destination>())));
    const bool right = ipv4_sum(view.bytes()) == 0xffff;
    annotate(*layer, "checksum", right ? "right" : "wrong");
    cut_to(covered_from_ + view.get<Ipv4Layout::TotalLength>());
    flow_label_ = 0;
    const auto next = static_cast<IpProtocol>(view.get<Ipv4Layout::Protocol>());
    if (next == IpProtocol::kUdp && view.get<Ipv4Layout::HeaderWords>() == kIpv4Size / 4) {
      return udp();
    }
    add_bytes("Bytes", rest().size());
  }

  void ipv6(int depth) {
    covered_from_ = at_;
    auto* layer = add<Ipv6Layout>(depth == 0 ? "IPv6" : "IPv6 (inner)");
    if (layer == nullptr) return add_bytes("Bytes", rest().size());
    const auto view = last<Ipv6Layout>();
    see_traffic(*layer, "traffic_class", view.get<Ipv6Layout::TrafficByte>());
    cut_to(covered_from_ + kIpv6Size + view.get<Ipv6Layout::PayloadLength>());
    flow_label_ = view.get<Ipv6Layout::FlowLabel>();
    const auto next = static_cast<IpProtocol>(view.get<Ipv6Layout::NextHeader>());
    if (depth == 0 && (next == IpProtocol::kIpv6 || next == IpProtocol::kRouting)) {
      const Ipv6Address destination{view.get<Ipv6Layout::Destination>()};
      append(*layer, "usids", usid_list(destination),
             fmt::format("SRv6 path, block {:08x}", UsidCarrier(destination).block()));
    }
    behind_ipv6(next, depth);
  }

  void behind_ipv6(IpProtocol next, int depth) {
    if (next == IpProtocol::kRouting && depth == 0) {
      auto* srh = add<SrhLayout>("SRH");
      if (srh == nullptr) return add_bytes("Bytes", rest().size());
      const auto view = last<SrhLayout>();
      append(*srh, "usids", usid_list(Ipv6Address{view.get<SrhLayout::Segment>()}),
             "rest of the SRv6 path");
      next = static_cast<IpProtocol>(view.get<SrhLayout::NextHeader>());
    }
    if (next == IpProtocol::kIpv6 && depth == 0) return ipv6(1);
    if (next == IpProtocol::kUdp) return udp();
    add_bytes("Bytes", rest().size());
  }

  void udp() {
    auto* layer = add<UdpLayout>("UDP");
    if (layer == nullptr) return add_bytes("Bytes", rest().size());
    const auto view = last<UdpLayout>();
    const Ev ev = join_ev(flow_label_, view.get<UdpLayout::SourcePort>());
    append(*layer, "ev", hex(ev.raw(), 32), "from flow label and source port");
    const UdpPort port(view.get<UdpLayout::DestinationPort>());
    if (port == settings_.udp_port || port == settings_.udp_port_alternate) return bth();
    add_bytes("Bytes", rest().size());
  }

  void bth() {
    auto* layer = add<BthLayout>("BTH");
    if (layer == nullptr) return add_bytes("Bytes", rest().size());
    const auto view = last<BthLayout>();
    const std::uint8_t raw = view.get<BthLayout::OpcodeByte>();
    if (!is_defined_opcode(raw)) {
      annotate(*layer, "opcode", is_mrc_opcode(raw) ? "unknown in MRC" : "not MRC");
      return add_bytes("Bytes", rest().size());
    }
    const auto opcode = static_cast<Opcode>(raw);
    annotate(*layer, "opcode", std::string(name(opcode)));
    if (is_write(opcode)) {
      write_headers(view);
    } else if (is_datagram(opcode)) {
      datagram_headers(opcode);
    } else {
      control_header(opcode);
    }
    behind_headers(view.get<BthLayout::PadCount>());
  }

  void write_headers(BthView bth_view) {
    const auto opcode = static_cast<Opcode>(bth_view.get<BthLayout::OpcodeByte>());
    if (add<MethLayout>("METH") == nullptr) return;
    if (bth_view.get<BthLayout::TimestampPresent>() != 0) {
      auto* layer = add<TsethLayout>("TSETH");
      if (layer == nullptr) return;
      annotate(*layer, "tsr", tick_note(last<TsethLayout>().get<TsethLayout::Resolution>()));
    }
    if (add<RethLayout>("RETH") == nullptr) return;
    if (has_immediate(opcode)) add<ImmdtLayout>("ImmDt");
  }

  void datagram_headers(Opcode opcode) {
    if (add<DethLayout>("DETH") == nullptr) return;
    if (opcode == Opcode::kUdSendOnlyImmediate) add<ImmdtLayout>("ImmDt");
  }

  void control_header(Opcode opcode) {
    switch (opcode) {
      case Opcode::kSack: return sack();
      case Opcode::kNack: return nack();
      case Opcode::kAcknowledge: return acknowledge();
      case Opcode::kReliabilityProbe: return probe();
      case Opcode::kEndpointRequest: return endpoint_request();
      default: return endpoint_response();
    }
  }

  void sack() {
    auto* layer = add<SethLayout>("SETH");
    if (layer == nullptr) return;
    const auto view = last<SethLayout>();
    const auto mark = name(static_cast<PathMark>(view.get<SethLayout::Mark>()));
    annotate(*layer, "mark", std::string(mark.empty() ? "reserved" : mark));
    const Psn cack(view.get<SethLayout::CumulativePsn>());
    const auto base = static_cast<std::int16_t>(view.get<SethLayout::SackOffset>());
    replace(*layer, "sack_offset", std::int64_t{base});
    annotate(*layer, "sack_offset", fmt::format("bitmap starts at PSN {}", (cack + base).raw()));
    if (view.get<SethLayout::ProbeResponse>() != 0) {
      field_of(*layer, "ack_psn_offset").name = "probe_id";
    } else {
      const auto offset = static_cast<std::int16_t>(view.get<SethLayout::AckPsnOffset>());
      replace(*layer, "ack_psn_offset", std::int64_t{offset});
      annotate(*layer, "ack_psn_offset", fmt::format("triggered by PSN {}", (cack + offset).raw()));
    }
    cc_state();
  }

  void cc_state() {
    auto* layer = add<CcStateLayout>("CC_STATE");
    if (layer == nullptr) return;
    const std::uint64_t units = last<CcStateLayout>().get<CcStateLayout::ReceivedBytes>();
    annotate(*layer, "rcvd_bytes",
             fmt::format("{} bytes", units * static_cast<std::uint64_t>(kReceivedUnit.raw())));
  }

  void nack() {
    auto* layer = add<NethLayout>("NETH");
    if (layer == nullptr) return;
    const auto reason = name(static_cast<NackReason>(last<NethLayout>().get<NethLayout::Reason>()));
    annotate(*layer, "reason", std::string(reason.empty() ? "unknown" : reason));
  }

  void acknowledge() {
    auto* layer = add<AethLayout>("AETH");
    if (layer == nullptr) return;
    const auto text = name(syndrome_of(last<AethLayout>().get<AethLayout::SyndromeByte>()));
    annotate(*layer, "syndrome", std::string(text.empty() ? "unknown" : text));
  }

  void probe() {
    auto* layer = add<PethLayout>("PETH");
    if (layer == nullptr) return;
    annotate(*layer, "tsr", tick_note(last<PethLayout>().get<PethLayout::Resolution>()));
  }

  void endpoint_request() {
    auto* layer = add<ErthLayout>("ERTH");
    if (layer == nullptr) return;
    const auto view = last<ErthLayout>();
    const auto op = name(static_cast<EndpointOp>(view.get<ErthLayout::Operation>()));
    annotate(*layer, "op", std::string(op.empty() ? "unknown" : op));
    annotate(*layer, "tsr", tick_note(view.get<ErthLayout::Resolution>()));
  }

  void endpoint_response() {
    auto* layer = add<EethLayout>("EETH");
    if (layer == nullptr) return;
    annotate(*layer, "op", std::string(name(Eeth::read(last<EethLayout>()).op)));
  }

  // Payload, pad and ICRC, or what a switch left of them.
  void behind_headers(std::size_t pad) {
    if (trimmed_) return add_bytes("Rest", rest().size(), "left by the switch that trimmed");
    if (rest().size() < kIcrcSize) return add_bytes("Bytes", rest().size());
    const std::size_t padded = rest().size() - kIcrcSize;
    const std::size_t shown_pad = std::min(pad, padded);
    add_bytes("Payload", padded - shown_pad);
    add_bytes("Pad", shown_pad);
    icrc();
  }

  void icrc() {
    const ConstBytes covered = frame_.subspan(covered_from_, at_ - covered_from_);
    const std::uint32_t stored = stored_icrc(rest());
    const std::uint32_t expected = Icrc(covered).value();
    DissectedLayer layer{.name = "ICRC", .offset = at_, .size = kIcrcSize, .fields = {}};
    append(layer, "icrc", hex(stored, 32),
           stored == expected ? "right" : fmt::format("wrong, expected {}", hex(expected, 32)));
    layers_.push_back(std::move(layer));
    at_ += kIcrcSize;
  }

  static std::string tick_note(std::uint8_t resolution) {
    return resolution == 0 ? "ticks of 128 ns" : "ticks of the sender's choice";
  }

  // Notes traffic class and ECN; the outermost header says whether the packet was trimmed.
  void see_traffic(DissectedLayer& layer, std::string_view field, std::uint8_t traffic) {
    annotate(layer, field, traffic_note(traffic, settings_.dscp));
    if (!traffic_seen_) trimmed_ = settings_.dscp.trim_place(dscp_of(traffic)).has_value();
    traffic_seen_ = true;
  }

  // Leaves out what stands behind the end that an IP header states, such as Ethernet padding.
  void cut_to(std::size_t end) {
    if (end >= at_ && end < frame_.size()) frame_ = frame_.first(end);
  }

  ConstBytes frame_;
  const WireSettings& settings_;
  std::size_t at_ = 0;
  std::size_t covered_from_ = 0;  // where the last IP header begins
  std::uint32_t flow_label_ = 0;
  bool traffic_seen_ = false;
  bool trimmed_ = false;
  std::vector<DissectedLayer> layers_;
};

}  // namespace

Dissection dissect(ConstBytes frame, LinkType link_type, const WireSettings& settings) {
  return {.layers = Dissector(frame, settings).run(link_type),
          .verdict = link_type == LinkType::kEthernet ? decode_frame(frame, settings)
                                                      : decode_ip(frame, settings)};
}

}  // namespace openmrc::wire
