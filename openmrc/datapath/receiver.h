// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/datapath/counters.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/forwarding.h"
#include "openmrc/datapath/open.h"
#include "openmrc/datapath/port_sharing.h"

namespace openmrc::datapath {

// The receiving half of the back ends that use sockets: one in each plane, and one for what other
// shards pass on.
class Receiver {
 public:
  // `counters` and `notices` outlive it.
  static Result<std::unique_ptr<Receiver>, Error> open(const Settings& settings, Counters& counters,
                                                       std::vector<Error>& notices);

  [[nodiscard]] std::size_t receive(Instant now, std::span<Incoming> into);
  [[nodiscard]] Slot slot() const { return claim_.slot; }
  // For packets of other shards that arrived otherwise.
  [[nodiscard]] Forwarder& forwarder() { return forwarder_; }
  // The plane's interface has come back as another one.
  [[nodiscard]] Result<void, Error> reopen(const Settings& settings, Plane plane,
                                           std::vector<Error>& notices);
  // Readable when any of the sockets is.
  [[nodiscard]] int descriptor() const { return epoll_.get(); }

 private:
  static constexpr std::size_t kMessages = 32;
  // Of long messages fewer are taken at a time, so that their bytes are still in the cache when
  // they are decoded and copied.
  static constexpr std::size_t kLongMessages = 8;
  static constexpr std::size_t kLongMessage = 16 * 1024;
  // So often one socket is taken from before the others are asked whether they have something.
  static constexpr int kLikelyInARow = 4;
  static constexpr std::size_t kControlSize = 160;
  static constexpr std::uint32_t kFromShards = 0xffffffff;  // instead of a plane

  // Where the kernel puts one message.
  struct Buffer {
    MutableBytes bytes{};  // kRoomInFront, then the message
    sockaddr_in6 from{};
    alignas(cmsghdr) std::array<std::byte, kControlSize> control{};
    iovec piece{};
  };
  // A message that lies in the buffer of the same number, and how much of it is done.
  struct Received {
    Message message{};
    TakenHeaders headers{};    // of its packet before; they are mostly alike
    std::uint32_t origin = 0;  // a plane, or kFromShards
    std::size_t at = 0;        // of the next packet, or record, in the buffer
    std::size_t end = 0;
    bool is_done = false;
  };

  Receiver(const Settings& settings, const SlotNames& names, SlotClaim claim, Counters& counters);
  Result<bool, Error> watch(int socket, std::uint32_t origin);

  void fill_buffers();
  void fill_from_ready(std::size_t room);
  void fill_from(std::uint32_t origin, std::size_t room);
  void prepare(std::size_t index);
  void accept(std::uint32_t origin, std::size_t index, std::size_t size);
  void count_by_plane(Plane plane, std::size_t segment, std::size_t size);
  static bool is_from_one_of_us(const msghdr& message);
  // Each takes one packet off the message; says whether it filled `into`.
  bool take_datagram(Instant now, Received& received, MutableBytes buffer, Incoming& into);
  bool take_forwarded(Received& received, MutableBytes buffer, Incoming& into);
  bool decode(const TakenHeaders& headers, MutableBytes buffer, std::size_t at, Incoming& into);

  wire::WireSettings wire_;
  SlotClaim claim_;
  Counters& counters_;
  Forwarder forwarder_;
  std::vector<FileDescriptor> sockets_{};  // by plane
  FileDescriptor epoll_{};
  std::vector<std::byte> memory_{};
  std::array<Buffer, kMessages> buffers_{};
  std::array<mmsghdr, kMessages> headers_{};
  std::array<Received, kMessages> received_{};
  std::optional<std::uint32_t> likely_{};  // where the next messages are expected
  int likely_left_ = 0;
  std::size_t filled_ = 0;         // buffers with a message
  bool are_long_ = false;          // those that came last
  std::size_t next_ = 0;           // the first of these that is not done
  std::uint64_t bytes_taken_ = 0;  // of packets that this call gives out
};

}  // namespace openmrc::datapath
