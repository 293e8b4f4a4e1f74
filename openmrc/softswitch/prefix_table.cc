// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/prefix_table.h"

#include <algorithm>
#include <tuple>

namespace openmrc::softswitch {
namespace {

constexpr Prefix kAllIpv4 = Prefix::of(wire::Ipv4Address(0), 0);

}  // namespace

PrefixTable::PrefixTable(std::span<const PrefixRoute> routes) {
  entries_.reserve(routes.size() + 1);
  for (const PrefixRoute& route : routes) add(route.prefix, route.ports);
  if (std::ranges::find(routes, kAllIpv4, &PrefixRoute::prefix) == routes.end()) {
    add(kAllIpv4, {});
  }
  std::ranges::sort(entries_, {}, [](const Entry& e) { return std::tie(e.first, e.mask); });
  for (std::uint32_t i = 1; i < entries_.size(); ++i) {
    std::uint32_t around = i - 1;
    while (around != kNone && !entries_[around].covers(entries_[i].first)) {
      around = entries_[around].around;
    }
    entries_[i].around = around;
  }
}

void PrefixTable::add(const Prefix& prefix, std::span<const PortIndex> ports) {
  entries_.push_back({.first = AddressKey::of(prefix.address),
                      .mask = AddressKey::mask(prefix.length),
                      .around = kNone,
                      .ports_from = static_cast<std::uint32_t>(ports_.size()),
                      .ports_count = static_cast<std::uint32_t>(ports.size())});
  ports_.insert(ports_.end(), ports.begin(), ports.end());
}

std::span<const PortIndex> PrefixTable::find(const AddressKey& address) const {
  // A prefix that covers the address is the last one that does not begin behind it, or contains it.
  const auto behind = std::ranges::upper_bound(entries_, address, {}, &Entry::first);
  auto at = static_cast<std::uint32_t>(behind - entries_.begin()) - 1;
  while (at != kNone && !entries_[at].covers(address)) at = entries_[at].around;
  if (at == kNone) return {};
  return std::span(ports_).subspan(entries_[at].ports_from, entries_[at].ports_count);
}

}  // namespace openmrc::softswitch
