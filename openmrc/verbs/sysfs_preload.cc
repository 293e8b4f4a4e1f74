// SPDX-License-Identifier: BSD-3-Clause
// libopenmrc-sysfs.so, to be named in LD_PRELOAD: answers the questions about /sys/class/infiniband
// and /dev/infiniband that programs ask of a device and that no kernel answers for a soft one
// (device_files.h). Everything else goes to libc, as it came. It cannot be part of libibverbs.so.1:
// a plugin that is loaded later finds realpath() in libc first, which the program has linked.
//
// Nothing here is locked, and nothing allocates or writes but to the stack: open() and stat() are
// called by signal handlers and between fork() and exec().

// The functions of libc that this replaces must not be declared as inline ones, or as aliases.
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "openmrc/verbs/agent_counters.h"
#include "openmrc/verbs/device_files.h"

namespace {

using openmrc::libmrc::CounterFile;
using openmrc::libmrc::device_file;
using openmrc::libmrc::FileContent;

constexpr unsigned kVerbsMajor = 231;  // of the kernel's list of devices
constexpr mode_t kDeviceMode = S_IFCHR | 0666;
constexpr mode_t kFileMode = S_IFREG | 0444;
constexpr off_t kFileSize = 4096;  // what the kernel says of every file in /sys

// A copy: programs write over the memory of their environment. Too long is not known.
class Variable {
 public:
  explicit Variable(const char* name) {
    const char* text = std::getenv(name);
    if (text == nullptr || *text == '\0' || std::strlen(text) >= text_.size()) return;
    size_ = std::strlen(text);
    std::memcpy(text_.data(), text, size_);
  }
  [[nodiscard]] std::optional<std::string_view> get() const {
    if (size_ == 0) return std::nullopt;
    return std::string_view(text_.data(), size_);
  }

 private:
  std::array<char, 1024> text_{};
  std::size_t size_ = 0;
};
// Made when the library is loaded; what is asked before is answered as if it were not set.
const Variable kInterfaces(openmrc::libmrc::kPortInterfacesVariable);
const Variable kAgent("OPENMRC_AGENT");
constexpr std::string_view kAgentDefault = "/run/openmrc/mrcd.sock";

// A function of libc, or of what else is behind this library.
template <class Function>
class Next {
 public:
  explicit constexpr Next(const char* name) : name_(name) {}
  Function* get() const {
    Function* found = found_.load(std::memory_order_relaxed);
    if (found == nullptr) {
      const int error = errno;
      found = reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name_));
      errno = error;
      found_.store(found, std::memory_order_relaxed);  // whoever else looks finds the same
    }
    return found;
  }

 private:
  const char* name_;
  mutable std::atomic<Function*> found_ = nullptr;
};

using Open = int(const char*, int, ...);
using FileOpen = FILE*(const char*, const char*);
using RealPath = char*(const char*, char*);
using Stat = int(const char*, struct stat*);
using Stat64 = int(const char*, struct stat64*);
using Access = int(const char*, int);

constinit const Next<Open> kOpen("open");
constinit const Next<Open> kOpen64("open64");
constinit const Next<FileOpen> kFileOpen("fopen");
constinit const Next<FileOpen> kFileOpen64("fopen64");
constinit const Next<RealPath> kRealPath("realpath");
constinit const Next<int(const char*, int)> kOpenChecked("__open_2");
constinit const Next<int(const char*, int)> kOpen64Checked("__open64_2");
constinit const Next<char*(const char*, char*, std::size_t)> kRealPathChecked("__realpath_chk");
constinit const Next<Stat> kStat("stat");
constinit const Next<Stat64> kStat64("stat64");
constinit const Next<Access> kAccess("access");

// Now and not in a signal handler.
[[gnu::constructor]] void look_up() {
  kOpen.get();
  kOpen64.get();
  kFileOpen.get();
  kFileOpen64.get();
  kRealPath.get();
  kStat.get();
  kStat64.get();
  kAccess.get();
  kOpenChecked.get();
  kOpen64Checked.get();
  kRealPathChecked.get();
}

int fail(int error) {
  errno = error;
  return -1;
}

// Most paths are not worth a second look.
bool may_be_ours(const char* path) {
  return path != nullptr && (std::strncmp(path, "/sys/class/infiniband/", 22) == 0 ||
                             std::strncmp(path, "/dev/infiniband/", 16) == 0);
}

std::optional<FileContent> content_of(const char* path) {
  return may_be_ours(path) ? device_file(path, kInterfaces.get()) : std::nullopt;
}
// What the agent counts: asked for when the file is opened.
std::optional<CounterFile> counter_of(const char* path) {
  return may_be_ours(path) ? openmrc::libmrc::counter_file(path, kInterfaces.get()) : std::nullopt;
}
std::optional<FileContent> read_counter(const CounterFile& file) {
  const int error = errno;
  const auto value =
      openmrc::libmrc::ask_for_counter(kAgent.get().value_or(kAgentDefault), file.port, file.name);
  errno = error;
  if (!value) return std::nullopt;
  std::array<char, 24> digits{};
  auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), *value).ptr;
  return FileContent({digits.data(), end});
}

bool is_character_device(const char* path) {
  return may_be_ours(path) && openmrc::libmrc::is_character_device(path);
}
bool is_device_link(const char* path) {
  return may_be_ours(path) && openmrc::libmrc::is_device_link(path);
}

int open_text(const FileContent& content, int flags) {
  if ((flags & O_ACCMODE) != O_RDONLY) return fail(EACCES);
  if ((flags & O_DIRECTORY) != 0) return fail(ENOTDIR);
  const int fd = memfd_create("openmrc-sysfs", (flags & O_CLOEXEC) != 0 ? MFD_CLOEXEC : 0U);
  if (fd < 0) return -1;
  const std::string_view text = content.text();
  if (write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
      lseek(fd, 0, SEEK_SET) == 0) {
    return fd;
  }
  const int error = errno;
  close(fd);
  return fail(error);
}

// Nothing: it is not one of ours. A counter that nobody counts is a file that is not there.
std::optional<int> open_ours(const char* path, int flags) {
  if (const auto content = content_of(path)) return open_text(*content, flags);
  const auto counter = counter_of(path);
  if (!counter) return std::nullopt;
  const auto content = read_counter(*counter);
  return content ? open_text(*content, flags) : fail(ENOENT);
}

// There is a mode only if a file may be made.
int open_with(Open* real, const char* path, int flags, va_list mode) {
  if (const auto fd = open_ours(path, flags)) return *fd;
  const bool makes_file = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return makes_file ? real(path, flags, va_arg(mode, mode_t)) : real(path, flags);
}

FILE* file_open_with(FileOpen* real, const char* path, const char* mode) {
  const bool reads = *mode == 'r' && std::strchr(mode, '+') == nullptr;
  const int closes = std::strchr(mode, 'e') != nullptr ? O_CLOEXEC : 0;
  const auto fd = open_ours(path, (reads ? O_RDONLY : O_RDWR) | closes);
  if (!fd) return real(path, mode);
  if (*fd < 0) return nullptr;
  FILE* file = fdopen(*fd, "r");
  if (file == nullptr) close(*fd);
  return file;
}

// Nothing: it is not one of ours.
std::optional<mode_t> mode_of(const char* path) {
  if (is_character_device(path)) return kDeviceMode;
  if (content_of(path) || counter_of(path)) return kFileMode;
  return std::nullopt;
}

template <class Status>
int stat_with(int (*real)(const char*, Status*), const char* path, Status* status) {
  const auto mode = mode_of(path);
  if (!mode) return real(path, status);
  *status = {};
  status->st_mode = *mode;
  status->st_nlink = 1;
  if (*mode == kDeviceMode) {
    status->st_rdev = makedev(kVerbsMajor, openmrc::libmrc::kDeviceNumber);
  } else {
    status->st_size = kFileSize;
  }
  return 0;
}

char* resolve(const char* path, char* resolved) {
  if (!is_device_link(path)) return kRealPath.get()(path, resolved);
  if (resolved == nullptr) resolved = static_cast<char*>(std::malloc(PATH_MAX));
  if (resolved == nullptr) return nullptr;
  const std::string_view place = openmrc::libmrc::kDevicePlace;
  std::memcpy(resolved, place.data(), place.size());
  resolved[place.size()] = '\0';
  return resolved;
}

}  // namespace

// Exported under the names of libc, whose headers make aliases of some of them.
#undef open64
#undef fopen64
#undef stat64

extern "C" {
// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): the headers are others'
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): the names are libc's

char* realpath(const char* path, char* resolved) noexcept { return resolve(path, resolved); }

int open(const char* path, int flags, ...) {
  va_list mode;
  va_start(mode, flags);
  const int fd = open_with(kOpen.get(), path, flags, mode);
  va_end(mode);
  return fd;
}

int open64(const char* path, int flags, ...) {
  va_list mode;
  va_start(mode, flags);
  const int fd = open_with(kOpen64.get(), path, flags, mode);
  va_end(mode);
  return fd;
}

FILE* fopen(const char* path, const char* mode) {
  return file_open_with(kFileOpen.get(), path, mode);
}
FILE* fopen64(const char* path, const char* mode) {
  return file_open_with(kFileOpen64.get(), path, mode);
}

int stat(const char* path, struct stat* status) noexcept {
  return stat_with(kStat.get(), path, status);
}
int stat64(const char* path, struct stat64* status) noexcept {
  return stat_with(kStat64.get(), path, status);
}

int access(const char* path, int wanted) noexcept {
  const auto mode = mode_of(path);
  if (!mode) return kAccess.get()(path, wanted);
  const bool writes = (wanted & W_OK) != 0 && *mode != kDeviceMode;
  return writes || (wanted & X_OK) != 0 ? fail(EACCES) : 0;
}

// What programs call that were built with _FORTIFY_SOURCE; libc checks what it is given.
char* __realpath_chk(const char* path, char* resolved, std::size_t size);
char* __realpath_chk(const char* path, char* resolved, std::size_t size) {
  if (is_device_link(path)) return resolve(path, resolved);
  return kRealPathChecked.get()(path, resolved, size);
}
int __open_2(const char* path, int flags);
int __open_2(const char* path, int flags) {
  if (const auto fd = open_ours(path, flags)) return *fd;
  return kOpenChecked.get()(path, flags);
}
int __open64_2(const char* path, int flags);
int __open64_2(const char* path, int flags) {
  if (const auto fd = open_ours(path, flags)) return *fd;
  return kOpen64Checked.get()(path, flags);
}

// Of programs from before glibc 2.33; their struct is that of today.
int __xstat(int version, const char* path, struct stat* status);
int __xstat(int /*version*/, const char* path, struct stat* status) { return stat(path, status); }
int __xstat64(int version, const char* path, struct stat64* status);
int __xstat64(int /*version*/, const char* path, struct stat64* status) {
  return stat64(path, status);
}

// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
}  // extern "C"
