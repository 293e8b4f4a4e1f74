// SPDX-License-Identifier: BSD-3-Clause
// How much of ISA-L's bare CRC-32 speed the ICRC of a packet keeps. Both are measured in turns in
// one run, and the best round of each counts, because these are ratios of two things on a noisy
// machine.
#include <benchmark/benchmark.h>
#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "openmrc/wire/encode.h"
#include "openmrc/wire/icrc.h"

namespace {

using namespace openmrc;
using namespace openmrc::wire;

constexpr std::size_t kPayload = 4096;
constexpr std::size_t kPieces = 4;
constexpr int kPackets = 2'000;
constexpr int kRounds = 400;
constexpr int kTurnsMax = 5;
constexpr double kKeptMin = 0.8;

// Different memory for each packet, as on a data path, but all within the cache.
constexpr std::size_t kBuffers = 64;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Work>
double time_round(Work work) {
  const auto start = std::chrono::steady_clock::now();
  std::uint32_t sum = 0;
  for (int i = 0; i < kPackets; ++i) sum ^= work(static_cast<std::size_t>(i) % kBuffers);
  const double seconds = seconds_since(start);
  benchmark::DoNotOptimize(sum);
  return seconds / kPackets;
}

Packet sample_packet() {
  Packet packet;
  packet.transport.body = RdmaWrite{.destination_qp = Qpn(5),
                                    .sent = TxTimestamp{},
                                    .reth = {.dma_length = kPayload},
                                    .payload = Payload::of_length(kPayload)};
  return packet;
}

}  // namespace

int main(int argc, char** argv) {
  const bool check = argc > 1 && std::string_view(argv[1]) == "--check";
  std::vector<std::byte> memory(kBuffers * kPayload);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 31 & 0xff);
  const auto payload = [&](std::size_t i) {
    return ConstBytes(memory).subspan(i * kPayload, kPayload);
  };

  std::array<std::byte, kHeadersSizeMax> scratch;
  const HeadersWritten written = encode_headers(sample_packet(), WireSettings{}, scratch);
  const ConstBytes headers = ConstBytes(scratch).first(written.size);

  const auto bare = [&](std::size_t i) {
    return crc32_gzip_refl(0, reinterpret_cast<const unsigned char*>(payload(i).data()), kPayload);
  };
  const auto whole = [&](std::size_t i) { return icrc_of(headers, std::array{payload(i)}); };
  const auto scattered = [&](std::size_t i) {
    std::array<ConstBytes, kPieces> pieces;
    for (std::size_t piece = 0; piece < kPieces; ++piece) {
      pieces[piece] = payload(i).subspan(piece * kPayload / kPieces, kPayload / kPieces);
    }
    return icrc_of(headers, pieces);
  };

  const double bytes = static_cast<double>(kPayload + headers.size());
  double bare_best = 1;
  double whole_best = 1;
  double scattered_best = 1;
  double bare_speed = 0;
  double kept = 0;
  // More rounds bring all three closer to their true best; on a busy machine that takes longer.
  for (int turn = 0; turn < kTurnsMax && kept < kKeptMin; ++turn) {
    for (int round = 0; round < kRounds; ++round) {
      bare_best = std::min(bare_best, time_round(bare));
      whole_best = std::min(whole_best, time_round(whole));
      scattered_best = std::min(scattered_best, time_round(scattered));
    }
    bare_speed = static_cast<double>(kPayload) / bare_best;
    kept = bytes / whole_best / bare_speed;
  }
  std::printf("bare CRC-32 of %zu bytes        %6.1f ns  %5.1f GB/s\n", kPayload, bare_best * 1e9,
              bare_speed * 1e-9);
  std::printf("ICRC, %zu bytes of headers more  %6.1f ns  %5.1f GB/s  %3.0f %% of the bare speed\n",
              headers.size(), whole_best * 1e9, bytes / whole_best * 1e-9, kept * 100);
  std::printf("ICRC, payload in %zu pieces       %6.1f ns  %5.1f GB/s  %3.0f %%\n", kPieces,
              scattered_best * 1e9, bytes / scattered_best * 1e-9,
              bytes / scattered_best / bare_speed * 100);
  std::printf("packet time: bare payload / ICRC  %.0f %%\n", bare_best / whole_best * 100);
  if (check && kept < kKeptMin) {
    std::printf("FAILED: the ICRC keeps less than 80 %% of the bare speed\n");
    return 1;
  }
  return 0;
}
