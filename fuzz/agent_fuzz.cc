// SPDX-License-Identifier: BSD-3-Clause
// Feeds bytes to the agent's side and to the client's side of the protocol between them. What is
// understood is written again, and that is understood in the same way.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "openmrc/agent/agent_protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace openmrc::libmrc;
  const std::string_view message(reinterpret_cast<const char*>(data), size);
  if (const auto request = decode_request(message)) {
    const std::string written = encode(*request);
    const auto again = decode_request(written);
    FUZZ_CHECK(again.has_value());
    FUZZ_CHECK(encode(*again) == written);
  } else {
    FUZZ_CHECK(!request.error().what.empty());
  }
  if (const auto said = decode_from_agent(message); !said) {
    FUZZ_CHECK(!said.error().what.empty());
  }
  return 0;
}
