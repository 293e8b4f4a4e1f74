// SPDX-License-Identifier: BSD-3-Clause
#include <arpa/inet.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/verbs/nccl_pattern.h"

// The elements of a receive, which NCCL watches without a call of verbs if nothing is under way.
static void wait_for_buffers(struct Side* side, uint64_t number, const struct Plan* messages) {
  struct FifoElement* const elements = (*side->fifo)[number % kFifoSlots];
  for (uint32_t i = 0; i < messages->count; ++i) {
    const volatile uint64_t* const index = &elements[i].index;
    while (*index != number + 1) turn(side, all_ended(side) < number);
    atomic_thread_fence(memory_order_acquire);
    if (elements[i].count != messages->count || elements[i].tag != i || elements[i].address == 0 ||
        elements[i].size < messages->sizes[i] || elements[i].keys[0] == 0) {
      fail("receive %llu: element %u of the FIFO is not whole", (unsigned long long)number, i);
    }
  }
  patience_renew(&side->patience);
}

// The last request of a chain has the immediate: alone, empty, or with the sizes of all messages.
static void finish_chain(struct Side* side, struct ibv_send_wr* chain, struct ibv_sge* pieces,
                         uint64_t number, const struct Plan* messages) {
  const uint64_t slot = number % kFifoSlots;
  uint32_t last = messages->count - 1;
  if (messages->count > 1 || messages->is_routed) {
    chain[last].next = &chain[last + 1];
    chain[++last] = (struct ibv_send_wr){0};
  }
  if (messages->count > 1) {
    memcpy((*side->records)[slot], messages->sizes, sizeof(messages->sizes));
    pieces[last] =
        (struct ibv_sge){(uintptr_t)(*side->records)[slot],
                         messages->count * (uint32_t)sizeof(uint32_t), side->records_mr->lkey};
    chain[last].sg_list = &pieces[last];
    chain[last].num_sge = 1;
    chain[last].wr.rdma.remote_addr = side->peer.shared + slot * sizeof((*side->records)[0]);
    chain[last].wr.rdma.rkey = side->peer.shared_key;
  }
  chain[last].wr_id = number;
  chain[last].opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  chain[last].imm_data = htonl(messages->count == 1 ? messages->sizes[0] : 0);
  chain[last].send_flags = IBV_SEND_SIGNALED;
}

static void post_chain(struct Side* side, uint64_t number, const struct Plan* messages,
                       uint32_t qp) {
  const struct FifoElement* const elements = (*side->fifo)[number % kFifoSlots];
  struct ibv_send_wr chain[kGroupMax + 1] = {0};
  struct ibv_sge pieces[kGroupMax + 1];
  for (uint32_t i = 0; i < messages->count; ++i) {
    const struct Share mine = share(messages->sizes[i], qp, side->options.qps);
    pieces[i] = (struct ibv_sge){(uintptr_t)buffer(side, number, i) + mine.offset, mine.length,
                                 side->data_mr->lkey};
    chain[i].opcode = IBV_WR_RDMA_WRITE;
    chain[i].sg_list = mine.length > 0 ? &pieces[i] : NULL;
    chain[i].num_sge = mine.length > 0;
    chain[i].wr.rdma.remote_addr = elements[i].address + mine.offset;
    chain[i].wr.rdma.rkey = elements[i].keys[0];
    if (i + 1 < messages->count) chain[i].next = &chain[i + 1];
  }
  finish_chain(side, chain, pieces, number, messages);
  rc_post(side->qps[qp], chain);
}

uint64_t send_messages(struct Side* side) {
  uint64_t moved = 0;
  for (uint64_t number = 0; number < side->receives; ++number) {
    while (all_ended(side) + kDepth <= number) turn(side, 1);
    const struct Plan messages = plan(number, side->options.message);
    for (uint32_t i = 0; i < messages.count; ++i) {
      fill_pattern(buffer(side, number, i), messages.sizes[i], seed(number, i));
      moved += messages.sizes[i];
    }
    if (number == side->options.spoilt) *buffer(side, number, 0) ^= 1;
    wait_for_buffers(side, number, &messages);
    for (uint32_t i = 0; i < side->options.qps; ++i) post_chain(side, number, &messages, i);
    memset((*side->fifo)[number % kFifoSlots], 0, sizeof((*side->fifo)[0]));
  }
  while (all_ended(side) < side->receives) turn(side, 1);
  return moved;
}
