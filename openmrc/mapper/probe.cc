// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/probe.h"

#include <algorithm>
#include <array>

namespace openmrc::mapper {
namespace {

using L = ProbeLayout;
constexpr std::size_t kWord = 8;
constexpr std::size_t kTagAt = kProbeSize - kWord;
static_assert(kTagAt % kWord == 0 && L::Tag::kOffset == kTagAt * 8);

// CBC-MAC with SipHash as its block function: all messages have one length.
std::uint64_t tag_of(std::span<const std::byte, kProbeSize> bytes, const ProbeKey& key) {
  std::uint64_t tag = 0;
  for (std::size_t at = 0; at < kTagAt; at += kWord) {
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < kWord; ++i) {
      word = word << 8 | std::to_integer<std::uint64_t>(bytes[at + i]);
    }
    tag = sip_hash(key, tag ^ word);
  }
  return tag;
}

void write_fields(const Probe& probe, std::uint64_t tag, std::span<std::byte, kProbeSize> out) {
  wire::write_fields<L>(
      out, L::Magic::of(kProbeMagic), L::Kind::of(static_cast<std::uint8_t>(probe.path.kind)),
      L::PlaneNumber::of(probe.path.plane.raw()), L::Out::of(probe.path.out),
      L::FarRack::of(probe.path.far_rack), L::Back::of(probe.path.back), L::Round::of(probe.round),
      L::Sent::of(static_cast<std::uint64_t>(probe.sent.ns())), L::Tag::of(tag));
}

}  // namespace

void write_probe(const Probe& probe, const ProbeKey& key, std::span<std::byte, kProbeSize> out) {
  write_fields(probe, 0, out);
  write_fields(probe, tag_of(out, key), out);
}

std::optional<Probe> read_probe(ConstBytes bytes, const ProbeKey& key) {
  if (bytes.size() != kProbeSize) return std::nullopt;
  const auto exact = bytes.first<kProbeSize>();
  const auto view = wire::HeaderView<L>(exact);
  if (view.get<L::Magic>() != kProbeMagic || view.get<L::Kind>() >= kProbeKinds) {
    return std::nullopt;
  }
  if (view.get<L::Tag>() != tag_of(exact, key)) return std::nullopt;
  return Probe{.path = {.kind = static_cast<ProbeKind>(view.get<L::Kind>()),
                        .plane = Plane(view.get<L::PlaneNumber>()),
                        .out = view.get<L::Out>(),
                        .far_rack = view.get<L::FarRack>(),
                        .back = view.get<L::Back>()},
               .round = view.get<L::Round>(),
               .sent = Instant(static_cast<std::int64_t>(view.get<L::Sent>()))};
}

}  // namespace openmrc::mapper
