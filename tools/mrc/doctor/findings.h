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
  std::string check{};                  // what was looked at: "p0: MTU"
  std::string found{};                  // what is the case
  std::string remedy{};                 // the command that fixes it, or what to do
  std::vector<std::string> commands{};  // those of the remedy that can be run as they are
};

// What to do about a finding: words for people, or commands whose words have spaces between them
// and that need no shell.
class Remedy {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): most remedies are only text
  Remedy(std::string words) : text(std::move(words)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Remedy(const char* words) : text(words) {}
  // `before` and `after` stand around them for people.
  static Remedy by(std::vector<std::string> commands, std::string_view after = {},
                   std::string_view before = {});

  std::string text;
  std::vector<std::string> commands{};
};

class Findings {
 public:
  void ok(std::string check, std::string found) {
    add({Grade::kOk, std::move(check), std::move(found), {}, {}});
  }
  void warn(std::string check, std::string found, Remedy remedy) {
    add({Grade::kWarn, std::move(check), std::move(found), std::move(remedy.text),
         std::move(remedy.commands)});
  }
  void fail(std::string check, std::string found, Remedy remedy) {
    add({Grade::kFail, std::move(check), std::move(found), std::move(remedy.text),
         std::move(remedy.commands)});
  }
  void add(Finding finding) { all_.push_back(std::move(finding)); }
  [[nodiscard]] const std::vector<Finding>& all() const { return all_; }
  [[nodiscard]] std::size_t count(Grade grade) const;

 private:
  std::vector<Finding> all_;
};

// Each looks at one side of the machine.
void check_ports(const host::Config& config, Findings& findings);
void check_routes(const host::Config& config, Findings& findings);
// If this is a host of a lab.
void check_lab(const host::Config& config, Findings& findings);
// To another host: h3 of the fabric, or with mode = "udp" also a name or an address.
void check_peer(const host::Config& config, const std::string& peer, Findings& findings);
// Who shall have the socket buffers: who runs this, or users without privileges as well.
enum class BuffersFor : std::uint8_t { kSelf, kEveryone };
void check_sockets(const host::Config& config, BuffersFor who, Findings& findings);
void check_traffic_class(const host::Config& config, Findings& findings);
void check_machine(const host::Config& config, Findings& findings);

}  // namespace openmrc::tools::doctor
