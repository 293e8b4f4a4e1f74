// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/mrc/top/exposition.h"

namespace openmrc::tools::top {

// What happened on a host between two looks. Rates are per second.
struct PlaneView {
  std::string plane{};
  std::string interface{};
  bool enabled = true;
  double processes_without_port = 0;  // that find it down
  double sent_bits = 0;
  double received_bits = 0;
  double data_packets = 0;
  double lost_packets = 0;
  double trimmed_packets = 0;
  std::array<double, 5> paths{};  // good, skip, suspect, assumed_bad, denied: now

  // Of the request packets that were sent.
  [[nodiscard]] double loss() const { return data_packets > 0 ? lost_packets / data_packets : 0; }
};

struct ProcessView {
  std::string pid{};
  std::string program{};
  double peers = 0;
  double queue_pairs = 0;
  double sent_bits = 0;
  double received_bits = 0;
  double lost_packets = 0;
  double timeouts = 0;
};

// A link that the host's mapper finds bad.
struct BadLinkView {
  std::string link{};
  std::string direction{};
  double loss = 0;  // of probes there and back, recently
  double sent = 0;  // since the first loss
  double lost = 0;
  double seconds = 0;
};

struct View {
  std::string host{};
  std::string version{};
  double seconds = 0;  // between the two
  double processes = 0;
  double peers = 0;
  double queue_pairs = 0;
  double queue_pairs_failed = 0;  // in all
  std::vector<PlaneView> planes{};
  std::vector<std::pair<std::string, double>> retransmits{};  // by reason
  bool maps = false;                                          // the mapper is enabled
  double bad_links = 0;                                       // that it has found
  std::vector<BadLinkView> worst{};                           // of them
  std::vector<ProcessView> shown{};                           // the busiest first
};

// A counter that went back, because the agent was started again, counts from 0.
View compare(const Exposition& before, const Exposition& now, double seconds);

std::string json_of(const View& view);
struct TextOptions {
  bool colour = false;
  std::size_t rows = 0;  // 0: as many as there are
};
std::string text_of(const View& view, const TextOptions& options);

}  // namespace openmrc::tools::top
