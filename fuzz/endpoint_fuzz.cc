// SPDX-License-Identifier: BSD-3-Clause
// A hostile peer, and an application in a hurry, against one endpoint. The first byte chooses the
// state that it begins in (endpoint_states.cc), the rest is a program: steps of one byte and their
// operands. What must hold after every step is in endpoint_checks.cc.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fuzz/endpoint_states.h"
#include "fuzz/endpoint_world.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/hostile_packets.h"
#include "openmrc/wire/decode.h"
#include "openmrc/wire/encode.h"

namespace {

using namespace openmrc;
using namespace openmrc::fuzz;
using core::Endpoint;
using core::EvIndex;
using core::EvProfileId;
using core::PlaneMask;
using core::QueuePairState;

constexpr int kStepsMax = 200;

// More than the queue of control packets holds. It takes long, so few inputs may, and twice.
constexpr int kFlood = 4300;
constexpr std::uint8_t kFloodStep = 0xff;
constexpr std::uint8_t kFirstByteThatFloods = 0xf2;

// Nobody can guess a CRC.
constexpr wire::WireSettings kNoIcrc{.icrc_check = wire::IcrcCheck::kSkip};

class Program {
 public:
  Program(World& world, FuzzInput& input, bool may_flood)
      : world_(world),
        input_(input),
        packets_(world, input),
        endpoint_(world.endpoint()),
        floods_left_(may_flood ? 2 : 0) {}

  void run() {
    for (int steps = 0; steps < kStepsMax && !input_.empty(); ++steps) {
      const std::uint8_t opcode = input_.u8();
      if (opcode == kFloodStep) {
        flood();
      } else {
        (this->*kSteps[opcode % kSteps.size()])();
      }
      world_.check();
    }
  }

 private:
  void deliver(const wire::Packet& packet) {
    last_ = packet;
    has_last_ = true;
    world_.deliver(packets_.plane(), packet);
  }

  // The network.
  void write() { deliver(packets_.write()); }
  void trimmed_write() { deliver(packets_.trimmed_write()); }
  void acknowledge() { deliver(packets_.acknowledge()); }
  void sack() { deliver(packets_.sack()); }
  void nack() { deliver(packets_.nack()); }
  void probe() { deliver(packets_.probe()); }
  void endpoint_request() { deliver(packets_.endpoint_request()); }
  void endpoint_response() { deliver(packets_.endpoint_response()); }
  void arbitrary() { deliver(packets_.arbitrary()); }
  void honest_feedback() {
    const std::size_t slot = slot_operand();
    if (!world_.slot(slot).local) return;
    deliver(packets_.honest_sack(slot));
    deliver(packets_.honest_acknowledge(slot));
  }
  void repeat() {
    if (!has_last_) return;
    for (std::size_t times = 1 + input_.below(16); times > 0; --times) deliver(last_);
  }
  void flood() {
    if (!has_last_ || floods_left_ == 0) return;
    --floods_left_;
    for (int i = 0; i < kFlood; ++i) deliver(last_);
  }
  void raw_bytes() {
    const auto raw = input_.take(input_.u8());
    const auto bytes = std::as_bytes(raw);
    deliver_bytes({bytes.begin(), bytes.end()});
  }
  // The last packet with some of its bytes changed.
  void mutated() {
    if (!has_last_) return;
    std::vector<std::byte> bytes(wire::encoded_size(last_));
    wire::encode_packet(last_, kNoIcrc, bytes);
    for (std::size_t changes = 1 + input_.below(4); changes > 0; --changes) {
      bytes[input_.u8() % bytes.size()] ^= static_cast<std::byte>(input_.u8());
    }
    deliver_bytes(bytes);
  }
  void deliver_bytes(const std::vector<std::byte>& bytes) {
    if (const auto packet = wire::decode_ip(bytes, kNoIcrc)) {
      world_.deliver(packets_.plane(), *packet);
    }
  }

  // The application.
  std::size_t slot_operand() { return input_.below(kSlots); }
  void post_write() {
    const std::uint8_t choice = input_.u8();
    const std::uint32_t length = 1 + input_.u8() * (choice >= 0xf0 ? 37u : 3u);
    world_.post_write(choice % kSlots, length, (choice & 2) != 0);
  }
  void post_receive() { world_.post_receive(slot_operand()); }
  void to_error() { world_.fail(slot_operand()); }
  void to_reset() {
    const std::size_t slot = slot_operand();
    world_.reset(slot);
    raise(slot);
  }
  void create_anew() {
    const std::size_t slot = slot_operand();
    world_.destroy(slot);
    raise(slot);
  }
  void raise(std::size_t slot) {
    const std::uint8_t how = input_.u8();
    const std::uint8_t more = input_.u8();
    world_.raise(slot,
                 {.ev_profile = static_cast<std::uint8_t>(how % kEvProfiles),
                  .cc_profile = static_cast<std::uint8_t>(more % kCcProfiles),
                  .peer = static_cast<std::uint8_t>(how >> 7),
                  .local_psn = Psn(0x800000u * (how >> 6 & 1) + (more >> 4)),
                  .immediates_max = static_cast<std::uint16_t>(1 + (more >> 6)),
                  .mpr = static_cast<std::uint8_t>(1 + (how >> 5 & 1)),
                  .timeout = static_cast<std::uint8_t>(more % 25),
                  .linear_retries = static_cast<std::uint8_t>(more % 4),
                  .exponential_retries = static_cast<std::uint8_t>(more % 26),
                  .dynamic_mpr = (how & 16) != 0,
                  .trim_nacks = (how & 8) == 0},
                 static_cast<QueuePairState>(3 - (more >> 2) % 16 % 4));
  }
  void set_port() {
    const std::uint8_t choice = input_.u8();
    world_.set_port(choice % kPlanes, (choice & 2) != 0);
  }
  void set_ev_denied() {
    const std::uint8_t choice = input_.u8();
    const auto profile = EvProfileId(choice % kEvProfiles);
    const std::size_t ev = choice / 8 % endpoint_.ev_profile(profile).size();
    endpoint_.set_ev_denied(world_.now(), profile, EvIndex(static_cast<std::uint8_t>(ev)),
                            (choice & 4) == 0);
  }
  void offer_mpr() {
    const auto& local = world_.slot(slot_operand()).local;
    const std::uint8_t mpr = input_.u8();
    if (local) static_cast<void>(endpoint_.offer_mpr(*local, mpr));
  }
  void set_penalty() {
    const auto& local = world_.slot(slot_operand()).local;
    const std::uint8_t penalty = input_.u8();
    if (local) FUZZ_CHECK(endpoint_.set_receiver_penalty(*local, penalty, true) == (penalty < 128));
  }
  void register_again() { world_.register_again(); }

  // Time, and what leaves.
  void wait() { world_.advance(nanoseconds(128) * input_.u8()); }
  void wait_long() { world_.advance(nanoseconds(std::int64_t{1} << (10 + input_.below(26)))); }
  void wait_for_deadline() {
    for (std::size_t times = 1 + input_.below(4); times > 0; --times) world_.advance_to_deadline();
  }
  void poll_one() { world_.poll(PlaneMask(input_.u8() % 4u), Endpoint::Ports::kReused, 1); }
  void poll_some() {
    const std::uint8_t choice = input_.u8();
    world_.poll(PlaneMask(choice % 4),
                (choice & 4) != 0 ? Endpoint::Ports::kReused : Endpoint::Ports::kTakenOnce,
                1 + (choice >> 4));
  }
  void poll_many() { world_.poll(core::PlaneMask::all(), Endpoint::Ports::kReused, 48); }

  using Step = void (Program::*)();
  // Numbers in the corpus mean places in this list: add at the end.
  static constexpr std::array<Step, 32> kSteps{
      &Program::write,
      &Program::trimmed_write,
      &Program::acknowledge,
      &Program::sack,
      &Program::nack,
      &Program::probe,
      &Program::endpoint_request,
      &Program::endpoint_response,
      &Program::arbitrary,
      &Program::raw_bytes,
      &Program::mutated,
      &Program::repeat,
      &Program::honest_feedback,
      &Program::post_write,
      &Program::post_receive,
      &Program::to_error,
      &Program::to_reset,
      &Program::create_anew,
      &Program::set_port,
      &Program::set_ev_denied,
      &Program::offer_mpr,
      &Program::set_penalty,
      &Program::set_port,
      &Program::register_again,
      &Program::wait,
      &Program::wait_long,
      &Program::wait_for_deadline,
      &Program::poll_one,
      &Program::poll_some,
      &Program::poll_many,
      &Program::write,
      &Program::sack,
  };

  World& world_;
  FuzzInput& input_;
  HostilePackets packets_;
  Endpoint& endpoint_;
  int floods_left_;
  wire::Packet last_;
  bool has_last_ = false;
};

}  // namespace

// Inputs share nothing, so memory that one has freed need not be kept from the next for long.
extern "C" const char* __asan_default_options();  // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=8"; }

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto states = starting_states();
  const std::unique_ptr<World> world = start(states[data[0] % states.size()]);
  FuzzInput input(std::span(data + 1, size - 1));
  Program(*world, input, data[0] >= kFirstByteThatFloods).run();
  world->finish();
  return 0;
}
