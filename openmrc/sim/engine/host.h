// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "openmrc/base/picoseconds.h"
#include "openmrc/sim/engine/worker.h"
#include "openmrc/sim/series/series_recorder.h"

namespace openmrc::sim {

// A host: a program, a transport and a NIC. Knows nothing of other hosts but what arrives.
class Host {
 public:
  virtual ~Host() = default;

  // Lives through the window: `arrivals` are the packets that come in it, in order.
  virtual void run(const Window& window, std::span<const Packet> arrivals, Worker& worker) = 0;
  // When it must be run even if nothing arrives; kNoTime: never.
  [[nodiscard]] virtual Picoseconds wake_at() const = 0;
  // Whether its program is done; and since when.
  [[nodiscard]] virtual bool done() const = 0;
  [[nodiscard]] virtual Picoseconds done_at() const = 0;
  // At the end of a run: counts what was not finished.
  virtual void finish(Worker& worker) = 0;

  // From now on counts what leaves by its links; and tells what it has at this moment.
  virtual void count_links() = 0;
  virtual void sample(SeriesRecorder& series) = 0;
};

}  // namespace openmrc::sim
