// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "openmrc/agent/admission.h"
#include "openmrc/base/result.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/host/host_values.h"
#include "openmrc/host/metrics_page.h"

namespace openmrc::libmrc {

// Processes that publish at a time, as for Admission: what they cost is 10 KiB each.
inline constexpr AdmissionLimits kPublisherLimits{
    .clients_max = 4096, .reserved = 64, .per_user_max = 2048};

// Who is behind a connection, as the kernel says. A process of another PID namespace has 0.
struct Publication {
  pid_t process = 0;
  uid_t user = 0;
};

// What the processes of a host publish, and the sum of all that ever did. Any thread may ask.
//
// A sum never goes back: what a process had counted stays in it when the process ends, and a page
// whose numbers shrink, which no honest one does, adds nothing until they have grown again.
class Publishers {
 public:
  using Id = std::uint64_t;
  enum class Refusal : std::uint8_t { kNotShared, kSize, kVersion, kTooMany };
  static constexpr std::size_t kRefusals = 4;
  static constexpr std::array<std::string_view, kRefusals> kRefusalNames{"not_shared", "size",
                                                                         "version", "too_many"};

  explicit Publishers(uid_t own) : admission_(own, kPublisherLimits) {}

  // `id` is not in use. Refusals are counted.
  [[nodiscard]] Result<void, Refusal> add(Id id, const Publication& who,
                                          const datapath::FileDescriptor& page);
  // Looks a last time: memory outlives the process that wrote it.
  void remove(Id id);

  struct Totals {
    host::HostValues values{};
    std::size_t planes = 0;     // the most of any process so far
    std::size_t processes = 0;  // that publish now
    std::array<std::uint64_t, kRefusals> refused{};
  };
  [[nodiscard]] Totals totals();

  // Those of one process that opened several hosts are one.
  struct Process {
    pid_t process = 0;
    std::string program{};
    std::size_t planes = 0;
    host::HostValues values{};
  };
  [[nodiscard]] std::vector<Process> processes();

 private:
  struct Watched {
    Publication who{};
    host::WatchedPage page;
    host::HostValues last{};  // counters: the most that was seen
  };

  // With the lock.
  void look(Watched& watched);
  void look_at_all();
  Result<void, Refusal> refuse(Refusal reason);

  std::mutex mutex_;
  Admission admission_;
  std::map<Id, Watched> watched_;
  host::HostValues sums_;  // of counters, of all processes so far
  std::size_t planes_ = 0;
  std::array<std::uint64_t, kRefusals> refused_{};
};

}  // namespace openmrc::libmrc
