// SPDX-License-Identifier: BSD-3-Clause
// A hostile peer against the message layer: names, numbers, lengths and records of its own, in any
// order, through the core and past it, while the application posts, fails and destroys. The input
// is a program: steps of one byte and their operands.
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/fuzz_input.h"
#include "fuzz/messages_world.h"
#include "openmrc/messages/records.h"

namespace {

using namespace openmrc;
using namespace openmrc::fuzz;
using messages::Kind;
using messages::Name;
using messages::RemoteRequest;
using messages::Sequence;
using Bytes = std::vector<std::byte>;

constexpr int kStepsMax = 200;

class Program {
 public:
  Program(MessagesWorld& world, FuzzInput& input) : world_(world), input_(input) {}

  void run() {
    for (int steps = 0; steps < kStepsMax && !input_.empty(); ++steps) {
      (this->*kSteps[input_.below(kSteps.size())])();
      world_.check();
    }
  }

 private:
  std::size_t pair() { return input_.below(MessagesWorld::kPairs); }
  // Mostly the next of its kind.
  Sequence sequence(std::uint32_t& next) {
    const std::uint8_t how = input_.u8();
    if (how < 0xc0) return Sequence(next++);
    return how < 0xf0 ? Sequence(next + how - 0xd0u) : Sequence(input_.u32());
  }
  std::uint32_t offset() {
    const std::uint8_t how = input_.u8();
    return how < 0x80 ? 0 : (how < 0xf0 ? how : input_.u32());
  }
  std::uint32_t length() {
    const std::uint8_t how = input_.u8();
    return how < 0xf0 ? how : 10u * input_.u8();
  }
  Bytes bytes(std::size_t size) {
    Bytes made(size);
    const auto taken = std::as_bytes(input_.take(input_.below(16)));
    for (std::size_t i = 0; i < size && !taken.empty(); ++i) made[i] = taken[i % taken.size()];
    return made;
  }
  Name name(Kind kind, std::uint32_t& next) {
    const std::uint8_t flags = input_.u8();
    return {.kind = kind,
            .has_immediate = (flags & 1) != 0,
            .solicited = (flags & 2) != 0,
            .sequence = sequence(next),
            .offset = flags >= 0xe0 ? offset() : 0};
  }
  void write(std::size_t to, const Name& name, bool immediate, Bytes payload) {
    world_.peer_writes(to,
                       {.remote_address = name.address(),
                        .rkey = core::kMessageKey,
                        .immediate = immediate ? std::optional(wire::Immediate(1)) : std::nullopt},
                       std::move(payload));
  }

  // The network.
  void any_message() {
    const std::size_t to = pair();
    const auto kind = static_cast<Kind>(input_.below(16));
    const bool immediate = input_.flag();
    const Name named = name(kind, receives_[to]);
    write(to, named, immediate, bytes(length()));
  }
  void send() {
    const std::size_t to = pair();
    const Name named = name(Kind::kSend, receives_[to]);
    write(to, named, input_.u8() < 0xf0, bytes(length()));
  }
  void notice() {
    const std::size_t to = pair();
    Name named = name(Kind::kWriteNotice, receives_[to]);
    named.offset = input_.flag() ? 100 : input_.u32();
    write(to, named, true, {});
  }
  void request() {
    const std::size_t to = pair();
    const std::uint8_t how = input_.u8();
    RemoteRequest made{.address = MessagesWorld::kAddress + input_.u8() * 8u,
                       .key = world_.key().raw(),
                       .length = length(),
                       .operation = static_cast<RemoteRequest::Operation>(how % 3),
                       .operand = input_.u8(),
                       .swap = input_.u8()};
    if (how >= 0xd0) made.key = world_.forbidden_key().raw();
    if (how >= 0xe0) made.address = input_.u64();
    if (how >= 0xf0) made.length = input_.u32();
    Bytes payload(RemoteRequest::kSize);
    made.write(std::span(payload).first<RemoteRequest::kSize>());
    const bool is_read = made.operation == RemoteRequest::Operation::kRead;
    write(to, name(is_read ? Kind::kReadRequest : Kind::kAtomicRequest, requests_[to]), true,
          std::move(payload));
  }
  void response() {
    const std::size_t to = pair();
    const Kind kind = input_.flag() ? Kind::kReadResponse : Kind::kAtomicResponse;
    const Name named = name(kind, responses_[to]);
    write(to, named, input_.u8() < 0xe0, bytes(kind == Kind::kReadResponse ? length() : 8));
  }
  void credit() {
    messages::Credit made{.limit = Sequence(input_.u8()),
                          .lacking = input_.flag(),
                          .echo = input_.u8(),
                          .rnr = input_.u8(),
                          .depth = input_.u8()};
    if (input_.u8() >= 0xf0) made.limit = Sequence(input_.u32());
    Bytes payload(messages::Credit::kSize);
    made.write(std::span(payload).first<messages::Credit::kSize>());
    write(pair(), {.kind = Kind::kCredit}, false, std::move(payload));
  }
  void ask() {
    Bytes payload(messages::Ask::kSize);
    messages::Ask{.echo = input_.u8()}.write(std::span(payload).first<messages::Ask::kSize>());
    write(pair(), {.kind = Kind::kAsk}, false, std::move(payload));
  }
  void plain_write() {
    const std::size_t to = pair();
    const std::uint8_t how = input_.u8();
    world_.peer_writes(
        to,
        {.remote_address = MessagesWorld::kAddress + input_.u8(),
         .rkey = how >= 0xf0 ? world_.forbidden_key() : world_.key(),
         .immediate = (how & 1) != 0 ? std::optional(wire::Immediate(2)) : std::nullopt},
        bytes(input_.u8() / 2));
  }
  void part() {
    const std::size_t to = pair();
    const Name named = name(static_cast<Kind>(input_.below(10)), receives_[to]);
    const Bytes payload = bytes(1 + input_.below(64));
    const auto whole = static_cast<std::uint32_t>(input_.flag() ? payload.size() : input_.u32());
    world_.part(to, {.name = named.address(),
                     .message_length = whole,
                     .ends_message = input_.flag(),
                     .payload = wire::Payload::of_bytes(payload)});
  }
  void delivery() {
    const std::size_t to = pair();
    const Name named = name(static_cast<Kind>(input_.below(10)), receives_[to]);
    world_.delivery(to, {.key = input_.flag() ? core::kMessageKey : world_.key(),
                         .name = named.address(),
                         .length = input_.flag() ? length() : input_.u32(),
                         .immediate = wire::Immediate(3)});
  }

  // The application.
  void post_send() {
    const std::size_t from = pair();
    world_.post_send(from, {.opcode = static_cast<messages::Opcode>(input_.below(7)),
                            .length = length(),
                            .first_piece = input_.u8(),
                            .remote_address = MessagesWorld::kAddress,
                            .flags = input_.u8()});
  }
  void post_receive() {
    const std::size_t at = pair();
    world_.post_receive(at, length(), input_.u8() < 0xf8);
  }
  void fail() {
    if (input_.u8() >= 0xe0) world_.fail(pair());
  }
  void destroy() {
    if (input_.u8() >= 0xe0) world_.destroy(pair());
  }
  void deregister() {
    if (input_.u8() >= 0xe0) world_.deregister();
  }
  void settle() { world_.settle(); }
  void wait() { world_.advance(nanoseconds(std::int64_t{1} << input_.below(30))); }

  using Step = void (Program::*)();
  // Numbers in the corpus mean places in this list: add at the end.
  static constexpr std::array<Step, 18> kSteps{
      &Program::any_message, &Program::send,     &Program::notice,     &Program::request,
      &Program::response,    &Program::credit,   &Program::ask,        &Program::plain_write,
      &Program::part,        &Program::delivery, &Program::post_send,  &Program::post_receive,
      &Program::fail,        &Program::destroy,  &Program::deregister, &Program::settle,
      &Program::wait,        &Program::settle};

  MessagesWorld& world_;
  FuzzInput& input_;
  std::array<std::uint32_t, MessagesWorld::kPairs> receives_{};
  std::array<std::uint32_t, MessagesWorld::kPairs> requests_{};
  std::array<std::uint32_t, MessagesWorld::kPairs> responses_{};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  MessagesWorld world;
  FuzzInput input(std::span(data, size));
  Program(world, input).run();
  world.settle();
  world.finish();
  return 0;
}
