// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/fabric/emit/device.h"
#include "openmrc/fabric/verify/found.h"
#include "openmrc/fabric/verify/verify.h"

// Switches that cannot be asked with iproute2: the tables that they themselves print, as files.
// Only routes and uSIDs are compared.
namespace openmrc::fabric {

using Prefixes = std::set<std::string, std::less<>>;

// `vtysh -c 'show ipv6 route json'`. It says nothing of flavours: a uSID that has any action is
// taken for the planned one.
struct FrrTables {
  std::vector<FoundRoute> installed{};
  Prefixes waiting{};  // zebra has them, and has not put them in
};
Result<FrrTables, std::string> read_frr_routes(std::string_view text);
std::vector<Finding> verify_frr(const Device& device, EmitKind kind, std::uint32_t block,
                                const FrrTables& tables);

// The databases of SONiC, each what the one before has become: what is configured, what FRR makes
// of it, what the ASIC was told. `sonic-db-dump -n NAME -y`, and for CONFIG_DB also config_db.json.
struct SonicTables {
  std::vector<FoundRoute> applied{};     // APPL_DB
  std::optional<Prefixes> configured{};  // CONFIG_DB, if it is known
  std::optional<Prefixes> in_asic{};     // ASIC_DB, if it is known
};
Result<std::vector<FoundRoute>, std::string> read_appl_db(std::string_view text);
Result<Prefixes, std::string> read_config_db(std::string_view text);
Result<Prefixes, std::string> read_asic_db(std::string_view text);

// Each finding names the layer that lost it, as far as more than one is known.
std::vector<Finding> verify_sonic(const Device& device, std::uint32_t block,
                                  const SonicTables& tables);

}  // namespace openmrc::fabric
