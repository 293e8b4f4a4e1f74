// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "openmrc/base/bytes.h"
#include "openmrc/base/result.h"
#include "openmrc/base/time.h"

namespace openmrc::wire {

// What a captured frame begins with (the LINKTYPE registry of tcpdump). Others are kept as numbers.
enum class LinkType : std::uint16_t {
  kEthernet = 1,
  kRawIp = 101,
  kIpv4 = 228,
  kIpv6 = 229,
};

enum class CaptureError : std::uint8_t {
#define OPENMRC_CAPTURE_ERROR(enumerator, text) enumerator,
#include "openmrc/wire/capture/capture_error.def"
#undef OPENMRC_CAPTURE_ERROR
};

inline constexpr std::array kCaptureErrorTexts{
#define OPENMRC_CAPTURE_ERROR(enumerator, text) std::string_view(text),
#include "openmrc/wire/capture/capture_error.def"
#undef OPENMRC_CAPTURE_ERROR
};

constexpr std::string_view describe(CaptureError error) {
  return kCaptureErrorTexts[static_cast<std::size_t>(error)];
}

struct CaptureProblem {
  CaptureError error;
  std::size_t offset = 0;  // in the file

  bool operator==(const CaptureProblem&) const = default;
};

struct CapturedFrame {
  ConstBytes bytes{};
  std::uint32_t original_size = 0;  // on the wire; more than bytes.size() if it was cut
  Instant time{};                   // since the Unix epoch
  LinkType link_type = LinkType::kEthernet;
  std::uint32_t interface = 0;
  std::string_view interface_name{};  // may be empty
  std::string_view comment{};         // may be empty
};

// Reads captures: pcapng, and pcap with times in micro- or nanoseconds, of either byte order. The
// file is untrusted. Frames refer to the file's bytes, which must outlive
// them.
class CaptureReader {
 public:
  static Result<CaptureReader, CaptureProblem> open(ConstBytes file);

  // The next frame, or nothing at the end. After a problem there is no way on.
  Result<std::optional<CapturedFrame>, CaptureProblem> next();

 private:
  struct Interface {
    LinkType link_type = LinkType::kEthernet;
    std::uint8_t time_resolution = 0;
    std::string_view name;
  };
  struct Block;
  enum class Format : std::uint8_t { kPcapng, kPcap };
  using Outcome = Result<void, CaptureProblem>;

  CaptureReader(ConstBytes file, Format format) : file_(file), format_(format) {}

  [[nodiscard]] Outcome read_pcap_header();
  Result<std::optional<CapturedFrame>, CaptureProblem> next_pcap();
  Result<std::optional<CapturedFrame>, CaptureProblem> next_pcapng();
  Result<Block, CaptureProblem> take_block();
  [[nodiscard]] Outcome start_section(const Block& block);
  [[nodiscard]] Outcome add_interface(const Block& block);
  [[nodiscard]] Result<CapturedFrame, CaptureProblem> read_packet(const Block& block) const;
  [[nodiscard]] std::string_view find_option(ConstBytes options, std::uint16_t wanted) const;

  [[nodiscard]] std::uint16_t u16(ConstBytes bytes, std::size_t at) const;
  [[nodiscard]] std::uint32_t u32(ConstBytes bytes, std::size_t at) const;
  [[nodiscard]] CaptureProblem problem(CaptureError error) const { return {error, at_}; }

  ConstBytes file_;
  Format format_;
  std::size_t at_ = 0;
  bool big_endian_ = false;
  std::vector<Interface> interfaces_;
};

}  // namespace openmrc::wire
