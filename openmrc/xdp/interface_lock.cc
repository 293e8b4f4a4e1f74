// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/interface_lock.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>

#include "openmrc/datapath/runtime_folder.h"
#include "openmrc/datapath/sockets.h"

namespace openmrc::xdp {
namespace {

using datapath::Error;
using datapath::FileDescriptor;
using datapath::with_reason;

constexpr mode_t kLockFileMode = 0600;
constexpr std::size_t kSettingsMax = 256;

Result<std::string, Error> lock_path(int index) {
  auto folder = datapath::runtime_folder();
  if (!folder) return failure(std::move(folder.error()));
  struct stat network{};
  if (::stat("/proc/thread-self/ns/net", &network) != 0) {
    return failure(Error{.what = with_reason("cannot identify the network namespace", errno),
                         .remedy = "mount /proc"});
  }
  return fmt::format("{}/{}.xdp.{}", *folder, network.st_ino, index);
}

std::string content_of(const FileDescriptor& file) {
  std::array<char, kSettingsMax> text;
  const ssize_t size = ::pread(file.get(), text.data(), text.size(), 0);
  return {text.data(), size < 0 ? 0 : static_cast<std::size_t>(size)};
}

// Returns errno.
int replace_content(const FileDescriptor& file, const std::string& text) {
  if (::ftruncate(file.get(), 0) != 0) return errno;
  const ssize_t size = ::pwrite(file.get(), text.data(), text.size(), 0);
  if (size < 0) return errno;
  return static_cast<std::size_t>(size) == text.size() ? 0 : EIO;
}

}  // namespace

std::string common_settings(const datapath::Port& port, const wire::WireSettings& wire) {
  return fmt::format("address {}, UDP port {}, DSCPs {} and {} of trimmed packets",
                     wire::to_string(port.address), wire.udp_port.raw(), wire.dscp.trimmed.raw(),
                     wire.dscp.trimmed_last_hop.raw());
}

Result<FileDescriptor, Error> take_lock(const std::string& interface, int index,
                                        const std::string& settings, Patience patience) {
  const auto path = lock_path(index);
  if (!path) return failure(path.error());
  FileDescriptor file(
      ::open(path->c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kLockFileMode));
  if (!file.is_open()) {
    return failure(Error{.what = with_reason("cannot open " + *path, errno), .remedy = {}});
  }
  bool is_ours = false;
  // Who has just taken it writes a moment later.
  const int error = patiently(patience, [&] {
    is_ours = ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
    if (is_ours) return replace_content(file, settings);
    if (errno != EWOULDBLOCK) return errno;
    return content_of(file) == settings ? 0 : EBUSY;
  });
  if (error == 0) return is_ours ? std::move(file) : FileDescriptor();
  if (error != EBUSY) {
    return failure(Error{.what = with_reason("cannot lock " + *path, error), .remedy = {}});
  }
  return failure(
      Error{.what = fmt::format("another process has {} in mode \"xdp\" for {}; this one wants {}",
                                interface, content_of(file), settings),
            .remedy = "use the same in both, or mode = \"srv6\" in one of them"});
}

}  // namespace openmrc::xdp
