// SPDX-License-Identifier: BSD-3-Clause
// Moves data between two processes by the pattern of NCCL's own transport. The receiver writes
// where its buffers are into a FIFO in the sender's memory; the sender, which watches the FIFO,
// answers with WRITEs on several queue pairs and one WRITE with immediate on each. Every byte is
// checked.
//
//   nccl_pattern                              receives
//   nccl_pattern -b 1073741824 10.255.0.1     sends, given the address of the receiver
#include "tests/verbs/nccl_pattern.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kMessageMin = 16384, kMessageMax = 1 << 24 };
static const uint64_t kBytesMax = UINT64_C(1) << 40;

char* buffer(const struct Side* side, uint64_t number, uint32_t part) {
  const size_t stride = side->options.message + kGuard;
  return side->data + number % kDepth * stride + (size_t)part * (side->options.message / kGroupMax);
}

uint64_t seed(uint64_t number, uint32_t part) { return number * kGroupMax + part; }

static int qp_place(const struct Side* side, uint32_t number) {
  for (uint32_t i = 0; i < side->options.qps; ++i) {
    if (side->qps[i]->qp_num == number) return (int)i;
  }
  fail("a completion of queue pair %u, which is not ours", number);
}

uint64_t all_ended(const struct Side* side) {
  uint64_t least = side->ended[0];
  for (uint32_t i = 1; i < side->options.qps; ++i) {
    if (side->ended[i] < least) least = side->ended[i];
  }
  return least;
}

static void take_completion(struct Side* side, const struct ibv_wc* wc) {
  if (wc->opcode == IBV_WC_RDMA_READ && side->flush_pending) {
    side->flush_pending = 0;
    return;
  }
  const int is_receive = wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM;
  const uint32_t qp = (uint32_t)qp_place(side, wc->qp_num);
  if (side->options.receiver == NULL && wc->opcode == IBV_WC_RDMA_WRITE) return;  // of the FIFO
  if (is_receive != (side->options.receiver == NULL) || wc->wr_id != side->ended[qp]) {
    fail("queue pair %u: completion of opcode %d, receive %llu, where %llu was next", qp,
         (int)wc->opcode, (unsigned long long)wc->wr_id, (unsigned long long)side->ended[qp]);
  }
  if (is_receive) check_immediate(side, wc, qp);
  ++side->ended[qp];
}

void turn(struct Side* side, int polls) {
  struct ibv_wc completions[kPolled];
  const int count = polls ? rc_poll(&side->rc, completions) : 0;
  for (int i = 0; i < count; ++i) take_completion(side, &completions[i]);
  if (count > 0) patience_renew(&side->patience);
  if (patience_is_over(&side->patience)) {
    fail("nothing happens; %llu of %llu receives are done", (unsigned long long)all_ended(side),
         (unsigned long long)side->receives);
  }
}

static void* allocate(size_t size) {
  void* const memory = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
  if (memory == NULL) fail("no memory");
  memset(memory, 0, size);
  return memory;
}

static void make_memory(struct Side* side) {
  const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                     IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_RELAXED_ORDERING;
  const size_t data = (size_t)kDepth * (side->options.message + kGuard);
  side->data = allocate(data);
  side->fifo = allocate(sizeof(Fifo));
  side->records = allocate(sizeof(Records));
  side->data_mr = rc_register(&side->rc, side->data, data, access);
  side->fifo_mr = rc_register(&side->rc, side->fifo, sizeof(Fifo), access);
  side->records_mr = rc_register(&side->rc, side->records, sizeof(Records), access);
}

// What the sender was asked for is what counts.
static void agree(struct Side* side, const struct Hello* mine) {
  send_all(side->tcp, mine, sizeof(*mine), "what is to be moved");
  receive_all(side->tcp, &side->peer, sizeof(side->peer), "what is to be moved");
}

static void meet(struct Side* side) {
  struct Options* const options = &side->options;
  side->tcp = options->receiver == NULL
                  ? meet_as_server(options->tcp_port, kPatience)
                  : meet_as_client(options->receiver, options->tcp_port, kPatience);
  const struct Hello wanted = {.bytes = options->bytes,
                               .message = options->message,
                               .qps = options->qps,
                               .seconds = options->seconds};
  agree(side, &wanted);
  if (options->receiver != NULL) return;
  options->bytes = side->peer.bytes;
  options->message = side->peer.message;
  options->qps = side->peer.qps;
  options->seconds = side->peer.seconds;
  if (options->bytes > kBytesMax || options->message < kMessageMin ||
      options->message > kMessageMax || options->qps < 1 || options->qps > kQpsMax) {
    fail("the sender wants %u bytes on %u queue pairs", options->message, options->qps);
  }
}

static void connect_flush(struct Side* side) {
  side->flush = rc_create(&side->rc, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  side->flushed_mr =
      rc_register(&side->rc, &side->flushed, sizeof(side->flushed), IBV_ACCESS_LOCAL_WRITE);
  const struct RcAddress self = rc_address(&side->rc, side->flush);
  rc_connect(&side->rc, side->flush, &self, 1);
}

static void connect_all(struct Side* side) {
  const int receives = side->options.receiver == NULL;
  const struct ibv_mr* const shared = receives ? side->records_mr : side->fifo_mr;
  struct Hello mine = {.shared = (uintptr_t)shared->addr, .shared_key = shared->rkey};
  for (uint32_t i = 0; i < side->options.qps; ++i) {
    side->qps[i] =
        rc_create(&side->rc, IBV_ACCESS_REMOTE_WRITE | (receives ? IBV_ACCESS_REMOTE_ATOMIC : 0));
    mine.addresses[i] = rc_address(&side->rc, side->qps[i]);
  }
  agree(side, &mine);
  for (uint32_t i = 0; i < side->options.qps; ++i) {
    rc_connect(&side->rc, side->qps[i], &side->peer.addresses[i], 1);
  }
  if (receives) connect_flush(side);
  wait_for_each_other(side->tcp, "the start");
}

static void end(struct Side* side) {
  const struct Verbs* const verbs = &side->rc.verbs;
  for (uint32_t i = 0; i < side->options.qps; ++i) verbs->destroy_qp(side->qps[i]);
  if (side->flush != NULL) verbs->destroy_qp(side->flush);
  if (side->flushed_mr != NULL) verbs->dereg_mr(side->flushed_mr);
  verbs->dereg_mr(side->records_mr);
  verbs->dereg_mr(side->fifo_mr);
  verbs->dereg_mr(side->data_mr);
  rc_close(&side->rc);
  free(side->records);
  free(side->fifo);
  free(side->data);
  close(side->tcp);
}

static struct Options read_options(int argc, char** argv) {
  struct Options options = {
      .bytes = 64 << 20, .message = 128 << 10, .qps = 4, .tcp_port = 18500, .spoilt = UINT64_MAX};
  for (int option = 0; (option = getopt(argc, argv, "b:m:q:s:P:X:")) != -1;) {
    switch (option) {
      case 'b': options.bytes = parse_number("-b", optarg, 1, kBytesMax); break;
      case 'm':
        options.message = (uint32_t)parse_number("-m", optarg, kMessageMin, kMessageMax);
        break;
      case 'q': options.qps = (uint32_t)parse_number("-q", optarg, 1, kQpsMax); break;
      case 'P': options.tcp_port = (uint16_t)parse_number("-P", optarg, 1024, 65535); break;
      case 's': options.seconds = (uint32_t)parse_number("-s", optarg, 0, 3600); break;
      case 'X': options.spoilt = parse_number("-X", optarg, 0, UINT64_MAX); break;
      default:
        fail(
            "usage: nccl_pattern [-b bytes] [-m message] [-q qps] [-s seconds] [-P port] "
            "[-X receive] [receiver]");
    }
  }
  if (optind < argc) options.receiver = argv[optind];
  return options;
}

int main(int argc, char** argv) {
  struct Side side = {.options = read_options(argc, argv)};
  watch_calls(kPatience);
  meet(&side);
  side.receives = count_receives(side.options.bytes, side.options.message);
  rc_open(&side.rc, 2 * kFifoSlots * (int)side.options.qps);
  make_memory(&side);
  connect_all(&side);
  printf("connected, %u queue pairs\n", side.options.qps);
  fflush(stdout);
  patience_begin(&side.patience, kPatience);
  side.begin = now_seconds();
  const int receives = side.options.receiver == NULL;
  const uint64_t moved = receives ? receive_messages(&side) : send_messages(&side);
  wait_for_each_other(side.tcp, "the end");
  printf("%s %llu bytes in %llu receives, %.2f s%s\n", receives ? "received" : "sent",
         (unsigned long long)moved, (unsigned long long)side.receives, now_seconds() - side.begin,
         receives ? ", every byte right" : "");
  end(&side);
  return 0;
}
