// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/host/address_text.h"
#include "openmrc/host/config_fields.h"
#include "openmrc/text/units.h"

namespace openmrc::host {
namespace {

constexpr std::size_t kNameLengthMax = 255;

// Neither for all, nor for many.
bool is_of_one_host(const wire::Ipv6Address& address) {
  if (wire::is_mapped_ipv4(address)) {
    constexpr std::uint32_t kMulticastFirst = 0xe000'0000;  // 224.0.0.0; above it is broadcast
    const std::uint32_t raw = wire::unmapped(address).raw();
    return raw != 0 && raw < kMulticastFirst;
  }
  return address != wire::Ipv6Address{} && address.bytes[0] != std::byte{0xff};
}

std::string name_of_this_host() {
  std::array<char, kNameLengthMax + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "host";
  return name.data();
}

class Checker {
 public:
  Checker(Draft& draft, text::Diagnostics& diagnostics)
      : draft_(draft), config_(draft.config), diagnostics_(diagnostics) {}

  void check() {
    check_name();
    check_fabric();
    check_ports();
    check_peers();
    check_evs();
    check_dscps();
    check_congestion();
    check_limits();
    take_icrc();
    if (has("capture.file")) config_.capture = draft_.capture;
    check_agent();
    check_faults();
    check_mapper();
  }

 private:
  [[nodiscard]] bool has(std::string_view key) const { return diagnostics_.has(key); }
  [[nodiscard]] bool is_valid(std::string_view key) const { return diagnostics_.is_valid(key); }
  void fail(std::string_view key, std::string message) {
    diagnostics_.error(key, std::move(message));
  }
  void fail(std::uint32_t line, std::string_view key, std::string message) {
    diagnostics_.error(line, key, std::move(message));
  }
  [[nodiscard]] bool takes_exact_paths() const { return config_.mode != datapath::Mode::kUdp; }

  void check_name() {
    if (!has("name")) {
      config_.name = name_of_this_host();
      return;
    }
    const auto is_odd = [](char c) { return c <= ' ' || c > '~' || c == '"' || c == '\\'; };
    if (config_.name.size() > kNameLengthMax || std::ranges::any_of(config_.name, is_odd)) {
      fail("name", fmt::format("must be at most {} letters, digits and signs without spaces or "
                               "quotes, as in \"h0\"",
                               kNameLengthMax));
    }
  }

  void check_fabric() {
    if (!has("fabric")) {
      if (takes_exact_paths()) {
        fail("mode", fmt::format("\"{}\" needs to know the paths: add the section [fabric], or use "
                                 "mode = \"udp\"",
                                 datapath::name_of(config_.mode)));
      }
      return;
    }
    check_block();
    if (!has("fabric.host")) {
      fail("fabric.host", "is missing: which host of the fabric this is, as in \"h0\"");
    }
    if (!config_.fabric || !is_valid("fabric.host")) return;  // as was said
    const auto fabric = fabric::Fabric::make(config_.fabric->shape);
    const auto host = fabric::parse_host(*fabric, draft_.host);
    if (host) {
      config_.fabric->host = *host;
      host_is_known_ = true;
    } else {
      fail("fabric.host", to_string(host.error()));
    }
  }

  void check_block() {
    const auto block = parse_address(draft_.block);
    const bool rest_is_zero =
        block && std::ranges::all_of(block->bytes.begin() + 4, block->bytes.end(),
                                     [](std::byte b) { return b == std::byte{0}; });
    if (!rest_is_zero || (block->group(0) == 0 && block->group(1) == 0)) {
      fail("fabric.block", fmt::format("must be an IPv6 prefix of 32 bits, as in \"fcbb:bb00::\", "
                                       "not \"{}\"",
                                       draft_.block));
      return;
    }
    if (!config_.fabric) return;
    config_.fabric->block = std::uint32_t{block->group(0)} << 16 | block->group(1);
  }

  void check_ports() {
    if (!has("port")) {
      fail(0, "port", "is missing: write [[port]] with interface and address, once for each plane");
      return;
    }
    const std::size_t planes =
        config_.fabric ? config_.fabric->shape.planes : std::size_t{core::kPlanesMax};
    if (config_.fabric && draft_.ports.size() != planes) {
      fail("port", fmt::format("there are {} of [[port]], and the fabric has {} planes: write one "
                               "for each plane, in order",
                               draft_.ports.size(), planes));
    } else if (draft_.ports.size() > planes) {
      fail("port", fmt::format("there are {} of [[port]]; at most {} are possible",
                               draft_.ports.size(), planes));
    }
    for (std::size_t plane = 0; plane < draft_.ports.size(); ++plane) take_port(plane);
  }

  void take_port(std::size_t plane) {
    const PortDraft& port = draft_.ports[plane];
    datapath::Port& taken =
        config_.ports.emplace_back(datapath::Port{.interface = port.interface, .address = {}});
    check_interface(port);
    const auto planned = planned_address(plane);
    if (port.address_line == 0) {
      if (planned) taken.address = *planned;
      if (!has("fabric")) {
        fail(port.line, "port.address",
             fmt::format("is missing: this host's address in plane {}", plane));
      }
      return;
    }
    if (port.address.empty()) return;  // no text, as was said
    const auto address = parse_address(port.address);
    if (!address) {
      fail(port.address_line, "port.address",
           fmt::format("must be an IPv4 or IPv6 address, as in \"10.0.1.1\" or \"fd4d:5243::1\", "
                       "not \"{}\"",
                       port.address));
      return;
    }
    taken.address = *address;
    check_address(plane, planned);
  }

  void check_interface(const PortDraft& port) {
    if (port.interface.empty() && datapath::encapsulates(config_.mode)) {
      fail(port.line, "port.interface",
           fmt::format("is missing: with mode = \"{}\" packets leave by a named interface",
                       datapath::name_of(config_.mode)));
    }
    constexpr std::size_t kInterfaceNameMax = 15;  // IFNAMSIZ, and a zero
    const bool is_name = port.interface.size() <= kInterfaceNameMax &&
                         port.interface.find_first_of("/ \t\n") == std::string::npos;
    if (!is_name) {
      fail(port.line, "port.interface",
           fmt::format("\"{}\" is not an interface name: at most {} letters without spaces and "
                       "slashes",
                       port.interface, kInterfaceNameMax));
    }
  }

  void check_address(std::size_t plane, const std::optional<wire::Ipv6Address>& planned) {
    const wire::Ipv6Address& address = config_.ports[plane].address;
    const std::uint32_t line = draft_.ports[plane].address_line;
    if (!is_of_one_host(address)) {
      fail(line, "port.address",
           fmt::format("must be an address of one host, not {}", to_string(address)));
    }
    if (wire::is_mapped_ipv4(address) && (takes_exact_paths() || has("fabric"))) {
      fail(line, "port.address",
           takes_exact_paths()
               ? fmt::format("{} is an IPv4 address; paths that name switches need IPv6: set mode "
                             "= \"udp\"",
                             to_string(address))
               : fmt::format("{} is an IPv4 address, and [fabric] plans addresses of IPv6: leave "
                             "out [fabric]",
                             to_string(address)));
      return;
    }
    if (version_of(address) != ip_version(config_)) {
      fail(line, "port.address",
           fmt::format("{} and {} are of different IP versions: all ports have one",
                       to_string(address), to_string(config_.ports.front().address)));
    }
    if (planned && address != *planned) {
      fail(line, "port.address",
           fmt::format("{} is not what the fabric's plan gives {} in plane {}: {}; leave the key "
                       "out, or correct it or fabric.host",
                       to_string(address), draft_.host, plane, to_string(*planned)));
    }
    for (std::size_t other = 0; other < plane; ++other) {
      if (config_.ports[other].address != address) continue;
      fail(line, "port.address",
           fmt::format("{} is also the address in plane {}: each plane has its own",
                       to_string(address), other));
      return;
    }
  }

  void check_peers() {
    for (const PeerDraft& peer : draft_.peers) take_peer(peer);
  }

  void take_peer(const PeerDraft& peer) {
    KnownPeer known{.name = peer.name};
    if (has("fabric")) {
      return fail(peer.line, "peer", "is not needed with [fabric], which gives all addresses");
    }
    if (peer.name.empty()) fail(peer.line, "peer.name", "is missing: what messages call the peer");
    for (const std::string& text : peer.addresses) {
      const auto address = parse_address(text);
      if (!address || !is_of_one_host(*address) || version_of(*address) != ip_version(config_)) {
        return fail(peer.line, "peer.addresses",
                    fmt::format("must be addresses of one host, of the same IP version as the "
                                "ports', not \"{}\"",
                                text));
      }
      known.addresses.push_back(*address);
    }
    if (known.addresses.size() != draft_.ports.size()) {
      fail(peer.line, "peer.addresses",
           fmt::format("has {} addresses, and there are {} of [[port]]: one for each plane, in the "
                       "same order",
                       known.addresses.size(), draft_.ports.size()));
    }
    config_.peers.push_back(std::move(known));
  }

  [[nodiscard]] std::optional<wire::Ipv6Address> planned_address(std::size_t plane) const {
    if (!host_is_known_ || plane >= config_.fabric->shape.planes) return std::nullopt;
    const auto fabric = fabric::Fabric::make(config_.fabric->shape);
    return fabric::UsidPlan(*fabric, config_.fabric->block)
        .inner_address(config_.fabric->host, Plane(static_cast<std::uint8_t>(plane)));
  }

  void check_evs() {
    const auto planes = static_cast<std::uint32_t>(config_.ports.size());
    if (planes == 0) return;
    profile::PathOptions& paths = config_.transport.paths;
    std::uint32_t most = core::kEvsPerProfileMax;
    if (takes_exact_paths() && config_.fabric && paths.distinct) {
      const auto fabric = fabric::Fabric::make(config_.fabric->shape);
      most = std::min(most, static_cast<std::uint32_t>(fabric->evs()));
    }
    if (!has("transport.evs")) {
      paths.evs = std::max(planes, std::min(paths.evs, most) / planes * planes);
      return;
    }
    if (!is_valid("transport.evs")) return;
    if (paths.evs > most) {
      fail("transport.evs", fmt::format("{} are more than the {} paths of the fabric (planes x "
                                        "uplinks); with distinct_evs = false paths repeat",
                                        paths.evs, most));
    } else if (paths.evs % planes != 0) {
      const std::uint32_t fewer = std::max(planes, paths.evs / planes * planes);
      fail("transport.evs", fmt::format("{} cannot be divided evenly among {} planes; {} can",
                                        paths.evs, planes, fewer));
    }
  }

  void check_dscps() {
    const wire::DscpMap& map = config_.wire.dscp;
    const std::array<std::pair<std::string_view, wire::Dscp>, 6> all{{
        {"dscp.control", map.control},
        {"dscp.no_trim", map.no_trim},
        {"dscp.trimmable", map.trimmable},
        {"dscp.trimmable_retransmission", map.trimmable_retransmission},
        {"dscp.trimmed", map.trimmed},
        {"dscp.trimmed_last_hop", map.trimmed_last_hop},
    }};
    const auto is_wrong = [&](std::size_t i) {
      return has(all[i].first) && !is_valid(all[i].first);
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (all[i].second != all[j].second || is_wrong(i) || is_wrong(j)) continue;
        // The one that the file gives is the one to change.
        const std::size_t blamed = has(all[i].first) ? i : j;
        fail(all[blamed].first, fmt::format("{} is also {}; each must have a DSCP of its own",
                                            all[i].second.raw(), all[i + j - blamed].first));
      }
    }
  }

  void check_congestion() {
    if (!is_valid("transport.window")) return;
    const profile::CongestionOptions& congestion = config_.transport.congestion;
    if (congestion.algorithm != profile::CongestionAlgorithm::kFixed) {
      fail("transport.window",
           "needs congestion = \"fixed\"; NSCC finds its own. Leave one of the two out");
    } else if (congestion.window < ByteCount(config_.transport.mtu)) {
      const auto window = static_cast<std::uint64_t>(congestion.window->raw());
      fail("transport.window", fmt::format("{} does not hold one packet of mtu = {}",
                                           text::format_size(window), config_.transport.mtu));
    }
  }

  // Slots limit the queue pair numbers of a shard.
  void check_limits() {
    std::size_t& queue_pairs = config_.transport.limits.queue_pairs;
    if (!has("transport.max_queue_pairs")) {
      queue_pairs = std::min<std::size_t>(queue_pairs, datapath::kQpnsPerSlot);
    } else if (queue_pairs > datapath::kQpnsPerSlot) {
      fail("transport.max_queue_pairs",
           fmt::format("a shard has at most {}", datapath::kQpnsPerSlot));
    }
  }

  void take_icrc() {
    config_.wire.icrc_check =
        draft_.icrc == Icrc::kVerify ? wire::IcrcCheck::kVerify : wire::IcrcCheck::kSkip;
    config_.send_icrc = draft_.icrc != Icrc::kOff;
  }

  void check_agent() {
    const std::string& listen = config_.agent.listen;
    if (!is_valid("agent.listen") || is_listen_address(listen)) return;
    fail("agent.listen",
         fmt::format("\"{}\" is no address and port, such as 127.0.0.1:9917 or [::]:9917", listen));
  }

  void check_faults() {
    if (!has("faults")) return;
    config_.faults = draft_.faults;
    if (draft_.faults.plane && *draft_.faults.plane >= config_.ports.size()) {
      fail("faults.plane", fmt::format("{} is not a plane; there are {}, from 0",
                                       *draft_.faults.plane, config_.ports.size()));
    }
    if (draft_.faults.ev && *draft_.faults.ev >= config_.transport.paths.evs) {
      fail("faults.ev", fmt::format("{} is no EV; there are {}, from 0", *draft_.faults.ev,
                                    config_.transport.paths.evs));
    }
  }

  void check_mapper() {
    const MapperConfig& mapper = config_.mapper;
    if (mapper.enabled && !takes_exact_paths()) {
      fail("mapper.enabled",
           "probes name the switches of their path: this needs mode = \"usid\", "
           "\"srv6\" or \"xdp\"");
    }
    if (mapper.enabled && mapper.udp_port == config_.transport.udp_port.raw()) {
      fail("mapper.udp_port", "is the port of data: choose another");
    }
  }

  Draft& draft_;
  Config& config_;
  text::Diagnostics& diagnostics_;
  bool host_is_known_ = false;
};

}  // namespace

void check_draft(Draft& draft, text::Diagnostics& diagnostics) {
  Checker(draft, diagnostics).check();
}

}  // namespace openmrc::host
