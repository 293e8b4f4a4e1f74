// SPDX-License-Identifier: BSD-3-Clause
// Reliable connections: shared receive queues, completion channels, address handles.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "openmrc/verbs/test_rc.h"

namespace openmrc::libmrc::test {
namespace {

// ---- shared receive queues ----

class RcShared : public RcTest {
 protected:
  ibv_srq* make_shared(std::uint32_t requests) {
    ibv_srq_init_attr attributes{};
    attributes.attr.max_wr = requests;
    attributes.attr.max_sge = 1;
    return ibv_create_srq(pd, &attributes);
  }
};

TEST_F(RcShared, ManyTakeFromOne) {
  ibv_srq* srq = make_shared(64);
  ASSERT_NE(srq, nullptr);
  constexpr std::size_t kPairs = 4;
  {
    std::vector<std::unique_ptr<RcEnd>> senders;
    std::vector<std::unique_ptr<RcEnd>> receivers;
    for (std::size_t i = 0; i < kPairs; ++i) {
      senders.push_back(std::make_unique<RcEnd>(context, pd, RcOptions{}));
      receivers.push_back(std::make_unique<RcEnd>(context, pd, RcOptions{}, srq));
      senders[i]->to_init();
      receivers[i]->to_init();
      senders[i]->to_rtr(*receivers[i]);
      receivers[i]->to_rtr(*senders[i]);
      senders[i]->to_rts();
      receivers[i]->to_rts();
      senders[i]->fill(static_cast<unsigned>(i));
      EXPECT_EQ(receivers[i]->receive(1, {}), EINVAL);  // they are not its own
    }
    EXPECT_EQ(ibv_destroy_srq(srq), EBUSY);
    ibv_srq_attr few{};
    few.srq_limit = 4;
    ASSERT_EQ(ibv_modify_srq(srq, &few, IBV_SRQ_LIMIT), 0);
    constexpr std::size_t kEach = 5;
    for (std::size_t i = 0; i < kPairs * kEach; ++i) {
      ibv_sge at = receivers[0]->sge(i * 1000, 1000);
      ibv_recv_wr wr{.wr_id = i, .next = nullptr, .sg_list = &at, .num_sge = 1};
      ibv_recv_wr* bad = nullptr;
      ASSERT_EQ(ibv_post_srq_recv(srq, &wr, &bad), 0);
    }
    for (std::size_t n = 0; n < kEach; ++n) {
      for (auto& sender : senders) {
        ASSERT_EQ(sender->send(request(n, IBV_WR_SEND), {sender->sge(n * 1000, 1000)}), 0);
      }
    }
    std::vector<bool> taken(kPairs * kEach);
    for (std::size_t i = 0; i < kPairs; ++i) {
      EXPECT_EQ(completions(senders[i]->send_cq, kEach).size(), kEach);
      const auto received = completions(receivers[i]->recv_cq, kEach);
      ASSERT_EQ(received.size(), kEach);
      for (std::size_t n = 0; n < kEach; ++n) {
        EXPECT_EQ(received[n].status, IBV_WC_SUCCESS);
        EXPECT_EQ(received[n].qp_num, receivers[i]->qp->qp_num);
        EXPECT_TRUE(same(*senders[i], n * 1000, *receivers[0], received[n].wr_id * 1000, 1000));
        EXPECT_FALSE(taken.at(received[n].wr_id));
        taken.at(received[n].wr_id) = true;
      }
    }
    ibv_async_event event{};
    ASSERT_EQ(ibv_get_async_event(context, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
    EXPECT_EQ(event.element.srq, srq);
    ibv_ack_async_event(&event);
    // UCX waits for it before it destroys such a queue pair.
    ASSERT_EQ(receivers[0]->to_error(), 0);
    ASSERT_EQ(ibv_get_async_event(context, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
    EXPECT_EQ(event.element.qp, receivers[0]->qp);
    ibv_ack_async_event(&event);
  }
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(RcShared, LimitsAreTold) {
  EXPECT_EQ(make_shared(0), nullptr);
  EXPECT_EQ(make_shared(1 << 20), nullptr);
  ibv_srq* srq = make_shared(16);
  ibv_srq_attr attributes{};
  ASSERT_EQ(ibv_query_srq(srq, &attributes), 0);
  EXPECT_EQ(attributes.max_wr, 16U);
  EXPECT_EQ(attributes.srq_limit, 0U);
  attributes.srq_limit = 17;
  EXPECT_EQ(ibv_modify_srq(srq, &attributes, IBV_SRQ_LIMIT), EINVAL);
  EXPECT_EQ(ibv_modify_srq(srq, &attributes, IBV_SRQ_MAX_WR), EOPNOTSUPP);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

// ---- completion channels ----

class RcChannel : public RcTest {
 protected:
  RcChannel() : channel(ibv_create_comp_channel(context)) {
    a.emplace(context, pd, RcOptions{});
    b.emplace(context, pd, RcOptions{}, nullptr, channel);
    a->to_init();
    b->to_init();
    to_rts();
  }
  ~RcChannel() override {
    b.reset();
    EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
  }
  // Whether there is an event within so many milliseconds.
  bool is_ready(int timeout) const {
    pollfd waiting{.fd = channel->fd, .events = POLLIN, .revents = 0};
    return poll(&waiting, 1, timeout) == 1;
  }
  void expect_event(ibv_cq* of) {
    ibv_cq* cq = nullptr;
    void* cq_context = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel, &cq, &cq_context), 0);
    EXPECT_EQ(cq, of);
    EXPECT_EQ(cq_context, of->cq_context);
    ibv_ack_cq_events(cq, 1);
  }

  ibv_comp_channel* channel;
};

TEST_F(RcChannel, WakesOnceForEachRequest) {
  ASSERT_EQ(b->receive(1, {b->sge(0, 8)}), 0);
  ASSERT_EQ(b->receive(2, {b->sge(0, 8)}), 0);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 0), 0);
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  expect_event(b->recv_cq);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 1U);
  ASSERT_EQ(a->send(request(2, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 2U);
  EXPECT_FALSE(is_ready(20));
}

// perftest asks for the next one, and polls one, while there are two.
TEST_F(RcChannel, MissesNoneThatCameMeanwhile) {
  for (std::uint64_t id = 1; id <= 2; ++id) ASSERT_EQ(b->receive(id, {b->sge(0, 8)}), 0);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 0), 0);
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  ASSERT_EQ(a->send(request(2, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  EXPECT_EQ(completions(a->send_cq, 2).size(), 2U);
  expect_event(b->recv_cq);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 0), 0);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 1U);
  EXPECT_TRUE(is_ready(5000));
  expect_event(b->recv_cq);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 2U);
  // Nothing has come that was not polled.
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 0), 0);
  EXPECT_FALSE(is_ready(20));
}

TEST_F(RcChannel, DoesNotWaitIfItShallNot) {
  ASSERT_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  EXPECT_EQ(ibv_get_cq_event(channel, &cq, &cq_context), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(RcChannel, SolicitedCompletionsOnly) {
  for (std::uint64_t id = 1; id <= 2; ++id) ASSERT_EQ(b->receive(id, {b->sge(0, 8)}), 0);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 1), 0);
  ASSERT_EQ(a->send(request(1, IBV_WR_SEND), {a->sge(0, 8)}), 0);
  EXPECT_EQ(completion(b->recv_cq).wr_id, 1U);
  EXPECT_FALSE(is_ready(20));
  ASSERT_EQ(
      a->send(request(2, IBV_WR_SEND, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED), {a->sge(0, 8)}), 0);
  EXPECT_TRUE(is_ready(5000));
  expect_event(b->recv_cq);
}

TEST_F(RcChannel, FailuresWakeEverybody) {
  ASSERT_EQ(b->receive(1, {b->sge(0, 8)}), 0);
  ASSERT_EQ(ibv_req_notify_cq(b->recv_cq, 1), 0);
  ASSERT_EQ(b->to_error(), 0);
  EXPECT_TRUE(is_ready(5000));
  expect_event(b->recv_cq);
}

// ---- address handles ----

TEST_F(RcTest, AddressHandlesNeedAnAddress) {
  ibv_ah_attr address{};
  address.is_global = 1;
  address.port_num = 1;
  address.grh.sgid_index = kGidIndex;
  EXPECT_EQ(ibv_create_ah(pd, &address), nullptr);
  EXPECT_EQ(errno, EHOSTUNREACH);
  ASSERT_EQ(ibv_query_gid(context, 1, kGidIndex, &address.grh.dgid), 0);
  ibv_ah* ah = ibv_create_ah(pd, &address);
  ASSERT_NE(ah, nullptr);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
  address.is_global = 0;
  EXPECT_EQ(ibv_create_ah(pd, &address), nullptr);
}

}  // namespace
}  // namespace openmrc::libmrc::test
