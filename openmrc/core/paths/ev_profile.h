// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/check.h"
#include "openmrc/base/ids.h"
#include "openmrc/base/result.h"
#include "openmrc/base/strong.h"
#include "openmrc/core/paths/ev_expansion.h"
#include "openmrc/wire/field/ip_address.h"

namespace openmrc::core {

// Place of an EV in its profile.
using EvIndex = Strong<struct EvIndexTag, std::uint8_t>;

// Place of a path in its profile: a way through the network that EVs name. Several EVs may name the
// same one.
using PathIndex = Strong<struct PathIndexTag, std::uint8_t>;

// The largest set of EVs that was published for one connection.
inline constexpr std::size_t kEvsPerProfileMax = 256;
static_assert(kEvsPerProfileMax == std::size_t{EvIndex::kMax} + 1, "an index names each of them");

// Port masks have 32 bits, and bit n is port n; ports count from 1, so bit 0 names none.
inline constexpr std::size_t kPlanesMax = 31;

// In SRv6 mode switches consume the address, so the source port carries this plus the EV's index,
// for the responder to reflect (MRC 9.1; PATH-10). It begins the dynamic ports.
inline constexpr std::uint16_t kSrv6SourcePortFirst = 49152;

// One path as the data path needs it. `ev` is, by mode:
//   STEV  the first 32 expanded bits: 16 for the flow label, the high half, then 16 for the port
//   UDP   the first 16 expanded bits, in the low half
//   SRv6  kSrv6SourcePortFirst plus the EV's index
struct EvEntry {
  Ev ev;                      // what flow label and source port carry, and SACKs reflect
  Plane plane;                // the port it leaves by
  wire::Ipv6Address outer{};  // SRv6: destination of the outer header; zero in other modes

  bool operator==(const EvEntry&) const = default;
};

// The EVs of one plane: indices from `first` on.
struct PlaneRange {
  std::size_t first = 0;
  std::size_t count = 0;

  bool operator==(const PlaneRange&) const = default;
};

// The paths of one plane: indices from `first` on.
struct PathRange {
  std::size_t first = 0;
  std::size_t count = 0;

  bool operator==(const PathRange&) const = default;
};

struct EvProfileOptions {
  // No path is disabled for failure when that would leave fewer EVs than this in use.
  std::size_t min_active = 0;
  // How many EVs of a plane are in use at once, on as many paths as there are; the others stand by
  // to replace one of the same plane. 0: all are in use.
  std::size_t active_per_plane = 0;
};

// An EV of a controller, still to be expanded.
struct PortedEv {
  EvBits value{};
  PortNumber port;
};

struct ExplicitEvs {
  EvFormat format{};
  std::span<const EvField> fields{};  // none: EVs expand to themselves
  std::span<const PortedEv> evs{};
  std::size_t planes = 1;
  EvProfileOptions options{};
};

struct GeneratedEvs {
  EvFormat format{};
  std::span<const EvField> fields{};
  std::size_t count = 0;  // over all planes
  std::size_t planes = 1;
  std::uint64_t seed = 0;  // the same seed gives the same EVs
  EvProfileOptions options{};
};

struct SimpleEvs {
  std::size_t planes = 1;
  std::size_t evs_per_plane = 1;
  std::uint64_t seed = 0;
};

// Why there is no profile. Behind the colon: what EvProfileError says of it, given and bound.
enum class EvProfileFault : std::uint8_t {
  kFields,      // the fields break a rule; `field` says which
  kBitsLeft,    // an EV has bits that no field takes: its place in the list
  kPlanes,      // no planes, or more than port numbers can name: planes, most
  kTooManyEvs,  // more than a profile holds: EVs, most
  kPort,        // an EV has a port that is in none of the planes: port, planes
  kPlaneEmpty,  // a plane would have no EV and carry nothing: plane
  // PATH-2
  kPlanesUnequal,    // planes must be loaded equally, so have equally many EVs: one, another
  kDuplicateEv,      // two EVs look the same in a SACK: what it would say (PATH-3)
  kTooFewDifferent,  // the ranges of the fields do not give so many EVs: EVs, different ones
  kMinActive,        // more must stay in use than there are: minimum, EVs
  kActivePerPlane,   // more are to be in use than a plane has: in use, EVs of a plane
};
std::string_view describe(EvProfileFault fault);

struct EvProfileError {
  EvProfileFault fault;
  std::uint64_t given = 0;
  std::optional<std::uint64_t> bound = std::nullopt;
  std::optional<FieldError> field = std::nullopt;

  bool operator==(const EvProfileError&) const = default;
};
std::string to_string(const EvProfileError& error);

// The paths that a connection may spread its packets over. It does not change, and connections
// share it; what a connection has learned about a path is kept elsewhere, by EvIndex. All EVs of
// plane 0 come first, then those of plane 1, and so on, equally many of each.
class EvProfile {
 public:
  // A list made by a controller. Within a plane its order is kept.
  static Result<EvProfile, EvProfileError> explicit_list(const ExplicitEvs& from);

  // EVs drawn from the ranges of the fields, all different, dealt out to the planes in turn.
  static Result<EvProfile, EvProfileError> generated(const GeneratedEvs& from);

  // For tests and tools: random EVs for flow label and source port. The source port is a dynamic
  // one (49152 and up), so that Wireshark shows the packets as MRC. The caller keeps to the limits.
  static EvProfile simple(const SimpleEvs& from);

  [[nodiscard]] EvFormatMode mode() const { return mode_; }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::size_t planes() const { return planes_; }
  [[nodiscard]] std::size_t evs_per_plane() const { return evs_per_plane_; }
  [[nodiscard]] std::size_t active_per_plane() const { return active_per_plane_; }
  [[nodiscard]] std::size_t min_active() const { return min_active_; }

  [[nodiscard]] std::span<const EvEntry> entries() const { return entries_; }
  [[nodiscard]] const EvEntry& entry(EvIndex index) const {
    OPENMRC_DCHECK(index.raw() < entries_.size(), "no such EV");
    return entries_[index.raw()];
  }
  [[nodiscard]] PlaneRange range(Plane plane) const {
    OPENMRC_DCHECK(plane.raw() < planes_, "no such plane");
    return {.first = plane.raw() * evs_per_plane_, .count = evs_per_plane_};
  }

  // MRC 9.3.5: the EVs with the same SRv6 address take the same path and share its fate. In other
  // modes switches hash the EV, and what two of them have in common is not known: each counts as a
  // path of its own, with its number. All paths of plane 0 come first, then those of plane 1, and
  // so on (PATH-13).
  [[nodiscard]] std::size_t path_count() const { return path_begins_.size() - 1; }
  [[nodiscard]] PathIndex path_of(EvIndex ev) const {
    OPENMRC_DCHECK(ev.raw() < path_of_.size(), "no such EV");
    return path_of_[ev.raw()];
  }
  [[nodiscard]] std::span<const EvIndex> evs_of(PathIndex path) const {
    OPENMRC_DCHECK(path.raw() < path_count(), "no such path");
    const std::size_t begin = path_begins_[path.raw()];
    return {&evs_by_path_[begin], path_begins_[path.raw() + std::size_t{1}] - begin};
  }
  [[nodiscard]] PathRange paths(Plane plane) const {
    OPENMRC_DCHECK(plane.raw() < planes_, "no such plane");
    return plane_paths_[plane.raw()];
  }
  [[nodiscard]] Plane plane_of(PathIndex path) const { return entry(evs_of(path)[0]).plane; }

  // SRv6 with a routing header: its segment (PATH-78).
  [[nodiscard]] std::optional<wire::Ipv6Address> segment(EvIndex index) const {
    if (segments_.empty()) return std::nullopt;
    OPENMRC_DCHECK(index.raw() < segments_.size(), "no such EV");
    return segments_[index.raw()];
  }

  // The EV before expansion, which is how a controller knows it.
  [[nodiscard]] const EvBits& value(EvIndex index) const {
    OPENMRC_DCHECK(index.raw() < values_.size(), "no such EV");
    return values_[index.raw()];
  }

  // Which EV a peer reflected. Done for each SACK.
  [[nodiscard]] std::optional<EvIndex> find(Ev ev) const {
    const FindSlot& slot = find_[find_place(ev)];
    if (slot.index == kNoEv) return std::nullopt;
    return EvIndex(static_cast<std::uint8_t>(slot.index));
  }

 private:
  // A hash table with linear probing. It is at most half full, so a search ends, mostly at once,
  // and eight slots share a cache line.
  struct FindSlot {
    Ev ev;
    std::uint16_t index = kNoEv;
  };
  static constexpr std::uint16_t kNoEv = 0xffff;
  static constexpr unsigned kFindBits = 9;
  static constexpr std::size_t kFindSlots = std::size_t{1} << kFindBits;
  static_assert(kFindSlots >= 2 * kEvsPerProfileMax);

  EvProfile() = default;

  // The slot that holds `ev`, or the free one where it belongs. The factor is 2^32 over the golden
  // ratio, which spreads neighbouring numbers.
  [[nodiscard]] std::size_t find_place(Ev ev) const {
    std::size_t at = static_cast<std::uint32_t>(ev.raw() * 0x9e3779b1u) >> (32 - kFindBits);
    while (find_[at].index != kNoEv && find_[at].ev != ev) at = (at + 1) % kFindSlots;
    return at;
  }
  // Only while it is made.
  [[nodiscard]] Result<void, EvProfileError> fill(const ExplicitEvs& from,
                                                  std::span<const EvField> fields);
  [[nodiscard]] Result<void, EvProfileError> add(Plane plane, const EvBits& value,
                                                 const EvBits& expanded);
  [[nodiscard]] bool same_path(EvIndex one, EvIndex other) const;
  void group_by_path();

  EvFormatMode mode_ = EvFormatMode::kStev;
  std::size_t planes_ = 0;
  std::size_t evs_per_plane_ = 0;
  std::size_t active_per_plane_ = 0;
  std::size_t min_active_ = 0;
  std::vector<EvEntry> entries_;
  std::array<FindSlot, kFindSlots> find_{};
  std::vector<wire::Ipv6Address> segments_;  // by index, or empty
  std::vector<EvBits> values_;               // by index
  std::vector<PathIndex> path_of_;           // by index
  std::vector<EvIndex> evs_by_path_;
  std::vector<std::uint16_t> path_begins_;  // in evs_by_path_; one more than there are paths
  std::vector<PathRange> plane_paths_;      // by plane
};

}  // namespace openmrc::core
