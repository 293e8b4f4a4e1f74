// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "openmrc/datapath/counters.h"
#include "openmrc/datapath/error.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/open.h"

namespace openmrc::datapath {

// A UDP socket has one source port, and that is half of an EV: so a plane has a socket for each,
// opened when it is first used. When there are too many, the one unused for longest is closed;
// peers choose some of the EVs that we send with, and must not exhaust us.
class SourcePorts {
 public:
  static constexpr std::size_t kSocketsMax = 320;  // 256 EVs and those of answers

  // All three outlive it.
  SourcePorts(const Settings& settings, const Port& port, Counters& counters,
              std::vector<Error>& notices)
      : settings_(settings), port_(port), counters_(counters), notices_(notices) {}

  struct Socket {
    int descriptor = -1;            // -1: there can be none, which has been said
    std::uint8_t traffic_byte = 0;  // what packets get that ask for no other
  };
  // One that is opened now gets `traffic_byte`: packets of one EV are mostly of one class, and it
  // takes time to tell the kernel with each.
  Socket socket_for(std::uint16_t source_port, std::uint8_t traffic_byte);

 private:
  struct Entry {
    FileDescriptor socket{};
    std::uint8_t traffic_byte = 0;
    std::uint64_t last_use = 0;
    std::uint32_t tries_left_out = 0;  // after a failure the kernel is not asked each time
  };

  void open(std::uint16_t source_port, Entry& entry);
  void close_oldest();
  void say(std::uint16_t source_port, int error_number);

  const Settings& settings_;
  const Port& port_;
  Counters& counters_;
  std::vector<Error>& notices_;
  std::unordered_map<std::uint16_t, Entry> entries_{};
  std::uint64_t uses_ = 0;
  bool has_said_ = false;
};

}  // namespace openmrc::datapath
