// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/fabric/names.h"
#include "openmrc/host/longest_packet.h"
#include "tools/mrc/doctor/findings.h"
#include "tools/mrc/doctor/kernel.h"

namespace openmrc::tools::doctor {
namespace {

using datapath::Mode;
using fabric::HostIndex;
using fabric::PathChoice;
using fabric::Segment;
using fabric::UsidPlan;
using wire::Ipv6Address;

// How packets come to fit: a larger MTU of the interface or, where the network has none, a smaller
// payload. The second is a comment, so that the whole is a command.
Remedy mtu_remedy(const host::Config& config, const std::string& name, std::uint32_t mtu,
                  std::size_t needed) {
  const std::string command = fmt::format("ip link set dev {} mtu {}", name, needed);
  const auto fits = host::payload_for(config.mode, ip_version(config), mtu);
  return Remedy::by(
      {command},
      fits ? fmt::format(" # or, if the network does not allow it: mtu = {} in [transport]", *fits)
           : "");
}

Plane plane_at(std::size_t index) { return Plane(static_cast<std::uint8_t>(index)); }

std::string name_of(const datapath::Port& port) {
  return port.interface.empty() ? to_string(port.address) : port.interface;
}

void check_interface(const host::Config& config, const datapath::Port& port, Findings& findings) {
  const std::string& name = port.interface;
  const auto interface = interface_named(name);
  if (!interface) {
    findings.fail(
        name + ": interface", "no such interface",
        fmt::format("find its name with `ip link`, and set interface in {}", config.file.string()));
    return;
  }
  if (!interface->is_up) {
    findings.fail(name + ": link", "is administratively down",
                  Remedy::by({fmt::format("ip link set dev {} up", name)}));
  } else if (!interface->has_carrier) {
    findings.fail(name + ": link", "has no carrier",
                  "plug in the cable, or bring up the port at its other end");
  } else {
    findings.ok(name + ": link", "is up, with carrier");
  }
  const std::uint32_t needed =
      host::longest_packet(config.mode, ip_version(config), config.transport.mtu);
  if (interface->mtu < needed) {
    findings.fail(name + ": MTU",
                  fmt::format("is {}, but packets of mtu = {} need {}", interface->mtu,
                              config.transport.mtu, needed),
                  mtu_remedy(config, name, interface->mtu, needed));
  } else {
    findings.ok(name + ": MTU", fmt::format("is {}; packets need {}", interface->mtu, needed));
  }
}

// A tentative address is there and cannot be used.
bool can_bind(const Ipv6Address& address) {
  const datapath::SocketAddress to(address, 0);
  const datapath::FileDescriptor socket(::socket(to.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return true;
  return ::bind(socket.get(), to.get(), to.size()) == 0 || errno != EADDRNOTAVAIL;
}

void check_address(const datapath::Port& port, Findings& findings) {
  const std::string check = name_of(port) + ": address";
  const std::string address = to_string(port.address);
  const std::string found = interface_with(port.address);
  const std::string interface = port.interface.empty() ? "INTERFACE" : port.interface;
  const bool is_ipv4 = wire::is_mapped_ipv4(port.address);
  const std::string add =
      is_ipv4 ? fmt::format("ip address add {}/24 dev {}", address, interface)
              : fmt::format("ip -6 address add {}/128 dev {} nodad", address, interface);
  const auto adding = port.interface.empty() ? Remedy(add) : Remedy::by({add});
  if (found.empty()) {
    findings.fail(check, fmt::format("{} is missing", address), adding);
  } else if (!port.interface.empty() && found != port.interface && found != "lo") {
    const std::string remove = is_ipv4
                                   ? fmt::format("ip address del {}/24 dev {}", address, found)
                                   : fmt::format("ip -6 address del {}/128 dev {}", address, found);
    findings.fail(check, fmt::format("{} belongs to {}", address, found),
                  Remedy::by({remove, add}));
  } else if (!can_bind(port.address)) {
    findings.fail(
        check,
        fmt::format("{} is tentative: duplicate address detection is running, or the "
                    "link is down",
                    address),
        Remedy::by({fmt::format("ip -6 address replace {}/128 dev {} nodad", address, found)}, {},
                   "wait a moment, or: "));
  } else {
    findings.ok(check, address);
  }
}

// Both must be set: the kernel takes the smaller one.
void check_segment_routing(const std::string& interface, Findings& findings) {
  std::string remedy;
  for (const std::string& scope : {std::string("all"), interface}) {
    const std::string key = fmt::format("net.ipv6.conf.{}.seg6_enabled", scope);
    // In paths a dot of the interface's name stays.
    const std::string value =
        first_word(fmt::format("/proc/sys/net/ipv6/conf/{}/seg6_enabled", scope));
    if (value.empty()) {
      findings.warn(interface + ": seg6", "this kernel has no segment routing",
                    "use a kernel with CONFIG_IPV6_SEG6_LWTUNNEL, or mode = \"udp\"");
      return;
    }
    if (value == "0") remedy += fmt::format("{}{}=1", remedy.empty() ? "sysctl -w " : " ", key);
  }
  if (remedy.empty()) {
    findings.ok(interface + ": seg6", "is enabled");
  } else {
    findings.warn(interface + ": seg6", "is off: packets with a segment routing header are dropped",
                  Remedy::by({remedy}));
  }
}

// fcbb:bb00:c000::
Ipv6Address segment_address(const host::FabricPlace& place, const Segment& segment) {
  return wire::UsidCarrier::of(place.block, std::vector{usid_of(segment)})->address();
}

// Packets to this host end in its own micro-segment.
void check_own_segment(const host::Config& config, Plane plane, Findings& findings) {
  const auto fabric = fabric::Fabric::make(config.fabric->shape);
  const datapath::Port& port = config.ports[plane.raw()];
  const Ipv6Address own = segment_address(
      *config.fabric, {Segment::Kind::kHost, plane, fabric->downlink_of(config.fabric->host)});
  const std::string check = name_of(port) + ": own segment";
  const std::string text = to_string(own);
  if (datapath::encapsulates(config.mode)) {
    const auto route = route_to(own, false);
    if (route && route->is_decapsulated) {
      findings.ok(check, text + " is decapsulated here (End.DT6)");
    } else {
      findings.fail(check, text + " is not decapsulated here (End.DT6)",
                    Remedy::by({fmt::format("ip -6 route replace {}/48 encap seg6local action "
                                            "End.DT6 table local dev {}",
                                            text, port.interface)}));
    }
    return;
  }
  const auto route = route_to(own, true);
  if (route && route->is_local) {
    findings.ok(check, text + " is an address of this host");
  } else {
    findings.fail(check, text + " is not an address of this host",
                  Remedy::by({fmt::format("ip -6 address add {}/128 dev lo nodad", text)}));
  }
}

// What is wrong with a packet's way out; empty: nothing.
std::string fault_of_route(const Ipv6Address& to, const datapath::Port& port, bool only_udp) {
  const auto route = route_to(to, only_udp);
  if (!route) return "no route";
  if (route->is_refused) return "the route rejects it";
  if (route->is_local) return "it is routed to this host";
  if (!port.interface.empty() && route->interface != port.interface) {
    return fmt::format("it leaves by {}", route->interface);
  }
  return {};
}

void check_first_switch(const host::Config& config, Plane plane, Findings& findings) {
  const auto fabric = fabric::Fabric::make(config.fabric->shape);
  const datapath::Port& port = config.ports[plane.raw()];
  const Segment t0{Segment::Kind::kT0, plane, fabric->rack_of(config.fabric->host)};
  const Ipv6Address to = segment_address(*config.fabric, t0);
  const std::string name = fabric::name_of(fabric->t0_of(config.fabric->host, plane));
  const std::string fault = fault_of_route(to, port, config.mode == Mode::kUsid);
  if (fault.empty()) {
    findings.ok(name_of(port) + ": route",
                fmt::format("to {} ({}/48) is there", name, to_string(to)));
  } else {
    findings.fail(name_of(port) + ": route",
                  fmt::format("to {} ({}/48): {}", name, to_string(to), fault),
                  fmt::format("ip -6 route replace {}/48 via ADDRESS-OF-THE-SWITCH dev {}",
                              to_string(to), port.interface));
  }
}

void check_paths_to(const host::Config& config, HostIndex peer, Findings& findings) {
  const auto fabric = fabric::Fabric::make(config.fabric->shape);
  const UsidPlan plan(*fabric, config.fabric->block);
  const HostIndex self = config.fabric->host;
  const bool is_far = plan.reach(self, peer) == fabric::Reach::kOtherRack;
  const std::uint32_t uplinks = is_far ? fabric->evs_per_plane() : 1;
  for (std::size_t i = 0; i < config.ports.size(); ++i) {
    const datapath::Port& port = config.ports[i];
    const Plane plane = plane_at(i);
    const std::string check = fmt::format("{}: paths to {}", name_of(port), fabric::name_of(peer));
    std::string faults;
    for (std::uint32_t uplink = 0; uplink < uplinks; ++uplink) {
      const PathChoice choice{.plane = plane, .path = static_cast<std::uint16_t>(uplink)};
      const Ipv6Address to = config.mode == Mode::kUdp ? plan.inner_address(peer, plane)
                                                       : plan.carrier(self, peer, choice).address();
      const std::string fault = fault_of_route(to, port, config.mode == Mode::kUsid);
      if (fault.empty()) continue;
      faults = fmt::format("{}: {}", to_string(to), fault);
      break;
    }
    if (faults.empty()) {
      findings.ok(check, fmt::format("{} of {} leave by it", uplinks, uplinks));
    } else {
      findings.fail(check, faults,
                    fmt::format("add a route by {}; `ip -6 route get` asks the kernel the same",
                                name_of(port)));
    }
  }
}

std::optional<Ipv6Address> resolve(const std::string& name, wire::IpVersion version) {
  addrinfo hints{};
  hints.ai_family = version == wire::IpVersion::kV4 ? AF_INET : AF_INET6;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (::getaddrinfo(name.c_str(), nullptr, &hints, &list) != 0) return std::nullopt;
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(list, &::freeaddrinfo);
  if (version == wire::IpVersion::kV4) {
    sockaddr_in first{};
    std::memcpy(&first, list->ai_addr, sizeof first);
    return wire::mapped(wire::Ipv4Address(ntohl(first.sin_addr.s_addr)));
  }
  sockaddr_in6 first{};
  std::memcpy(&first, list->ai_addr, sizeof first);
  Ipv6Address address;
  std::memcpy(address.bytes.data(), &first.sin6_addr, address.bytes.size());
  return address;
}

// "ip -6 route add fd00::2/128", "ip -4 route add 10.0.1.2/32"
std::string route_command(const Ipv6Address& to) {
  const bool is_ipv4 = wire::is_mapped_ipv4(to);
  return fmt::format("ip {} route add {}/{}", is_ipv4 ? "-4" : "-6", to_string(to),
                     is_ipv4 ? 32 : 128);
}

// One of [[peer]]: its address in each plane must be reached by the port of that plane.
void check_known_peer(const host::Config& config, const host::KnownPeer& peer, Findings& findings) {
  for (std::size_t plane = 0; plane < config.ports.size(); ++plane) {
    const datapath::Port& port = config.ports[plane];
    const Ipv6Address& to = peer.addresses[plane];
    const std::string check = fmt::format("{}: route to {}", name_of(port), peer.name);
    const std::string fault = fault_of_route(to, port, false);
    if (fault.empty()) {
      findings.ok(check, fmt::format("{} is reached by it", to_string(to)));
    } else {
      findings.fail(check, fmt::format("{}: {}", to_string(to), fault),
                    fmt::format("{} dev {}", route_command(to), name_of(port)));
    }
  }
}

}  // namespace

void check_ports(const host::Config& config, Findings& findings) {
  for (const datapath::Port& port : config.ports) {
    if (!port.interface.empty()) {
      check_interface(config, port, findings);
      if (!interface_named(port.interface)) continue;  // the rest follows from that
    }
    check_address(port, findings);
    if (config.mode != Mode::kUdp && !port.interface.empty()) {
      check_segment_routing(port.interface, findings);
    }
  }
}

void check_routes(const host::Config& config, Findings& findings) {
  if (config.mode == Mode::kUdp || !config.fabric) return;
  for (std::size_t plane = 0; plane < config.ports.size(); ++plane) {
    const std::string& interface = config.ports[plane].interface;
    if (!interface.empty() && !interface_named(interface)) continue;
    check_own_segment(config, plane_at(plane), findings);
    check_first_switch(config, plane_at(plane), findings);
  }
}

void check_peer(const host::Config& config, const std::string& peer, Findings& findings) {
  if (config.fabric) {
    const auto fabric = fabric::Fabric::make(config.fabric->shape);
    const auto index = fabric::parse_host(*fabric, peer);
    if (index) {
      check_paths_to(config, *index, findings);
      return;
    }
    if (config.mode != Mode::kUdp) {
      findings.fail("peer", to_string(index.error()),
                    fmt::format("name one of h0 to h{}", fabric->hosts() - 1));
      return;
    }
  }
  if (const auto known = std::ranges::find(config.peers, peer, &host::KnownPeer::name);
      known != config.peers.end()) {
    return check_known_peer(config, *known, findings);
  }
  const auto address = resolve(peer, ip_version(config));
  if (!address) {
    findings.fail("peer",
                  fmt::format("cannot resolve {} to an IPv{} address", peer,
                              static_cast<int>(ip_version(config))),
                  "give an address, or add the name to /etc/hosts");
    return;
  }
  // Each plane has addresses of its own; one of the ports must lead there.
  const auto leads_there = [&](const datapath::Port& port) {
    return fault_of_route(*address, port, false).empty();
  };
  const auto port = std::ranges::find_if(config.ports, leads_there);
  if (port != config.ports.end()) {
    findings.ok("peer", fmt::format("{} is reached by {}", to_string(*address), name_of(*port)));
  } else {
    findings.fail("peer",
                  fmt::format("{}: {}", to_string(*address),
                              fault_of_route(*address, config.ports.front(), false)),
                  fmt::format("{} via GATEWAY dev {}", route_command(*address),
                              name_of(config.ports.front())));
  }
}

}  // namespace openmrc::tools::doctor
