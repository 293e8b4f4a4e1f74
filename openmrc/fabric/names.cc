// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/names.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "openmrc/fabric/path.h"

namespace openmrc::fabric {
namespace {

// Takes a name apart from left to right. The first thing that is wrong is kept.
class NameReader {
 public:
  NameReader(const Fabric& fabric, std::string_view name) : fabric_(fabric), rest_(name) {}

  [[nodiscard]] const Fabric& fabric() const { return fabric_; }
  [[nodiscard]] bool done() const { return rest_.empty(); }
  [[nodiscard]] NameFault fault() const { return fault_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  // A number of one of `count` things, which exist or not.
  std::optional<std::uint32_t> take_number(std::uint32_t count, NameFault absent) {
    std::uint32_t number = 0;
    const char* const begin = rest_.data();
    const auto [end, error] = std::from_chars(begin, begin + rest_.size(), number);
    const auto digits = static_cast<std::size_t>(end - begin);
    if (digits == 0 || (digits > 1 && rest_.front() == '0')) return std::nullopt;
    rest_.remove_prefix(digits);
    if (error == std::errc{} && number < count) return number;
    fault_ = absent;
    count_ = count;
    return std::nullopt;
  }

  std::optional<Plane> take_plane() {
    const auto number = take_number(fabric_.shape().planes, NameFault::kPlane);
    if (!number) return std::nullopt;
    return Plane(static_cast<std::uint8_t>(*number));
  }

 private:
  const Fabric& fabric_;
  std::string_view rest_;
  NameFault fault_ = NameFault::kForm;
  std::uint32_t count_ = 0;
};

// Each fills in what follows its prefix, and says whether it could.

// Behind the `h`.
bool read_host(NameReader& reader, Element& element) {
  const auto host = reader.take_number(reader.fabric().hosts(), NameFault::kHost);
  if (!host) return false;
  element = HostIndex(*host);
  if (reader.done()) return true;
  if (!reader.take("/p")) return false;
  const auto plane = reader.take_plane();
  if (!plane) return false;
  element = reader.fabric().host_link(HostIndex(*host), *plane);
  return true;
}

struct PortRange {
  std::uint32_t count = 0;
  NameFault absent = NameFault::kForm;
};

PortRange ports_of(const Fabric& fabric, Tier tier, bool up) {
  const Shape& shape = fabric.shape();
  switch (tier) {
    case Tier::kT0:
      return up ? PortRange{shape.uplinks, NameFault::kUplink}
                : PortRange{shape.hosts_per_rack, NameFault::kDownlink};
    case Tier::kT1:
      return up ? PortRange{shape.t1_uplinks, NameFault::kT1Uplink}
                : PortRange{fabric.t1_downlinks(), NameFault::kT1Downlink};
    case Tier::kT2: break;
  }
  return {shape.pods, NameFault::kT2Downlink};
}

LinkId link_at(const Fabric& fabric, const SwitchId& at, bool up, std::uint32_t port) {
  using enum LinkId::Kind;
  switch (at.tier) {
    case Tier::kT0: return {up ? kUplink : kHost, at.plane, at.index, port};
    case Tier::kT1:
      if (up) return {kT1Uplink, at.plane, at.index, port};
      return fabric.t1_link(at.plane, at.index, port);
    case Tier::kT2: break;
  }
  return fabric.t2_link(at.plane, at.index, port);
}

// Behind the switch: `/up4` or `/down5`.
bool read_link(NameReader& reader, const SwitchId& at, Element& element) {
  const bool up = at.tier != Tier::kT2 && reader.take("/up");
  if (!up && !reader.take("/down")) return false;
  const PortRange range = ports_of(reader.fabric(), at.tier, up);
  const auto port = reader.take_number(range.count, range.absent);
  if (port) element = link_at(reader.fabric(), at, up, *port);
  return port.has_value();
}

// Behind the `p`.
bool read_in_plane(NameReader& reader, Element& element) {
  const auto plane = reader.take_plane();
  if (!plane) return false;
  element = *plane;
  if (reader.done()) return true;
  const Shape& shape = reader.fabric().shape();
  SwitchId at{.plane = *plane, .tier = Tier::kT0, .index = 0};
  std::optional<std::uint32_t> index;
  if (reader.take(".t0-")) {
    index = reader.take_number(shape.racks, NameFault::kT0);
  } else if (reader.take(".t1-")) {
    at.tier = Tier::kT1;
    index = reader.take_number(reader.fabric().t1s(), NameFault::kT1);
  } else if (reader.take(".t2-")) {
    at.tier = Tier::kT2;
    index = reader.take_number(reader.fabric().t2s(), NameFault::kT2);
  }
  if (!index) return false;
  at.index = *index;
  element = at;
  return reader.done() || read_link(reader, at, element);
}

// What is wrong if it was not read, or if something is left behind it. Behind a number of nothing
// that exists there may be more nonsense, but that number is wrong in any case.
NameError error_of(const NameReader& reader, std::string_view name, std::string_view forms) {
  return {
      .fault = reader.fault(), .name = std::string(name), .forms = forms, .count = reader.count()};
}

Result<Element, NameError> read_element(const Fabric& fabric, std::string_view name,
                                        std::string_view forms) {
  NameReader reader(fabric, name);
  Element element;
  const bool read = reader.take("h")   ? read_host(reader, element)
                    : reader.take("p") ? read_in_plane(reader, element)
                                       : false;
  if (read && reader.done()) return element;
  return failure(error_of(reader, name, forms));
}

// An element of one kind.
template <class Kind>
Result<Kind, NameError> read_kind(const Fabric& fabric, std::string_view name,
                                  std::string_view forms) {
  auto element = read_element(fabric, name, forms);
  if (!element) return failure(std::move(element.error()));
  if (const Kind* kind = std::get_if<Kind>(&*element)) return *kind;
  return failure(NameError{NameFault::kForm, std::string(name), forms});
}

// "planes are p0 to p7", or what it means that there is none.
std::string range_text(std::string_view things, std::string_view prefix, std::uint32_t count,
                       std::string_view none) {
  if (count == 0) return std::string(none);
  return fmt::format("{0} {1}0 to {1}{2}", things, prefix, count - 1);
}

}  // namespace

std::string name_of(Plane plane) { return fmt::format("p{}", plane.raw()); }

std::string name_of(HostIndex host) { return fmt::format("h{}", host.raw()); }

std::string name_of(const NicPort& port) {
  return fmt::format("h{}/p{}", port.host.raw(), port.plane.raw());
}

std::string name_of(const SwitchId& id) {
  return fmt::format("p{}.t{}-{}", id.plane.raw(), static_cast<int>(id.tier), id.index);
}

std::string name_of(const LinkId& id) {
  const Tier tier = id.kind == LinkId::Kind::kT1Uplink ? Tier::kT1 : Tier::kT0;
  return fmt::format("{}/{}{}", name_of(SwitchId{id.plane, tier, id.rack}),
                     id.kind == LinkId::Kind::kHost ? "down" : "up", id.port);
}

std::string name_of(const Element& element) {
  return std::visit([](const auto& kind) { return name_of(kind); }, element);
}

std::string name_of(PathChoice choice) {
  return fmt::format("{}:{}", choice.plane.raw(), choice.path);
}

std::string to_string(const NameError& error) {
  const auto absent = [&](std::string_view thing, std::string_view things, std::string_view prefix,
                          std::string_view none = "the fabric has one tier") {
    return fmt::format("'{}': no such {}; {}", error.name, thing,
                       range_text(things, prefix, error.count, none));
  };
  constexpr std::string_view kNoT2s = "the fabric has no T2s";
  switch (error.fault) {
    case NameFault::kForm: return fmt::format("'{}': expected {}", error.name, error.forms);
    case NameFault::kPlane: return absent("plane", "planes are", "p");
    case NameFault::kHost: return absent("host", "hosts are", "h");
    case NameFault::kT0: return absent("T0", "the T0s of a plane are", "t0-");
    case NameFault::kT1: return absent("T1", "the T1s of a plane are", "t1-");
    case NameFault::kT2: return absent("T2", "the T2s of a plane are", "t2-", kNoT2s);
    case NameFault::kT1Downlink: return absent("downlink", "those of a T1 are", "down");
    case NameFault::kT1Uplink: return absent("uplink", "those of a T1 are", "up", kNoT2s);
    case NameFault::kT2Downlink: return absent("downlink", "those of a T2 are", "down");
    case NameFault::kDownlink: return absent("downlink", "those of a T0 are", "down");
    case NameFault::kUplink: return absent("uplink", "those of a T0 are", "up");
    case NameFault::kEv: return absent("EV", "their numbers are", "");
  }
  return "unknown name error";
}

Result<Plane, NameError> parse_plane(const Fabric& fabric, std::string_view name) {
  return read_kind<Plane>(fabric, name, "a plane, e.g. p3");
}

Result<HostIndex, NameError> parse_host(const Fabric& fabric, std::string_view name) {
  return read_kind<HostIndex>(fabric, name, "a host, e.g. h17");
}

Result<NicPort, NameError> parse_port(const Fabric& fabric, std::string_view name) {
  constexpr std::string_view kForms = "a NIC port, e.g. h17/p3";
  auto link = read_kind<LinkId>(fabric, name, kForms);
  if (!link) return failure(std::move(link.error()));
  if (link->kind == LinkId::Kind::kHost) {
    return NicPort{.host = fabric.host_at(link->rack, link->port), .plane = link->plane};
  }
  return failure(NameError{NameFault::kForm, std::string(name), kForms});
}

Result<SwitchId, NameError> parse_switch(const Fabric& fabric, std::string_view name) {
  return read_kind<SwitchId>(fabric, name, "a switch, e.g. p3.t0-17 or p3.t1-4");
}

Result<LinkId, NameError> parse_link(const Fabric& fabric, std::string_view name) {
  return read_kind<LinkId>(fabric, name,
                           "a link, e.g. p3.t0-17/up4, p3.t0-17/down5, p3.t1-4/down17 or h17/p3");
}

Result<Element, NameError> parse_element(const Fabric& fabric, std::string_view name) {
  return read_element(fabric, name,
                      "a plane, host, port, switch or link, e.g. p3, h17, h17/p3, p3.t0-17, "
                      "p3.t1-4, p3.t0-17/up4 or p3.t0-17/down5");
}

Result<PathChoice, NameError> parse_choice(const Fabric& fabric, std::string_view name) {
  NameReader reader(fabric, name);
  std::optional<PathChoice> choice;
  if (name.find(':') == std::string_view::npos) {
    const auto number = reader.take_number(fabric.evs(), NameFault::kEv);
    if (number) choice = ev_choice(fabric, *number);
  } else if (const auto plane = reader.take_plane(); plane && reader.take(":")) {
    const auto uplink = reader.take_number(fabric.evs_per_plane(), NameFault::kUplink);
    if (uplink) choice = PathChoice{*plane, static_cast<std::uint16_t>(*uplink)};
  }
  if (choice && reader.done()) return *choice;
  return failure(error_of(reader, name, "an EV, plane:uplink (e.g. 3:4) or a number"));
}

}  // namespace openmrc::fabric
