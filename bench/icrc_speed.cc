// SPDX-License-Identifier: BSD-3-Clause
// How much of ISA-L's bare CRC-32 speed the ICRC of a packet keeps. All are measured in turns in
// one run, and the best round of each counts, because these are ratios of two things on a noisy
// machine. What is ours is what is added to ISA-L's two calls, for the headers and for the payload;
// what the second call costs depends on the processor: the faster its CRC, the more. There is no
// limit here, because even the best of 2,000 rounds has been seen to vary by a quarter between two
// runs; wire_cost has one, on instructions.
#include <benchmark/benchmark.h>
#include <isa-l/crc.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "openmrc/wire/encode.h"
#include "openmrc/wire/icrc.h"

namespace {

using namespace openmrc;
using namespace openmrc::wire;

constexpr std::size_t kPayload = 4096;
constexpr std::size_t kPieces = 4;
constexpr int kPackets = 2'000;
constexpr int kRounds = 2'000;

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

int main() {
  std::vector<std::byte> memory(kBuffers * kPayload);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 31 & 0xff);
  const auto payload = [&](std::size_t i) {
    return ConstBytes(memory).subspan(i * kPayload, kPayload);
  };

  std::array<std::byte, kHeadersSizeMax> scratch;
  const HeadersWritten written = encode_headers(sample_packet(), WireSettings{}, scratch);
  const ConstBytes headers = ConstBytes(scratch).first(written.size);

  const auto crc32 = [](std::uint32_t crc, ConstBytes bytes) {
    return crc32_gzip_refl(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  };
  const auto bare = [&](std::size_t i) { return crc32(0, payload(i)); };
  const auto two_calls = [&](std::size_t i) { return crc32(crc32(0, headers), payload(i)); };
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
  double two_calls_best = 1;
  double whole_best = 1;
  double scattered_best = 1;
  for (int round = 0; round < kRounds; ++round) {
    bare_best = std::min(bare_best, time_round(bare));
    two_calls_best = std::min(two_calls_best, time_round(two_calls));
    whole_best = std::min(whole_best, time_round(whole));
    scattered_best = std::min(scattered_best, time_round(scattered));
  }
  const double bare_speed = static_cast<double>(kPayload) / bare_best;
  std::printf("bare CRC-32 of %zu bytes        %6.1f ns  %5.1f GB/s\n", kPayload, bare_best * 1e9,
              bare_speed * 1e-9);
  std::printf("ICRC, %zu bytes of headers more  %6.1f ns  %5.1f GB/s  %3.0f %% of the bare speed\n",
              headers.size(), whole_best * 1e9, bytes / whole_best * 1e-9,
              bytes / whole_best / bare_speed * 100);
  std::printf("ICRC, payload in %zu pieces       %6.1f ns  %5.1f GB/s  %3.0f %%\n", kPieces,
              scattered_best * 1e9, bytes / scattered_best * 1e-9,
              bytes / scattered_best / bare_speed * 100);
  std::printf("packet time: bare payload / ICRC  %.0f %%\n", bare_best / whole_best * 100);
  std::printf("bare headers, bare payload      %6.1f ns   / ICRC  %.0f %%\n", two_calls_best * 1e9,
              two_calls_best / whole_best * 100);
  return 0;
}
