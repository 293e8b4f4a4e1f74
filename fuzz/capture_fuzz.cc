// SPDX-License-Identifier: BSD-3-Clause
// Feeds bytes to the capture reader as a file, and each frame that comes out to the dissection.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuzz/fuzz_check.h"
#include "openmrc/wire/capture/capture_reader.h"
#include "openmrc/wire/capture/dissection.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace openmrc;
  const auto raw = std::as_bytes(std::span(data, size));
  const std::vector<std::byte> file(raw.begin(), raw.end());
  auto reader = wire::CaptureReader::open(file);
  if (!reader) {
    FUZZ_CHECK(!describe(reader.error().error).empty());
    return 0;
  }
  // Every frame and every other block takes at least 12 bytes of the file, so the loop ends.
  std::size_t frames = 0;
  for (;;) {
    const auto frame = reader->next();
    if (!frame || !*frame) break;
    FUZZ_CHECK(++frames <= size / 12);
    FUZZ_CHECK((*frame)->bytes.size() <= size);
    static_cast<void>(wire::dissect((*frame)->bytes, (*frame)->link_type, wire::WireSettings{}));
  }
  return 0;
}
