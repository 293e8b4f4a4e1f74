// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/lab/port_counters.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "openmrc/lab/layout.h"
#include "openmrc/lab/netns.h"

namespace openmrc::lab {

std::vector<std::uint64_t> read_received_bytes(const std::string& text, std::uint32_t ports) {
  std::vector<std::uint64_t> bytes(ports);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(':');
    const std::size_t begin = line.find_first_not_of(' ');
    if (colon == std::string::npos || begin > colon) continue;
    const std::string interface = line.substr(begin, colon - begin);
    for (std::uint32_t port = 0; port < ports; ++port) {
      if (interface != fmt::format("p{}", port)) continue;
      std::istringstream(line.substr(colon + 1)) >> bytes[port];
    }
  }
  return bytes;
}

Result<std::vector<std::uint64_t>, std::string> received_bytes(const Spec& spec,
                                                               fabric::HostIndex host) {
  const auto visit = SpaceVisit::enter(space_of(spec.name, host));
  if (!visit) return failure(visit.error());
  std::ifstream file("/proc/thread-self/net/dev");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return read_received_bytes(text, spec.shape.planes);
}

}  // namespace openmrc::lab
