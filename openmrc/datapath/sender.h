// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/datapath/counters.h"
#include "openmrc/datapath/datapath.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/frame.h"
#include "openmrc/datapath/open.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/datapath/source_ports.h"

namespace openmrc::datapath {

// The sending half of the back ends that use sockets. Packets for one socket that follow each other
// are gathered into a batch; a batch becomes messages, of one packet or several, and leaves with
// one system call.
class Sender {
 public:
  // `counters` and `notices` outlive it.
  static Result<std::unique_ptr<Sender>, Error> open(const Settings& settings, Counters& counters,
                                                     std::vector<Error>& notices);

  void send(std::span<const Outgoing> burst);
  // For mode kSrv6: the interface has come back as another one.
  [[nodiscard]] Result<void, Error> reopen(Plane plane);
  [[nodiscard]] PlaneBits blocked() const { return blocked_; }

 private:
  static constexpr std::size_t kBatch = 64;
  static constexpr std::size_t kPieces = 3;  // of a frame
  static constexpr std::size_t kControlSize = 96;
  static constexpr std::size_t kHeldMax = 4096;  // packets of a plane that may wait
  static constexpr std::size_t kSpareMax = 1024;

  // A packet that waits for room in its socket.
  struct Held {
    Envelope envelope{};
    std::vector<std::byte> bytes{};
  };
  struct PlanePort {
    std::unique_ptr<SourcePorts> sources{};  // none where whole packets are sent
    FileDescriptor raw{};
    std::size_t segments_max = 1;
    std::deque<Held> held{};
  };
  // A packet of the batch: a frame, or one that was held.
  struct Packet {
    Envelope envelope{};
    const Held* held = nullptr;
    std::size_t size = 0;
  };
  // How much of the batch one message of the call carries.
  struct Message {
    std::size_t packets = 0;
    std::size_t bytes = 0;
  };
  struct Control {
    alignas(cmsghdr) std::array<std::byte, kControlSize> bytes;
  };

  Sender(Settings settings, Counters& counters, std::vector<Error>& notices)
      : settings_(std::move(settings)), counters_(counters), notices_(notices) {}

  PlanePort& port_of(const Envelope& envelope) { return planes_[envelope.plane.raw()]; }
  SourcePorts::Socket socket_for(const Envelope& envelope);
  [[nodiscard]] bool fits_batch(const Envelope& envelope) const;

  void send(const Outgoing& outgoing);
  void retry(PlanePort& port);
  void finish();

  std::size_t transmit();
  std::size_t form_messages(std::size_t first);
  std::size_t form_message(std::size_t first, std::size_t index);
  void add_pieces(std::size_t index, bool is_first);
  void add_piece(ConstBytes piece);
  void address(const Packet& packet, std::size_t index, bool is_segmented);
  std::size_t count_sent(std::size_t messages);
  void count_failure(int error_number, std::size_t packets);
  void disable_segmentation(PlanePort& port, int error_number);
  void hold(std::size_t index);
  [[nodiscard]] Held copy_of(std::size_t index);
  void release_first(PlanePort& port);

  Settings settings_;
  Counters& counters_;
  std::vector<Error>& notices_;
  std::vector<PlanePort> planes_{};
  std::vector<std::vector<std::byte>> spare_{};  // memory of packets that were held; never grows
  PlaneBits blocked_ = 0;

  // The batch; all of it goes to one socket.
  SourcePorts::Socket socket_{};
  std::size_t used_ = 0;
  std::array<Packet, kBatch> batch_{};
  std::array<Frame, kBatch> frames_;
  // What it is as a system call.
  std::array<iovec, kBatch * kPieces> pieces_{};
  std::size_t pieces_used_ = 0;
  std::array<Message, kBatch> messages_{};
  std::array<mmsghdr, kBatch> headers_{};
  std::array<SocketAddress, kBatch> addresses_{};
  std::array<Control, kBatch> controls_;
};

}  // namespace openmrc::datapath
