// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/doctor/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/mrc/colour.h"

namespace openmrc::tools::doctor {
namespace {

Colour colour_of(Grade grade) {
  switch (grade) {
    case Grade::kOk: return Colour::kGood;
    case Grade::kWarn: return Colour::kWarning;
    case Grade::kFail: return Colour::kBad;
  }
  return Colour::kStrong;
}

}  // namespace

std::string_view name_of(Grade grade) {
  switch (grade) {
    case Grade::kOk: return "ok";
    case Grade::kWarn: return "warn";
    case Grade::kFail: return "fail";
  }
  return {};
}

std::string report_text(const Findings& findings, bool coloured) {
  std::string text;
  for (const Finding& finding : findings.all()) {
    const std::string grade = fmt::format("{:<4}", name_of(finding.grade));
    text += fmt::format("{}  {}: {}{}{}\n", painted(grade, colour_of(finding.grade), coloured),
                        finding.check, finding.found,
                        finding.remedy.empty() ? "" : "; fix: ", finding.remedy);
  }
  const auto count = [&](Grade grade) { return findings.count(grade); };
  return text + fmt::format("{} passed, {} warning{}, {} failed\n", count(Grade::kOk),
                            count(Grade::kWarn), count(Grade::kWarn) == 1 ? "" : "s",
                            count(Grade::kFail));
}

std::string report_json(const Findings& findings) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Finding& finding : findings.all()) {
    list.push_back({{"grade", name_of(finding.grade)},
                    {"check", finding.check},
                    {"found", finding.found},
                    {"remedy", finding.remedy}});
  }
  const Json report{{"ok", findings.count(Grade::kOk)},
                    {"warn", findings.count(Grade::kWarn)},
                    {"fail", findings.count(Grade::kFail)},
                    {"findings", list}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace openmrc::tools::doctor
