// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "openmrc/core/memory/memory_regions.h"
#include "openmrc/host/exchange.h"

namespace openmrc::host {

class Host;

// Memory and queue pairs of one domain may work together, others may not. Who asks for none shares
// the first.
using core::ProtectionDomain;

// Memory that peers may write to, from registration until this is destroyed. Its bytes must stay
// for as long.
class MemoryRegion {
 public:
  ~MemoryRegion();
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;

  [[nodiscard]] std::span<std::byte> bytes() const { return bytes_; }
  // What a peer needs to know to write to it.
  [[nodiscard]] RemoteMemory remote() const { return remote_; }
  // Its end would fail a queue pair with messages: the peer has not acknowledged all that it reads.
  // It may have all of it, nevertheless.
  [[nodiscard]] bool is_being_read() const;

 private:
  friend class Host;
  MemoryRegion(Host& host, std::span<std::byte> bytes, const RemoteMemory& info)
      : host_(host), bytes_(bytes), remote_(info) {}

  Host& host_;
  std::span<std::byte> bytes_;
  RemoteMemory remote_;
};

struct MemoryOptions {
  std::optional<ProtectionDomain> domain{};
  std::optional<std::uint64_t> address{};  // what peers call its first byte; otherwise its address
  bool remote_write = true;                // false: no peer may write to it
  // For peers of queue pairs with messages.
  bool remote_read = false;
  bool remote_atomic = false;
};

}  // namespace openmrc::host
