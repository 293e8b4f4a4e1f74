// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/mapper/probe_plan.h"

#include <algorithm>

#include "openmrc/base/check.h"

namespace openmrc::mapper {
namespace {

using fabric::usid_of;
using Kind = fabric::Segment::Kind;

std::uint16_t narrow(std::uint64_t value) { return static_cast<std::uint16_t>(value); }

}  // namespace

std::uint32_t ProbePlan::partners() const {
  if (uplinks() < 2) return 0;
  return std::min(kPartnersMax, fabric().shape().racks - 1);
}

// Spread over the fabric: neighbours may share more than a cable duct.
std::uint32_t ProbePlan::partner_stride() const {
  return std::max(1U, (fabric().shape().racks - 1) / kPartnersMax);
}

std::uint32_t ProbePlan::partner_rack(std::uint32_t partner) const {
  OPENMRC_DCHECK(partner < partners(), "no such partner");
  return (rack() + 1 + partner * partner_stride()) % fabric().shape().racks;
}

std::uint32_t ProbePlan::partner_of(std::uint32_t rack) const {
  const std::uint32_t racks = fabric().shape().racks;
  return (rack + racks - this->rack() - 1) % racks / partner_stride();
}

std::optional<ProbePath> ProbePlan::path(std::uint64_t round, Plane plane, ProbeKind kind) const {
  if (kind == ProbeKind::kT0) return ProbePath{.plane = plane};
  if (uplinks() == 0) return std::nullopt;
  const std::uint64_t turn = turn_of(round, plane);
  const std::uint64_t uplink = turn % uplinks();
  ProbePath path{.kind = kind, .plane = plane, .out = narrow(uplink), .back = narrow(uplink)};
  if (kind == ProbeKind::kT1) return path;
  if (partners() == 0) return std::nullopt;
  const std::uint64_t lap = turn / uplinks();
  path.back = narrow((uplink + 1 + lap / partners() % (uplinks() - 1)) % uplinks());
  path.far_rack = narrow(partner_rack(static_cast<std::uint32_t>(lap % partners())));
  return path;
}

wire::UsidCarrier ProbePlan::carrier(const ProbePath& path) const {
  const Plane plane = path.plane;
  wire::UsidCarrier::List list{usid_of({Kind::kT0, plane, rack()})};
  if (path.kind != ProbeKind::kT0) {
    list.push_back(usid_of({Kind::kT1, plane, path.out}));
    if (path.kind == ProbeKind::kFar) {
      list.push_back(usid_of({Kind::kT0, plane, path.far_rack}));
      list.push_back(usid_of({Kind::kT1, plane, path.back}));
    }
    list.push_back(usid_of({Kind::kT0, plane, rack()}));
  }
  list.push_back(usid_of({Kind::kHost, plane, fabric().downlink_of(host_)}));
  const auto carrier = wire::UsidCarrier::of(plan_.block(), list);
  OPENMRC_CHECK(carrier, "a probe has at most six uSIDs, and none is zero");
  return *carrier;
}

}  // namespace openmrc::mapper
