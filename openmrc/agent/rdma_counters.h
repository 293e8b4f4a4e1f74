// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

// The names under which RDMA tools look for counters, below /sys/class/infiniband/DEVICE/ports/N.
// Only those that have a true meaning here; a name without one would be a counter that is always 0.
// The library for LD_PRELOAD includes this, so there is nothing but names in it.
namespace openmrc::libmrc {

// In counters/, of every port. Data is in words of 4 bytes.
inline constexpr std::array<std::string_view, 7> kPortCounterNames{
    "port_xmit_data",       "port_rcv_data",       "port_xmit_packets", "port_rcv_packets",
    "unicast_xmit_packets", "unicast_rcv_packets", "port_xmit_discards"};

// In hw_counters/, of port 1 alone: they are of the whole device, and who adds up the ports must
// not count them once for each.
inline constexpr std::array<std::string_view, 7> kDeviceCounterNames{
    "packet_seq_err",   "local_ack_timeout_err",      "duplicate_request",   "rnr_nak_retry_err",
    "roce_adp_retrans", "np_ecn_marked_roce_packets", "rx_icrc_encapsulated"};

// How many names the two folders have together.
inline constexpr std::size_t kRdmaCounters = kPortCounterNames.size() + kDeviceCounterNames.size();

}  // namespace openmrc::libmrc
