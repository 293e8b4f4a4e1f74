// SPDX-License-Identifier: BSD-3-Clause
// Sends packets in the name of another host, for tests of what that can do. It knows the protocol
// and whatever is said on its command line; everything else it guesses, anew for each packet. Runs
// in a network namespace of a lab, as root.
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <string>

#include "openmrc/base/rng.h"
#include "openmrc/wire/packet.h"
#include "tests/lab/raw_packets.h"

namespace {

using namespace openmrc;
using namespace openmrc::wire;

constexpr std::uint64_t kQpnsPerSlot = 1u << 18;

enum class Kind : std::uint8_t {
  kEmptyWrite,   // of no bytes: it needs no key, and counts as arrived
  kWrite,        // of 64 bytes
  kAcknowledge,  // of everything
  kRefusal,      // NAK 0x62
  kSack,         // that marks a path as bad
  kNack,         // that says that the queue pair has failed
  kProbe,        // a reliability probe
  kPortStatus,   // MRC 7.4.8
  kEvProbe,      // MRC 7.4.7
};

// What is known; the rest is guessed.
struct Known {
  std::optional<std::uint32_t> qpn;
  std::optional<std::uint32_t> remote_qpn;  // of the host in whose name it sends
  std::optional<std::uint32_t> psn;
  std::optional<std::uint32_t> psn_step;  // from psn, or 0, on
  std::optional<std::uint32_t> msn;
  std::optional<std::uint32_t> rkey;
  std::optional<std::uint64_t> address;
  std::optional<std::uint32_t> ev;
  std::uint32_t ports = 0;  // a port status
};

struct Options {
  Kind kind = Kind::kEmptyWrite;
  std::string source;
  std::string destination;
  bool any_source = false;  // another for each packet, of the same prefix
  test::Pace pace;
  std::uint64_t seed = 1;
  Known known;
};

class Forger {
 public:
  explicit Forger(const Options& options) : options_(options), rng_(options.seed) {}

  Packet next() {
    Packet packet{.route = Ipv6Route{.source = source(),
                                     .destination = test::address_of(options_.destination),
                                     .ev = Ev(guess(options_.known.ev) | 0xc000)}};
    packet.transport.body = body();
    ++made_;
    return packet;
  }

 private:
  template <class T>
  std::uint32_t guess(const std::optional<T>& known) {
    return known ? static_cast<std::uint32_t>(*known) : static_cast<std::uint32_t>(rng_.next());
  }
  // Everybody knows the slot of the first process of a host.
  Qpn guess_qpn(const std::optional<std::uint32_t>& known) {
    return known ? Qpn(*known) : Qpn(static_cast<std::uint32_t>(rng_.below(kQpnsPerSlot)));
  }
  Qpn qpn() { return guess_qpn(options_.known.qpn); }
  Psn psn() {
    if (!options_.known.psn_step) return Psn(guess(options_.known.psn) & Psn::kMask);
    const std::uint64_t steps = made_ * *options_.known.psn_step;
    return Psn(static_cast<std::uint32_t>(options_.known.psn.value_or(0) + steps) & Psn::kMask);
  }
  ConnectionId connection(const std::optional<std::uint32_t>& known) {
    return connection_id(guess_qpn(known));
  }

  Ipv6Address source() {
    Ipv6Address from = test::address_of(options_.source);
    if (options_.any_source) from.set_group(7, static_cast<std::uint16_t>(rng_.next()));
    return from;
  }

  RdmaWrite write(std::size_t size) {
    const Known& known = options_.known;
    return {.destination_qp = qpn(),
            .psn = psn(),
            .part = MessagePart::only(),
            .meth = {.rqmsn = {}, .msn = Msn(static_cast<std::uint16_t>(guess(known.msn)))},
            .sent = TxTimestamp{},
            .reth = {.virtual_address = known.address.value_or(rng_.next()),
                     .rkey = RKey(guess(known.rkey)),
                     .dma_length = static_cast<std::uint32_t>(size)},
            .payload = Payload::of_bytes(ConstBytes(kPayload).first(size))};
  }

  Body body() {
    const Known& known = options_.known;
    switch (options_.kind) {
      case Kind::kEmptyWrite: return write(0);
      case Kind::kWrite: return write(kPayload.size());
      case Kind::kAcknowledge:
      case Kind::kRefusal:
        return Acknowledge{
            .destination_qp = qpn(),
            .psn = psn(),
            .aeth = {.syndrome = options_.kind == Kind::kRefusal ? AckSyndrome::kNakRemoteAccess
                                                                 : AckSyndrome::kAck,
                     .msn = AckMsn(guess(known.msn) & AckMsn::kMask)}};
      case Kind::kSack:
        return Sack{.destination_qp = qpn(),
                    .seth = {.mark = PathMark::kAlwaysSkip,
                             .entropy = Ev(guess(known.ev)),
                             .spdcid = connection(known.remote_qpn),
                             .dpdcid = connection(known.qpn),
                             .cack_psn = psn()}};
      case Kind::kNack:
        return Nack{.destination_qp = qpn(),
                    .neth = {.reason = NackReason::kUnexpectedEvent,
                             .entropy = Ev(guess(known.ev)),
                             .spdcid = connection(known.remote_qpn),
                             .dpdcid = connection(known.qpn),
                             .psn = psn()}};
      case Kind::kProbe:
        return ReliabilityProbe{
            .destination_qp = qpn(),
            .peth = {.spdcid = connection(known.remote_qpn), .dpdcid = connection(known.qpn)}};
      case Kind::kPortStatus:
        return EndpointRequest{
            .id = EndpointRequestId(static_cast<std::uint16_t>(rng_.next())),
            .erth = {.op = EndpointOp::kPortStatusUpdate, .port_status_mask = known.ports}};
      case Kind::kEvProbe:
        return EndpointRequest{.id = EndpointRequestId(static_cast<std::uint16_t>(rng_.next())),
                               .erth = {.op = EndpointOp::kEvProbe}};
    }
    return {};
  }

  static constexpr std::array<std::byte, 64> kPayload{std::byte{0xbd}};

  const Options& options_;
  Rng rng_;
  std::uint64_t made_ = 0;
};

// Returns how many were sent.
std::uint64_t send_all(const Options& options) {
  test::RawSender sender;
  Forger forger(options);
  return test::at_pace(options.pace, [&] { sender.send(forger.next()); });
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, Kind> kinds{{"empty-write", Kind::kEmptyWrite},
                                          {"write", Kind::kWrite},
                                          {"acknowledge", Kind::kAcknowledge},
                                          {"refusal", Kind::kRefusal},
                                          {"sack", Kind::kSack},
                                          {"nack", Kind::kNack},
                                          {"probe", Kind::kProbe},
                                          {"port-status", Kind::kPortStatus},
                                          {"ev-probe", Kind::kEvProbe}};
  Options options;
  CLI::App app{"Sends packets in the name of another host"};
  app.add_option("kind", options.kind)->required()->transform(CLI::CheckedTransformer(kinds));
  app.add_option("--source", options.source, "In whose name")->required();
  app.add_option("--destination", options.destination, "To whom")->required();
  app.add_flag("--any-source", options.any_source, "Many names of the same prefix");
  app.add_option("--count", options.pace.count, "How many");
  app.add_option("--seconds", options.pace.seconds, "For how long");
  app.add_option("--rate", options.pace.rate, "How many in a second");
  app.add_option("--seed", options.seed);
  app.add_option("--qpn", options.known.qpn, "Known: the queue pair");
  app.add_option("--remote-qpn", options.known.remote_qpn, "Known: that of the host it names");
  app.add_option("--psn", options.known.psn, "Known: a PSN");
  app.add_option("--psn-step", options.known.psn_step, "Instead of random PSNs, one in so many");
  app.add_option("--msn", options.known.msn, "Known: the message number");
  app.add_option("--rkey", options.known.rkey, "Known: the key");
  app.add_option("--address", options.known.address, "Known: the address of the memory");
  app.add_option("--ev", options.known.ev, "Known: an EV");
  app.add_option("--ports", options.known.ports, "Mask of a port status");
  CLI11_PARSE(app, argc, argv);
  if (options.pace.count == 0 && options.pace.seconds <= 0) {
    fmt::print(stderr, "mrc-forger: --count or --seconds\n");
    return 2;
  }
  try {
    fmt::print("{} packets sent\n", send_all(options));
  } catch (const std::exception& error) {
    fmt::print(stderr, "mrc-forger: {}\n", error.what());
    return 1;
  }
  return 0;
}
