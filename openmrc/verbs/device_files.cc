// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/device_files.h"

#include <algorithm>
#include <charconv>

#include "openmrc/agent/rdma_counters.h"

namespace openmrc::libmrc {
namespace {

constexpr unsigned kGidsBeforePlanes = 4;  // Device::kGidFirstPlane

bool skip(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

std::optional<unsigned> take_number(std::string_view& text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || (text.starts_with('0') && end != text.data() + 1)) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool skip_device(std::string_view& path) {
  return skip(path, "/sys/class/infiniband/") && skip(path, kDeviceName) && skip(path, "/");
}

unsigned count(std::string_view interfaces) {
  return 1 + static_cast<unsigned>(std::ranges::count(interfaces, ','));
}

std::string_view interface_of(std::string_view interfaces, unsigned port) {
  for (; port > 1; --port) interfaces.remove_prefix(interfaces.find(',') + 1);
  const std::size_t end = std::min(interfaces.find(','), interfaces.size());
  interfaces.remove_suffix(interfaces.size() - end);
  return interfaces;
}

// Of a path that goes on with ports/<port>.
std::optional<unsigned> take_port(std::string_view& path, PortInterfaces interfaces) {
  if (!skip(path, "ports/")) return std::nullopt;
  const auto port = take_number(path);
  if (!port || *port == 0 || (interfaces && *port > count(*interfaces))) return std::nullopt;
  return port;
}

// Below ports/<port>/gid_attrs/
std::optional<FileContent> gid_attribute(std::string_view below, unsigned port,
                                         PortInterfaces interfaces) {
  const bool is_type = skip(below, "types/");
  if (!is_type && !skip(below, "ndevs/")) return std::nullopt;
  const auto index = take_number(below);
  if (!index || !below.empty()) return std::nullopt;
  if (interfaces && *index >= kGidsBeforePlanes + count(*interfaces)) return std::nullopt;
  if (is_type) return FileContent("RoCE v2");
  if (!interfaces || interface_of(*interfaces, port).empty()) return std::nullopt;
  return FileContent(interface_of(*interfaces, port));
}

}  // namespace

std::optional<FileContent> device_file(std::string_view path, PortInterfaces interfaces) {
  if (!skip_device(path)) return std::nullopt;
  if (path == "node_type") return FileContent("1: CA");
  const auto port = take_port(path, interfaces);
  if (!port || !skip(path, "/gid_attrs/")) return std::nullopt;
  return gid_attribute(path, *port, interfaces);
}

std::optional<CounterFile> counter_file(std::string_view path, PortInterfaces interfaces) {
  if (!skip_device(path)) return std::nullopt;
  const auto port = take_port(path, interfaces);
  if (!port) return std::nullopt;
  const auto among = [&](const auto& names) {
    return std::ranges::find(names, path) == names.end()
               ? std::nullopt
               : std::optional(CounterFile{.port = *port, .name = path});
  };
  if (skip(path, "/counters/")) return among(kPortCounterNames);
  if (*port == 1 && skip(path, "/hw_counters/")) return among(kDeviceCounterNames);
  return std::nullopt;
}

bool is_device_link(std::string_view path) { return skip_device(path) && path == "device"; }

bool is_character_device(std::string_view path) {
  return skip(path, "/dev/infiniband/") && path == kDeviceFile;
}

}  // namespace openmrc::libmrc
