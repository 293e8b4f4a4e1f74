// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

// The files of /sys and /dev that programs ask for about a device of verbs, and that no kernel has
// for a soft one. Used by libibverbs.so.1 and by the library for LD_PRELOAD, which has no other of
// ours to ask: nothing here allocates.
namespace openmrc::libmrc {

inline constexpr std::string_view kDeviceName = "openmrc0";
// In /dev/infiniband. Programs want a name of this form; numbers of the kernel begin at 0.
inline constexpr std::string_view kDeviceFile = "uverbs9999";
inline constexpr unsigned kDeviceNumber = 9999;

// Where the device sits: nowhere, in the form of a PCI address, whose last digits programs replace.
inline constexpr std::string_view kDevicePlace = "/sys/devices/virtual/openmrc/0000:00:00.0";

// The interfaces of its ports, with commas between: "eth0,eth1". Nothing: they are not known, and
// any number is taken for a port.
using PortInterfaces = std::optional<std::string_view>;
inline constexpr const char* kPortInterfacesVariable = "OPENMRC_NETDEVS";

// A line, with its end.
class FileContent {
 public:
  explicit constexpr FileContent(std::string_view line) {
    for (const char c : line) {
      if (size_ + 1 < text_.size()) text_[size_++] = c;
    }
    text_[size_++] = '\n';
  }
  [[nodiscard]] constexpr std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, 64> text_{};
  std::size_t size_ = 0;
};

// The content of a file that there would be in /sys.
std::optional<FileContent> device_file(std::string_view path, PortInterfaces interfaces);
// A file whose content the agent knows: one of the names of rdma_counters.h.
struct CounterFile {
  unsigned port = 0;
  std::string_view name{};
};
std::optional<CounterFile> counter_file(std::string_view path, PortInterfaces interfaces);
// Whether it is the link /sys/class/infiniband/openmrc0/device, which leads to kDevicePlace.
bool is_device_link(std::string_view path);
// Whether it is the device's file in /dev.
bool is_character_device(std::string_view path);

}  // namespace openmrc::libmrc
