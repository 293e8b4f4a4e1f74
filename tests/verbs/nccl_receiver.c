// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <string.h>

#include "tests/verbs/nccl_pattern.h"

enum { kUntouched = 0xee };

void check_immediate(const struct Side* side, const struct ibv_wc* wc, uint32_t qp) {
  const struct Plan expected = plan(wc->wr_id, side->options.message);
  const uint32_t size = expected.count == 1 ? expected.sizes[0] : 0;
  uint32_t length = share(size, qp, side->options.qps).length;
  if (expected.is_routed) length = 0;
  if (expected.count > 1) length = expected.count * (uint32_t)sizeof(uint32_t);
  if ((wc->wc_flags & IBV_WC_WITH_IMM) == 0 || ntohl(wc->imm_data) != size ||
      wc->byte_len != length) {
    fail("receive %llu on queue pair %u: immediate %u with %u bytes, not %u with %u",
         (unsigned long long)wc->wr_id, qp, ntohl(wc->imm_data), wc->byte_len, size, length);
  }
}

static void post_receives(struct Side* side, uint64_t number) {
  for (uint32_t i = 0; i < side->options.qps; ++i) {
    struct ibv_recv_wr receive = {.wr_id = number};
    struct ibv_recv_wr* bad = NULL;
    const int error = ibv_post_recv(side->qps[i], &receive, &bad);
    if (error != 0) fail_call("ibv_post_recv", error);
  }
}

static void advertise(struct Side* side, uint64_t number) {
  const uint64_t slot = number % kFifoSlots;
  const struct Plan expected = plan(number, side->options.message);
  const uint32_t room = side->options.message / (expected.count > 1 ? kGroupMax : 1);
  memset(buffer(side, number, 0), kUntouched, side->options.message + kGuard);
  struct FifoElement* const elements = (*side->fifo)[slot];
  for (uint32_t i = 0; i < expected.count; ++i) {
    elements[i] = (struct FifoElement){.address = (uintptr_t)buffer(side, number, i),
                                       .size = room,
                                       .keys = {side->data_mr->rkey},
                                       .count = expected.count,
                                       .tag = i,
                                       .index = number + 1};
  }
  struct ibv_sge piece = {.addr = (uintptr_t)elements,
                          .length = expected.count * (uint32_t)sizeof(*elements),
                          .lkey = side->fifo_mr->lkey};
  struct ibv_send_wr write = {
      .wr_id = number,
      .sg_list = &piece,
      .num_sge = 1,
      .opcode = IBV_WR_RDMA_WRITE,
      // Once around the FIFO, so that the others' places in the send queue come free.
      .send_flags = slot == 0 ? IBV_SEND_SIGNALED : 0,
      .wr.rdma = {side->peer.shared + slot * sizeof((*side->fifo)[0]), side->peer.shared_key}};
  rc_post(side->qps[0], &write);
}

// As NCCL makes sure that data is in a GPU: it reads back.
static void flush(struct Side* side, const char* data) {
  struct ibv_sge piece = {.addr = (uintptr_t)&side->flushed,
                          .length = sizeof(side->flushed),
                          .lkey = side->flushed_mr->lkey};
  struct ibv_send_wr read = {.sg_list = &piece,
                             .num_sge = 1,
                             .opcode = IBV_WR_RDMA_READ,
                             .send_flags = IBV_SEND_SIGNALED,
                             .wr.rdma = {(uintptr_t)data, side->data_mr->rkey}};
  side->flushed = 0;
  side->flush_pending = 1;
  rc_post(side->flush, &read);
  while (side->flush_pending) turn(side, 1);
  if (memcmp(&side->flushed, data, sizeof(side->flushed)) != 0) fail("a flush read other bytes");
}

static uint64_t check_data(struct Side* side, uint64_t number) {
  const struct Plan expected = plan(number, side->options.message);
  uint64_t sum = 0;
  for (uint32_t i = 0; i < expected.count; ++i) {
    const char* const data = buffer(side, number, i);
    const uint32_t size = expected.sizes[i];
    if (expected.count > 1 && (*side->records)[number % kFifoSlots][i] != size) {
      fail("receive %llu: the size of message %u is wrong", (unsigned long long)number, i);
    }
    const size_t wrong = first_difference(data, size, seed(number, i));
    if (wrong != size) {
      fail("receive %llu, message %u: byte %zu is wrong", (unsigned long long)number, i, wrong);
    }
    for (uint32_t j = size; j < size + kGuard; ++j) {
      if ((unsigned char)data[j] != kUntouched) fail("bytes behind a message were written");
    }
    sum += size;
  }
  return sum;
}

static int is_due(const struct Side* side, uint64_t number, uint64_t done) {
  if (number >= side->receives || number >= done + kDepth) return 0;
  const double part = (double)number / (double)side->receives;
  return now_seconds() >= side->begin + side->options.seconds * part;
}

uint64_t receive_messages(struct Side* side) {
  uint64_t moved = 0;
  uint64_t posted = 0;
  for (uint64_t done = 0; done < side->receives; ++done) {
    while (all_ended(side) <= done) {
      for (; is_due(side, posted, done); ++posted) {
        post_receives(side, posted);
        advertise(side, posted);
      }
      turn(side, 1);
    }
    flush(side, buffer(side, done, 0));
    moved += check_data(side, done);
  }
  return moved;
}
