// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/port_sharing.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>

#include "openmrc/base/check.h"
#include "openmrc/datapath/runtime_folder.h"
#include "openmrc/datapath/sockets.h"

namespace openmrc::datapath {
namespace {

constexpr int kJoinTries = 2000;
constexpr timespec kJoinPause{.tv_sec = 0, .tv_nsec = 1'000'000};
constexpr mode_t kLockFileMode = 0600;
constexpr std::size_t kNameMax = 48;  // <network namespace>.<port>.<slot>
constexpr std::size_t kFolderMax = sizeof(sockaddr_un::sun_path) - kNameMax;

FileDescriptor new_socket() {
  return FileDescriptor(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

// Whether a process has the slot. Removes the name that a killed one left.
Result<bool, int> is_taken(const SlotAddress& address) {
  const FileDescriptor socket = new_socket();
  if (!socket.is_open()) return failure(errno);
  if (::connect(socket.get(), address.get(), address.size()) == 0) return true;
  if (errno == ENOENT) return false;
  if (errno != ECONNREFUSED) return failure(errno);
  if (::unlink(address.path()) != 0 && errno != ENOENT) return failure(errno);
  return false;
}

Result<SlotSocket, int> bind_slot(const SlotAddress& address) {
  FileDescriptor socket = new_socket();
  if (!socket.is_open()) return failure(errno);
  const int on = 1;  // so that the kernel says who passes a packet on
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0 ||
      ::bind(socket.get(), address.get(), address.size()) != 0) {
    return failure(errno);
  }
  return SlotSocket(std::move(socket), address);
}

Error slot_error(const SlotAddress& address, int error_number) {
  return {.what = with_reason(fmt::format("cannot take {}", address.path()), error_number),
          .remedy = {}};
}

}  // namespace

SlotAddress::SlotAddress(const std::string& path) {
  OPENMRC_CHECK(path.size() < sizeof address_.sun_path, "a path that fits");
  address_.sun_family = AF_UNIX;
  std::ranges::copy(path, address_.sun_path);
}

Result<SlotNames, Error> SlotNames::of(wire::UdpPort port, wire::IpVersion version) {
  auto folder = runtime_folder();
  if (!folder) return failure(std::move(folder.error()));
  if (folder->size() > kFolderMax) {
    return failure(Error{.what = fmt::format("the path {} is too long for sockets", *folder),
                         .remedy = "set OPENMRC_RUNTIME_DIR to a shorter one"});
  }
  struct stat network{};
  if (::stat("/proc/thread-self/ns/net", &network) != 0) {
    return failure(Error{.what = with_reason("cannot identify the network namespace", errno),
                         .remedy = "mount /proc"});
  }
  const std::string_view suffix = version == wire::IpVersion::kV4 ? ".ipv4" : "";
  return SlotNames(fmt::format("{}/{}.{}{}.", *folder, network.st_ino, port.raw(), suffix), port);
}

SlotAddress SlotNames::slot(Slot slot) const {
  return SlotAddress(fmt::format("{}{}", prefix_, slot.raw()));
}

Result<JoinLock, Error> JoinLock::take(const SlotNames& names) {
  const std::string path = names.lock_file();
  FileDescriptor file(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kLockFileMode));
  if (!file.is_open()) {
    return failure(Error{.what = with_reason("cannot open " + path, errno), .remedy = {}});
  }
  for (int i = 0; i < kJoinTries; ++i) {
    if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return JoinLock(std::move(file));
    if (errno != EWOULDBLOCK && errno != EINTR) {
      return failure(Error{.what = with_reason("cannot lock " + path, errno), .remedy = {}});
    }
    ::nanosleep(&kJoinPause, nullptr);
  }
  return failure(Error{.what = fmt::format("another process has been joining UDP port {} for two "
                                           "seconds",
                                           names.port().raw()),
                       .remedy = fmt::format("`fuser {}` names it", path)});
}

SlotSocket::SlotSocket(FileDescriptor socket, const SlotAddress& address)
    : socket_(std::move(socket)), path_(address.path()), owner_(::getpid()) {}

SlotSocket::SlotSocket(SlotSocket&& other) noexcept
    : socket_(std::move(other.socket_)),
      path_(std::move(other.path_)),
      owner_(std::exchange(other.owner_, 0)) {}

SlotSocket& SlotSocket::operator=(SlotSocket&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(path_, other.path_);
  std::swap(owner_, other.owner_);
  return *this;
}

// The name goes before the socket is closed: afterwards it could be the next owner's.
SlotSocket::~SlotSocket() {
  if (owner_ == ::getpid()) ::unlink(path_.c_str());
}

Result<SlotClaim, Error> claim_slot(const SlotNames& names, const JoinLock&) {
  std::optional<Slot> free;
  bool is_first = true;
  for (std::size_t i = 0; i < kSlots; ++i) {
    const Slot slot(static_cast<std::uint8_t>(i));
    const auto taken = is_taken(names.slot(slot));
    if (!taken) return failure(slot_error(names.slot(slot), taken.error()));
    if (*taken) is_first = false;
    if (!*taken && !free) free = slot;
  }
  if (!free) {
    return failure(Error{
        .what = fmt::format("UDP port {} is shared by {} shards already, and has room for no more",
                            names.port().raw(), kSlots),
        .remedy = "use fewer shards or processes, or another UDP port"});
  }
  auto socket = bind_slot(names.slot(*free));
  if (!socket) return failure(slot_error(names.slot(*free), socket.error()));
  return SlotClaim{.slot = *free, .socket = *std::move(socket), .is_first = is_first};
}

}  // namespace openmrc::datapath
