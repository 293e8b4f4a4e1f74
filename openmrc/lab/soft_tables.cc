// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/soft_tables.h"

#include <algorithm>
#include <vector>

#include "openmrc/fabric/usid_plan.h"
#include "openmrc/lab/layout.h"
#include "openmrc/softswitch/queue_policy.h"

namespace openmrc::lab {
namespace {

using fabric::LinkId;
using fabric::Segment;
using fabric::SwitchId;
using fabric::Tier;
using fabric::usid_of;
using softswitch::PortIndex;
using softswitch::Prefix;

// With all ports' queues full of small packets there would be more; a lab has many switches.
constexpr std::size_t kBuffers = 1024;

// What thresholds are measured by: all that is under way in the round trip that hosts reckon with.
// Without a rate nothing waits in a switch, and any number will do.
std::uint32_t round_trip_bytes(const Spec& spec) {
  constexpr std::int64_t kRoundTripsPerSecond = 1000;
  constexpr std::int64_t kUnshaped = 1'000'000;
  constexpr std::int64_t kBytesMax = 16'000'000;
  if (!spec.bits_per_second) return kUnshaped;
  // A few packets have to fit into a fifth of it.
  const std::int64_t least = 20 * std::int64_t{spec.mtu};
  return static_cast<std::uint32_t>(
      std::clamp(*spec.bits_per_second / 8 / kRoundTripsPerSecond, least, kBytesMax));
}

Prefix prefix_of(wire::Ipv6Address address, std::uint8_t length) {
  constexpr unsigned kGroupBits = 16;
  for (std::size_t group = length / kGroupBits; group < 8; ++group) address.set_group(group, 0);
  return {address, length};
}

constexpr std::uint8_t kPlaneLength = 64;
constexpr std::uint8_t kRackPrefixLength = 112;

// The next hop behind a port of a T0 or T1, as a uSID and as a prefix of plain addresses.
void add_port(const Spec& spec, const SwitchId& id, const LinkId& link, PortIndex port,
              softswitch::ForwardingSettings& forwarding) {
  const fabric::UsidPlan plan(spec.fabric());
  const auto first_of_rack = plan.inner_address(spec.fabric().host_at(link.rack, 0), link.plane);
  if (link.kind == LinkId::Kind::kHost) {
    const auto host = spec.fabric().host_at(link.rack, link.port);
    forwarding.usids.push_back({usid_of({Segment::Kind::kHost, link.plane, link.port}), port});
    forwarding.prefixes.push_back(
        {{plan.inner_address(host, link.plane), Prefix::kLengthMax}, {port}});
  } else if (id.tier == Tier::kT1) {
    forwarding.usids.push_back({usid_of({Segment::Kind::kT0, link.plane, link.rack}), port});
    forwarding.prefixes.push_back({prefix_of(first_of_rack, kRackPrefixLength), {port}});
  } else {
    forwarding.usids.push_back({usid_of({Segment::Kind::kT1, link.plane, link.port}), port});
    const Prefix plane = prefix_of(first_of_rack, kPlaneLength);
    auto& prefixes = forwarding.prefixes;
    const auto found = std::ranges::find(prefixes, plane, &softswitch::PrefixRoute::prefix);
    if (found != prefixes.end()) {
      found->ports.push_back(port);
    } else {
      prefixes.push_back({plane, {port}});
    }
  }
}

}  // namespace

softswitch::SwitchSettings soft_settings(const Spec& spec, const SwitchId& id) {
  softswitch::SwitchSettings settings;
  settings.buffers = kBuffers;
  const auto kind = id.tier == Tier::kT0 ? Segment::Kind::kT0 : Segment::Kind::kT1;
  settings.forwarding.own = usid_of({kind, id.plane, id.index});
  settings.seed = settings.forwarding.own.raw();
  std::uint16_t port = 0;
  for (const LinkId& link : links_of(spec.fabric(), id)) {
    const auto place =
        link.kind == LinkId::Kind::kHost ? wire::TrimPlace::kLastHop : wire::TrimPlace::kOnPath;
    auto policy = softswitch::recommended_policy(round_trip_bytes(spec), place);
    if (spec.switches == Switches::kSoftOuter) policy.headers = wire::MarkedHeaders::kOutermost;
    settings.ports.push_back(policy);
    add_port(spec, id, link, PortIndex(port++), settings.forwarding);
  }
  return settings;
}

}  // namespace openmrc::lab
