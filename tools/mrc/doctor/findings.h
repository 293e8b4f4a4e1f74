// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "openmrc/host/config.h"

namespace openmrc::tools::doctor {

enum class Grade : std::uint8_t {
  kOk,
  kWarn,  // it works, not as well as it could
  kFail,  // it does not work
};

struct Finding {
  Grade grade = Grade::kOk;
  std::string check{};   // what was looked at: "p0: MTU"
  std::string found{};   // what is the case
  std::string remedy{};  // the command that fixes it, or what to do
};

class Findings {
 public:
  void ok(std::string check, std::string found) {
    all_.push_back({Grade::kOk, std::move(check), std::move(found), {}});
  }
  void warn(std::string check, std::string found, std::string remedy) {
    all_.push_back({Grade::kWarn, std::move(check), std::move(found), std::move(remedy)});
  }
  void fail(std::string check, std::string found, std::string remedy) {
    all_.push_back({Grade::kFail, std::move(check), std::move(found), std::move(remedy)});
  }
  [[nodiscard]] const std::vector<Finding>& all() const { return all_; }
  [[nodiscard]] std::size_t count(Grade grade) const;

 private:
  std::vector<Finding> all_;
};

// Each looks at one side of the machine.
void check_ports(const host::Config& config, Findings& findings);
void check_routes(const host::Config& config, Findings& findings);
// To another host: h3 of the fabric, or with mode = "udp" also a name or an address.
void check_peer(const host::Config& config, const std::string& peer, Findings& findings);
void check_sockets(const host::Config& config, Findings& findings);
void check_traffic_class(const host::Config& config, Findings& findings);
void check_machine(const host::Config& config, Findings& findings);

}  // namespace openmrc::tools::doctor
