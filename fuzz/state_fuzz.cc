// SPDX-License-Identifier: BSD-3-Clause
// Feeds bytes to the agent as its state file. What is restored is saved, and that is restored to
// the same.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "openmrc/agent/agent_state_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace openmrc;
  using namespace openmrc::libmrc;
  const auto own = std::make_shared<const core::EvProfile>(
      core::EvProfile::simple({.planes = 2, .evs_per_plane = 8, .seed = 1}));
  ProfileStore store({.planes = 2}, own);
  std::vector<std::string> left_out;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto restored = restore_state(text, store, left_out); !restored) {
    FUZZ_CHECK(!restored.error().empty());
    return 0;
  }
  const std::string saved = state_text(store);
  ProfileStore again({.planes = 2}, own);
  left_out.clear();
  FUZZ_CHECK(restore_state(saved, again, left_out).has_value());
  FUZZ_CHECK(left_out.empty());
  FUZZ_CHECK(state_text(again) == saved);
  return 0;
}
