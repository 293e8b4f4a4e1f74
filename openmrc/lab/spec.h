// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/wire/field/ip_version.h"

// What a lab is: everything else about it, names, addresses and commands, follows from this.
namespace openmrc::lab {

inline constexpr std::string_view kNameDefault = "lab";

// How hosts send by default; the network carries all of them.
enum class Mode : std::uint8_t { kSrv6, kUsid, kUdp, kXdp };
std::string_view name_of(Mode mode);
std::optional<Mode> mode_named(std::string_view name);

// What forwards packets.
enum class Switches : std::uint8_t {
  kKernel,     // Linux: seg6local and routes
  kSoft,       // openmrc/softswitch in a process: marks and trims besides
  kSoftOuter,  // the same, but changes the outer header alone, as hardware does
};
constexpr bool is_soft(Switches switches) { return switches != Switches::kKernel; }
std::string_view name_of(Switches switches);
std::optional<Switches> switches_named(std::string_view name);

// Where the configuration of hosts and switches comes from.
enum class Source : std::uint8_t {
  kLab,       // commands of the lab's own
  kIproute2,  // the scripts of `mrc fabric emit iproute2`
  kFrr,       // those of `mrc fabric emit frr-8.4`, and zebra and staticd in every switch
};
std::string_view name_of(Source source);
std::optional<Source> source_named(std::string_view name);

struct Spec {
  std::string name{kNameDefault};
  fabric::Shape shape{};                          // its speeds are `rate`, if there is one
  std::optional<std::int64_t> bits_per_second{};  // of each direction of each link
  std::uint32_t mtu = 9000;
  wire::IpVersion ip = wire::IpVersion::kV6;  // kV4: there is no IPv6 in the lab
  Mode mode = Mode::kSrv6;
  Switches switches = Switches::kKernel;
  Source source = Source::kLab;

  bool operator==(const Spec&) const = default;

  [[nodiscard]] fabric::Fabric fabric() const { return fabric::Fabric::make(shape).value(); }
};

// Namespaces of one lab. Each costs the kernel some milliseconds and a few hundred kilobytes.
inline constexpr std::uint32_t kNodesMax = 256;
inline constexpr std::uint32_t kMtuMin = 1280;  // IPv6 wants as much
inline constexpr std::uint32_t kMtuMax = 9000;  // what a soft switch takes, less its headers
inline constexpr std::size_t kNameSizeMax = 32;

// The switches of all planes.
std::uint32_t switches_of(const fabric::Shape& shape);

// Letters, digits and underscores: the name becomes a part of names of namespaces and files.
bool is_lab_name(std::string_view name);

// The error says what is wrong with it.
[[nodiscard]] Result<void, std::string> check(const Spec& spec);

// "4 planes, 2 T0 and 2 T1 in each, 4 hosts, 1gbit"
std::string describe(const Spec& spec);

// The options that make it: "--planes 4 --t0 2 ..."
std::string options_of(const Spec& spec);

std::string to_json(const Spec& spec);
std::optional<Spec> spec_from_json(std::string_view text);

}  // namespace openmrc::lab
