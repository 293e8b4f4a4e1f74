// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/emit/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "openmrc/text/table_reader.h"

namespace openmrc::fabric {
namespace {

using text::Field;
using text::TableReader;

constexpr std::array<std::string_view, 7> kEmitKinds{"iproute2", "frr", "frr-8.4",     "sonic",
                                                     "cumulus",  "eos", "containerlab"};
constexpr std::array<std::string_view, 2> kLinkAddresses{"link-local", "unique"};
constexpr std::array<std::string_view, 2> kNeighbours{"planned", "discovered"};
constexpr std::array<std::string_view, 4> kHostModes{"udp", "usid", "srv6", "xdp"};

constexpr std::size_t kNameMax = 64;
constexpr std::uint32_t kMtuMin = 1280;  // IPv6 wants as much
constexpr std::uint32_t kMtuMax = 9216;  // of the switches that are known
constexpr std::uint32_t kNumberMax = 65535;
constexpr std::uint32_t kQueueMax = 9;  // SONiC's maps have one digit
constexpr std::uint64_t kBufferMax = std::uint64_t{1} << 32;

// Names stand in scripts, JSON, YAML and file names unquoted, so nothing of theirs is theirs.
constexpr std::string_view kNameLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/:@";

bool is_name(std::string_view name, std::string_view besides = {}) {
  const auto allowed = [&](char c) {
    return kNameLetters.find(c) != std::string_view::npos ||
           besides.find(c) != std::string_view::npos;
  };
  return !name.empty() && name.size() <= kNameMax && name.front() != '-' &&
         std::ranges::all_of(name, allowed);
}

std::string with_number(std::string text, std::string_view what, std::uint32_t number) {
  const std::size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), fmt::format("{}", number));
  return text;
}

void read_plain_name(TableReader& table, std::string_view key, std::string& into) {
  std::string name = into;
  if (!table.read(Field::string(key, name)) || name == into) return;
  if (is_name(name)) {
    into = std::move(name);
  } else {
    table.error(key, fmt::format("must be 1 to {} letters, digits and . _ - / : @", kNameMax));
  }
}

void read_ports(TableReader& top, std::string_view section, PortNames& ports) {
  TableReader* const table = top.section(section);
  if (table == nullptr) return;
  std::string name = ports.name;
  table->read(Field::string("name", name));
  table->read(Field::whole("first", ports.first, 0, kNumberMax));
  table->read(Field::whole("step", ports.step, 1, kNumberMax));
  table->read(Field::whole("lanes", ports.lanes, 1, kNumberMax));
  table->read(Field::whole("first_lane", ports.first_lane, 0, kNumberMax));
  const std::string plain = with_number(with_number(name, "{port}", 0), "{lane}", 0);
  if (!is_name(plain)) {
    table->error("name",
                 fmt::format("must be 1 to {} letters, digits and . _ - / : @, with {{port}} "
                             "and {{lane}} for numbers",
                             kNameMax));
  }
  ports.name = std::move(name);
}

void read_queues(TableReader& table, QueueSettings& queues) {
  table.read(Field::duration("base_rtt", queues.base_rtt, nanoseconds(100), milliseconds(100)));
  table.read(Field::bytes("ecn_min", queues.ecn_min_bytes, 1, kBufferMax));
  table.read(Field::bytes("ecn_max", queues.ecn_max_bytes, 1, kBufferMax));
  table.read(Field::whole("mark_percent", queues.mark_percent, 1, 100));
  table.read(Field::bytes("trim", queues.trim_bytes, 1, kBufferMax));
  table.read(Field::bytes("trim_last_hop", queues.trim_last_hop_bytes, 1, kBufferMax));
  table.read(Field::bytes("trim_size", queues.trim_size, 64, kMtuMax));
  table.read(Field::whole("no_trim_queue", queues.no_trim_queue, 0, kQueueMax));
  table.read(Field::whole("data_queue", queues.data_queue, 0, kQueueMax));
  table.read(Field::whole("trimmed_queue", queues.trimmed_queue, 0, kQueueMax));
  table.read(Field::whole("control_queue", queues.control_queue, 0, kQueueMax));
}

void read_sonic(TableReader& table, SonicSettings& sonic) {
  read_plain_name(table, "hwsku", sonic.hwsku);
  read_plain_name(table, "platform", sonic.platform);
  table.read(Field::string("port_config", sonic.port_config));
  read_plain_name(table, "pool", sonic.pool);
  table.read(Field::bytes("pool_size", sonic.pool_bytes, 1, kBufferMax));
}

void read_containerlab(TableReader& table, ContainerlabSettings& settings) {
  read_plain_name(table, "name", settings.name);
  read_plain_name(table, "switch_image", settings.switch_image);
  read_plain_name(table, "host_image", settings.host_image);
}

void read_site(TableReader& top, Site& site) {
  top.read(Field::whole("mtu", site.mtu, kMtuMin, kMtuMax));
  top.read(Field::flag("inner_routes", site.inner_routes));
  top.read(Field::word("link_addresses", site.link_addresses, kLinkAddresses));
  top.read(Field::word("neighbours", site.neighbours, kNeighbours));
  top.read(Field::word("host_mode", site.host_mode, kHostModes));
  top.read(Field::flag("host_trimming", site.host_trimming));
  read_ports(top, "host_ports", site.host_ports);
  read_ports(top, "t0_downlinks", site.t0_downlinks);
  read_ports(top, "t0_uplinks", site.t0_uplinks);
  read_ports(top, "t1_downlinks", site.t1_downlinks);
  if (TableReader* const table = top.section("queues")) read_queues(*table, site.queues);
  if (TableReader* const table = top.section("sonic")) read_sonic(*table, site.sonic);
  if (TableReader* const table = top.section("containerlab")) {
    read_containerlab(*table, site.containerlab);
  }
}

bool is_linux(EmitKind kind) {
  return kind == EmitKind::kIproute2 || kind == EmitKind::kFrr || kind == EmitKind::kFrr84 ||
         kind == EmitKind::kContainerlab;
}

void check_names(const std::vector<std::pair<const PortNames*, std::uint32_t>>& groups,
                 std::string_view device, bool is_linux_port, std::vector<std::string>& errors) {
  constexpr std::size_t kLinuxNameMax = 15;
  std::set<std::string> names;
  for (const auto& [group, count] : groups) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string name = group->of(i);
      if (is_linux_port && (name.size() > kLinuxNameMax || name.find('/') != std::string::npos)) {
        errors.push_back(
            fmt::format("invalid interface name '{}': expected at most {} characters and no /",
                        name, kLinuxNameMax));
        return;
      }
      if (!names.insert(name).second) {
        errors.push_back(fmt::format("two ports of {} are called '{}'", device, name));
        return;
      }
    }
  }
}

void check_queues(EmitKind kind, const Fabric& fabric, const QueueSettings& queues,
                  std::vector<std::string>& errors) {
  const QueueThresholds bytes = thresholds_of(fabric, queues);
  if (bytes.ecn_min_bytes > bytes.ecn_max_bytes) {
    errors.push_back(fmt::format("marking cannot begin at {} bytes and be complete at {}",
                                 bytes.ecn_min_bytes, bytes.ecn_max_bytes));
  }
  const std::set<std::uint32_t> numbers{queues.no_trim_queue, queues.data_queue,
                                        queues.trimmed_queue, queues.control_queue};
  if (numbers.size() < 4) {
    errors.emplace_back(
        "each class of traffic needs a queue of its own: two queues of [queues] "
        "have the same number");
  }
  // What NVUE of Cumulus 5.14 takes.
  const bool cumulus_trims =
      queues.trim_size >= 256 && queues.trim_size <= 1024 && queues.trim_size % 4 == 0;
  if (kind == EmitKind::kCumulus && !cumulus_trims) {
    errors.push_back(fmt::format("Cumulus trims to 256 to 1024 bytes, a multiple of 4, not {}",
                                 queues.trim_size));
  }
  if (kind == EmitKind::kCumulus && *numbers.rbegin() > 7) {
    errors.emplace_back("Cumulus has the traffic classes 0 to 7");
  }
}

}  // namespace

std::string_view name_of(EmitKind kind) { return kEmitKinds[static_cast<std::size_t>(kind)]; }
std::optional<EmitKind> emit_kind_named(std::string_view name) {
  const auto* const found = std::ranges::find(kEmitKinds, name);
  if (found == kEmitKinds.end()) return std::nullopt;
  return static_cast<EmitKind>(found - kEmitKinds.begin());
}
std::vector<std::string> emit_kind_names() { return {kEmitKinds.begin(), kEmitKinds.end()}; }

std::string_view name_of(HostMode mode) { return kHostModes[static_cast<std::size_t>(mode)]; }

std::string PortNames::of(std::uint32_t number) const {
  return with_number(with_number(name, "{port}", first + number / lanes * step), "{lane}",
                     first_lane + number % lanes);
}

Site default_site(EmitKind kind, const Fabric& fabric) {
  Site site;
  if (is_linux(kind)) return site;
  const auto ports_from = [](std::string_view name, std::uint32_t first) {
    return PortNames{.name = std::string(name), .first = first};
  };
  const auto number_all = [&](std::string_view name, std::uint32_t first) {
    site.t0_downlinks = site.t1_downlinks = ports_from(name, first);
    site.t0_uplinks = ports_from(name, first + fabric.shape().hosts_per_rack);
  };
  site.link_addresses = LinkAddresses::kUnique;
  site.inner_routes = false;
  switch (kind) {
    case EmitKind::kSonic:
      number_all("Ethernet{port}", 0);
      site.mtu = kMtuMax;
      site.host_trimming = true;
      break;
    case EmitKind::kCumulus:
      number_all("swp{port}", 1);
      site.mtu = kMtuMax;
      site.host_trimming = true;
      site.neighbours = Neighbours::kDiscovered;
      break;
    default:
      number_all("Ethernet{port}/1", 1);
      site.mtu = 9214;
      site.neighbours = Neighbours::kDiscovered;
  }
  return site;
}

Result<Site, std::vector<text::FileError>> parse_site_toml(std::string_view text, EmitKind kind,
                                                           const Fabric& fabric) {
  Site site = default_site(kind, fabric);
  text::TomlReader file(text);
  if (!file.is_toml()) return failure(file.diagnostics().take());
  read_site(file.top(), site);
  file.top().finish();
  if (file.diagnostics().count() > 0) return failure(file.diagnostics().take());
  return site;
}

std::vector<std::string> check_site(EmitKind kind, const Fabric& fabric, const Site& site) {
  std::vector<std::string> errors;
  const Shape& shape = fabric.shape();
  const bool linux_switch = is_linux(kind);
  check_names({{&site.t0_downlinks, shape.hosts_per_rack}, {&site.t0_uplinks, shape.uplinks}},
              "a T0", linux_switch, errors);
  if (fabric.has_t1()) {
    check_names({{&site.t1_downlinks, shape.racks}}, "a T1", linux_switch, errors);
  }
  check_names({{&site.host_ports, shape.planes}}, "a host", true, errors);
  if (!linux_switch && site.link_addresses == LinkAddresses::kLinkLocal) {
    errors.push_back(
        fmt::format("{} needs link_addresses = \"unique\": static routes by "
                    "link-local next hops are not resolved by all of its releases",
                    name_of(kind)));
  }
  if ((kind == EmitKind::kCumulus || kind == EmitKind::kEos) &&
      site.neighbours == Neighbours::kPlanned) {
    errors.push_back(
        fmt::format("{} is written without static neighbours: neighbours must be "
                    "\"discovered\"",
                    name_of(kind)));
  }
  check_queues(kind, fabric, site.queues, errors);
  return errors;
}

QueueThresholds thresholds_of(const Fabric& fabric, const QueueSettings& queues) {
  const auto in_flight =
      static_cast<std::uint64_t>(static_cast<double>(fabric.shape().host_link_bits_per_second) / 8 *
                                 static_cast<double>(queues.base_rtt.raw()) / 1e9);
  const auto chosen = [&](std::uint64_t own, std::uint64_t tenths) {
    return own != 0 ? own : std::max<std::uint64_t>(1, in_flight * tenths / 10);
  };
  return {.ecn_min_bytes = chosen(queues.ecn_min_bytes, 2),
          .ecn_max_bytes = chosen(queues.ecn_max_bytes, 8),
          .trim_bytes = chosen(queues.trim_bytes, 10),
          .trim_last_hop_bytes = chosen(queues.trim_last_hop_bytes, 15)};
}

}  // namespace openmrc::fabric
