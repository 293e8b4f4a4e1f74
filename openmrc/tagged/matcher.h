// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "openmrc/tagged/header.h"

namespace openmrc::tagged {

class Buffer;

// A message that somebody waits for.
struct Receive {
  Buffer* buffer = nullptr;
  std::span<std::byte> bytes{};  // where it goes
  std::vector<int> from{};       // one of these ranks
};

// A message that nobody has asked for.
struct Arrival {
  int from = 0;
  Header header{};
  std::vector<std::byte> payload{};  // of kEager
};

// Brings together messages and who waits for them, by tag: the oldest of each that fit.
class Matcher {
 public:
  // Takes a message that is there; nothing: there is none.
  [[nodiscard]] std::optional<Arrival> take_arrival(std::uint64_t tag, std::span<const int> from);
  void keep(Arrival arrival);
  // Takes a receive that waits; nothing: there is none.
  [[nodiscard]] std::optional<Receive> take_receive(std::uint64_t tag, int from);
  void wait(std::uint64_t tag, Receive receive);

  // Nobody waits with this buffer any more.
  void forget(const Buffer& buffer);
  // Who could end a wait of this buffer.
  [[nodiscard]] std::vector<int> awaited(const Buffer& buffer) const;
  // Whether a receive waits that only this rank could end.
  [[nodiscard]] bool awaits_only(int rank) const;
  // Announced messages of this rank that are kept.
  [[nodiscard]] std::size_t announced(int rank) const;

 private:
  struct Queue {
    std::list<Arrival> arrivals;
    std::list<Receive> receives;
  };
  void drop_if_empty(std::uint64_t tag);

  std::unordered_map<std::uint64_t, Queue> queues_;
  std::unordered_map<int, std::size_t> announced_;
};

}  // namespace openmrc::tagged
