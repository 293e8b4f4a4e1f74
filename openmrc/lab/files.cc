// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "openmrc/lab/layout.h"
#include "openmrc/profile/transport_profile.h"
#include "openmrc/text/units.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::lab {
namespace {

using fabric::HostIndex;

// What veth links of no particular rate may be taken for, all of a host together.
constexpr std::int64_t kBitsPerSecondUnshaped = 10'000'000'000;

std::string inner_address(const Spec& spec, HostIndex host, std::uint32_t plane) {
  return to_string(data_address(spec, host, plane_at(plane)));
}

std::string fabric_text(const Spec& spec) {
  const fabric::Shape& shape = spec.shape;
  std::string text = fmt::format("planes = {}\nracks = {}\nhosts_per_rack = {}\n", shape.planes,
                                 shape.racks, shape.hosts_per_rack);
  if (shape.uplinks > 0) text += fmt::format("uplinks = {}\n", shape.uplinks);
  if (spec.bits_per_second) {
    text += fmt::format("host_link_gbps = {}\n", static_cast<double>(*spec.bits_per_second) / 1e9);
  }
  return text;
}

// The largest payload that fits into a packet with all its headers, of the sizes that RDMA knows.
std::uint32_t payload_size(std::uint32_t mtu) {
  constexpr std::uint32_t kHeadersMax = 200;
  std::uint32_t size = 4096;
  while (size + kHeadersMax > mtu) size /= 2;
  return size;
}

// With full queues a round trip takes twice its time and more; what is retransmitted before it ends
// is sent spuriously.
unsigned timeout_exponent(Duration base_rtt) {
  unsigned exponent = profile::preset(profile::Preset::kSoftware).retry.timeout;
  while (nanoseconds(1024) * (std::int64_t{1} << exponent) < base_rtt * 4) ++exponent;
  return exponent;
}

// Packets of a slow link stand in line behind each other: the round trip is longer, and so is the
// difference between planes. There, too, several packets in a row on one path gain nothing.
std::string pace_text(const Spec& spec) {
  if (!spec.bits_per_second) return "base_rtt = \"1ms\"\n";
  const Duration base_rtt = base_rtt_of(spec);
  const Duration reorder_floor = std::max(milliseconds(3), base_rtt * 3 / 2);
  return fmt::format(
      "burst = 1\nreorder_floor = \"{}us\"\nretry_timeout = {}\nbase_rtt = \"{}us\"\n",
      reorder_floor.raw() / 1000, timeout_exponent(base_rtt), base_rtt.raw() / 1000);
}

// Where the host stands in the fabric, whose plan gives all addresses.
std::string place_text(const Spec& spec, HostIndex host) {
  const fabric::Shape& shape = spec.shape;
  return fmt::format(
      "\n[fabric]\nplanes = {}\nracks = {}\nhosts_per_rack = {}\nuplinks = {}\nhost = \"{}\"\n"
      "block = \"{:x}:{:x}::\"\n",
      shape.planes, shape.racks, shape.hosts_per_rack, shape.uplinks, name_of(host),
      fabric::kUsidBlockDefault >> 16, fabric::kUsidBlockDefault & 0xffff);
}

// No plan gives addresses of IPv4: the other hosts are listed, each with all of its own.
std::string peers_text(const Spec& spec, HostIndex host) {
  std::string text;
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    if (HostIndex(i) == host) continue;
    std::vector<std::string> addresses;
    addresses.reserve(spec.shape.planes);
    for (std::uint32_t plane = 0; plane < spec.shape.planes; ++plane) {
      addresses.push_back(fmt::format("\"{}\"", inner_address(spec, HostIndex(i), plane)));
    }
    text += fmt::format("\n[[peer]]\nname = \"{}\"\naddresses = [{}]\n", name_of(HostIndex(i)),
                        fmt::join(addresses, ", "));
  }
  return text;
}

// Where hashing chooses the uplink, several EVs for each, or some uplinks may get none.
std::uint64_t evs_of(const Spec& spec) {
  if (spec.mode != Mode::kUdp) return spec.fabric().evs();
  constexpr std::uint32_t kEvsMax = 256;
  constexpr std::uint32_t kEvsOfAnUplink = 8;
  const std::uint32_t planes = spec.shape.planes;
  return planes * std::min(kEvsMax / planes, kEvsOfAnUplink * std::max(spec.shape.uplinks, 1U));
}

std::string config_text(const Spec& spec, HostIndex host) {
  const fabric::Shape& shape = spec.shape;
  const std::int64_t rate =
      spec.bits_per_second ? *spec.bits_per_second * shape.planes : kBitsPerSecondUnshaped;
  const bool is_planned = spec.ip == wire::IpVersion::kV6;
  std::string text = fmt::format(
      "# Host {0} of the lab '{1}'. docs/guide/configuration.md describes every key.\n"
      "name = \"{0}\"\n"
      "mode = \"{2}\"\n{3}",
      name_of(host), spec.name, name_of(spec.mode), is_planned ? place_text(spec, host) : "");
  for (std::uint32_t plane = 0; plane < shape.planes; ++plane) {
    text += fmt::format("\n[[port]]\ninterface = \"{}\"\naddress = \"{}\"\n",
                        name_of(plane_at(plane)), inner_address(spec, host, plane));
  }
  if (!is_planned) text += peers_text(spec, host);
  return text + fmt::format("\n[transport]\nmtu = {}\nevs = {}\n{}rate = \"{}\"\n{}",
                            payload_size(spec.mtu), evs_of(spec), pace_text(spec),
                            text::format_bit_rate(static_cast<std::uint64_t>(rate)),
                            is_soft(spec.switches) ? "trimming = true\n" : "");
}

// h1 is a host on the management network, h1.p3 its port in plane 3.
std::string hosts_text(const Spec& spec) {
  std::string text = "127.0.0.1 localhost\n";
  if (spec.ip == wire::IpVersion::kV6) text += "::1 localhost\n";
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    const HostIndex host(i);
    text += fmt::format("{} {}\n", management_address(spec, host), name_of(host));
    for (std::uint32_t plane = 0; plane < spec.shape.planes; ++plane) {
      text += fmt::format("{} {}.{}\n", inner_address(spec, host, plane), name_of(host),
                          name_of(plane_at(plane)));
    }
  }
  return text;
}

}  // namespace

Duration base_rtt_of(const Spec& spec) {
  constexpr std::int64_t kFrameBits = 4300 * 8;
  constexpr std::int64_t kFramesInARoundTrip = 6;
  if (!spec.bits_per_second) return milliseconds(1);
  const Duration frame(kFrameBits * 1'000'000'000 / *spec.bits_per_second);
  return milliseconds(1) + frame * kFramesInARoundTrip;
}

std::vector<File> files_of(const Spec& spec) {
  std::vector<File> files{{spec_file(spec.name), to_json(spec)},
                          {folder_of(spec.name) / "fabric.toml", fabric_text(spec)}};
  const std::string hosts = hosts_text(spec);
  for (std::uint32_t i = 0; i < spec.fabric().hosts(); ++i) {
    const HostIndex host(i);
    files.push_back({config_file(spec.name, host), config_text(spec, host)});
    files.push_back({hosts_file(space_of(spec.name, host)), hosts});
  }
  return files;
}

}  // namespace openmrc::lab
