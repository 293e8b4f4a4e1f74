// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/lab/layout.h"

namespace openmrc::lab {

// A port of a soft switch: a packet socket on one end of a cable. Packets are IPv6, without
// Ethernet.
class SoftPort {
 public:
  static constexpr std::size_t kBurstMax = 32;

  // Room for a burst that comes in; one serves all ports.
  class Burst {
   public:
    Burst();
    [[nodiscard]] std::span<const ConstBytes> packets() const { return {packets_.data(), count_}; }

   private:
    friend class SoftPort;
    std::vector<std::byte> room_;
    std::array<ConstBytes, kBurstMax> packets_{};
    std::size_t count_ = 0;
  };

  // `own` is in the namespace that the process is in at the time.
  static Result<SoftPort, std::string> open(const End& own, const End& other);
  ~SoftPort();
  SoftPort(SoftPort&& other) noexcept;
  SoftPort(const SoftPort&) = delete;
  SoftPort& operator=(const SoftPort&) = delete;
  SoftPort& operator=(SoftPort&&) = delete;

  [[nodiscard]] int socket() const { return socket_; }

  // What has come. A link that is down gives nothing.
  void receive(Burst& burst) const;
  // What a link that is down or full does not take is lost, as on any wire. At most kBurstMax.
  void send(std::span<const ConstBytes> packets) const;

 private:
  // What the kernel wants in front of every frame (struct virtio_net_hdr), and Ethernet.
  static constexpr std::size_t kOffloadSize = 10;
  static constexpr std::size_t kEthernetSize = 14;
  using Header = std::array<std::byte, kOffloadSize + kEthernetSize>;

  SoftPort(int socket, const Header& header) : socket_(socket), header_(header) {}

  int socket_;
  Header header_;
};

}  // namespace openmrc::lab
