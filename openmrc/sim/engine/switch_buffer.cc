// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/sim/engine/switch_buffer.h"

namespace openmrc::sim {

SwitchBuffer::SwitchBuffer(const Network& network, bool is_t0, std::uint32_t ports)
    : pfc_(network.scenario().switches.pfc),
      counts_(pfc_ || network.scenario().switches.buffer_bytes != 0),
      alpha_percent_(network.scenario().switches.alpha_percent),
      pfc_alpha_percent_(network.scenario().switches.pfc_alpha_percent) {
  const std::uint32_t all = network.scenario().switches.buffer_bytes;
  if (!counts_) return;
  links_.resize(ports);
  for (std::uint32_t i = 0; i < ports; ++i) {
    const bool from_host = is_t0 && i < network.hosts_per_rack();
    links_[i].pause_bytes = network.pause_bytes(from_host);
  }
  if (all == 0) return;
  shared_bytes_ = all;
  if (!pfc_) return;
  // However many ports there are, half of the buffer is left to share.
  const std::uint32_t most = all / 2 / ports;
  for (std::uint32_t i = 0; i < ports; ++i) {
    const bool from_host = is_t0 && i < network.hosts_per_rack();
    links_[i].headroom_bytes = std::min(network.headroom_bytes(from_host), most);
    shared_bytes_ -= links_[i].headroom_bytes;
  }
}

std::uint32_t SwitchBuffer::part_of_free(std::uint32_t percent) const {
  const std::uint64_t seen = used_before_window_ + used_ - used_before_port_;
  const std::uint64_t free = seen < shared_bytes_ ? shared_bytes_ - seen : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(free * percent / 100, kUnlimited));
}

void SwitchBuffer::add_shared(std::uint32_t link, std::uint32_t bytes, bool is_data) {
  if (!is_data) return;
  Link& from = links_[link];
  if (pfc_ && !fits_shared(from, bytes)) {
    from.in_headroom += bytes;
  } else {
    used_ += bytes;
  }
  from.bytes += bytes;
}

// What leaves frees the headroom first.
void SwitchBuffer::remove_shared(std::uint32_t link, std::uint32_t bytes, bool is_data) {
  if (!is_data) return;
  Link& from = links_[link];
  const std::uint32_t of_headroom = std::min(from.in_headroom, bytes);
  from.in_headroom -= of_headroom;
  from.bytes -= bytes;
  used_ -= bytes - of_headroom;
}

}  // namespace openmrc::sim
