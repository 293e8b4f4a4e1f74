// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "openmrc/fabric/fabric_file.h"
#include "openmrc/text/file_limits.h"
#include "openmrc/text/suggest.h"

// htsim's format: lines of a word and a number. First what concerns all, then a section for each
// tier, from the hosts up; a tier's downlinks are described with the tier.
namespace openmrc::fabric {
namespace {

using text::FileError;

enum Word : std::uint8_t {
  kNodes,
  kTiers,
  kPodsize,
  kDownlinkGbps,
  kRadixDown,
  kRadixUp,
  kDownlinkNs,
  kSwitchNs,
  kOversubscribed,
  kBundle,
  kQueueDown,
  kQueueUp,
  kWords,
};
constexpr std::array<std::string_view, kWords> kSpellings{"nodes",
                                                          "tiers",
                                                          "podsize",
                                                          "downlink_speed_gbps",
                                                          "radix_down",
                                                          "radix_up",
                                                          "downlink_latency_ns",
                                                          "switch_latency_ns",
                                                          "oversubscribed",
                                                          "bundle",
                                                          "queue_down",
                                                          "queue_up"};

enum Section : std::uint8_t { kHead, kTier0, kTier1, kSections };

struct Number {
  std::uint32_t value = 0;
  std::uint32_t line = 0;
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char letter) {
    return static_cast<char>(std::tolower(letter));
  });
  return result;
}

// The next word of the line, which loses it.
std::string_view take_word(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

std::optional<std::uint32_t> number_in(std::string_view word) {
  std::uint32_t number = 0;
  const char* const first = word.data();
  const char* const last = first + word.size();
  const auto [end, error] = std::from_chars(first, last, number);
  if (error != std::errc{} || end != last) return std::nullopt;
  return number;
}

// What can be said of one line alone, against a fabric of ours.
Result<void, std::string_view> check_fit(Section section, Word word, std::uint32_t number) {
  switch (word) {
    case kTiers:
      if (number != 2) return failure("only topologies of two tiers fit");
      break;
    case kRadixUp:
      if (section == kTier1) return failure("the upper tier has no uplinks");
      break;
    case kSwitchNs:
      if (number != 0) return failure("delays belong to links here: add it to Downlink_Latency_ns");
      break;
    case kOversubscribed:
      if (section == kTier1 && number != 1) return failure("the upper tier has no uplinks");
      break;
    case kBundle:
      if (number != 1)
        return failure("bundles are not read: write a fabric file with links_per_t1");
      break;
    case kQueueDown:
    case kQueueUp: return failure("sizes of queues are no part of a fabric");
    default: break;
  }
  return {};
}

class Topology {
 public:
  void add_line(std::string_view text, std::uint32_t line) {
    line_ = line;
    const std::string_view word = take_word(text);
    if (word.empty() || word.starts_with('#')) return;
    const auto number = number_in(take_word(text));
    if (!number) return error(word, "must be followed by a whole number");
    if (!take_word(text).empty()) return error(word, "must be followed by one number only");
    const std::string spelling = lower(word);
    if (spelling == "tier") return open_tier(*number);
    if (skips_tier_) return;
    const auto* const found = std::ranges::find(kSpellings, spelling);
    if (found == kSpellings.end()) return error(word, unknown_word(spelling));
    add_number(static_cast<Word>(found - kSpellings.begin()), word, *number);
  }

  [[nodiscard]] Result<Shape, std::vector<FileError>> shape() {
    require_numbers();
    if (!errors_.empty()) return failure(std::move(errors_));
    const Shape shape = unchecked_shape();
    check_agreement(shape);
    const auto fabric = Fabric::make(shape);
    if (!fabric) errors_.push_back({.message = std::string(describe(fabric.error()))});
    if (!errors_.empty()) return failure(std::move(errors_));
    return shape;
  }

 private:
  void error(std::string_view word, std::string message) {
    errors_.push_back({.line = line_, .key = std::string(word), .message = std::move(message)});
  }
  [[nodiscard]] std::uint32_t at(Section section, Word word) const {
    return numbers_[section][word].value_or(Number{}).value;
  }

  static std::string unknown_word(std::string_view spelling) {
    const auto nearest = text::nearest_word(spelling, kSpellings);
    return nearest ? fmt::format("unknown: did you mean {}?", kSpellings[*nearest]) : "unknown";
  }

  void open_tier(std::uint32_t tier) {
    skips_tier_ = tier > 1;
    if (skips_tier_) return error("Tier", "only topologies of two tiers fit");
    section_ = tier == 0 ? kTier0 : kTier1;
  }

  void add_number(Word word, std::string_view as_written, std::uint32_t number) {
    if ((word <= kPodsize) != (section_ == kHead)) {
      return error(as_written, "is in the wrong section");
    }
    std::optional<Number>& place = numbers_[section_][word];
    if (place) return error(as_written, fmt::format("given before, in line {}", place->line));
    place = Number{number, line_};
    if (const auto fit = check_fit(section_, word, number); !fit) {
      error(as_written, std::string(fit.error()));
    }
  }

  void require_numbers() {
    constexpr std::array<std::pair<Section, Word>, 8> kNeeded{{{kHead, kNodes},
                                                               {kHead, kTiers},
                                                               {kTier0, kDownlinkGbps},
                                                               {kTier0, kRadixDown},
                                                               {kTier0, kRadixUp},
                                                               {kTier0, kDownlinkNs},
                                                               {kTier1, kDownlinkGbps},
                                                               {kTier1, kRadixDown}}};
    constexpr std::array<const char*, kSections> kMissing{"is missing", "is missing in Tier 0",
                                                          "is missing in Tier 1"};
    // A line that cannot be read may be what is missing.
    if (!errors_.empty()) return;
    for (const auto& [section, word] : kNeeded) {
      if (numbers_[section][word]) continue;
      errors_.push_back({.key = std::string(kSpellings[word]), .message = kMissing[section]});
    }
  }

  [[nodiscard]] Shape unchecked_shape() const {
    constexpr std::int64_t kGiga = 1'000'000'000;
    const Number uplink_ns = numbers_[kTier1][kDownlinkNs].value_or(*numbers_[kTier0][kDownlinkNs]);
    return {.planes = 1,
            .racks = at(kTier1, kRadixDown),
            .hosts_per_rack = at(kTier0, kRadixDown),
            .uplinks = at(kTier0, kRadixUp),
            .host_link_bits_per_second = at(kTier0, kDownlinkGbps) * kGiga,
            .uplink_bits_per_second = at(kTier1, kDownlinkGbps) * kGiga,
            .host_link_delay = nanoseconds(at(kTier0, kDownlinkNs)),
            .uplink_delay = nanoseconds(uplink_ns.value)};
  }

  // What follows from other lines and is given all the same has to agree with them.
  void check_agreement(const Shape& shape) {
    const auto check = [&](Section section, Word word, bool agrees, const char* reason) {
      const auto& given = numbers_[section][word];
      if (!given || agrees) return;
      errors_.push_back(
          {.line = given->line, .key = std::string(kSpellings[word]), .message = reason});
    };
    const std::uint64_t hosts = std::uint64_t{shape.racks} * shape.hosts_per_rack;
    check(kHead, kNodes, at(kHead, kNodes) == hosts,
          "must be Radix_Down of Tier 0 times Radix_Down of Tier 1: a T1 has one link to each T0");
    check(kHead, kPodsize, at(kHead, kPodsize) == hosts, "must be as Nodes in two tiers");
    // In Gb/s, which 32 bits times 32 bits cannot overflow twice.
    const auto down = static_cast<double>(shape.hosts_per_rack) * at(kTier0, kDownlinkGbps);
    const auto up = static_cast<double>(shape.uplinks) * at(kTier1, kDownlinkGbps);
    check(kTier0, kOversubscribed, down == up * at(kTier0, kOversubscribed),
          "is not what follows from radix and speed of the tiers");
  }

  std::uint32_t line_ = 0;
  Section section_ = kHead;
  bool skips_tier_ = false;  // one that is an error as a whole
  std::array<std::array<std::optional<Number>, kWords>, kSections> numbers_{};
  std::vector<FileError> errors_;
};

}  // namespace

Result<Shape, std::vector<FileError>> parse_htsim_topology(std::string_view text) {
  if (auto fits = text::check_size(text, text::kTopologyBytesMax); !fits) {
    return failure(std::vector{std::move(fits.error())});
  }
  Topology topology;
  for (std::uint32_t line = 1; !text.empty(); ++line) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    topology.add_line(text.substr(0, length), line);
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return topology.shape();
}

}  // namespace openmrc::fabric
