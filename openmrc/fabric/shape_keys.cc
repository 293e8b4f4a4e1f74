// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/fabric/shape_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "openmrc/text/table_reader.h"

namespace openmrc::fabric {
namespace {

// Faster and longer links than there will be; they keep the arithmetic far from overflow.
constexpr std::uint64_t kBitsPerSecondMax = 1'000'000'000'000'000;
constexpr std::uint64_t kNsMax = 1'000'000'000;

class ShapeMaker {
 public:
  ShapeMaker(const ShapeKeys& keys, std::string_view section, text::Diagnostics& diagnostics)
      : keys_(keys), section_(section), diagnostics_(diagnostics) {}

  std::optional<Shape> make() {
    const std::size_t errors_before = diagnostics_.count();
    Shape shape;
    if (any_is_invalid()) return std::nullopt;
    set_counts(shape);
    set_links(shape);
    if (diagnostics_.count() != errors_before) return std::nullopt;
    const auto fabric = Fabric::make(shape);
    if (fabric) return shape;
    error(key_of(fabric.error()), std::string(describe(fabric.error())));
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::string full_name(std::string_view key) const {
    return section_.empty() ? std::string(key) : fmt::format("{}.{}", section_, key);
  }
  void error(std::string_view key, std::string message) {
    diagnostics_.error(full_name(key), std::move(message));
  }

  // What follows from a wrong value or a misspelt key is not worth reporting.
  [[nodiscard]] bool any_is_invalid() const {
    if (diagnostics_.has(section_) && !diagnostics_.is_valid(section_)) return true;
    ShapeKeys names;
    return std::ranges::any_of(
        planned_shape_fields(names, section_), [&](const text::Field& field) {
          return diagnostics_.has(field.full_name()) && !diagnostics_.is_valid(field.full_name());
        });
  }

  void set_counts(Shape& shape) {
    if (!keys_.planes) error("planes", "is missing");
    shape.planes = keys_.planes.value_or(1);
    shape.links_per_t1 = keys_.links_per_t1;
    shape.pods = keys_.pods.value_or(1);
    if (keys_.switch_ports) {
      set_full_bisection(*keys_.switch_ports, shape);
      return;
    }
    if (!keys_.racks) error("racks", "is missing; or give switch_ports");
    if (!keys_.hosts_per_rack) error("hosts_per_rack", "is missing; or give switch_ports");
    shape.racks = keys_.racks.value_or(1);
    shape.hosts_per_rack = keys_.hosts_per_rack.value_or(1);
    shape.uplinks = keys_.uplinks.value_or(0);
    shape.t1_uplinks = keys_.t1_uplinks.value_or(0);
  }

  void set_full_bisection(std::uint32_t ports, Shape& shape) {
    constexpr const char* kConflict = "follows from switch_ports; give one of them";
    if (keys_.racks) error("racks", kConflict);
    if (keys_.hosts_per_rack) error("hosts_per_rack", kConflict);
    if (keys_.uplinks) error("uplinks", kConflict);
    if (keys_.t1_uplinks) error("t1_uplinks", kConflict);
    if (ports % 2 != 0) error("switch_ports", "must be even: half of them are downlinks");
    // With several pods half of the ports of a T1 lead to T2s, all of whose ports lead to pods.
    const bool three_tiers = shape.pods > 1;
    const std::uint32_t t1_downlinks = three_tiers ? ports / 2 : ports;
    if (t1_downlinks % shape.links_per_t1 != 0) {
      error("links_per_t1", fmt::format("must divide the {} links of a T1 to racks: so many of "
                                        "them lead to each",
                                        t1_downlinks));
    }
    if (shape.pods > ports) error("pods", "there are more than a T2 has ports");
    shape.racks = shape.pods * std::max(1U, t1_downlinks / shape.links_per_t1);
    shape.hosts_per_rack = ports / 2;
    shape.uplinks = ports / 2;
    shape.t1_uplinks = three_tiers ? ports / 2 : 0;
  }

  void set_links(Shape& shape) const {
    shape.host_link_bits_per_second = keys_.host_link_bits_per_second;
    shape.uplink_bits_per_second =
        keys_.uplink_bits_per_second.value_or(keys_.host_link_bits_per_second);
    shape.host_link_delay = keys_.host_link_delay;
    shape.uplink_delay = keys_.uplink_delay.value_or(keys_.host_link_delay);
  }

  // Which key to look at.
  static std::string_view key_of(ShapeError error) {
    switch (error) {
      case ShapeError::kPlanes: return "planes";
      case ShapeError::kRacks: return "racks";
      case ShapeError::kHostsPerRack: return "hosts_per_rack";
      case ShapeError::kUplinks:
      case ShapeError::kNoUplinks:
      case ShapeError::kIdleT1s: return "uplinks";
      case ShapeError::kLinksPerT1:
      case ShapeError::kT1Ports: return "links_per_t1";
      case ShapeError::kPods: return "pods";
      case ShapeError::kT1Uplinks:
      case ShapeError::kPaths: return "t1_uplinks";
      case ShapeError::kSpeed: return "host_link_gbps";
      case ShapeError::kDelay: return "host_link_ns";
    }
    return {};
  }

  const ShapeKeys& keys_;
  std::string_view section_;
  text::Diagnostics& diagnostics_;
};

}  // namespace

std::vector<text::Field> shape_fields(ShapeKeys& keys, std::string_view name) {
  std::vector<text::Field> fields;
  text::Section section(fields, name);
  section.whole("planes", keys.planes, 1, kPlanesMax).otherwise = "required";
  section.whole("racks", keys.racks, 1, kRacksMax).otherwise = "required";
  section.whole("hosts_per_rack", keys.hosts_per_rack, 1, kHostsPerRackMax).otherwise = "required";
  section.whole("uplinks", keys.uplinks, 0, kUplinksMax);
  section.whole("switch_ports", keys.switch_ports, 2, std::min(kRacksMax, 2 * kHostsPerRackMax))
      .otherwise = "none";
  section.gbps("host_link_gbps", keys.host_link_bits_per_second, kBitsPerSecondMax);
  section.whole("host_link_ns", keys.host_link_delay, 1, kNsMax);
  section.gbps("uplink_gbps", keys.uplink_bits_per_second, kBitsPerSecondMax).otherwise =
      "as host_link_gbps";
  section.whole("uplink_ns", keys.uplink_delay, 1, kNsMax).otherwise = "as host_link_ns";
  return fields;
}

std::vector<text::Field> planned_shape_fields(ShapeKeys& keys, std::string_view name) {
  std::vector<text::Field> fields = shape_fields(keys, name);
  text::Section section(fields, name);
  section.whole("links_per_t1", keys.links_per_t1, 1, kUplinksMax);
  section.whole("pods", keys.pods, 1, kRacksMax).otherwise = "1";
  section.whole("t1_uplinks", keys.t1_uplinks, 0, kPathsMax).otherwise = "0";
  return fields;
}

std::optional<Shape> make_shape(const ShapeKeys& keys, std::string_view section,
                                text::Diagnostics& diagnostics) {
  return ShapeMaker(keys, section, diagnostics).make();
}

Result<Shape, std::vector<text::FileError>> shape_from(const text::Table& table,
                                                       std::string_view section) {
  ShapeKeys keys;
  text::Diagnostics diagnostics;
  text::KnownKeys known;
  text::TableReader reader(table, std::string(section), diagnostics, known);
  reader.read(planned_shape_fields(keys, section));
  reader.finish();
  if (!reader.ok()) return failure(diagnostics.take());
  const auto shape = make_shape(keys, section, diagnostics);
  if (!shape) return failure(diagnostics.take());
  return *shape;
}

}  // namespace openmrc::fabric
