// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/frame_socket.h"

#include <fmt/core.h>
#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "openmrc/base/check.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/xdp/privileges.h"

namespace openmrc::xdp {
namespace {

using datapath::with_reason;

// Of linux/if_xdp.h since 6.6; the C library's headers may be older than the kernel.
constexpr std::uint16_t kUseSeveralDescriptors = 1 << 4;  // XDP_USE_SG
constexpr std::uint32_t kContinues = 1 << 0;              // XDP_PKT_CONTD

constexpr std::size_t kMemorySize =
    (FrameSocket::kReceiveFrames + FrameSocket::kSendFrames) * FrameSocket::kFrameMax;
constexpr std::size_t kMebibyte = 1024 * 1024;
constexpr std::uint64_t kFirstToSend = FrameSocket::kReceiveFrames * FrameSocket::kFrameMax;

// Frames that wait in the kernel: as many as there are.
constexpr int kSendBuffer = 2 * FrameSocket::kSendFrames * FrameSocket::kFrameMax;

// The kernel leaves this free in front of a frame that it receives.
constexpr std::size_t kRoomInFront = 256;  // XDP_PACKET_HEADROOM
constexpr std::size_t kEthernetMax = 18;   // with a VLAN tag

std::uint16_t bind_flags_for(std::uint32_t mtu) {
  const bool fits = mtu + kEthernetMax + kRoomInFront <= FrameSocket::kChunk;
  return XDP_USE_NEED_WAKEUP | (fits ? std::uint16_t{0} : kUseSeveralDescriptors);
}

datapath::Error open_error(const std::string& interface, std::uint32_t queue, int error_number) {
  const std::string what =
      with_reason(fmt::format("cannot open an AF_XDP socket on queue {} of {}", queue, interface),
                  error_number);
  if (error_number == EPERM) {
    return {.what = what, .remedy = kPrivilegeRemedy};
  }
  if (error_number == EBUSY) {
    return {.what = what, .remedy = "another program has the queue; mode = \"srv6\" shares it"};
  }
  if (error_number == ENOBUFS || error_number == ENOMEM) {
    return {
        .what = fmt::format("{}: it takes {} MiB of locked memory", what, kMemorySize / kMebibyte),
        .remedy =
            "run with sudo, or `setcap cap_ipc_lock+ep` the program with the others, or "
            "raise the limit: ulimit -l"};
  }
  return {.what = what, .remedy = "this needs Linux 6.6 or later; mode = \"srv6\" needs less"};
}

}  // namespace

void FrameSocket::Unmap::operator()(std::byte* memory) const { ::munmap(memory, kMemorySize); }

Result<std::unique_ptr<FrameSocket>, datapath::Error> FrameSocket::open(
    const std::string& interface, std::uint32_t queue, std::uint32_t mtu, Patience patience) {
  std::unique_ptr<FrameSocket> socket(new FrameSocket());
  int error = socket->allocate();
  if (error == 0) {
    const xsk_socket_config config{.rx_size = kReceiveFrames,
                                   .tx_size = kSendRing,
                                   .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
                                   .xdp_flags = 0,
                                   .bind_flags = bind_flags_for(mtu)};
    error = patiently(patience, [&] {
      return -xsk_socket__create(&socket->socket_, interface.c_str(), queue, socket->umem_,
                                 &socket->received_, &socket->send_, &config);
    });
  }
  if (error != 0) return failure(open_error(interface, queue, error));
  ::setsockopt(socket->descriptor(), SOL_SOCKET, SO_SNDBUFFORCE, &kSendBuffer, sizeof kSendBuffer);
  socket->fill();
  return socket;
}

FrameSocket::~FrameSocket() {
  if (socket_ != nullptr) xsk_socket__delete(socket_);
  if (umem_ != nullptr) xsk_umem__delete(umem_);
}

// Returns errno.
int FrameSocket::allocate() {
  void* const memory = ::mmap(nullptr, kMemorySize, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return errno;
  memory_.reset(static_cast<std::byte*>(memory));
  ::madvise(memory, kMemorySize, MADV_DONTFORK);  // a child that writes would take the pages away
  const xsk_umem_config config{.fill_size = kFillRing,
                               .comp_size = kSendRing,
                               .frame_size = kChunk,
                               .frame_headroom = 0,
                               .flags = 0};
  free_.reserve(kSendFrames);
  for (std::size_t i = kSendFrames; i > 0; --i) {
    free_.push_back(kFirstToSend + (i - 1) * kFrameMax);
  }
  return -xsk_umem__create(&umem_, memory, kMemorySize, &fill_, &completed_, &config);
}

// The kernel gets the first chunk of each frame; the second is for the rest of a long packet, which
// it puts into another first one.
void FrameSocket::fill() {
  std::uint32_t first = 0;
  const std::uint32_t got = xsk_ring_prod__reserve(&fill_, kReceiveFrames, &first);
  OPENMRC_CHECK(got == kReceiveFrames, "the ring has room for all frames");
  for (std::uint32_t i = 0; i < got; ++i) {
    *xsk_ring_prod__fill_addr(&fill_, first + i) = std::uint64_t{i} * kFrameMax;
  }
  xsk_ring_prod__submit(&fill_, got);
}

void FrameSocket::give_back() {
  if (taken_count_ == 0) return;
  const auto count = static_cast<std::uint32_t>(taken_count_);
  std::uint32_t first = 0;
  const std::uint32_t got = xsk_ring_prod__reserve(&fill_, count, &first);
  OPENMRC_CHECK(got == count, "the ring has room for all frames");
  for (std::uint32_t i = 0; i < got; ++i) *xsk_ring_prod__fill_addr(&fill_, first + i) = taken_[i];
  xsk_ring_prod__submit(&fill_, got);
  taken_count_ = 0;
  if (xsk_ring_prod__needs_wakeup(&fill_) != 0) {
    ::recvfrom(descriptor(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
  }
}

std::size_t FrameSocket::receive(std::span<MutableBytes> into) {
  give_back();
  std::uint32_t first = 0;
  const std::uint32_t available = xsk_ring_cons__peek(&received_, kDescriptorsMax, &first);
  std::uint32_t used = 0;
  std::size_t count = 0;
  while (count < into.size() && used < available) {
    const std::uint32_t descriptors = take_frame(first + used, available - used, into[count]);
    if (descriptors == 0) break;
    used += descriptors;
    ++count;
  }
  if (available > used) xsk_ring_cons__cancel(&received_, available - used);
  if (used > 0) xsk_ring_cons__release(&received_, used);
  return count;
}

// Returns how many descriptors it has; 0: more than are available.
std::uint32_t FrameSocket::take_frame(std::uint32_t first, std::uint32_t available,
                                      MutableBytes& into) {
  std::uint32_t count = 1;
  while ((xsk_ring_cons__rx_desc(&received_, first + count - 1)->options & kContinues) != 0) {
    if (++count > available) return 0;
  }
  const xdp_desc& head = *xsk_ring_cons__rx_desc(&received_, first);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t address = xsk_ring_cons__rx_desc(&received_, first + i)->addr;
    taken_[taken_count_++] = address & ~std::uint64_t{kChunk - 1};
  }
  std::byte* const start = memory_.get() + head.addr;
  std::size_t size = head.len;
  const std::size_t room = kFrameMax - head.addr % kFrameMax;
  for (std::uint32_t i = 1; i < count; ++i) {
    const xdp_desc& piece = *xsk_ring_cons__rx_desc(&received_, first + i);
    if (size + piece.len > room) {
      into = {};
      return count;
    }
    std::memcpy(start + size, memory_.get() + piece.addr, piece.len);
    size += piece.len;
  }
  into = {start, size};
  return count;
}

MutableBytes FrameSocket::frame_to_send() {
  if (free_.empty()) reclaim_sent();
  if (free_.empty()) return {};
  return {memory_.get() + free_.back(), kFrameMax};
}

void FrameSocket::push(std::size_t size) {
  OPENMRC_CHECK(!free_.empty() && size > 0 && size <= kFrameMax, "a frame that was given");
  const std::uint64_t address = free_.back();
  free_.pop_back();
  const std::uint32_t count = size > kChunk ? 2 : 1;
  std::uint32_t first = 0;
  const std::uint32_t got = xsk_ring_prod__reserve(&send_, count, &first);
  OPENMRC_CHECK(got == count, "the ring has room for all frames");
  *xsk_ring_prod__tx_desc(&send_, first) = {
      .addr = address,
      .len = static_cast<std::uint32_t>(std::min(size, kChunk)),
      .options = count > 1 ? kContinues : 0};
  if (count > 1) {
    *xsk_ring_prod__tx_desc(&send_, first + 1) = {
        .addr = address + kChunk, .len = static_cast<std::uint32_t>(size - kChunk), .options = 0};
  }
  chunks_under_way_[number_of(address)] = static_cast<std::uint8_t>(count);
  pushed_ += count;
}

std::size_t FrameSocket::number_of(std::uint64_t address) {
  return (address - kFirstToSend) / kFrameMax;
}

int FrameSocket::flush() {
  if (pushed_ > 0) xsk_ring_prod__submit(&send_, std::exchange(pushed_, 0));
  int calls = 0;
  // Without zero copy the kernel sends some with each call, as long as it can.
  std::uint32_t unsent = kSendRing + 1;
  while (xsk_ring_prod__needs_wakeup(&send_) != 0) {
    const std::uint32_t left = kSendRing - xsk_prod_nb_free(&send_, kSendRing);
    if (left == 0 || left == unsent) break;
    unsent = left;
    ::sendto(descriptor(), nullptr, 0, MSG_DONTWAIT, nullptr, 0);
    ++calls;
  }
  reclaim_sent();
  return calls;
}

std::uint64_t FrameSocket::dropped() const {
  xdp_statistics statistics{};
  socklen_t size = sizeof statistics;
  if (::getsockopt(descriptor(), SOL_XDP, XDP_STATISTICS, &statistics, &size) != 0) return 0;
  return statistics.rx_dropped + statistics.rx_ring_full;
}

bool FrameSocket::is_zero_copy() const {
  xdp_options options{};
  socklen_t size = sizeof options;
  return ::getsockopt(descriptor(), SOL_XDP, XDP_OPTIONS, &options, &size) == 0 &&
         (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
}

bool FrameSocket::has_unsent() {
  return xsk_ring_prod__needs_wakeup(&send_) != 0 &&
         xsk_prod_nb_free(&send_, kSendRing) < kSendRing;
}

void FrameSocket::reclaim_sent() {
  std::uint32_t first = 0;
  const std::uint32_t count = xsk_ring_cons__peek(&completed_, kSendRing, &first);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t address = *xsk_ring_cons__comp_addr(&completed_, first + i);
    const std::size_t number = number_of(address);
    if (--chunks_under_way_[number] == 0) free_.push_back(kFirstToSend + number * kFrameMax);
  }
  if (count > 0) xsk_ring_cons__release(&completed_, count);
}

}  // namespace openmrc::xdp
