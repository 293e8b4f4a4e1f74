// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "openmrc/messages/layer.h"

namespace openmrc::fuzz {

// A host with a message layer, and a peer that has none and sends what it likes. All memory that
// the application gives is allocated by itself and freed with its completion, so that the sanitizer
// sees who goes beyond it, or comes back to it.
class MessagesWorld {
 public:
  static constexpr std::size_t kPairs = 2;  // the second takes shared receives
  static constexpr std::size_t kRegionSize = 256;
  static constexpr std::uint64_t kAddress = 0x10000;

  MessagesWorld();

  // The peer. What is refused because a queue pair has failed is not sent.
  void peer_writes(std::size_t pair, core::WriteRequest request, std::vector<std::byte> bytes);
  // As if the core had called.
  void part(std::size_t pair, const core::MessageHandler::Part& part);
  void delivery(std::size_t pair, const core::MessageHandler::Delivery& delivery);

  // The application.
  struct Request {
    messages::Opcode opcode{};
    std::uint32_t length = 0;
    std::uint32_t first_piece = 0;  // of two
    std::uint64_t remote_address = 0;
    std::uint8_t flags = 0;
  };
  void post_send(std::size_t pair, const Request& request);
  void post_receive(std::size_t pair, std::uint32_t length, bool keys_ok);
  void fail(std::size_t pair);
  void destroy(std::size_t pair);
  void deregister();

  void advance(Duration span);
  // Everything that is in the hosts crosses the network.
  void settle();
  // After every step.
  void check();
  // What was posted has ended when all queue pairs have.
  void finish();

  [[nodiscard]] RKey key() const { return key_; }
  [[nodiscard]] RKey forbidden_key() const { return forbidden_key_; }

 private:
  // Takes everything.
  struct Sink final : core::MessageHandler {
    Verdict on_part(const Part&) override { return Verdict::kTaken; }
    Verdict on_delivery(const Delivery&) override { return Verdict::kTaken; }
  };
  struct Posted {
    std::array<std::unique_ptr<std::byte[]>, 2> memory;
    std::uint32_t length = 0;
    std::size_t pair = 0;
    bool is_receive = false;
  };

  [[nodiscard]] core::MessageHandler* handler(std::size_t pair);
  void connect(std::size_t pair);
  void drain();
  bool exchange();
  [[nodiscard]] std::array<messages::Segment, 2> remember(std::size_t pair, std::uint32_t length,
                                                          std::uint32_t first, bool is_receive);

  Sink sink_;
  Instant now_{1'000'000};
  std::deque<std::vector<std::byte>> sent_;  // by the peer
  std::map<messages::WorkId, Posted> posted_;
  messages::WorkId next_id_ = 1;
  std::unique_ptr<std::uint64_t[]> region_;
  std::unique_ptr<std::uint64_t[]> forbidden_;
  core::Endpoint host_;
  messages::Layer layer_;
  core::Endpoint peer_;
  std::array<Qpn, kPairs> qpns_{};
  std::array<Qpn, kPairs> peer_qpns_{};
  std::array<bool, kPairs> is_there_{};
  messages::SharedQueueId shared_ = 0;
  core::InitAttributes init_{};
  core::InitAttributes peer_init_{};
  RKey key_{};
  RKey forbidden_key_{};
};

}  // namespace openmrc::fuzz
