// SPDX-License-Identifier: BSD-3-Clause
// Feeds lines to a server of the exchange, with and without a shared secret, and each of them to
// whatever reads a line: nothing throws, what is refused has a reason, and what is understood is
// written again and understood in the same way.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fuzz/fuzz_check.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/exchange_handshake.h"
#include "tools/mrc/perf/plan.h"

namespace openmrc {
namespace {

using host::ExchangeError;

template <class Info, class Read>
void check_line(std::string_view line, Read read) {
  const Result<Info, ExchangeError> info = read(line);
  if (info) {
    const Result<Info, ExchangeError> again = read(to_json(*info));
    FUZZ_CHECK(again && *again == *info);
  } else {
    FUZZ_CHECK(!info.error().what.empty());
  }
}

void check_readers(std::string_view line) {
  check_line<host::ConnectionInfo>(line, host::connection_info_from);
  check_line<host::RemoteMemory>(line, host::remote_memory_from);
  check_line<std::vector<host::ConnectionInfo>>(line, host::connection_infos_from);
  check_line<std::vector<host::RemoteMemory>>(line, host::remote_memories_from);
  check_line<tools::PerfPlan>(line, tools::plan_from);
  if (const auto reason = host::refusal_in(line)) FUZZ_CHECK(!reason->empty());
}

// Takes lines until it is complete or refuses. Without the secret nobody completes it.
bool completes(std::string_view lines, const host::HandshakeSettings& settings) {
  host::ServerHandshake handshake(settings, host::ExchangeNonce{});
  while (!lines.empty() && !handshake.is_complete()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    const auto answer = handshake.take(std::string(line));
    if (answer) continue;
    FUZZ_CHECK(!answer.error().what.empty());
    FUZZ_CHECK(host::refusal_in(host::refusal_line(answer.error().what)).has_value());
    return false;
  }
  return handshake.is_complete();
}

Result<void, ExchangeError> check_plan(const std::string& line) {
  if (auto plan = tools::plan_from(line); !plan) return failure(std::move(plan.error()));
  return {};
}

}  // namespace
}  // namespace openmrc

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace openmrc;
  const std::string_view lines(reinterpret_cast<const char*>(data), size);
  check_readers(lines.substr(0, lines.find('\n')));
  completes(lines, {.lines = 3, .check_first = check_plan});
  static const host::ExchangeSecret secret("a secret that no fuzzer finds");
  FUZZ_CHECK(!completes(lines, {.lines = 3, .secret = &secret, .check_first = {}}));
  return 0;
}
