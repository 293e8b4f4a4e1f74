// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "openmrc/messages/test_pair.h"

namespace openmrc::messages::test {

inline std::vector<WorkId> ids_of(const std::vector<Completion>& completions) {
  std::vector<WorkId> ids;
  for (const Completion& completion : completions) ids.push_back(completion.id);
  return ids;
}
inline std::vector<Status> statuses_of(const std::vector<Completion>& completions) {
  std::vector<Status> statuses;
  for (const Completion& completion : completions) statuses.push_back(completion.status);
  return statuses;
}
using Ids = std::vector<WorkId>;
using Statuses = std::vector<Status>;

inline constexpr std::size_t kSize = 1 << 16;

class LayerTest : public testing::Test {
 protected:
  explicit LayerTest(const PairOptions& options = {}) { start(options); }
  void start(const PairOptions& options) {
    source.reset();
    target.reset();
    pair = std::make_unique<Pair>(options);
    source = pair->memory(pair->a(), kSize);
    target = pair->memory(pair->b(), kSize);
    source->fill(1);
    target->fill(2);
  }
  // From A's memory to B's, the same offset in both.
  void send(const SendRequest& request) { pair->send(pair->a(), request); }
  void send_bytes(WorkId id, std::size_t length, Opcode opcode = Opcode::kSend) {
    const std::array segments{source->at(0, length)};
    send({.id = id, .opcode = opcode, .segments = segments, .immediate = wire::Immediate(77)});
  }
  void receive(WorkId id, std::size_t offset, std::size_t length) {
    const std::array segments{target->at(offset, length)};
    pair->receive(pair->b(), id, segments);
  }
  // WRITE, READ and atomic operations: of `length` bytes at the beginning of both memories.
  [[nodiscard]] SendRequest remote(WorkId id, Opcode opcode, std::span<const Segment> segments) {
    return {.id = id,
            .opcode = opcode,
            .segments = segments,
            .remote_address = target->address,
            .rkey = target->key,
            .immediate = wire::Immediate(78)};
  }
  void remote_bytes(WorkId id, Opcode opcode, std::size_t length) {
    const std::array segments{source->at(0, length)};
    send(remote(id, opcode, segments));
  }
  std::vector<Completion> at_a() { return pair->completions(pair->a()); }
  std::vector<Completion> at_b() { return pair->completions(pair->b()); }
  [[nodiscard]] bool same(std::size_t from, std::size_t to, std::size_t length) const {
    return std::memcmp(source->bytes.data() + from, target->bytes.data() + to, length) == 0;
  }

  std::unique_ptr<Pair> pair;
  std::unique_ptr<Memory> source;
  std::unique_ptr<Memory> target;
};

}  // namespace openmrc::messages::test
