// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/device.h"

#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <ranges>

#include "openmrc/verbs/profiles_in_use.h"

namespace openmrc::libmrc {
namespace {

// Hosts of a fabric have IPv4 names, 10.255.0.1 for the first. They need not be any interface's
// addresses.
constexpr std::uint32_t kIpv4First = 0x0aff'0001;

// Not of any vendor: the bit for locally administered numbers is set. The same for the same name
// and addresses, so that a restart does not make another device of it.
std::uint64_t guid_of(const host::Config& config) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const auto add = [&](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001b3; };
  for (const char c : config.name) add(static_cast<std::uint8_t>(c));
  for (const datapath::Port& port : config.ports) {
    for (const std::byte byte : port.address.bytes) add(std::to_integer<std::uint8_t>(byte));
  }
  constexpr std::uint64_t kGroup = 0x0100'0000'0000'0000;
  constexpr std::uint64_t kLocal = 0x0200'0000'0000'0000;
  return (hash & ~kGroup) | kLocal;
}

std::optional<fabric::UsidPlan> plan_of(const host::Config& config) {
  if (!config.fabric) return std::nullopt;
  const auto fabric = fabric::Fabric::make(config.fabric->shape);
  if (!fabric) return std::nullopt;
  return fabric::UsidPlan(*fabric, config.fabric->block);
}

// As the kernel says; who has no interface of its own has no link to lose.
bool link_is_up(const std::string& interface) {
  if (interface.empty()) return true;
  std::ifstream file("/sys/class/net/" + interface + "/operstate");
  std::string state;
  file >> state;
  return state == "up" || state == "unknown";
}

struct OfProcess {
  std::unique_ptr<Device> device;
  std::string why;
};

OfProcess& of_this_process() {
  // Never destroyed: threads of the application may outlive main().
  static auto& made = *new OfProcess([] {
    OfProcess result;
    auto config = host::load_config(std::nullopt);
    if (config) {
      result.device = std::make_unique<Device>("openmrc0", std::move(*config));
    } else {
      for (const host::ConfigError& error : config.error()) {
        result.why += (result.why.empty() ? "" : "\n") + to_string(error);
      }
    }
    return result;
  }());
  return made;
}

}  // namespace

Device::Device(std::string name, host::Config config)
    : name_(std::move(name)),
      config_(std::move(config)),
      plan_(plan_of(config_)),
      guid_(guid_of(config_)) {
  // Applications of verbs watch memory without a call, so another thread has to make progress.
  if (config_.progress == host::Progress::kCaller) config_.progress = host::Progress::kSleep;
}

Device::~Device() = default;

Device* Device::of_process() { return of_this_process().device.get(); }
const std::string& Device::why() { return of_this_process().why; }

Gid Device::gid(unsigned index) const {
  if (index == 0) {
    Gid local{};
    local.set_group(0, 0xfe80);
    for (unsigned i = 0; i < 4; ++i) {
      local.set_group(4 + i, static_cast<std::uint16_t>(guid_ >> (48 - 16 * i)));
    }
    return local;
  }
  if (index == kGidIpv4) {
    // A device outside of a fabric goes by its address.
    return config_.fabric ? wire::mapped(wire::Ipv4Address(kIpv4First + config_.fabric->host.raw()))
                          : config_.ports.front().address;
  }
  if (index >= kGidFirstPlane && index < gids()) {
    return config_.ports[index - kGidFirstPlane].address;
  }
  return {};
}

bool Device::port_is_up(unsigned port) {
  const std::lock_guard lock(runtime_mutex_);
  if (runtime_) return runtime_->port_is_up(Plane(static_cast<std::uint8_t>(port - 1)));
  return link_is_up(config_.ports[port - 1].interface);
}

bool Device::any_port_is_up() {
  return std::ranges::any_of(std::views::iota(1U, ports() + 1),
                             [&](unsigned port) { return port_is_up(port); });
}

// Several planes have several addresses, and only the list of peers says which belong together; the
// host itself is on it, for programs that write to themselves.
std::optional<host::Destination> Device::known_peer(const Gid& gid) const {
  host::Destination self{.name = config_.name};
  for (const datapath::Port& port : config_.ports) self.addresses.push_back(port.address);
  if (gid == this->gid(0) || std::ranges::find(self.addresses, gid) != self.addresses.end()) {
    return self;
  }
  if (gid == Gid{} || version_of(gid) != ip_version(config_)) return std::nullopt;
  // A device's link-local GID is no address, so that nobody knows where another one is.
  const bool is_link_local = (gid.group(0) & 0xffc0) == 0xfe80;
  if (is_link_local) return std::nullopt;
  if (config_.ports.size() == 1) return host::Destination{to_string(gid), {gid}, {}};
  for (const host::KnownPeer& peer : config_.peers) {
    if (std::ranges::find(peer.addresses, gid) != peer.addresses.end()) {
      return host::Destination{.name = peer.name, .addresses = peer.addresses};
    }
  }
  return std::nullopt;
}

std::optional<host::Destination> Device::destination_of(const Gid& gid) const {
  if (!plan_) return known_peer(gid);
  std::optional<fabric::HostIndex> host;
  if (wire::is_mapped_ipv4(gid)) {
    const std::uint32_t ipv4 = wire::unmapped(gid).raw();
    if (ipv4 >= kIpv4First) host = fabric::HostIndex(ipv4 - kIpv4First);
  } else if (const auto port = plan_->port_of(gid)) {
    host = port->host;
  }
  if (!host || !plan_->fabric().has(*host)) return std::nullopt;
  host::Destination found{.name = name_of(*host), .place = host};
  for (std::size_t plane = 0; plane < config_.ports.size(); ++plane) {
    found.addresses.push_back(plan_->inner_address(*host, Plane(static_cast<std::uint8_t>(plane))));
  }
  return found;
}

wire::Ipv6Address Device::completed(const wire::Ipv6Address& path,
                                    const host::Destination& to) const {
  if (!plan_ || !to.place) return path;
  return path | plan_->overlay(config_.fabric->host, *to.place);
}

Result<host::Host*, host::Error> Device::runtime() {
  const std::lock_guard lock(runtime_mutex_);
  if (!runtime_) {
    auto opened = host::Host::open(
        config_, [this](const core::Event& event) { on_event(event); },
        [this](Plane plane, bool up) { on_port(plane, up); });
    if (!opened) return failure(std::move(opened.error()));
    auto profiles = std::make_unique<ProfilesInUse>(**opened, AgentClient::of_process());
    add_listener(*profiles);
    runtime_ = std::move(*opened);
    profiles_ = std::move(profiles);
  }
  return runtime_.get();
}

void Device::add_listener(Listener& listener) {
  const std::lock_guard lock(listeners_mutex_);
  listeners_.push_back(&listener);
}

void Device::remove_listener(Listener& listener) {
  const std::lock_guard lock(listeners_mutex_);
  std::erase(listeners_, &listener);
}

void Device::on_event(const core::Event& event) {
  const std::lock_guard lock(listeners_mutex_);
  for (Listener* listener : listeners_) listener->on_event(event);
}

void Device::on_port(Plane plane, bool up) {
  const std::lock_guard lock(listeners_mutex_);
  for (Listener* listener : listeners_) listener->on_port(plane, up);
}

}  // namespace openmrc::libmrc
