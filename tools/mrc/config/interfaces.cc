// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/config/interfaces.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>

namespace openmrc::tools::config {
namespace {

constexpr std::uint64_t kMegabit = 1'000'000;

std::filesystem::path folder_of(const std::string& name) {
  return std::filesystem::path("/sys/class/net") / name;
}

std::int64_t number_in(const std::filesystem::path& file) {
  std::int64_t number = 0;
  std::ifstream(file) >> number;
  return number;
}

// Takes the address over, if others can reach it and there is none yet.
void take_address(const ifaddrs& entry, Interface& into) {
  if (entry.ifa_addr == nullptr) return;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (entry.ifa_addr->sa_family == AF_INET6 && into.ipv6.empty()) {
    const in6_addr& address = reinterpret_cast<const sockaddr_in6*>(entry.ifa_addr)->sin6_addr;
    if (IN6_IS_ADDR_LINKLOCAL(&address) || IN6_IS_ADDR_LOOPBACK(&address)) return;
    if (inet_ntop(AF_INET6, &address, text.data(), text.size()) != nullptr) into.ipv6 = text.data();
  } else if (entry.ifa_addr->sa_family == AF_INET && into.ipv4.empty()) {
    const in_addr& address = reinterpret_cast<const sockaddr_in*>(entry.ifa_addr)->sin_addr;
    constexpr std::uint32_t kLinkLocal = 0xa9fe;  // 169.254.0.0/16
    if (ntohl(address.s_addr) >> 16 == kLinkLocal) return;
    if (inet_ntop(AF_INET, &address, text.data(), text.size()) != nullptr) into.ipv4 = text.data();
  }
}

Interface describe(const std::string& name, unsigned flags) {
  const std::int64_t speed = number_in(folder_of(name) / "speed");  // Mb/s; -1: unknown
  std::error_code ignored;
  Interface interface{.name = name};
  interface.mtu = static_cast<std::uint32_t>(number_in(folder_of(name) / "mtu"));
  if (speed > 0) interface.bits_per_second = static_cast<std::uint64_t>(speed) * kMegabit;
  interface.is_up = (flags & IFF_UP) != 0 && (flags & IFF_RUNNING) != 0;
  interface.has_device = std::filesystem::exists(folder_of(name) / "device", ignored);
  return interface;
}

std::string names_of(const std::vector<Interface>& interfaces) {
  std::vector<std::string> names;
  names.reserve(interfaces.size());
  for (const Interface& interface : interfaces) names.push_back(interface.name);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

std::string missing(wire::IpVersion version) {
  return version == wire::IpVersion::kV4 ? "ip address add ADDRESS/24 dev"
                                         : "ip -6 address add ADDRESS/64 dev";
}

Result<std::vector<Interface>, std::string> find_wanted(const std::vector<Interface>& here,
                                                        const std::vector<std::string>& wanted,
                                                        wire::IpVersion version) {
  std::vector<Interface> found;
  for (const std::string& name : wanted) {
    const auto at = std::ranges::find(here, name, &Interface::name);
    if (at == here.end()) {
      return failure(fmt::format("no interface '{}'; there are: {}", name, names_of(here)));
    }
    if (at->address(version).empty()) {
      return failure(fmt::format("{} has no IPv{} address that others can reach: {} {}", name,
                                 static_cast<int>(version), missing(version), name));
    }
    found.push_back(*at);
  }
  return found;
}

// Those that are up and have an address; none is an error of the caller.
std::vector<Interface> usable(const std::vector<Interface>& here, wire::IpVersion version) {
  std::vector<Interface> chosen;
  std::ranges::copy_if(here, std::back_inserter(chosen), [&](const Interface& interface) {
    return interface.is_up && !interface.address(version).empty();
  });
  if (std::ranges::any_of(chosen, &Interface::has_device)) {
    std::erase_if(chosen, [](const Interface& interface) { return !interface.has_device; });
  }
  return chosen;
}

Result<Choice, std::string> choose_of(const std::vector<Interface>& here,
                                      const std::vector<std::string>& wanted,
                                      wire::IpVersion version) {
  if (!wanted.empty()) {
    auto found = find_wanted(here, wanted, version);
    if (!found) return failure(std::move(found.error()));
    return Choice{version, std::move(*found)};
  }
  Choice choice{version, usable(here, version)};
  if (!choice.ports.empty()) return choice;
  return failure(
      fmt::format("no interface is up and has an IPv{} address that others can reach; "
                  "there are: {}",
                  static_cast<int>(version), names_of(here)));
}

}  // namespace

Result<std::vector<Interface>, std::string> interfaces_here() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return failure(fmt::format("cannot list interfaces: {}", std::strerror(errno)));
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
  std::map<std::string, Interface> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if ((entry->ifa_flags & IFF_LOOPBACK) != 0) continue;
    const std::string name = entry->ifa_name;
    const auto at = found.try_emplace(name, describe(name, entry->ifa_flags)).first;
    take_address(*entry, at->second);
  }
  std::vector<Interface> here;
  here.reserve(found.size());
  for (auto& [name, interface] : found) here.push_back(std::move(interface));
  return here;
}

Result<Choice, std::string> choose(const std::vector<Interface>& here,
                                   const std::vector<std::string>& wanted,
                                   std::optional<wire::IpVersion> version) {
  if (version) return choose_of(here, wanted, *version);
  auto ipv6 = choose_of(here, wanted, wire::IpVersion::kV6);
  auto ipv4 = choose_of(here, wanted, wire::IpVersion::kV4);
  if (ipv4 && (!ipv6 || ipv4->ports.size() > ipv6->ports.size())) return ipv4;
  if (ipv6) return ipv6;
  if (!wanted.empty()) return ipv4;  // its advice is the shorter one
  return failure(
      fmt::format("no interface is up and has an IP address that others can reach; there are: {}",
                  names_of(here)));
}

}  // namespace openmrc::tools::config
