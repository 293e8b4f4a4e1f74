// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "openmrc/base/ids.h"
#include "openmrc/base/rng.h"
#include "openmrc/base/time.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/settings.h"
#include "tests/world/faults.h"
#include "tests/world/on_path.h"
#include "tests/world/world_options.h"

namespace openmrc::test {

// A packet on its way, as bytes.
struct Delivery {
  Instant when{};
  std::uint64_t order = 0;  // breaks ties, so that a run is a function of its options
  Side to = Side::kA;
  Plane plane{};
  std::vector<std::byte> bytes;
  bool forged = false;  // the host that it names as its sender did not send it, or not so
};

// The links between the two hosts, and what happens to packets on them. It knows nothing of the
// protocol but where an EV, an ECN field and a trimmed packet's end are.
class Network {
 public:
  explicit Network(const WorldOptions& options);

  // Takes a packet that `side` sent; what arrives of it is on its way afterwards.
  void send(Instant now, Side side, const core::Transmit& transmit, std::optional<core::EvIndex> ev,
            bool forged = false);

  [[nodiscard]] std::optional<Instant> next_arrival() const;
  // The earliest delivery at or before `now`. Its bytes are given back with `recycle`.
  [[nodiscard]] std::optional<Delivery> take_arrival(Instant now);
  void recycle(Delivery&& delivery) { spare_.push_back(std::move(delivery.bytes)); }

  // Ports that can take a packet now, and when the next of the others can.
  [[nodiscard]] core::PlaneMask free_ports(Instant now, Side side) const;
  [[nodiscard]] Instant next_free_port(Instant now, Side side) const;

  [[nodiscard]] bool limits_rate() const { return options_->port_bits_per_second > 0; }
  // A number that two runs share if and only if (but for chance) they sent the same packets at the
  // same times.
  [[nodiscard]] std::uint64_t digest() const { return digest_; }

 private:
  [[nodiscard]] bool applies(const Fault& fault, Instant now, Side side, Plane plane,
                             std::optional<core::EvIndex> ev) const;
  [[nodiscard]] Duration random_up_to(std::int64_t ns);
  void take_port(Instant now, Side side, Plane plane, std::size_t size);
  void deliver(Delivery delivery);
  void corrupt(std::vector<std::byte>& bytes);
  std::vector<std::byte> fresh_bytes(std::size_t size);

  const WorldOptions* options_;
  Rng rng_;
  OnPath on_path_;
  std::vector<Delivery> heap_;
  std::vector<std::vector<std::byte>> spare_;
  std::vector<std::int64_t> burst_left_;  // by plane and side
  std::vector<Instant> port_free_;        // by plane and side
  std::uint64_t order_ = 0;
  std::uint64_t digest_ = 0xcbf29ce484222325;
};

}  // namespace openmrc::test
