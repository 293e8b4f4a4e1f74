// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "openmrc/core/endpoint/control_packets.h"
#include "openmrc/core/endpoint/datagrams.h"
#include "openmrc/core/endpoint/endpoint_responses.h"
#include "openmrc/core/endpoint/endpoint_state.h"
#include "openmrc/core/endpoint/prefetch.h"
#include "openmrc/core/endpoint/send_queue.h"
#include "openmrc/core/endpoint/transmit.h"

namespace openmrc::core {

// How often a port may be used in one call: as often as wanted, or by one packet at a time.
enum class Ports : std::uint8_t { kReused, kTakenOnce };

// What leaves: control packets of connections first, then data, queue pair after queue pair, in
// turns with endpoint responses: anybody can ask for those, and a flood of requests leaves every
// second packet to data (REL-95). Datagrams take turns with the responses (UD-7).
class Transmitter {
 public:
  Transmitter(EndpointState& state, SendQueue& sending, ControlPackets& control,
              EndpointResponses& responses, Datagrams& datagrams)
      : state_(state),
        sending_(sending),
        control_(control),
        responses_(responses),
        datagrams_(datagrams),
        prefetch_(state) {}

  [[nodiscard]] std::size_t poll(Instant now, PlaneMask free_ports, Ports ports,
                                 std::span<Transmit> out);

 private:
  enum class Sent : std::uint8_t {
    kYes,
    kNothingToSend,
    kMustWait,  // for the congestion window, or for a way to the peer
    kNoPort,    // there is a way, but its ports are busy
    kNoRoom,    // as many packets are in flight as the endpoint can remember
  };
  struct DataSent {
    Sent outcome;
    std::size_t more;  // packets after the first
  };
  [[nodiscard]] DataSent send_first(Instant now, PlaneMask free_ports, Ports ports, bool is_alone,
                                    std::span<Transmit> out);
  void look_ahead();
  [[nodiscard]] ControlSent send_aside(Instant now, PlaneMask ports, Transmit& out);
  [[nodiscard]] Sent take_turn(Instant now, PlaneMask ports, Transmit& out);
  [[nodiscard]] std::size_t send_run(Instant now, PlaneMask ports, std::span<Transmit> out);
  [[nodiscard]] Sent send_data(Instant now, PlaneMask ports, QueuePair& qp, Transmit& out);

  EndpointState& state_;
  SendQueue& sending_;
  ControlPackets& control_;
  EndpointResponses& responses_;
  Datagrams& datagrams_;
  Prefetch prefetch_;
  bool is_turn_of_data_ = false;      // if endpoint responses or datagrams wait, too
  bool is_turn_of_datagram_ = false;  // if endpoint responses wait, too
};

}  // namespace openmrc::core
