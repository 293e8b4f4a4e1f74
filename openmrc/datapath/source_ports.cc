// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/datapath/source_ports.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "openmrc/datapath/sockets.h"

namespace openmrc::datapath {
namespace {

constexpr std::uint32_t kTriesLeftOut = 64;

bool out_of_descriptors(int error_number) {
  return error_number == EMFILE || error_number == ENFILE;
}

}  // namespace

SourcePorts::Socket SourcePorts::socket_for(std::uint16_t source_port, std::uint8_t traffic_byte) {
  auto at = entries_.find(source_port);
  if (at == entries_.end()) {
    if (entries_.size() >= kSocketsMax) close_oldest();
    at = entries_.try_emplace(source_port).first;
  }
  Entry& entry = at->second;
  entry.last_use = ++uses_;
  if (!entry.socket.is_open()) {
    entry.traffic_byte = traffic_byte;
    open(source_port, entry);
  }
  return {.descriptor = entry.socket.get(), .traffic_byte = entry.traffic_byte};
}

void SourcePorts::open(std::uint16_t source_port, Entry& entry) {
  if (entry.tries_left_out > 0) {
    --entry.tries_left_out;
    return;
  }
  // Bound to our address, it would take packets away from the receiving socket, which is not.
  if (source_port == 0 || source_port == settings_.wire.udp_port.raw()) {
    entry.tries_left_out = kTriesLeftOut;
    return say(source_port, EINVAL);
  }
  auto socket = open_send_socket(settings_, port_, source_port, entry.traffic_byte);
  if (!socket && out_of_descriptors(socket.error()) && entries_.size() > 1) {
    say(source_port, socket.error());
    close_oldest();
    socket = open_send_socket(settings_, port_, source_port, entry.traffic_byte);
  }
  if (!socket) {
    entry.tries_left_out = kTriesLeftOut;
    return say(source_port, socket.error());
  }
  counters_.add(Count::kSocketsOpened);
  entry.socket = *std::move(socket);
}

void SourcePorts::close_oldest() {
  entries_.erase(std::ranges::min_element(entries_, {},
                                          [](const auto& entry) { return entry.second.last_use; }));
}

// Once; each packet that is not sent for it is counted.
void SourcePorts::say(std::uint16_t source_port, int error_number) {
  if (std::exchange(has_said_, true)) return;
  Error notice{.what = with_reason(fmt::format("cannot send from UDP port {} of {}", source_port,
                                               wire::to_string(port_.address)),
                                   error_number),
               .remedy = {}};
  if (out_of_descriptors(error_number)) {
    notice.remedy = fmt::format(
        "raise the limit of open files to at least {} for each port: ulimit -n, or LimitNOFILE=",
        kSocketsMax);
  } else if (error_number == EINVAL) {
    notice.remedy = "choose EVs whose low half is neither 0 nor the UDP port of packets";
  } else if (error_number == EACCES) {
    notice.remedy = "choose EVs whose low half is 1024 or more";
  } else if (error_number == EADDRINUSE) {
    notice.remedy = "choose other EVs: another user's program has this port";
  }
  notices_.push_back(std::move(notice));
}

}  // namespace openmrc::datapath
