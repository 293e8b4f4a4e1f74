// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// OpenMRC for applications: open the host, register memory, connect queue pairs, write.
// docs/guide/cpp.md has the rules, examples/cpp/write.cc is a whole program. C++23; the target in
// CMake is OpenMRC::openmrc, the name in pkg-config openmrc.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/core/context/work.h"
#include "openmrc/host/completion_queue.h"
#include "openmrc/host/config.h"
#include "openmrc/host/error.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/host.h"

namespace openmrc {

using host::Completion;
using host::CompletionQueue;
using host::Config;
using host::ConfigError;
using host::connection_info_from;
using host::ConnectionInfo;
using host::Error;
using host::ExchangeConnection;
using host::ExchangeError;
using host::ExchangeListener;
using host::Host;
using host::load_config;
using host::MemoryRegion;
using host::PostError;
using host::QueuePair;
using host::remote_memory_from;
using host::RemoteMemory;
using host::WorkStatus;
using host::Write;

// Any error of this interface, for people.
template <class E>
std::string error_text(const E& error) {
  return to_string(error);
}
inline std::string error_text(WorkStatus status) { return std::string(name(status)); }
inline std::string error_text(PostError error) {
  switch (error) {
    case PostError::kNoQueuePair: return "the queue pair does not exist";
    case PostError::kState: return "the queue pair is in the wrong state for it";
    case PostError::kAddressWraps: return "remote address and length exceed 64 bits";
    case PostError::kLimit: return "too much work is outstanding";
    case PostError::kTooLong: return "the datagram is longer than the MTU";
    case PostError::kDestination: return "the datagram cannot go to this destination";
  }
  return "unknown error";
}
inline std::string error_text(const std::vector<ConfigError>& errors) {
  std::string text;
  for (const ConfigError& error : errors) text += (text.empty() ? "" : "\n") + to_string(error);
  return text;
}

// For programs that cannot go on without it: the value, or the error on standard error and the end
// of the process. Others look into the result.
template <class T, class E>
T expect(Result<T, E> result) {
  if (!result) {
    std::fprintf(stderr, "%s\n", error_text(result.error()).c_str());
    std::exit(EXIT_FAILURE);
  }
  if constexpr (!std::is_void_v<T>) return *std::move(result);
}

}  // namespace openmrc
