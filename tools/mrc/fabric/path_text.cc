// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "openmrc/fabric/names.h"
#include "openmrc/fabric/path.h"
#include "openmrc/fabric/walk.h"
#include "tools/mrc/fabric/text.h"

namespace openmrc::tools {
namespace {

using fabric::name_of;
using wire::Ipv6Address;
using wire::UsidCarrier;

std::string line(const std::string& at, const std::string& usid, const std::string& sends,
                 const std::string& over) {
  const std::string text = fmt::format("{:<12}{:<7}{:<34}{}", at, usid, sends, over);
  return text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
}

std::string active_usid(const Ipv6Address& address) {
  return fmt::format("{:04x}", UsidCarrier(address).active().raw());
}

}  // namespace

std::string path_table(const fabric::UsidPlan& plan, fabric::HostIndex source,
                       fabric::HostIndex destination, fabric::PathChoice choice) {
  const fabric::Fabric& fabric = plan.fabric();
  const UsidCarrier carrier = plan.carrier(source, destination, choice);
  const fabric::Walk walk = fabric::walk(plan, source, choice.plane, carrier).value();
  std::string text = fmt::format(
      "{} to {}, EV {} (number {})\n"
      "inner    {} > {}\n"
      "outer    {}\n"
      "  EV     {}\n"
      "  ends   {}\n\n",
      name_of(source), name_of(destination), name_of(choice), ev_number(fabric, choice),
      to_string(plan.inner_address(source, choice.plane)),
      to_string(plan.inner_address(destination, choice.plane)), to_string(carrier.address()),
      to_string(plan.ev_part(choice, plan.reach(source, destination))),
      to_string(plan.overlay(source, destination)));
  text += line("at", "takes", "sends to", "over");
  text += line(name_of(source), "", to_string(carrier.address()),
               name_of(fabric.host_link(source, choice.plane)));
  for (const fabric::WalkStep& step : walk.steps) {
    text += line(name_of(step.at), active_usid(step.arrives), to_string(step.leaves),
                 name_of(step.out));
  }
  text += line(name_of(walk.host), active_usid(walk.delivered), "the inner packet is its own", "");
  return text;
}

}  // namespace openmrc::tools
