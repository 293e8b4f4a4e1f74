// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// OpenMRC for applications: open the host, register memory, connect queue pairs, write.
// examples/cpp/write.cc is a whole program.
#include "openmrc/host/completion_queue.h"
#include "openmrc/host/config.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/host.h"

namespace openmrc {

using host::Completion;
using host::CompletionQueue;
using host::Config;
using host::ConnectionInfo;
using host::Error;
using host::ExchangeConnection;
using host::ExchangeListener;
using host::Host;
using host::load_config;
using host::MemoryRegion;
using host::QueuePair;
using host::RemoteMemory;
using host::WorkStatus;
using host::Write;

}  // namespace openmrc
