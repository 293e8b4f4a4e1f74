// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/fabric/fabric.h"
#include "openmrc/lab/spec.h"

namespace openmrc::lab {

// `mrc perf write-bw --verify` between two hosts of a lab. What it starts and writes is gone with
// it.
class DemoTraffic {
 public:
  // From `sender` to `receiver` for some seconds.
  DemoTraffic(const Spec& spec, fabric::HostIndex sender, fabric::HostIndex receiver,
              unsigned seconds);
  ~DemoTraffic();
  DemoTraffic(const DemoTraffic&) = delete;
  DemoTraffic& operator=(const DemoTraffic&) = delete;

  // Whether both programs still run.
  [[nodiscard]] bool running();
  // Waits for their end, and says what they said if they failed.
  [[nodiscard]] Result<void, std::string> finish(Duration at_most);

  // Messages that arrived and were compared byte by byte.
  [[nodiscard]] std::uint64_t verified() const;
  [[nodiscard]] std::string timeline_file() const { return folder_ / "timeline.csv"; }

 private:
  struct Program {
    pid_t pid = 0;  // 0: it has ended
    int exit_code = 0;
    std::filesystem::path output;
  };
  void start(const Spec& spec, fabric::HostIndex host, const std::string& name,
             std::vector<std::string> arguments);
  static void look(Program& program);

  std::filesystem::path folder_;
  std::vector<Program> programs_;
};

}  // namespace openmrc::lab
