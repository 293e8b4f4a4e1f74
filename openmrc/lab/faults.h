// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/lab/netns.h"
#include "openmrc/lab/spec.h"

// Breaking and repairing links of a lab.
namespace openmrc::lab {

// A part of all packets, in ten thousandths.
inline constexpr std::uint32_t kAllPackets = 10'000;

struct Fault {
  enum class Kind : std::uint8_t {
    kCut,     // as if the cable were pulled: its T0's end is set down, the other loses its carrier
    kPort,    // the host's own port is set down by its administrator
    kSilent,  // all packets are dropped silently, in both directions
  };
  Kind kind = Kind::kCut;
  std::uint32_t loss = kAllPackets;  // kSilent

  bool operator==(const Fault&) const = default;
};

// CLOCK_MONOTONIC.
struct Moment {
  std::int64_t began_ns = 0;
  std::int64_t done_ns = 0;  // from here on all of it has taken effect
};
std::int64_t monotonic_ns();
void sleep_until(std::int64_t ns);  // returns early when interrupted (lab_interrupt.h)

// kPort is for links of hosts.
Result<Moment, std::string> inflict(const Spec& spec, std::span<const fabric::LinkId> links,
                                    const Fault& fault);

// Whatever is wrong with these links. What an interface loses when it goes down is written again.
Result<Moment, std::string> heal(const Spec& spec, std::span<const fabric::LinkId> links);
Result<Moment, std::string> heal_all(const Spec& spec);

// Cuts and heals a link `hz` times a second. It is healed when this returns, also on Ctrl-C; the
// result is how many times it was cut.
Result<std::uint64_t, std::string> flap(const Spec& spec, const fabric::LinkId& link, double hz,
                                        Duration span);

enum class Condition : std::uint8_t {
  kUp,
  kCut,
  kPortDown,  // at the host
  kLossy,
  kSilent,  // all packets are dropped; the carrier is up
  kFlapping,
  kMissing,  // the interfaces are not there
};
std::string_view name_of(Condition condition);

struct LinkState {
  Condition condition = Condition::kUp;
  std::uint32_t loss = 0;  // kLossy, kSilent; in ten thousandths
};

using LinkStates = std::map<fabric::LinkId, LinkState>;
LinkStates states_of(const Spec& spec);

}  // namespace openmrc::lab
