// SPDX-License-Identifier: BSD-3-Clause
// What is posted, what arrives and what is reported.
#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <mrc.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>

#include "openmrc/libmrc/test_loopback.h"

namespace openmrc::libmrc::test {
namespace {

void fill(std::vector<std::byte>& bytes, unsigned seed) {
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 13 + seed);
}

TEST(MrcWrite, ArrivesAndIsReported) {
  Opened device;
  End from(device);
  End to(device);
  connect(from, to);
  fill(from.memory, 1);
  ibv_sge part;
  ibv_send_wr wr = from.write_to(to, part, 40'000);
  wr.wr_id = 0xfeed'0000'0000'0001;
  ASSERT_EQ(from.post(wr), 0);
  const auto done = await(from.send_cq, 1);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].wr_id, 0xfeed'0000'0000'0001U);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(done[0].opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(done[0].qp_num, from.number());
  EXPECT_EQ(std::memcmp(from.memory.data(), to.memory.data(), 40'000), 0);
  EXPECT_EQ(to.memory[40'000], std::byte{0});
}

TEST(MrcWrite, WithImmediateTakesAReceive) {
  Opened device;
  End from(device);
  End to(device);
  connect(from, to);
  ASSERT_EQ(to.post_receive(0x1000), 0);
  ibv_sge part;
  ibv_send_wr wr = from.write_to(to, part, 8);
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  wr.imm_data = 0x01020304;  // four bytes, whatever they mean to the program
  ASSERT_EQ(from.post(wr), 0);
  const auto received = await(to.recv_cq, 1);
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].wr_id, 0x1000U);
  EXPECT_EQ(received[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(received[0].wc_flags & IBV_WC_WITH_IMM, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(received[0].imm_data, 0x01020304U);
  EXPECT_EQ(received[0].byte_len, 8U);
  EXPECT_EQ(await(from.send_cq, 1).at(0).opcode, IBV_WC_RDMA_WRITE) << "as for a plain write";
}

// WIRE-50
TEST(MrcWrite, MayHaveNoBytesAndThenNeedsNoKeys) {
  Opened device;
  End from(device);
  End to(device);
  connect(from, to);
  ASSERT_EQ(to.post_receive(7), 0);
  ibv_send_wr second{};
  second.wr_id = 2;
  second.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  second.send_flags = IBV_SEND_SIGNALED;
  ibv_send_wr first{};
  first.wr_id = 1;
  first.next = &second;
  first.opcode = IBV_WR_RDMA_WRITE;
  first.send_flags = IBV_SEND_SIGNALED;
  ASSERT_EQ(from.post(first), 0);
  const auto done = await(from.send_cq, 2);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].wr_id, 1U);
  EXPECT_EQ(done[1].wr_id, 2U);
  EXPECT_EQ(await(to.recv_cq, 1).at(0).byte_len, 0U);
}

TEST(MrcWrite, TakesInlineDataAtOnce) {
  Opened device;
  End from(device);
  End to(device);
  connect(from, to);
  char text[] = "inline";
  ibv_sge part{.addr = reinterpret_cast<std::uint64_t>(text), .length = 7, .lkey = 0};
  ibv_sge unused;
  ibv_send_wr wr = from.write_to(to, unused, 0);
  wr.sg_list = &part;
  wr.send_flags |= IBV_SEND_INLINE;
  ASSERT_EQ(from.post(wr), 0);
  std::memset(text, 'x', sizeof text);
  ASSERT_EQ(await(from.send_cq, 1).size(), 1U);
  EXPECT_STREQ(reinterpret_cast<const char*>(to.memory.data()), "inline");
  part.length = 129;
  EXPECT_EQ(from.post(wr), EINVAL) << "more than asked for";
}

TEST(MrcWrite, GathersFromSeveralPlaces) {
  Opened device;
  End from(device);
  End to(device);
  connect(from, to);
  fill(from.memory, 5);
  const auto base = reinterpret_cast<std::uint64_t>(from.memory.data());
  ibv_sge parts[3] = {{.addr = base + 100, .length = 10, .lkey = from.mr->lkey},
                      {.addr = base + 500, .length = 2000, .lkey = from.mr->lkey},
                      {.addr = base, .length = 1, .lkey = from.mr->lkey}};
  ibv_send_wr wr = from.write_to(to, parts[0], 10);
  parts[0].addr = base + 100;
  wr.sg_list = parts;
  wr.num_sge = 3;
  ASSERT_EQ(from.post(wr), 0);
  ASSERT_EQ(await(from.send_cq, 1).at(0).byte_len, 2011U);
  EXPECT_EQ(std::memcmp(to.memory.data(), from.memory.data() + 100, 10), 0);
  EXPECT_EQ(std::memcmp(to.memory.data() + 10, from.memory.data() + 500, 2000), 0);
  EXPECT_EQ(to.memory[2010], from.memory[0]);
}

TEST(MrcWrite, WithoutSignalGivesItsPlaceBackUnpolled) {
  Opened device;
  End from(device);
  End to(device);
  connect(from, to);
  ibv_sge part;
  ibv_send_wr wr = from.write_to(to, part, 8);
  wr.send_flags = 0;
  int posted = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (posted < 1000 && std::chrono::steady_clock::now() < end) {
    const int error = from.post(wr);
    ASSERT_TRUE(error == 0 || error == ENOMEM) << error;
    if (error == 0) ++posted;
  }
  EXPECT_EQ(posted, 1000);
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr_id = 99;
  while (from.post(wr) == ENOMEM) std::this_thread::yield();
  const auto done = await(from.send_cq, 1);
  ASSERT_EQ(done.size(), 1U);
  EXPECT_EQ(done[0].wr_id, 99U) << "and only that";
}

TEST(MrcWrite, BeyondTheDepthNamesTheFirstThatWasNotPosted) {
  Opened device;
  QueuePairWish wish;
  wish.cap.max_send_wr = 4;
  End from(device, wish);
  from.connect_to(0x12345);  // which does not exist
  ibv_sge part;
  std::array<ibv_send_wr, 6> list;
  list.fill(from.write_to(from, part, 8));
  for (std::size_t i = 0; i + 1 < list.size(); ++i) list[i].next = &list[i + 1];
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(mrc_post_send(from.qp, list.data(), &bad), ENOMEM);
  EXPECT_EQ(bad, &list[4]);
}

// QP-22
TEST(MrcWrite, RefusesWhatItCannotDo) {
  Opened device;
  End from(device);
  End to(device);
  ibv_sge part;
  ibv_send_wr wr = from.write_to(to, part, 8);
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(mrc_post_send(from.qp, &wr, &bad), EINVAL) << "not connected";
  EXPECT_EQ(bad, &wr);
  EXPECT_EQ(from.post_receive(1), EINVAL) << "in RESET";
  connect(from, to);
  wr.opcode = IBV_WR_SEND;
  EXPECT_EQ(from.post(wr), EINVAL);
  wr.opcode = IBV_WR_RDMA_READ;
  EXPECT_EQ(from.post(wr), EINVAL);
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.num_sge = 5;
  EXPECT_EQ(from.post(wr), EINVAL);
  wr.num_sge = -1;
  EXPECT_EQ(from.post(wr), EINVAL);
}

TEST(MrcFailure, MemoryThatIsNotOursToSendEndsTheQueuePair) {
  Opened device;
  for (const int fault : {0, 1, 2}) {
    End from(device);
    End to(device);
    connect(from, to);
    ibv_sge part;
    ibv_send_wr second = from.write_to(to, part, 8);
    second.wr_id = 2;
    ibv_sge wrong;
    ibv_send_wr first = from.write_to(to, wrong, 8);
    first.next = &second;
    if (fault == 0) wrong.lkey ^= 1;
    if (fault == 1) wrong.addr += from.memory.size() - 7;
    if (fault == 2) wrong.length = static_cast<std::uint32_t>(from.memory.size() + 1);
    ASSERT_EQ(from.post(first), 0);
    const auto done = await(from.send_cq, 2);
    ASSERT_EQ(done.size(), 2U);
    EXPECT_EQ(done[0].status, IBV_WC_LOC_PROT_ERR);
    EXPECT_EQ(done[1].status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(from.state(), IBV_QPS_ERR);
  }
}

TEST(MrcFailure, APeerRefusesWhatItDidNotRegister) {
  Opened device;
  for (const int fault : {0, 1}) {
    End from(device);
    End to(device);
    connect(from, to);
    ibv_sge part;
    ibv_send_wr wr = from.write_to(to, part, 8);
    if (fault == 0) wr.wr.rdma.rkey ^= 0x100;
    if (fault == 1) wr.wr.rdma.remote_addr += to.memory.size() - 7;
    ASSERT_EQ(from.post(wr), 0);
    const auto done = await(from.send_cq, 1);
    ASSERT_EQ(done.size(), 1U);
    EXPECT_EQ(done[0].status, IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(from.state(), IBV_QPS_ERR);
  }
}

TEST(MrcFailure, SilenceIsReportedAsRetriesAndAsAnEvent) {
  Opened device;
  End from(device);
  from.connect_to(0x12345);  // which does not exist
  ibv_sge part;
  ibv_send_wr wr = from.write_to(from, part, 8);
  ASSERT_EQ(from.post(wr), 0);
  ASSERT_EQ(from.post(wr), 0);
  const auto done = await(from.send_cq, 2);
  ASSERT_EQ(done.size(), 2U);
  EXPECT_EQ(done[0].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(done[1].status, IBV_WC_WR_FLUSH_ERR);
  mrc_async_event event{};
  ASSERT_EQ(mrc_get_async_event(device.context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_QP_FATAL);
  EXPECT_EQ(event.element.qp, from.qp);
  std::atomic<bool> destroyed = false;
  std::thread destroyer([&] {
    EXPECT_EQ(mrc_destroy_qp(from.qp), 0);
    destroyed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(destroyed) << "before the event is acknowledged";
  mrc_ack_async_event(&event);
  destroyer.join();
  from.qp = nullptr;
}

// QP-35
TEST(MrcFailure, AnImmediateWithoutAReceiveIsRefused) {
  Opened device;
  End from(device);
  End to(device);
  connect(from, to);
  ibv_sge part;
  ibv_send_wr wr = from.write_to(to, part, 8);
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  ASSERT_EQ(from.post(wr), 0);
  EXPECT_EQ(await(from.send_cq, 1).at(0).status, IBV_WC_REM_INV_REQ_ERR);
}

// QP-41
TEST(MrcFailure, ErrorFlushesWhatIsPostedBeforeAndAfter) {
  Opened device;
  End a(device);
  a.connect_to(0x12345);
  ASSERT_EQ(a.post_receive(1), 0);
  ASSERT_EQ(a.post_receive(2), 0);
  ibv_sge part;
  ibv_send_wr wr = a.write_to(a, part, 8);
  wr.send_flags = 0;  // errors are told even to who asked for no completion
  ASSERT_EQ(a.post(wr), 0);
  ASSERT_EQ(a.to_state(IBV_QPS_ERR), 0);
  ASSERT_EQ(a.post(wr), 0);
  ASSERT_EQ(a.post_receive(3), 0);
  const auto sent = await(a.send_cq, 2);
  ASSERT_EQ(sent.size(), 2U);
  const auto received = await(a.recv_cq, 3);
  ASSERT_EQ(received.size(), 3U);
  for (const ibv_wc& one : sent) EXPECT_EQ(one.status, IBV_WC_WR_FLUSH_ERR);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(received[i].status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(received[i].wr_id, i + 1);
  }
}

// QP-42
TEST(MrcFailure, ResetForgetsWhatWasPosted) {
  Opened device;
  End a(device);
  End b(device);
  a.connect_to(0x12345);
  ASSERT_EQ(a.post_receive(1), 0);
  ibv_sge part;
  ibv_send_wr wr = a.write_to(b, part, 8);
  ASSERT_EQ(a.post(wr), 0);
  ASSERT_EQ(a.to_state(IBV_QPS_RESET), 0);
  EXPECT_TRUE(await(a.send_cq, 1, 0).empty());
  EXPECT_TRUE(await(a.recv_cq, 1, 0).empty());
  connect(a, b);  // and serves again
  ASSERT_EQ(a.post(wr), 0);
  EXPECT_EQ(await(a.send_cq, 1).at(0).status, IBV_WC_SUCCESS);
}

TEST(MrcLimits, MoreImmediatesThanThePeerHoldsWaitForTheirTurn) {
  Opened device;
  QueuePairWish wish;
  wish.attr.wimm = {.max_wimm = 2, .max_wimm_dest = 2};
  wish.mask = MRC_QP_MAX_WIMM | MRC_QP_MAX_WIMM_DEST;
  End from(device, wish);
  End to(device, wish);
  connect(from, to);
  for (std::uint64_t i = 0; i < 50; ++i) ASSERT_EQ(to.post_receive(i), 0);
  ibv_sge part;
  ibv_send_wr wr = from.write_to(to, part, 5000);
  wr.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  for (std::uint32_t i = 0; i < 50; ++i) {
    wr.imm_data = htonl(i);
    ASSERT_EQ(from.post(wr), 0);
  }
  const auto received = await(to.recv_cq, 50);
  ASSERT_EQ(received.size(), 50U);
  for (std::uint32_t i = 0; i < 50; ++i) {
    EXPECT_EQ(received[i].status, IBV_WC_SUCCESS);
    EXPECT_EQ(received[i].imm_data, htonl(i)) << "in the order of posting";
  }
}

TEST(MrcLimits, TheSmallestWindowCarriesALargeMessage) {
  Opened device;
  QueuePairWish wish;
  wish.attr.mpr = {.mpr = 1, .mpr_dest = 1};
  wish.mask = MRC_QP_MPR | MRC_QP_MPR_DEST;
  constexpr std::size_t kBytes = 1 << 20;  // a thousand packets; the window has 128
  End from(device, wish, kBytes);
  End to(device, wish, kBytes);
  connect(from, to);
  fill(from.memory, 9);
  ibv_sge part;
  ibv_send_wr wr = from.write_to(to, part, kBytes);
  ASSERT_EQ(from.post(wr), 0);
  ASSERT_EQ(await(from.send_cq, 1).at(0).status, IBV_WC_SUCCESS);
  EXPECT_TRUE(from.memory == to.memory);
}

TEST(MrcChannel, WakesWhoWaitsForACompletion) {
  Opened device;
  mrc_comp_channel* channel = nullptr;
  ASSERT_EQ(mrc_create_comp_channel(device.context, &channel), 0);
  int fd = -1;
  ASSERT_EQ(mrc_get_comp_channel_fd(channel, &fd), 0);
  {
    End from(device, {}, 1 << 12, channel);
    End to(device);
    connect(from, to);
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    mrc_cq* told = nullptr;
    void* cookie = nullptr;
    EXPECT_EQ(mrc_get_cq_event(channel, &told, &cookie), -1);
    EXPECT_EQ(errno, EAGAIN);

    ASSERT_EQ(mrc_req_notify_cq(from.send_cq, 0), 0);
    ibv_sge part;
    ibv_send_wr wr = from.write_to(to, part, 8);
    ASSERT_EQ(from.post(wr), 0);
    pollfd waiting{.fd = fd, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&waiting, 1, 10'000), 1);
    ASSERT_EQ(mrc_get_cq_event(channel, &told, &cookie), 0);
    EXPECT_EQ(told, from.send_cq);
    EXPECT_EQ(cookie, &from);
    EXPECT_EQ(await(from.send_cq, 1).size(), 1U);

    ASSERT_EQ(from.post(wr), 0);  // not asked for
    ASSERT_EQ(await(from.send_cq, 1).size(), 1U);
    EXPECT_EQ(poll(&waiting, 1, 0), 0) << "one event for one request";
    mrc_ack_cq_events(from.send_cq, 1);
  }
  EXPECT_EQ(mrc_destroy_comp_channel(channel), 0);
}

TEST(MrcChannel, AQueueWaitsForItsEventsToBeAcknowledged) {
  Opened device;
  mrc_comp_channel* channel = nullptr;
  ASSERT_EQ(mrc_create_comp_channel(device.context, &channel), 0);
  {
    End from(device, {}, 1 << 12, channel);
    from.connect_to(0x12345);
    ASSERT_EQ(mrc_req_notify_cq(from.recv_cq, 0), 0);
    ASSERT_EQ(from.post_receive(1), 0);
    ASSERT_EQ(from.to_state(IBV_QPS_ERR), 0);
    mrc_cq* told = nullptr;
    ASSERT_EQ(mrc_get_cq_event(channel, &told, nullptr), 0);
    ASSERT_EQ(told, from.recv_cq);
    ASSERT_EQ(mrc_destroy_qp(from.qp), 0);
    from.qp = nullptr;
    std::atomic<bool> acknowledged = false;
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      acknowledged = true;
      mrc_ack_cq_events(told, 1);
    });
    ASSERT_EQ(mrc_destroy_cq(from.recv_cq), 0);
    EXPECT_TRUE(acknowledged);
    later.join();
    from.recv_cq = mrc_create_cq(device.context, 1, nullptr, nullptr, 0);
  }
  EXPECT_EQ(mrc_destroy_comp_channel(channel), 0);
}

TEST(MrcThreads, OnePostsWhileAnotherPolls) {
  Opened device;
  constexpr std::uint64_t kWrites = 5000;
  End from(device);
  End to(device);
  connect(from, to);
  std::thread poster([&] {
    ibv_sge part;
    ibv_send_wr wr = from.write_to(to, part, 100);
    for (std::uint64_t i = 0; i < kWrites;) {
      wr.wr_id = i;
      const int error = from.post(wr);
      if (error == 0)
        ++i;
      else if (error == ENOMEM)
        std::this_thread::yield();
      else
        return;
    }
  });
  const auto done = await(from.send_cq, kWrites, 60);
  poster.join();
  ASSERT_EQ(done.size(), kWrites);
  for (std::uint64_t i = 0; i < kWrites; ++i) ASSERT_EQ(done[i].wr_id, i);
}

long resident_kb() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return 0;
}

// OPENMRC_CYCLES=1000000 is the soak.
TEST(MrcLifetime, CreatingConnectingAndDestroyingLeavesNothingBehind) {
  Opened device;
  const char* wish = std::getenv("OPENMRC_CYCLES");
  const long cycles = wish != nullptr ? std::stol(wish) : 20000;
  End other(device);
  mrc_cq* cq = mrc_create_cq(device.context, 16, nullptr, nullptr, 0);
  const auto cycle = [&] {
    mrc_qp_init_attr init{.qp_context = nullptr,
                          .send_cq = cq,
                          .recv_cq = cq,
                          .cap = {4, 4, 1, 1, 0},
                          .sq_sig_all = 0,
                          .pd = device.pd,
                          .send_ops_flags = 0,
                          .protocol_version = MRC_PROTOCOL_VERSION_0};
    mrc_qp* qp = mrc_create_qp(device.context, &init);
    ASSERT_NE(qp, nullptr);
    ibv_qp_attr attr = other.receive_attributes(other.number());
    attr.qp_state = IBV_QPS_INIT;
    ASSERT_EQ(mrc_modify_qp(qp, &attr, IBV_QP_STATE, nullptr, 0), 0);
    attr.qp_state = IBV_QPS_RTR;
    ASSERT_EQ(mrc_modify_qp(qp, &attr, End::kReceiveMask, nullptr, 0), 0);
    attr.qp_state = IBV_QPS_RTS;
    ASSERT_EQ(mrc_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN, nullptr, 0), 0);
    ASSERT_EQ(mrc_destroy_qp(qp), 0);
  };
  for (long i = 0; i < cycles / 10; ++i) cycle();  // pools grow to what they need
  const long before = resident_kb();
  for (long i = 0; i < cycles; ++i) cycle();
  if (!kIsSanitized) {
    EXPECT_LT(resident_kb() - before, 2048) << "after " << cycles << " cycles";
  }
  EXPECT_EQ(mrc_destroy_cq(cq), 0);
}

}  // namespace
}  // namespace openmrc::libmrc::test
