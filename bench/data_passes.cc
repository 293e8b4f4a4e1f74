// SPDX-License-Identifier: BSD-3-Clause
// What passes over the data of packets cost: the CRC-32 of the ICRC and the copy to its place, one
// after the other for each packet, or for a batch of them. All in turns in one run; the best round
// of each counts, because these are compared on a noisy machine. Prints, for several amounts of
// data that are worked on at a time, nanoseconds for 4 KiB.
#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t kPacket = 4096;
constexpr std::size_t kPackets = 2048;  // of a round
constexpr int kRounds = 100;
constexpr std::array<std::size_t, 5> kBatches{1, 8, 16, 64, 2048};

// Whatever is computed is kept, or the compiler would leave it out.
volatile std::uint32_t g_sink = 0;

struct Memory {
  std::vector<unsigned char> from = std::vector<unsigned char>(kPackets * kPacket, 1);
  std::vector<unsigned char> to = std::vector<unsigned char>(kPackets * kPacket, 2);
};

void check(Memory& memory, std::size_t packet) {
  g_sink = crc32_gzip_refl(0, &memory.from[packet * kPacket], kPacket);
}
void copy(Memory& memory, std::size_t packet) {
  std::memcpy(&memory.to[packet * kPacket], &memory.from[packet * kPacket], kPacket);
}

// Batches one after the other in the same memory, as packets come into the same buffers.
template <class Work>
void time_round(std::size_t batch, double& best, Work work) {
  const auto start = std::chrono::steady_clock::now();
  for (std::size_t done = 0; done < kPackets; done += batch) work(batch);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  best = std::min(best, took.count() / kPackets);
}

struct Best {
  double check = 1e9;
  double copy = 1e9;
  double check_then_copy = 1e9;  // of the batch
  double one_by_one = 1e9;
};

Best measure(Memory& memory, std::size_t batch) {
  Best best;
  for (int round = 0; round < kRounds; ++round) {
    time_round(batch, best.check, [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) check(memory, i);
    });
    time_round(batch, best.copy, [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) copy(memory, i);
    });
    time_round(batch, best.check_then_copy, [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) check(memory, i);
      for (std::size_t i = 0; i < count; ++i) copy(memory, i);
    });
    time_round(batch, best.one_by_one, [&](std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        check(memory, i);
        copy(memory, i);
      }
    });
  }
  return best;
}

}  // namespace

int main() {
  Memory memory;
  std::printf("%8s %8s %8s %16s %12s\n", "packets", "CRC-32", "copy", "batch by batch",
              "one by one");
  for (const std::size_t batch : kBatches) {
    const Best best = measure(memory, batch);
    std::printf("%8zu %8.0f %8.0f %16.0f %12.0f\n", batch, best.check, best.copy,
                best.check_then_copy, best.one_by_one);
  }
  return 0;
}
