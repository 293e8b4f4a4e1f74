// SPDX-License-Identifier: BSD-3-Clause
// What a data packet of 4 KiB costs a busy requestor and a busy responder, from bytes to bytes: two
// endpoints send one long stream of messages over 8 planes and 256 EVs, under NSCC. Headers are
// encoded and decoded; there is no ICRC, and no payload is copied: the responder's memory region
// has no bytes.
//
//   core_cost                     the heap must not be used: fails if it is
//   core_cost --count NAME        for callgrind, by count_instructions.py; NAME as in kVariants
//
// Where the instructions go, in one file per step (here: the feedback):
//   valgrind --tool=callgrind --toggle-collect=measured_requestor_feedback
//       --callgrind-out-file=feedback.out build/bench/bench/core_cost --count sprayed
//   callgrind_annotate --inclusive=yes --threshold=99 feedback.out     (or --inclusive=no: self)
// and divide by the number of packets that the program prints.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "bench/endpoint_pair.h"
#include "bench/heap_count.h"
#include "openmrc/base/check.h"
#include "openmrc/base/rng.h"
#include "openmrc/core/endpoint/endpoint.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"

namespace {

using namespace openmrc;
using namespace openmrc::bench;
using core::Endpoint;
using core::PlaneMask;

constexpr std::uint8_t kMpr = 16;
constexpr std::size_t kBurst = 32;
constexpr std::uint32_t kMessageBytes = 1u << 20;
constexpr unsigned kMessagesOutstanding = 8;
constexpr std::uint64_t kWarmUpPackets = 50'000;
constexpr std::uint64_t kCountedPackets = 20'000;  // in callgrind
constexpr std::uint64_t kHeapPackets = 500'000;    // outside it
constexpr Duration kTick = nanoseconds(kBurst * kPacketPicoseconds / 1'000);
constexpr wire::WireSettings kNoIcrc{.icrc_check = wire::IcrcCheck::kSkip};

struct Variant {
  const char* name;
  Duration spread;  // packets of one burst arrive up to so much apart, those of a plane together
};
constexpr std::array kVariants{Variant{.name = "in-order", .spread = Duration(0)},
                               Variant{.name = "sprayed", .spread = kBaseRtt / 2}};

// Packets in flight, as bytes. All memory is there from the beginning. Behind the headers of a
// data packet there is room for the payload, which is neither written nor read.
struct Frame {
  std::array<std::byte, wire::kHeadersSizeMax + kMtu + wire::kIcrcSize> bytes{};
  std::size_t size = 0;
  Plane plane{};
  Instant arrives{};
  std::uint64_t number = 0;
};

// What poll_transmit gives, and where its headers go.
struct Burst {
  std::array<core::Transmit, kBurst> records{};
  std::array<Frame*, kBurst> frames{};
  std::size_t count = 0;
};

class Link {
 public:
  static constexpr std::size_t kFrames = 2048;

  explicit Link(Duration spread) : spread_(spread), rng_(1), frames_(kFrames) {
    for (Frame& frame : frames_) free_.push_back(&frame);
    flying_.reserve(kFrames);
  }

  // Frames for a burst; those that are not sent are there again the next time.
  void lend(Burst& burst) {
    OPENMRC_CHECK(free_.size() >= kBurst, "the link has room");
    std::copy_n(free_.rbegin(), kBurst, burst.frames.begin());
  }

  // The encoded packets of the burst. Each plane is as slow as chance has it; packets on one path
  // stay in order.
  void send(Instant now, const Burst& burst, const core::EvProfile& profile) {
    std::array<Duration, kPlanes> slowness;
    for (Duration& extra : slowness) {
      extra = Duration(
          static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(spread_.raw()) + 1)));
    }
    for (std::size_t i = 0; i < burst.count; ++i) {
      const core::Transmit& record = burst.records[i];
      Frame& frame = *burst.frames[i];
      frame.size = wire::encoded_size(record.packet);
      frame.plane = record.plane;
      Instant arrives = now + kBaseRtt / 2 + slowness[record.plane.raw()];
      if (const auto ev = profile.find(wire::ev_of(record.packet))) {
        Instant& latest = latest_on_ev_[ev->raw()];
        arrives = latest = std::max(latest, arrives);
      }
      frame.arrives = arrives;
      frame.number = sent_++;
      flying_.push_back(&frame);
      std::push_heap(flying_.begin(), flying_.end(), later);
      free_.pop_back();
    }
  }

  // The next frame that has arrived, if any; it goes back by `give_back`.
  Frame* receive(Instant now) {
    if (flying_.empty() || flying_.front()->arrives > now) return nullptr;
    std::pop_heap(flying_.begin(), flying_.end(), later);
    Frame* frame = flying_.back();
    flying_.pop_back();
    return frame;
  }
  void give_back(Frame* frame) { free_.push_back(frame); }

 private:
  static bool later(const Frame* a, const Frame* b) {
    return a->arrives != b->arrives ? a->arrives > b->arrives : a->number > b->number;
  }

  Duration spread_;
  Rng rng_;
  std::vector<Frame> frames_;
  std::vector<Frame*> free_;
  std::vector<Frame*> flying_;  // a heap
  std::array<Instant, core::kEvsPerProfileMax> latest_on_ev_{};
  std::uint64_t sent_ = 0;
};

// Everything that an end does to send; what is due by now comes first.
[[gnu::always_inline]] inline void send_step(Endpoint& endpoint, Instant now, Burst& burst) {
  if (const auto due = endpoint.next_deadline(); due && *due <= now) endpoint.handle_timeout(now);
  burst.count =
      endpoint.poll_transmit(now, PlaneMask::all(), Endpoint::Ports::kReused, burst.records);
  for (std::size_t i = 0; i < burst.count; ++i) {
    wire::encode_headers(burst.records[i].packet, kNoIcrc, burst.frames[i]->bytes);
  }
}

// And to receive. `record` is used again and again.
[[gnu::always_inline]] inline void receive_step(Endpoint& endpoint, Instant now, const Frame& frame,
                                                wire::Packet& record) {
  const auto decoded =
      wire::decode_ip_into(ConstBytes(frame.bytes).first(frame.size), kNoIcrc, record);
  OPENMRC_CHECK(decoded.has_value(), "it decodes");
  endpoint.handle_packet(now, frame.plane, record);
}

}  // namespace

// Apart and by C names, so that callgrind can find them.
#define OPENMRC_MEASURED_SEND(who)                                    \
  extern "C" [[gnu::noinline, gnu::used]] void measured_##who##_send( \
      Endpoint* endpoint, const Instant* now, Burst* burst) {         \
    send_step(*endpoint, *now, *burst);                               \
  }
#define OPENMRC_MEASURED_RECEIVE(what)                                                    \
  extern "C" [[gnu::noinline, gnu::used]] void measured_##what(                           \
      Endpoint* endpoint, const Instant* now, const Frame* frame, wire::Packet* record) { \
    receive_step(*endpoint, *now, *frame, *record);                                       \
  }
OPENMRC_MEASURED_SEND(requestor)
OPENMRC_MEASURED_RECEIVE(requestor_feedback)
OPENMRC_MEASURED_SEND(responder)
OPENMRC_MEASURED_RECEIVE(responder_receive)

namespace {

core::EndpointSettings settings_of(Side side) { return {.addresses = addresses_of(side, 0)}; }

// The two ends, the network between them, and an application that always has something to send.
class Exchange {
 public:
  explicit Exchange(const Variant& variant)
      : requestor_(settings_of(Side::kRequestor), 1),
        responder_(settings_of(Side::kResponder), 2),
        there_(variant.spread),
        back_(Duration(0)),
        data_(kMessageBytes) {
    const auto init = add_profiles(requestor_);
    const auto remote_init = add_profiles(responder_);
    profile_ = init.ev_profile;
    rkey_ = register_anything(responder_, remote_init.domain);
    qpn_ = create(requestor_);
    const Qpn remote = create(responder_);
    connect(requestor_, qpn_,
            {.init = init,
             .remote_qpn = remote,
             .remote_addresses = addresses_of(Side::kResponder, 0),
             .mpr = kMpr});
    connect(responder_, remote,
            {.init = remote_init,
             .remote_qpn = qpn_,
             .remote_addresses = addresses_of(Side::kRequestor, 0),
             .mpr = kMpr});
    for (unsigned i = 0; i < kMessagesOutstanding; ++i) post();
  }

  // Until so many more data packets have been sent. Returns how many it was, to the packet.
  template <bool kMeasured>
  std::uint64_t run(std::uint64_t packets) {
    const std::uint64_t before = sent();
    while (sent() - before < packets) tick<kMeasured>();
    return sent() - before;
  }

  void check() const {
    check_clean(requestor_);
    check_clean(responder_);
  }
  [[nodiscard]] std::uint64_t sent() const {
    return requestor_.counters().of(core::Count::kDataSent);
  }
  [[nodiscard]] std::uint64_t sacks() const {
    return requestor_.counters().of(core::Count::kSacksReceived);
  }
  [[nodiscard]] std::int64_t in_flight() const {
    return requestor_.queue_pair(qpn_)->requestor.window().size();
  }
  [[nodiscard]] std::int64_t out_of_order_max() const { return out_of_order_max_; }

 private:
  // One burst at line rate; each end works off what has arrived, then sends.
  template <bool kMeasured>
  void tick() {
    now_ = now_ + kTick;
    while (Frame* frame = there_.receive(now_)) {
      if constexpr (kMeasured) {
        measured_responder_receive(&responder_, &now_, frame, &data_record_);
      } else {
        receive_step(responder_, now_, *frame, data_record_);
      }
      there_.give_back(frame);
    }
    const Qpn remote = requestor_.queue_pair(qpn_)->connection.remote;
    out_of_order_max_ = std::max(out_of_order_max_,
                                 responder_.queue_pair(remote)->responder.window().out_of_order());
    do {
      back_.lend(control_);
      if constexpr (kMeasured) {
        measured_responder_send(&responder_, &now_, &control_);
      } else {
        send_step(responder_, now_, control_);
      }
      back_.send(now_, control_, responder_.ev_profile(profile_));
    } while (control_.count == kBurst);

    while (Frame* frame = back_.receive(now_)) {
      if constexpr (kMeasured) {
        measured_requestor_feedback(&requestor_, &now_, frame, &feedback_record_);
      } else {
        receive_step(requestor_, now_, *frame, feedback_record_);
      }
      back_.give_back(frame);
    }
    while (const auto done = requestor_.poll_completion()) {
      OPENMRC_CHECK(done->status == core::WorkStatus::kSuccess, "a write succeeds");
      post();
    }
    there_.lend(burst_);
    if constexpr (kMeasured) {
      measured_requestor_send(&requestor_, &now_, &burst_);
    } else {
      send_step(requestor_, now_, burst_);
    }
    there_.send(now_, burst_, requestor_.ev_profile(profile_));
  }

  void post() {
    const auto posted = requestor_.post_write(
        qpn_, now_, {.data = wire::Payload::of_bytes(data_), .remote_address = 0, .rkey = rkey_});
    OPENMRC_CHECK(posted.has_value(), "a write is taken");
  }

  Endpoint requestor_;
  Endpoint responder_;
  Link there_;
  Link back_;
  std::vector<std::byte> data_;
  core::EvProfileId profile_{};
  RKey rkey_{};
  Qpn qpn_{};
  Instant now_{1};
  Burst burst_;
  Burst control_;
  wire::Packet data_record_;
  wire::Packet feedback_record_;
  std::int64_t out_of_order_max_ = 0;
};

// For callgrind. What is not measured runs in code of its own.
int count(const Variant& variant) {
  Exchange exchange(variant);
  exchange.run<false>(kWarmUpPackets);
  const std::uint64_t packets = exchange.run<true>(kCountedPackets);
  exchange.check();
  std::printf("packets %llu\n", static_cast<unsigned long long>(packets));
  return 0;
}

int check_heap() {
  std::uint64_t allocations = 0;
  std::printf("%-10s %10s %10s %10s %14s %12s\n", "delivery", "packets", "SACKs", "in flight",
              "out of order", "allocations");
  for (const Variant& variant : kVariants) {
    Exchange exchange(variant);
    exchange.run<false>(kWarmUpPackets);
    const std::uint64_t sacks = exchange.sacks();
    const std::uint64_t before = heap_count().allocations;
    const std::uint64_t packets = exchange.run<false>(kHeapPackets);
    const std::uint64_t here = heap_count().allocations - before;
    exchange.check();
    std::printf("%-10s %10llu %10llu %10lld %14lld %12llu\n", variant.name,
                static_cast<unsigned long long>(packets),
                static_cast<unsigned long long>(exchange.sacks() - sacks),
                static_cast<long long>(exchange.in_flight()),
                static_cast<long long>(exchange.out_of_order_max()),
                static_cast<unsigned long long>(here));
    allocations += here;
  }
  if (allocations == 0) return 0;
  std::printf("FAILED: packets cost heap allocations\n");
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span arguments(argv, static_cast<std::size_t>(argc));
  if (argc == 1) return check_heap();
  if (argc == 3 && std::string_view(arguments[1]) == "--count") {
    for (const Variant& variant : kVariants) {
      if (std::string_view(arguments[2]) == variant.name) return count(variant);
    }
  }
  std::fprintf(stderr, "usage: core_cost [--count in-order|sprayed]\n");
  return 2;
}
