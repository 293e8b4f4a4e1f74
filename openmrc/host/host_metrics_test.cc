// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "openmrc/host/host.h"
#include "openmrc/host/host_values.h"
#include "openmrc/host/test_host.h"

namespace openmrc::host {
namespace {

HostValues values_of(const Host& host) {
  HostValues values;
  host.add_counters(values);
  host.add_gauges(values);
  return values;
}

TEST(HostMetrics, CountPacketsBytesPeersAndPathsByPlane) {
  Side from(loopback_config(Progress::kSleep));
  Side to(loopback_config(Progress::kSleep));
  const auto sender = from.make_queue_pair();
  const auto receiver = to.make_queue_pair();
  EXPECT_EQ(values_of(*from.host).at(HostValues::place(Gauge::kPeers)), 0U);
  connect(*sender, *receiver);
  const RemoteMemory remote = to.region->remote();
  ASSERT_TRUE(sender->post_write(
      {.id = 7, .data = from.memory, .remote_address = remote.address, .rkey = RKey(remote.rkey)}));
  ASSERT_EQ(wait_for(*from.queue, 1).size(), 1U);

  const HostValues sent = values_of(*from.host);
  const HostValues received = values_of(*to.host);
  const auto of = [](const HostValues& values, auto... what) {
    return values.at(HostValues::place(what...));
  };
  EXPECT_GE(of(sent, PlaneValue::kSentBytes, 0U), from.memory.size());
  EXPECT_EQ(of(sent, PlaneValue::kSentBytes, 0U), of(sent, datapath::Count::kBytesSent));
  EXPECT_EQ(of(sent, PlaneValue::kSentPackets, 0U), of(sent, datapath::Count::kPacketsSent));
  // Some came to the other host, which has the same port, and were forwarded.
  EXPECT_GE(of(received, PlaneValue::kReceivedBytes, 0U) + of(sent, PlaneValue::kReceivedBytes, 0U),
            from.memory.size());
  EXPECT_GE(
      of(received, PlaneValue::kReceivedPackets, 0U) + of(received, datapath::Count::kForwardedIn),
      of(received, datapath::Count::kPacketsReceived));
  EXPECT_EQ(of(sent, PlaneValue::kSentBytes, 1U), 0U);
  EXPECT_EQ(of(sent, Gauge::kPeers), 1U);
  EXPECT_EQ(of(sent, Gauge::kQueuePairs), 1U);
  EXPECT_EQ(of(sent, core::EvState::kGood, 0U), 4U);
  EXPECT_EQ(sent.at(HostValues::place_of_port_down(0)), 0U);
}

TEST(HostMetrics, SeeAPortThatIsDisabled) {
  Side side(loopback_config(Progress::kSleep));
  side.host->set_port_enabled(Plane(0), false);
  EXPECT_EQ(values_of(*side.host).at(HostValues::place_of_port_down(0)), 1U);
}

}  // namespace
}  // namespace openmrc::host
