// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "openmrc/base/time.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/host/agent_path.h"
#include "openmrc/host/home_process.h"
#include "openmrc/host/metrics_page.h"

namespace openmrc::host {

// The first message on a connection to the agent that is for this alone; the descriptor of a page
// comes with it. The agent says nothing to it: it watches the page until the connection ends, or
// ends it at once.
inline constexpr std::string_view kPublishMessage =
    R"({"body":{},"call":1,"request":"publish-metrics"})";

// Lets the node's agent see what this process counts. A thread copies the numbers to a page that
// both have, once in an interval; packets cost nothing. The agent notices the end of the process by
// the end of the connection.
//
// Numbers are those since the process began if the agent was there then, otherwise those since the
// agent was found: what an agent adds up never jumps when it is started.
class Publisher {
 public:
  // Called on the publisher's thread; adds to values that are 0.
  using Look = std::function<void(HostValues&)>;
  struct Options {
    std::string program{};
    std::size_t planes = 0;
    std::string socket = agent_socket_path();
    Duration interval = milliseconds(100);  // who compares two looks a second apart is 10 % off
  };

  // Throws std::system_error if there is no thread for it.
  Publisher(Options options, Look look);
  // The last numbers are published.
  ~Publisher();
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

 private:
  void run();
  // False: to end.
  [[nodiscard]] bool wait();
  void publish();
  void connect();
  [[nodiscard]] bool hand_over();

  const HomeProcess home_;
  const Options options_;
  const Look look_;
  datapath::FileDescriptor wake_;
  datapath::FileDescriptor socket_;
  std::optional<PublishedPage> page_;
  HostValues base_;  // subtracted from counters
  Instant connected_at_{};
  bool was_tried_ = false;
  std::thread thread_;
};

}  // namespace openmrc::host
