// SPDX-License-Identifier: BSD-3-Clause
// Feeds bytes to the readers of JSON files: a result of the simulator and its origin, the
// description of a lab.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "openmrc/lab/spec.h"
#include "openmrc/sim/result/origin.h"
#include "openmrc/sim/result/result_json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace openmrc;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto result = sim::read_result_json(text)) {
    const std::string written = sim::write_result_json(*result);
    const auto again = sim::read_result_json(written);
    FUZZ_CHECK(again.has_value());
    FUZZ_CHECK(sim::write_result_json(*again) == written);
  } else {
    FUZZ_CHECK(!result.error().empty());
  }
  if (const auto origin = sim::read_origin(text); origin && *origin) {
    const auto again = sim::read_origin("{\"origin\":" + sim::origin_json(**origin) + "}");
    FUZZ_CHECK(again.has_value() && *again == *origin);
  }
  if (const auto spec = lab::spec_from_json(text)) {
    FUZZ_CHECK(lab::spec_from_json(lab::to_json(*spec)).has_value());
  }
  return 0;
}
