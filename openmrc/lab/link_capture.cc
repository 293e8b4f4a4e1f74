// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/link_capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "openmrc/host/interrupt.h"
#include "openmrc/lab/faults.h"
#include "openmrc/lab/layout.h"
#include "openmrc/lab/link_tap.h"
#include "openmrc/wire/capture/pcapng_writer.h"

namespace openmrc::lab {
namespace {

using fabric::LinkId;
using wire::CaptureInterface;

constexpr Duration kLook = milliseconds(100);  // for Ctrl-C, which may come just before a wait
constexpr std::size_t kWriteAt = 256 * 1024;   // bytes gathered before they are written

// The two ends of a cable: the T0, and what is at its other end.
struct EndNames {
  std::string t0;
  std::string far;

  EndNames(const Spec& spec, const LinkId& link)
      : t0(name_of(fabric::SwitchId{link.plane, fabric::Tier::kT0, link.rack})),
        far(link.kind == LinkId::Kind::kUplink
                ? name_of(fabric::SwitchId{link.plane, fabric::Tier::kT1, link.port})
                : name_of(spec.fabric().host_at(link.rack, link.port))) {}
};

class CaptureFile {
 public:
  CaptureFile(const Spec& spec, const LinkId& link, int file) : file_(file) {
    const EndNames ends(spec, link);
    const std::string description = fmt::format("link {} of lab {}", name_of(link), spec.name);
    from_t0_ = writer_.add_interface(fmt::format("{} > {}", ends.t0, ends.far), description);
    to_t0_ = writer_.add_interface(fmt::format("{} > {}", ends.far, ends.t0), description);
  }

  void add(const LinkTap::Frame& frame) {
    writer_.add_frame({.interface = frame.sent_by_t0 ? from_t0_ : to_t0_,
                       .time = frame.time,
                       .bytes = frame.bytes});
  }
  [[nodiscard]] std::size_t waiting() const { return out_.size(); }

  [[nodiscard]] Result<void, std::string> write_out() {
    std::size_t at = 0;
    while (at < out_.size()) {
      const ssize_t written = ::write(file_, out_.data() + at, out_.size() - at);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0)
        return failure(fmt::format("cannot write the capture: {}", std::strerror(errno)));
      at += static_cast<std::size_t>(written);
    }
    out_.clear();
    return {};
  }

 private:
  int file_;
  std::vector<std::byte> out_{};
  wire::PcapngWriter writer_{out_};
  CaptureInterface from_t0_{0};
  CaptureInterface to_t0_{0};
};

}  // namespace

Result<CaptureCount, std::string> capture_link(const Spec& spec, const LinkId& link, int file,
                                               const CaptureLimits& limits) {
  host::catch_interrupts();
  auto tap = LinkTap::open(spec, link);
  if (!tap) return failure(tap.error());
  CaptureFile capture(spec, link, file);
  if (auto result = capture.write_out(); !result) return failure(result.error());
  constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  const std::int64_t end = limits.span ? monotonic_ns() + limits.span->raw() : kNever;
  CaptureCount count;
  const auto is_full = [&] { return limits.frames && count.frames >= *limits.frames; };
  const auto take = [&](const LinkTap::Frame& frame) {
    if (is_full()) return;
    capture.add(frame);
    ++count.frames;
  };
  while (!host::interrupted() && !is_full()) {
    const Duration left(end - monotonic_ns());
    if (left <= Duration(0)) break;
    const std::uint64_t before = count.frames;
    tap->receive(std::min(left, kLook), take);
    // Nothing came: there is time, and somebody may be reading along.
    if (count.frames != before && capture.waiting() < kWriteAt) continue;
    if (auto result = capture.write_out(); !result) return failure(result.error());
  }
  if (auto result = capture.write_out(); !result) return failure(result.error());
  count.dropped = tap->dropped();
  return count;
}

}  // namespace openmrc::lab
