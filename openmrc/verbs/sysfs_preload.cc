// SPDX-License-Identifier: BSD-3-Clause
// libopenmrc-sysfs.so, to be named in LD_PRELOAD: answers the questions about /sys/class/infiniband
// that programs ask of a device and that no kernel answers for a soft one. Everything else goes to
// libc. It cannot be part of libibverbs.so.1: a plugin that is loaded later finds realpath() in
// libc first, which the program has linked.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace {

constexpr std::string_view kDevice = "/sys/class/infiniband/openmrc0/";

// Where the device sits: nowhere, in the form of a PCI address, whose last digits programs replace.
constexpr const char* kPlace = "/sys/devices/virtual/openmrc/0000:00:00.0";

// What is below the device; nothing if the path is not.
std::optional<std::string_view> below_device(const char* path) {
  if (path == nullptr) return std::nullopt;
  std::string_view below(path);
  if (!below.starts_with(kDevice)) return std::nullopt;
  below.remove_prefix(kDevice.size());
  return below;
}

bool skip_number(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits > 0;
}

// The content of a file that there would be.
std::optional<std::string_view> content_of(const char* path) {
  auto below = below_device(path);
  if (!below) return std::nullopt;
  if (*below == "node_type") return "1: CA\n";
  // ports/<port>/gid_attrs/types/<index>
  constexpr std::string_view kPorts = "ports/";
  constexpr std::string_view kTypes = "/gid_attrs/types/";
  if (!below->starts_with(kPorts)) return std::nullopt;
  below->remove_prefix(kPorts.size());
  if (!skip_number(*below) || !below->starts_with(kTypes)) return std::nullopt;
  below->remove_prefix(kTypes.size());
  if (!skip_number(*below) || !below->empty()) return std::nullopt;
  return "RoCE v2\n";
}

int file_with(std::string_view content) {
  const int fd = memfd_create("openmrc-sysfs", MFD_CLOEXEC);
  if (fd < 0) return -1;
  if (write(fd, content.data(), content.size()) < 0 || lseek(fd, 0, SEEK_SET) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

using Open = int(const char*, int, ...);
using FileOpen = FILE*(const char*, const char*);

// There is a mode only if a file may be made.
int open_with(Open* real, const char* path, int flags, va_list mode) {
  if (const auto content = content_of(path)) return file_with(*content);
  const bool makes_file = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes_file ? real(path, flags, va_arg(mode, mode_t)) : real(path, flags);
}

FILE* file_open_with(FileOpen* real, const char* path, const char* mode) {
  const auto content = content_of(path);
  if (!content) return real(path, mode);
  const int fd = file_with(*content);
  return fd < 0 ? nullptr : fdopen(fd, mode);
}

}  // namespace

// Exported under the names of libc, whose headers make aliases of some of them.
#undef open64
#undef fopen64

extern "C" {
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the headers are others'

char* realpath(const char* path, char* resolved) noexcept {
  static auto* const kReal = next<char*(const char*, char*)>("realpath");
  if (below_device(path) != "device") return kReal(path, resolved);
  if (resolved == nullptr) resolved = static_cast<char*>(std::malloc(PATH_MAX));
  if (resolved == nullptr) return nullptr;
  std::snprintf(resolved, PATH_MAX, "%s", kPlace);
  return resolved;
}

int open(const char* path, int flags, ...) {
  static auto* const kReal = next<Open>("open");
  va_list mode;
  va_start(mode, flags);
  const int fd = open_with(kReal, path, flags, mode);
  va_end(mode);
  return fd;
}

int open64(const char* path, int flags, ...) {
  static auto* const kReal = next<Open>("open64");
  va_list mode;
  va_start(mode, flags);
  const int fd = open_with(kReal, path, flags, mode);
  va_end(mode);
  return fd;
}

FILE* fopen(const char* path, const char* mode) {
  static auto* const kReal = next<FileOpen>("fopen");
  return file_open_with(kReal, path, mode);
}

FILE* fopen64(const char* path, const char* mode) {
  static auto* const kReal = next<FileOpen>("fopen64");
  return file_open_with(kReal, path, mode);
}

// NOLINTEND(readability-inconsistent-declaration-parameter-name)
}  // extern "C"
