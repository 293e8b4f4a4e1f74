// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ostream.h>

#include <ostream>
#include <string>

#include "openmrc/fabric/bill.h"
#include "openmrc/fabric/floor_plan.h"
#include "openmrc/fabric/names.h"
#include "tools/mrc/fabric/text.h"

namespace openmrc::tools {
namespace {

using fabric::Cabinet;
using fabric::Fabric;
using fabric::LinkId;
using fabric::name_of;
using fabric::SwitchId;
using fabric::Tier;

struct End {
  Cabinet cabinet{};
  std::string device{};
  std::string port{};
};

End lower_end(const Fabric& fabric, const fabric::FloorPlan& floor, const LinkId& link) {
  const Cabinet cabinet = floor.lower_end(link);
  if (link.kind == LinkId::Kind::kHost) {
    return {cabinet, name_of(fabric.host_at(link.rack, link.port)), name_of(link.plane)};
  }
  const Tier tier = link.kind == LinkId::Kind::kUplink ? Tier::kT0 : Tier::kT1;
  return {cabinet, name_of(SwitchId{link.plane, tier, link.rack}), fmt::format("up{}", link.port)};
}

End upper_end(const Fabric& fabric, const fabric::FloorPlan& floor, const LinkId& link) {
  const auto end = [&](Tier tier, std::uint32_t number, std::uint32_t port) -> End {
    return {floor.upper_end(link), name_of(SwitchId{link.plane, tier, number}),
            fmt::format("down{}", port)};
  };
  switch (link.kind) {
    case LinkId::Kind::kHost: return end(Tier::kT0, link.rack, link.port);
    case LinkId::Kind::kUplink:
      return end(Tier::kT1, fabric.t1_of(link.rack, link.port),
                 fabric.t1_port(link.rack, link.port));
    case LinkId::Kind::kT1Uplink: break;
  }
  return end(Tier::kT2, fabric.t2_of(link.rack, link.port), fabric.pod_of_t1(link.rack));
}

// RFC 4180: names of parts are free text.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

void write_cables(const Fabric& fabric, const fabric::Parts& parts, std::ostream& out) {
  const fabric::FloorPlan floor(fabric, parts.floor);
  const fabric::Shape& shape = fabric.shape();
  out << "line,cabinet,device,port,to_line,to_cabinet,to_device,to_port,gbps,metres,cable\n";
  for_each_link(fabric, [&](const LinkId& link) {
    const End a = lower_end(fabric, floor, link);
    const End b = upper_end(fabric, floor, link);
    const bool is_host = link.kind == LinkId::Kind::kHost;
    const double gbps = static_cast<double>(is_host ? shape.host_link_bits_per_second
                                                    : shape.uplink_bits_per_second) /
                        1e9;
    const double metres = floor.metres(link);
    const auto cable = cable_for(metres, parts);
    fmt::print(out, "{},{},{},{},{},{},{},{},{:g},{:.1f},{}\n", a.cabinet.line, a.cabinet.column,
               a.device, a.port, b.cabinet.line, b.cabinet.column, b.device, b.port, gbps, metres,
               cable ? quoted(parts.cables[*cable].name) : "none");
  });
}

}  // namespace openmrc::tools
