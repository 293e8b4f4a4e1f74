// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/core/paths/ev_profile.h"

#include <algorithm>
#include <utility>

#include "openmrc/base/fixed_vector.h"
#include "openmrc/base/rng.h"

namespace openmrc::core {
namespace {

using Fault = EvProfileFault;

// What can be checked without the EVs.
Result<void, EvProfileError> check_frame(const EvFormat& format, std::span<const EvField> fields,
                                         std::size_t count, std::size_t planes,
                                         const EvProfileOptions& options) {
  if (const auto result = check_fields(format, fields); !result) {
    return failure(EvProfileError{.fault = Fault::kFields, .field = result.error()});
  }
  if (planes == 0 || planes > kPlanesMax) {
    return failure(EvProfileError{Fault::kPlanes, planes, kPlanesMax});
  }
  if (count > kEvsPerProfileMax) {
    return failure(EvProfileError{Fault::kTooManyEvs, count, kEvsPerProfileMax});
  }
  if (options.min_active > count) {
    return failure(EvProfileError{Fault::kMinActive, options.min_active, count});
  }
  return {};
}

// How many EVs each plane has, if all have equally many.
Result<std::size_t, EvProfileError> count_per_plane(std::span<const PortedEv> evs,
                                                    std::size_t planes) {
  std::array<std::size_t, kPlanesMax> counts{};
  for (const PortedEv& ev : evs) {
    const std::size_t port = ev.port.raw();
    if (port == 0 || port > planes) return failure(EvProfileError{Fault::kPort, port, planes});
    ++counts[port - 1];
  }
  for (std::size_t plane = 0; plane < planes; ++plane) {
    if (counts[plane] == 0) return failure(EvProfileError{Fault::kPlaneEmpty, plane});
  }
  for (std::size_t plane = 1; plane < planes; ++plane) {
    if (counts[plane] != counts[0]) {
      return failure(EvProfileError{Fault::kPlanesUnequal, counts[plane], counts[0]});
    }
  }
  return counts[0];
}

std::uint32_t be16(const EvBits& bits, std::size_t at) {
  return std::to_integer<std::uint32_t>(bits[at]) << 8 |
         std::to_integer<std::uint32_t>(bits[at + 1]);
}

// What the packet carries to be reflected (MRC 9.1), split as in wire/ev_halves.h.
Ev carried_ev(EvFormatMode mode, const EvBits& expanded, std::size_t index) {
  switch (mode) {
    case EvFormatMode::kStev: return Ev(be16(expanded, 0) << 16 | be16(expanded, 2));
    case EvFormatMode::kUdp: return Ev(be16(expanded, 0));
    case EvFormatMode::kSrv6: break;
  }
  return Ev(static_cast<std::uint32_t>(kSrv6SourcePortFirst + index));
}

wire::Ipv6Address address_at(const EvBits& bits, std::size_t at) {
  wire::Ipv6Address address;
  std::copy_n(bits.begin() + static_cast<std::ptrdiff_t>(at), address.bytes.size(),
              address.bytes.begin());
  return address;
}

// How many different EVs the ranges give. Counts to the most that a profile holds, because the
// product may have hundreds of bits.
std::size_t count_different(std::span<const EvField> fields) {
  std::uint64_t product = 1;
  for (const EvField& field : fields) {
    const std::uint64_t range = std::uint64_t{field.max} - field.min + 1;
    product = std::min<std::uint64_t>(product * range, kEvsPerProfileMax);
  }
  return product;
}

EvBits draw_ev(std::span<const EvField> fields, Rng& rng) {
  FixedVector<std::uint32_t, kEvSlotsMax> numbers;
  for (const EvField& field : fields) {
    numbers.push_back(static_cast<std::uint32_t>(rng.between(field.min, field.max)));
  }
  return pack_ev(fields, numbers);
}

// Draws again what it has drawn before. It ends: there are at least as many different EVs as
// wanted. Taking all of 256 costs some 1,600 draws.
std::vector<PortedEv> draw_evs(const GeneratedEvs& from) {
  Rng rng(from.seed);
  std::vector<PortedEv> evs;
  evs.reserve(from.count);
  while (evs.size() < from.count) {
    const EvBits value = draw_ev(from.fields, rng);
    const auto same = [&value](const PortedEv& ev) { return ev.value == value; };
    if (std::any_of(evs.begin(), evs.end(), same)) continue;
    const auto plane = static_cast<std::uint8_t>(evs.size() % from.planes);
    evs.push_back({.value = value, .port = port_of(Plane(plane))});
  }
  return evs;
}

}  // namespace

std::string_view describe(EvProfileFault fault) {
  switch (fault) {
    case Fault::kFields: return "the EV fields break a rule";
    case Fault::kBitsLeft: return "an EV has bits that no field takes (place in the list)";
    case Fault::kPlanes: return "the number of planes is out of range (planes / most)";
    case Fault::kTooManyEvs: return "there are too many EVs (EVs / most)";
    case Fault::kPort: return "an EV has a port that is in no plane (port / planes)";
    case Fault::kPlaneEmpty: return "a plane has no EV (plane)";
    case Fault::kPlanesUnequal: return "planes must have equally many EVs (one / another)";
    case Fault::kDuplicateEv: return "two EVs look the same in a SACK (EV)";
    case Fault::kTooFewDifferent: return "the fields give too few EVs (wanted / different ones)";
    case Fault::kMinActive: return "more EVs must stay in use than there are (minimum / EVs)";
    case Fault::kActivePerPlane: return "a plane has too few EVs (to be in use / EVs)";
  }
  return "unknown fault";
}

std::string to_string(const EvProfileError& error) {
  std::string text(describe(error.fault));
  if (error.field) return text.append(": ").append(describe(*error.field));
  text.append(": ").append(std::to_string(error.given));
  if (error.bound) text.append(" / ").append(std::to_string(*error.bound));
  return text;
}

Result<void, EvProfileError> EvProfile::add(Plane plane, const EvBits& value,
                                            const EvBits& expanded) {
  const std::size_t index = entries_.size();
  EvEntry entry{.ev = carried_ev(mode_, expanded, index), .plane = plane};
  FindSlot& slot = find_[find_place(entry.ev)];
  if (slot.index != kNoEv) return failure(EvProfileError{Fault::kDuplicateEv, entry.ev.raw()});
  slot = {.ev = entry.ev, .index = static_cast<std::uint16_t>(index)};
  if (mode_ == EvFormatMode::kSrv6) entry.outer = address_at(expanded, 0);
  entries_.push_back(entry);
  values_.push_back(value);
  return {};
}

Result<void, EvProfileError> EvProfile::fill(const ExplicitEvs& from,
                                             std::span<const EvField> fields) {
  const bool has_segment = from.format.has_segment();
  entries_.reserve(from.evs.size());
  values_.reserve(from.evs.size());
  for (std::size_t p = 0; p < planes_; ++p) {
    const Plane plane(static_cast<std::uint8_t>(p));
    for (std::size_t i = 0; i < from.evs.size(); ++i) {
      if (from.evs[i].port != port_of(plane)) continue;
      const auto expanded = expand(from.format, fields, from.evs[i].value);
      if (!expanded) return failure(EvProfileError{Fault::kBitsLeft, i});
      if (const auto result = add(plane, from.evs[i].value, *expanded); !result) {
        return failure(result.error());
      }
      if (has_segment) segments_.push_back(address_at(*expanded, 16));
    }
  }
  return {};
}

bool EvProfile::same_path(EvIndex one, EvIndex other) const {
  if (mode_ != EvFormatMode::kSrv6) return one == other;
  return entry(one).outer == entry(other).outer && segment(one) == segment(other);
}

// Paths are numbered as their first EV comes.
void EvProfile::group_by_path() {
  path_of_.resize(size());
  for (std::size_t p = 0; p < planes_; ++p) {
    const PlaneRange evs = range(Plane(static_cast<std::uint8_t>(p)));
    const std::size_t first = path_begins_.size();
    std::vector<bool> taken(evs.count);
    for (std::size_t i = 0; i < evs.count; ++i) {
      if (taken[i]) continue;
      const PathIndex path(static_cast<std::uint8_t>(path_begins_.size()));
      path_begins_.push_back(static_cast<std::uint16_t>(evs_by_path_.size()));
      const EvIndex leader(static_cast<std::uint8_t>(evs.first + i));
      for (std::size_t j = i; j < evs.count; ++j) {
        const EvIndex ev(static_cast<std::uint8_t>(evs.first + j));
        if (taken[j] || !same_path(leader, ev)) continue;
        taken[j] = true;
        path_of_[ev.raw()] = path;
        evs_by_path_.push_back(ev);
      }
    }
    plane_paths_.push_back({.first = first, .count = path_begins_.size() - first});
  }
  path_begins_.push_back(static_cast<std::uint16_t>(evs_by_path_.size()));
}

Result<EvProfile, EvProfileError> EvProfile::explicit_list(const ExplicitEvs& from) {
  const EvProfileOptions& options = from.options;
  if (const auto result =
          check_frame(from.format, from.fields, from.evs.size(), from.planes, options);
      !result) {
    return failure(result.error());
  }
  const auto per_plane = count_per_plane(from.evs, from.planes);
  if (!per_plane) return failure(per_plane.error());
  if (options.active_per_plane > *per_plane) {
    return failure(EvProfileError{Fault::kActivePerPlane, options.active_per_plane, *per_plane});
  }
  EvProfile profile;
  profile.mode_ = from.format.mode;
  profile.planes_ = from.planes;
  profile.evs_per_plane_ = *per_plane;
  profile.active_per_plane_ = options.active_per_plane == 0 ? *per_plane : options.active_per_plane;
  profile.min_active_ = options.min_active;
  const EvFields identity = identity_fields(from.format);
  if (const auto result = profile.fill(from, from.fields.empty() ? identity : from.fields);
      !result) {
    return failure(result.error());
  }
  profile.group_by_path();
  return profile;
}

Result<EvProfile, EvProfileError> EvProfile::generated(const GeneratedEvs& from) {
  if (const auto result =
          check_frame(from.format, from.fields, from.count, from.planes, from.options);
      !result) {
    return failure(result.error());
  }
  const std::size_t different = count_different(from.fields);
  if (different < from.count) {
    return failure(EvProfileError{Fault::kTooFewDifferent, from.count, different});
  }
  const std::vector<PortedEv> evs = draw_evs(from);
  return explicit_list({.format = from.format,
                        .fields = from.fields,
                        .evs = evs,
                        .planes = from.planes,
                        .options = from.options});
}

EvProfile EvProfile::simple(const SimpleEvs& from) {
  // The upper two bits of the source port are fixed ones: 0xc000 is 49152.
  constexpr std::array kFields{
      EvField{.width = 16, .init = 0, .min = 0, .max = 0xffff, .mask = 0xffff},
      EvField{.width = 16, .init = 0xc000, .min = 0, .max = 0x3fff, .mask = 0x3fff}};
  auto profile = generated({.format = {.mode = EvFormatMode::kStev, .slot_widths = {16, 16}},
                            .fields = kFields,
                            .count = from.planes * from.evs_per_plane,
                            .planes = from.planes,
                            .seed = from.seed,
                            .options = {}});
  OPENMRC_CHECK(profile.has_value(), "more planes or EVs than a profile holds, or none");
  return *std::move(profile);
}

}  // namespace openmrc::core
