// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/softswitch/switch.h"

#include <algorithm>

#include "openmrc/base/rng.h"
#include "openmrc/wire/header/ipv6.h"
#include "openmrc/wire/header/srh.h"
#include "openmrc/wire/trim.h"

namespace openmrc::softswitch {
namespace {

// What trimming may keep of a packet: nothing behind it needs to be copied.
constexpr std::size_t kTrimmedSizeMax =
    wire::kIpv6Size + wire::kSrhSize + wire::kIpv6Size + wire::kTrimKept;

Result<PortIndex, Drop> drop(PortCounters& counters, Drop reason) {
  counters.dropped.count(reason);
  return failure(reason);
}

}  // namespace

Result<Switch, SwitchError> Switch::make(const SwitchSettings& settings) {
  if (const auto result = check(settings); !result) return failure(result.error());
  return Switch(settings);
}

Switch::Switch(const SwitchSettings& settings)
    : dscp_(settings.dscp),
      treatments_(settings.dscp),
      forwarding_(settings.forwarding, settings.seed),
      pool_(settings.buffers) {
  std::uint64_t seed = settings.seed;
  ports_.reserve(settings.ports.size());
  for (const QueuePolicy& policy : settings.ports) {
    ports_.push_back({.egress = EgressPort(policy, split_mix(seed))});
  }
}

Result<PortIndex, Drop> Switch::receive(PortIndex in, ConstBytes bytes) {
  Port& port = at(in);
  ++port.counters.received;
  port.counters.received_bytes += bytes.size();
  if (bytes.size() > kPacketSizeMax) return drop(port.counters, Drop::kTooLong);
  IpPacket packet;
  if (const Dropped why = read_ip_packet(bytes, treatments_, packet)) {
    return drop(port.counters, *why);
  }
  Hop hop;
  if (const Dropped why = forwarding_.find(packet, hop)) return drop(port.counters, *why);
  return queue(packet, hop);
}

Result<PortIndex, Drop> Switch::queue(const IpPacket& packet, const Hop& hop) {
  Port& out = ports_[hop.port.raw()];
  switch (out.egress.judge(packet.treatment, static_cast<std::uint32_t>(packet.bytes.size()))) {
    case Verdict::kDropData: return drop(out.counters, Drop::kDataFull);
    case Verdict::kDropControl: return drop(out.counters, Drop::kControlFull);
    case Verdict::kTrim: return queue_trimmed(packet, hop);
    case Verdict::kQueue: break;
  }
  const BufferIndex buffer = pool_.take();
  if (buffer == kNoBuffer) return drop(out.counters, Drop::kOutOfBuffers);
  pass(pool_.store(buffer, packet.bytes), hop.rewrite);
  out.egress.push(pool_, packet.treatment.queue, buffer);
  ++out.counters.forwarded;
  return hop.port;
}

// MRC 8 (CC-49): what does not fit as data goes on as control, cut down to its headers.
Result<PortIndex, Drop> Switch::queue_trimmed(const IpPacket& packet, const Hop& hop) {
  Port& out = ports_[hop.port.raw()];
  const BufferIndex buffer = pool_.take();
  if (buffer == kNoBuffer) return drop(out.counters, Drop::kOutOfBuffers);
  const std::size_t copied = std::min(packet.bytes.size(), kTrimmedSizeMax);
  pass(pool_.store(buffer, packet.bytes.first(copied)), hop.rewrite);
  if (const Dropped why = trim(out.egress, buffer)) {
    pool_.give_back(buffer);
    return drop(out.counters, *why);
  }
  out.egress.push(pool_, QueueClass::kControl, buffer);
  ++out.counters.forwarded;
  ++out.counters.trimmed;
  return hop.port;
}

// A packet that says it may be trimmed, but has no headers that we know, is data that does not fit.
Dropped Switch::trim(const EgressPort& out, BufferIndex buffer) {
  const auto size =
      wire::trim_packet(pool_.bytes(buffer), out.trim_place(), dscp_, out.marked_headers());
  if (!size) return Drop::kDataFull;
  pool_.shorten(buffer, *size);
  constexpr Treatment kAsControl{.queue = QueueClass::kControl};
  const Verdict verdict = out.judge(kAsControl, pool_.size(buffer));
  return verdict == Verdict::kQueue ? std::nullopt : Dropped(Drop::kTrimmedFull);
}

ConstBytes Switch::transmit(PortIndex out) {
  Port& port = at(out);
  const BufferIndex buffer = port.egress.pop(pool_, port.counters);
  if (buffer == kNoBuffer) return {};
  const ConstBytes bytes = pool_.bytes(buffer);
  pool_.give_back(buffer);
  ++port.counters.transmitted;
  port.counters.transmitted_bytes += bytes.size();
  return bytes;
}

}  // namespace openmrc::softswitch
