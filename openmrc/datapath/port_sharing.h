// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <string>
#include <utility>

#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/slot.h"
#include "openmrc/wire/field/constants.h"
#include "openmrc/wire/field/ip_version.h"

// How the shards of a UDP port, of one or several processes, divide its slots. They are of one user
// and one network namespace: the kernel joins no others to a port (SO_REUSEPORT). Each slot is a
// UNIX socket in a folder of that user (runtime_folder.h), to which packets are passed on. IPv4 and
// IPv6 have ports, and so slots, of their own.
namespace openmrc::datapath {

// Address of a UNIX socket in the file system.
class SlotAddress {
 public:
  explicit SlotAddress(const std::string& path);

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address_); }
  [[nodiscard]] socklen_t size() const { return sizeof address_; }
  [[nodiscard]] const char* path() const { return address_.sun_path; }

 private:
  sockaddr_un address_{};
};

// What the slots of a port are called.
class SlotNames {
 public:
  // Those of this user, in the network namespace of the calling thread.
  static Result<SlotNames, Error> of(wire::UdpPort port, wire::IpVersion version);

  [[nodiscard]] SlotAddress slot(Slot slot) const;
  [[nodiscard]] std::string lock_file() const { return prefix_ + "join"; }
  [[nodiscard]] wire::UdpPort port() const { return port_; }

 private:
  SlotNames(std::string prefix, wire::UdpPort port) : prefix_(std::move(prefix)), port_(port) {}

  std::string prefix_;
  wire::UdpPort port_;
};

// Held by whoever takes a slot and binds its sockets, so that the order of both is the same. Lost
// with the process.
class JoinLock {
 public:
  static Result<JoinLock, Error> take(const SlotNames& names);

 private:
  explicit JoinLock(FileDescriptor file) : file_(std::move(file)) {}
  FileDescriptor file_;
};

// A socket that receives what others pass on; its name goes with it. What a killed process leaves
// is a name without a socket, which the next one to join removes.
class SlotSocket {
 public:
  SlotSocket() = default;
  SlotSocket(FileDescriptor socket, const SlotAddress& address);
  SlotSocket(SlotSocket&& other) noexcept;
  SlotSocket& operator=(SlotSocket&& other) noexcept;
  ~SlotSocket();

  [[nodiscard]] int get() const { return socket_.get(); }

 private:
  FileDescriptor socket_{};
  std::string path_{};
  pid_t owner_ = 0;  // a forked child leaves the name to its parent
};

// A slot, free again when this is gone, or the process.
struct SlotClaim {
  Slot slot{};
  SlotSocket socket{};
  bool is_first = false;  // no other slot of the port was taken
};
Result<SlotClaim, Error> claim_slot(const SlotNames& names, const JoinLock& lock);

}  // namespace openmrc::datapath
