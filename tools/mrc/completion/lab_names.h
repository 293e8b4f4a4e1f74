// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace openmrc::tools {

// Names of what there is at the moment; of a lab that is not there, none. `lab` is chosen as the
// verbs of `mrc lab` do it.
std::vector<std::string> hosts_of_lab(const std::string& lab);
std::vector<std::string> links_of_lab(const std::string& lab);
// Whatever can be cut: planes, hosts, switches, links.
std::vector<std::string> targets_of_lab(const std::string& lab);

}  // namespace openmrc::tools
