// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <xdp/xsk.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/datapath/error.h"
#include "openmrc/xdp/patience.h"

namespace openmrc::xdp {

// One AF_XDP socket: frames of one queue of an interface, in memory that the kernel, or the NIC,
// shares with us. The kernel deals in chunks of a page; frames here have two that lie side by side,
// so that a packet of 4 KiB is one run of bytes.
class FrameSocket {
 public:
  static constexpr std::size_t kChunk = 4096;
  static constexpr std::size_t kFrameMax = 2 * kChunk;  // to send
  static constexpr std::size_t kReceiveFrames = 2048;
  static constexpr std::size_t kSendFrames = 1024;

  // `mtu` of the interface: frames that fit into one chunk more NICs can read and write themselves.
  static Result<std::unique_ptr<FrameSocket>, datapath::Error> open(const std::string& interface,
                                                                    std::uint32_t queue,
                                                                    std::uint32_t mtu,
                                                                    Patience patience);
  FrameSocket(const FrameSocket&) = delete;
  FrameSocket& operator=(const FrameSocket&) = delete;
  ~FrameSocket();

  // Takes what has arrived, without a system call; returns how many. They stay until the next call.
  // One that is too long is empty.
  [[nodiscard]] std::size_t receive(std::span<MutableBytes> into);

  // Where to write the next frame to be sent; empty: all are under way.
  [[nodiscard]] MutableBytes frame_to_send();
  // It has been written, and is so long.
  void push(std::size_t size);
  // Hands over what was pushed; returns the number of system calls. Whether all was taken says
  // has_unsent().
  int flush();
  [[nodiscard]] bool has_unsent();

  // Frames that the kernel had no room for.
  [[nodiscard]] std::uint64_t dropped() const;
  // Whether the NIC itself reads and writes the frames.
  [[nodiscard]] bool is_zero_copy() const;
  // Readable when receive would find something.
  [[nodiscard]] int descriptor() const { return xsk_socket__fd(socket_); }

 private:
  static constexpr std::size_t kDescriptorsMax = 128;  // taken at a time
  // Twice of what can be under way: the kernel says only now and then how far it has read, and
  // frames may come back before. To send a frame may take two descriptors.
  static constexpr std::uint32_t kFillRing = 2 * kReceiveFrames;
  static constexpr std::uint32_t kSendRing = 2 * 2 * kSendFrames;

  struct Unmap {
    void operator()(std::byte* memory) const;
  };

  FrameSocket() = default;
  [[nodiscard]] int allocate();
  void fill();
  void give_back();
  std::uint32_t take_frame(std::uint32_t first, std::uint32_t available, MutableBytes& into);
  void reclaim_sent();
  [[nodiscard]] static std::size_t number_of(std::uint64_t address);

  std::unique_ptr<std::byte, Unmap> memory_{};
  xsk_umem* umem_ = nullptr;
  xsk_socket* socket_ = nullptr;
  xsk_ring_prod fill_{};
  xsk_ring_cons completed_{};
  xsk_ring_cons received_{};
  xsk_ring_prod send_{};
  std::array<std::uint64_t, kDescriptorsMax> taken_{};  // chunks that the last call gave out
  std::size_t taken_count_ = 0;
  std::vector<std::uint64_t> free_{};  // addresses of frames to send
  std::array<std::uint8_t, kSendFrames> chunks_under_way_{};
  std::uint32_t pushed_ = 0;  // descriptors that the kernel has not been shown
};

}  // namespace openmrc::xdp
