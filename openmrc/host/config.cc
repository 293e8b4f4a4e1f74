// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/config.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "openmrc/core/paths/ev_profile.h"
#include "openmrc/host/config_fields.h"
#include "openmrc/host/units.h"

namespace openmrc::host {
namespace {

// Far more than any configuration; keeps a wrong file from filling memory.
constexpr std::size_t kFileBytesMax = 1024 * 1024;
constexpr std::string_view kDefaultFile = "/etc/openmrc/openmrc.toml";
constexpr std::size_t kNameLengthMax = 255;

std::optional<wire::Ipv6Address> parse_address(const std::string& text) {
  wire::Ipv6Address address;
  if (inet_pton(AF_INET6, text.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

std::string name_of_this_host() {
  std::array<char, kNameLengthMax + 1> name{};
  if (gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "host";
  return name.data();
}

// Holds what was read against itself, and makes the configuration of it.
class Checker {
 public:
  Checker(Draft& draft, const Given& given, std::vector<ConfigError>& errors)
      : draft_(draft), config_(draft.config), given_(given), errors_(errors) {}

  void check() {
    check_name();
    check_fabric();
    check_ports();
    check_evs();
    check_dscps();
    check_congestion();
    take_icrc();
    if (has("capture.file")) config_.capture = draft_.capture;
    check_faults();
  }

 private:
  [[nodiscard]] bool has(std::string_view key) const { return given_.contains(key); }
  // There, and nothing is wrong with it so far.
  [[nodiscard]] bool reads_well(std::string_view key) const {
    return has(key) && std::ranges::find(errors_, key, &ConfigError::key) == errors_.end();
  }
  [[nodiscard]] std::uint32_t line_of(std::string_view key) const {
    const auto found = given_.find(key);
    return found == given_.end() ? 0 : found->second;
  }
  void fail(std::string_view key, std::string message) {
    fail(line_of(key), key, std::move(message));
  }
  void fail(std::uint32_t line, std::string_view key, std::string message) {
    errors_.push_back({.line = line, .key = std::string(key), .message = std::move(message)});
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
                                 config_.mode == datapath::Mode::kUsid ? "usid" : "srv6"));
      }
      return;
    }
    check_block();
    if (!has("fabric.host")) {
      fail(line_of("fabric"), "fabric.host",
           "is missing: which host of the fabric this is, as in \"h0\"");
    }
    if (!config_.fabric || !reads_well("fabric.host")) return;  // as was said
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
      fail(
          port.address_line, "port.address",
          fmt::format("must be an IPv6 address, as in \"fd4d:5243::1\", not \"{}\"", port.address));
      return;
    }
    taken.address = *address;
    check_address(plane, planned);
  }

  void check_interface(const PortDraft& port) {
    if (port.interface.empty() && config_.mode == datapath::Mode::kSrv6) {
      fail(port.line, "port.interface",
           "is missing: with mode = \"srv6\" packets leave by a named interface");
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
    const bool is_multicast = address.bytes[0] == std::byte{0xff};
    if (address == wire::Ipv6Address{} || is_multicast) {
      fail(line, "port.address",
           fmt::format("must be an address of one host, not {}", to_string(address)));
    }
    if (wire::is_mapped_ipv4(address)) {
      fail(line, "port.address",
           fmt::format("{} is an IPv4 address; packets travel over IPv6", to_string(address)));
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

  [[nodiscard]] std::optional<wire::Ipv6Address> planned_address(std::size_t plane) const {
    if (!host_is_known_ || plane >= config_.fabric->shape.planes) return std::nullopt;
    const auto fabric = fabric::Fabric::make(config_.fabric->shape);
    return fabric::UsidPlan(*fabric, config_.fabric->block)
        .inner_address(config_.fabric->host, Plane(static_cast<std::uint8_t>(plane)));
  }

  void check_evs() {
    const std::size_t planes = config_.ports.size();
    if (planes == 0) return;
    std::size_t most = core::kEvsPerProfileMax;
    if (takes_exact_paths() && config_.fabric) {
      const auto fabric = fabric::Fabric::make(config_.fabric->shape);
      most = std::min<std::size_t>(most, fabric->evs());
    }
    if (!has("paths.evs")) {
      config_.paths.evs = std::max(planes, std::min(config_.paths.evs, most) / planes * planes);
      return;
    }
    if (!reads_well("paths.evs")) return;
    if (config_.paths.evs > most) {
      fail("paths.evs", fmt::format("{} are more than the {} paths that the fabric has (planes x "
                                    "uplinks)",
                                    config_.paths.evs, most));
    } else if (config_.paths.evs % planes != 0) {
      const std::size_t fewer = std::max(planes, config_.paths.evs / planes * planes);
      fail("paths.evs", fmt::format("{} cannot be shared evenly by {} planes; {} can",
                                    config_.paths.evs, planes, fewer));
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
      return has(all[i].first) && !reads_well(all[i].first);
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
    if (!reads_well("congestion.window")) return;
    if (config_.congestion.algorithm != CongestionAlgorithm::kFixed) {
      fail("congestion.window",
           "is for algorithm = \"fixed\"; nscc finds its own. Leave one of the two out");
    } else if (draft_.window < config_.mtu) {
      fail("congestion.window", fmt::format("{} does not hold one packet of mtu = {}",
                                            bytes_text(draft_.window), config_.mtu));
    }
    config_.congestion.window = draft_.window;
  }

  void take_icrc() {
    config_.wire.icrc_check =
        draft_.icrc == Icrc::kVerify ? wire::IcrcCheck::kVerify : wire::IcrcCheck::kSkip;
    config_.send_icrc = draft_.icrc != Icrc::kOff;
  }

  void check_faults() {
    if (!has("faults")) return;
    config_.faults = draft_.faults;
    if (draft_.faults.plane && *draft_.faults.plane >= config_.ports.size()) {
      fail("faults.plane", fmt::format("{} is not a plane; there are {}, from 0",
                                       *draft_.faults.plane, config_.ports.size()));
    }
    if (draft_.faults.ev && *draft_.faults.ev >= config_.paths.evs) {
      fail("faults.ev",
           fmt::format("{} is no EV; there are {}, from 0", *draft_.faults.ev, config_.paths.evs));
    }
  }

  Draft& draft_;
  Config& config_;
  const Given& given_;
  std::vector<ConfigError>& errors_;
  bool host_is_known_ = false;
};

std::filesystem::path chosen_file(const std::optional<std::filesystem::path>& file) {
  if (file) return *file;
  // Nobody changes the environment while a configuration is read.
  const char* const named = std::getenv("OPENMRC_CONFIG");  // NOLINT(concurrency-mt-unsafe)
  return named != nullptr && *named != '\0' ? named : kDefaultFile;
}

Result<std::string, std::string> read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    return failure(std::string("cannot be read: it is a directory"));
  }
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return failure(fmt::format("cannot be read: {}",
                               std::error_code(errno, std::generic_category()).message()));
  }
  std::string text(kFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kFileBytesMax) {
    return failure(fmt::format("is larger than {}", bytes_text(kFileBytesMax)));
  }
  return text;
}

}  // namespace

std::string to_string(const ConfigError& error) {
  std::string text;
  if (!error.file.empty()) text += fmt::format("{}: ", error.file);
  if (error.line > 0) text += fmt::format("line {}: ", error.line);
  if (!error.key.empty()) text += fmt::format("{}: ", error.key);
  return text + error.message;
}

Result<Config, std::vector<ConfigError>> parse_config(std::string_view text) {
  Draft draft;
  Given given;
  std::vector<ConfigError> errors;
  read_toml(text, draft, given, errors);
  // What follows from text that is not TOML would be noise.
  const bool is_toml = errors.empty() || !errors.front().key.empty();
  if (is_toml) Checker(draft, given, errors).check();
  if (!errors.empty()) {
    std::ranges::stable_sort(errors, {}, &ConfigError::line);
    return failure(std::move(errors));
  }
  return std::move(draft.config);
}

Result<Config, std::vector<ConfigError>> load_config(
    const std::optional<std::filesystem::path>& file) {
  const std::filesystem::path path = chosen_file(file);
  const auto text = read_file(path);
  if (!text) {
    std::vector<ConfigError> errors{{.message = text.error(), .file = path.string()}};
    if (!file) {
      errors.front().message += "; name another file, or set OPENMRC_CONFIG to one";
    }
    return failure(std::move(errors));
  }
  auto config = parse_config(*text);
  if (!config) {
    for (ConfigError& error : config.error()) error.file = path.string();
    return config;
  }
  config->file = path;
  return config;
}

}  // namespace openmrc::host
