// SPDX-License-Identifier: BSD-3-Clause
// Writes of growing size from a client to a server, through libmrc and libibverbs alone. The calls
// come in the order in which public MRC programs make them, and ask for no more than those do: a
// library that runs this runs them.
//
//   benchmark_like -d openmrc0                  the server, which receives and checks
//   benchmark_like -d openmrc0 10.255.0.3       the client, which sends and prints a table
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <infiniband/verbs.h>
#include <mrc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support.h"

enum {
  kSendDepth = 128,   // as many requests as there may be at once
  kSignalEvery = 64,  // one of so many gives a completion
  kReceiveDepth = 1,  // one message with immediate for each size
  kCqEntries = 256,
  kWarmUps = 10,
  kPollAtOnce = 16,
  kPage = 4096,
};
static const uint64_t kReceiveId = 0x1000;
static const uint64_t kSignalId = 0xFFFFFFFF;
static const double kPatienceSeconds = 30;

struct Options {
  const char* device;  // NULL: the first there is
  const char* server;  // NULL: this is the server
  uint8_t ib_port;
  int gid_index;
  uint32_t mtu;
  uint32_t iterations;
  size_t size_max;
  uint16_t tcp_port;
};

// What each side tells the other over TCP.
struct Introduction {
  uint64_t address;
  uint64_t size_max;
  union ibv_gid gid;
  uint32_t qpn;
  uint32_t rkey;
  uint32_t psn;
};

struct Bench {
  struct Options options;
  struct ibv_device** devices;
  struct ibv_context* verbs;
  struct mrc_context* mrc;
  struct ibv_pd* pd;
  struct mrc_cq* send_cq;
  struct mrc_cq* recv_cq;
  struct mrc_qp* qp;
  struct ibv_mr* mr;
  char* memory;
  int tcp;
  struct Introduction here;
  struct Introduction there;
};

// --- The memory: what is sent, what is received, and two words that the other side writes. ------

static size_t words_at(size_t size_max) { return (2 * size_max + 7) & ~(size_t)7; }
static size_t memory_size(size_t size_max) { return words_at(size_max) + 2 * sizeof(uint64_t); }
static _Atomic uint64_t* word(const struct Bench* bench, int which) {
  return (_Atomic uint64_t*)(void*)(bench->memory + words_at(bench->options.size_max)) + which;
}
static uint64_t word_there(const struct Bench* bench, int which) {
  return bench->there.address + words_at(bench->options.size_max) +
         (uint64_t)which * sizeof(uint64_t);
}

// --- Options ------------------------------------------------------------------------------------

static _Noreturn void usage(int code) {
  fputs(
      "benchmark_like [options]          wait for a client, receive and check\n"
      "benchmark_like [options] <IPv4>   send to the server there\n"
      "  -d <name>   device (the first)\n"
      "  -i <port>   its port (1)\n"
      "  -g <index>  GID index (3)\n"
      "  -m <bytes>  path MTU: 256, 512, 1024, 2048 or 4096 (4096)\n"
      "  -n <count>  writes of each size (100)\n"
      "  -s <bytes>  the largest size; each is twice the one before (1048576)\n"
      "  -p <port>   TCP port (18185)\n",
      code == 0 ? stdout : stderr);
  exit(code);
}

static uint32_t parse_mtu(const char* text) {
  const uint64_t bytes = parse_number("-m", text, 256, 4096);
  if ((bytes & (bytes - 1)) != 0) fail("-m takes 256, 512, 1024, 2048 or 4096, not '%s'", text);
  return (uint32_t)bytes;
}

static enum ibv_mtu mtu_code(uint32_t bytes) {
  int code = IBV_MTU_256;
  while (bytes > 256) {
    bytes /= 2;
    ++code;
  }
  return (enum ibv_mtu)code;
}

static struct Options parse_options(int argc, char** argv) {
  struct Options options = {.ib_port = 1,
                            .gid_index = 3,
                            .mtu = 4096,
                            .iterations = 100,
                            .size_max = 1 << 20,
                            .tcp_port = 18185};
  for (int option; (option = getopt(argc, argv, "d:i:g:m:n:s:p:h")) != -1;) {
    switch (option) {
      case 'd': options.device = optarg; break;
      case 'i': options.ib_port = (uint8_t)parse_number("-i", optarg, 1, 255); break;
      case 'g': options.gid_index = (int)parse_number("-g", optarg, 0, 255); break;
      case 'm': options.mtu = parse_mtu(optarg); break;
      case 'n': options.iterations = (uint32_t)parse_number("-n", optarg, 1, 1 << 30); break;
      case 's': options.size_max = parse_number("-s", optarg, 1, 1 << 30); break;
      case 'p': options.tcp_port = (uint16_t)parse_number("-p", optarg, 1, 65535); break;
      case 'h': usage(0);
      default: usage(2);
    }
  }
  if (argc - optind > 1) usage(2);
  options.server = argv[optind];  // NULL behind the last
  return options;
}

// --- Setting up ---------------------------------------------------------------------------------

static void open_device(struct Bench* bench) {
  int count = 0;
  entering("ibv_get_device_list");
  bench->devices = ibv_get_device_list(&count);
  if (bench->devices == NULL) fail_call("ibv_get_device_list", errno);
  const char* const wanted = bench->options.device;
  struct ibv_device* device = NULL;
  for (int i = 0; i < count && device == NULL; ++i) {
    const char* const name = ibv_get_device_name(bench->devices[i]);
    if (wanted == NULL || strcmp(name, wanted) == 0) device = bench->devices[i];
  }
  if (device == NULL && wanted != NULL) fail("no device '%s' among %d", wanted, count);
  if (device == NULL) fail("there is no device");
  entering("ibv_open_device");
  bench->verbs = ibv_open_device(device);
  if (bench->verbs == NULL) fail_call("ibv_open_device", errno);
}

static void open_mrc(struct Bench* bench) {
  struct mrc_device_attr attributes = {0};
  int supported = 0;
  if (mrc_query_device(bench->verbs, &attributes, &supported) != 0) {
    fail_call("mrc_query_device", errno);
  }
  if (!supported) fail("the device does not speak MRC");
  // Public programs put the version of the protocol here; a library has to bear it.
  struct mrc_context_attr version = {.mrc_api_version_used = MRC_PROTOCOL_VERSION_1};
  entering("mrc_create_context");
  bench->mrc = mrc_create_context(bench->verbs, &version);
  if (bench->mrc == NULL) fail_call("mrc_create_context", errno);
}

static void create_queues(struct Bench* bench) {
  bench->pd = ibv_alloc_pd(bench->verbs);
  if (bench->pd == NULL) fail_call("ibv_alloc_pd", errno);
  bench->send_cq = mrc_create_cq(bench->mrc, kCqEntries, NULL, NULL, 0);
  if (bench->send_cq == NULL) fail_call("mrc_create_cq of the send queue", errno);
  bench->recv_cq = mrc_create_cq(bench->mrc, kCqEntries, NULL, NULL, 0);
  if (bench->recv_cq == NULL) fail_call("mrc_create_cq of the receive queue", errno);
  struct mrc_qp_init_attr wish = {
      .send_cq = bench->send_cq,
      .recv_cq = bench->recv_cq,
      .pd = bench->pd,
      .cap = {.max_send_wr = kSendDepth,
              .max_send_sge = 1,
              .max_recv_wr = kReceiveDepth,
              .max_recv_sge = 1},
  };
  entering("mrc_create_qp");
  bench->qp = mrc_create_qp(bench->mrc, &wish);
  if (bench->qp == NULL) fail_call("mrc_create_qp", errno);
  if (wish.cap.max_send_wr < kSendDepth || wish.cap.max_recv_wr < kReceiveDepth) {
    fail("mrc_create_qp gave %u send and %u receive requests, fewer than asked for",
         wish.cap.max_send_wr, wish.cap.max_recv_wr);
  }
}

static void register_memory(struct Bench* bench) {
  const size_t size = memory_size(bench->options.size_max);
  bench->memory = aligned_alloc(kPage, (size + kPage - 1) / kPage * kPage);
  if (bench->memory == NULL) fail_call("aligned_alloc", errno);
  memset(bench->memory, 0, size);
  bench->mr =
      ibv_reg_mr(bench->pd, bench->memory, size,
                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_RELAXED_ORDERING);
  if (bench->mr == NULL) fail_call("ibv_reg_mr", errno);
}

// Verbs calls return the error, and some libraries set errno alone.
static int error_of(int result) { return result > 0 ? result : errno; }

static void modify(struct Bench* bench, struct ibv_qp_attr* attributes, int mask,
                   const char* call) {
  struct mrc_qp_attr none = {0};
  entering(call);
  const int result = mrc_modify_qp(bench->qp, attributes, mask, &none, 0);
  if (result != 0) fail_call(call, error_of(result));
}

static void to_init(struct Bench* bench) {
  struct ibv_qp_attr attributes = {
      .qp_state = IBV_QPS_INIT,
      .pkey_index = 0,
      .port_num = bench->options.ib_port,
      .qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
  };
  modify(bench, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
         "mrc_modify_qp to INIT");
}

static void to_ready_to_receive(struct Bench* bench) {
  struct ibv_qp_attr attributes = {
      .qp_state = IBV_QPS_RTR,
      .path_mtu = mtu_code(bench->options.mtu),
      .ah_attr = {.is_global = 1,
                  .grh = {.dgid = bench->there.gid,
                          .sgid_index = (uint8_t)bench->options.gid_index},
                  .port_num = bench->options.ib_port},
      .dest_qp_num = bench->there.qpn,
      .rq_psn = bench->there.psn,
  };
  modify(bench, &attributes,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_PATH_MTU,
         "mrc_modify_qp to RTR");
}

static void to_ready_to_send(struct Bench* bench) {
  // Counts of 14 are out of range for verbs and without meaning for MRC, yet programs send them.
  struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_RTS,
                                   .sq_psn = bench->here.psn,
                                   .timeout = 7,
                                   .retry_cnt = 14,
                                   .rnr_retry = 14};
  modify(bench, &attributes,
         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT,
         "mrc_modify_qp to RTS");
}

static void introduce(struct Bench* bench) {
  const struct Options* const options = &bench->options;
  if (mrc_get_qpn(bench->qp, &bench->here.qpn) != 0) fail_call("mrc_get_qpn", errno);
  if (ibv_query_gid(bench->verbs, options->ib_port, options->gid_index, &bench->here.gid) != 0) {
    fail("ibv_query_gid of port %u, index %d: %s", options->ib_port, options->gid_index,
         strerror(errno));
  }
  bench->here.rkey = bench->mr->rkey;
  bench->here.address = (uintptr_t)bench->memory;
  bench->here.size_max = options->size_max;
  bench->here.psn = (uint32_t)((uint64_t)(now_seconds() * 1e9) & 0xFFFFFF);
  bench->tcp = options->server == NULL
                   ? meet_as_server(options->tcp_port, kPatienceSeconds)
                   : meet_as_client(options->server, options->tcp_port, kPatienceSeconds);
  send_all(bench->tcp, &bench->here, sizeof(bench->here), "what is known of this side");
  receive_all(bench->tcp, &bench->there, sizeof(bench->there), "what is known of the other side");
  if (bench->there.size_max != options->size_max) {
    fail("the other side was given -s %llu, this one -s %zu",
         (unsigned long long)bench->there.size_max, options->size_max);
  }
}

// --- Moving data --------------------------------------------------------------------------------

static void post_write(struct Bench* bench, struct ibv_send_wr* request, uintptr_t from,
                       size_t size, uint64_t to) {
  struct ibv_sge piece = {.addr = from, .length = (uint32_t)size, .lkey = bench->mr->lkey};
  request->sg_list = &piece;
  request->num_sge = 1;
  request->wr.rdma.remote_addr = to;
  request->wr.rdma.rkey = bench->there.rkey;
  struct ibv_send_wr* bad = NULL;
  entering("mrc_post_send");
  const int result = mrc_post_send(bench->qp, request, &bad);
  if (result != 0) {
    fail("mrc_post_send of %zu bytes, id %llu: %s", size, (unsigned long long)request->wr_id,
         strerror(error_of(result)));
  }
}

// Waits for at least one completion. `what` says in a message what was waited for.
static int poll_some(struct mrc_cq* cq, int most, struct ibv_wc* done, const char* what) {
  struct Patience patience;
  patience_begin(&patience, kPatienceSeconds);
  for (;;) {
    entering("mrc_poll_cq");
    const int count = mrc_poll_cq(cq, most, done);
    if (count < 0) fail_call("mrc_poll_cq", errno);
    for (int i = 0; i < count; ++i) {
      if (done[i].status != IBV_WC_SUCCESS) {
        fail("mrc_poll_cq: %s ended with %s", what, ibv_wc_status_str(done[i].status));
      }
    }
    if (count > 0) return count;
    if (patience_is_over(&patience)) {
      fail("mrc_poll_cq: no completion of %s within %.0f s", what, kPatienceSeconds);
    }
  }
}

static void expect_write(const struct ibv_wc* done, uint64_t id, const char* what) {
  if (done->opcode != IBV_WC_RDMA_WRITE) fail("%s completed with opcode %d", what, done->opcode);
  if (done->wr_id != id) {
    fail("%s has id %llu, its completion %llu", what, (unsigned long long)id,
         (unsigned long long)done->wr_id);
  }
}

static void warm_up(struct Bench* bench, size_t size) {
  for (uint64_t i = 0; i < kWarmUps; ++i) {
    struct ibv_send_wr request = {
        .wr_id = i, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED};
    post_write(bench, &request, (uintptr_t)bench->memory, size,
               bench->there.address + bench->options.size_max);
    struct ibv_wc done;
    poll_some(bench->send_cq, 1, &done, "a write to warm up");
    expect_write(&done, i, "a write to warm up");
  }
}

// Keeps the send queue full; returns the seconds it took.
static double write_many(struct Bench* bench, size_t size) {
  const uint64_t total = bench->options.iterations;
  uint64_t posted = 0;
  uint64_t completed = 0;
  const double begin = now_seconds();
  while (completed < total) {
    for (; posted < total && posted < completed + kSendDepth; ++posted) {
      const int last = posted == total - 1;
      const int signal = last || posted % kSignalEvery == kSignalEvery - 1;
      struct ibv_send_wr request = {.wr_id = posted,
                                    .opcode = IBV_WR_RDMA_WRITE,
                                    .send_flags = signal ? IBV_SEND_SIGNALED : 0};
      post_write(bench, &request, (uintptr_t)bench->memory, size,
                 bench->there.address + bench->options.size_max);
    }
    struct ibv_wc done[kPollAtOnce];
    const int count = poll_some(bench->send_cq, kPollAtOnce, done, "a write");
    for (int i = 0; i < count; ++i) {
      const uint64_t next = completed + kSignalEvery;
      const uint64_t expected = next < total ? next : total;
      expect_write(&done[i], expected - 1, "a write");
      completed = expected;
    }
  }
  return now_seconds() - begin;
}

// The last message of a size: with it the receiver knows that all before it has arrived.
static void signal_end(struct Bench* bench, size_t size, uint64_t round) {
  atomic_store_explicit(word(bench, 1), round, memory_order_relaxed);
  struct ibv_send_wr request = {.wr_id = kSignalId,
                                .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
                                .send_flags = IBV_SEND_SIGNALED,
                                .imm_data = htonl((uint32_t)size)};
  post_write(bench, &request, (uintptr_t)word(bench, 1), sizeof(uint64_t), word_there(bench, 1));
  struct ibv_wc done;
  poll_some(bench->send_cq, 1, &done, "the write with immediate");
  expect_write(&done, kSignalId, "the write with immediate");
}

static void send_size(struct Bench* bench, size_t size, uint64_t round) {
  fill_pattern(bench->memory, size, round);
  struct Patience patience;
  patience_begin(&patience, kPatienceSeconds);
  while (atomic_load_explicit(word(bench, 0), memory_order_acquire) != round) {
    if (patience_is_over(&patience)) {
      fail("the server's word for size %zu did not come within %.0f s", size, kPatienceSeconds);
    }
  }
  warm_up(bench, size);
  const double seconds = write_many(bench, size);
  signal_end(bench, size, round);
  const double writes = bench->options.iterations;
  printf("%12zu %9.0f %12.3f %15.6f\n", size, writes, writes * (double)size * 8 / seconds / 1e9,
         writes / seconds / 1e6);
  fflush(stdout);
}

static void check_signal(const struct ibv_wc* done, size_t size) {
  if (done->opcode != IBV_WC_RECV_RDMA_WITH_IMM || !(done->wc_flags & IBV_WC_WITH_IMM)) {
    fail("size %zu: a completion with opcode %d and flags 0x%x instead of an immediate", size,
         done->opcode, done->wc_flags);
  }
  if (done->wr_id != kReceiveId) {
    fail("size %zu: the receive completed with id 0x%llx", size, (unsigned long long)done->wr_id);
  }
  if (done->imm_data != htonl((uint32_t)size)) {
    fail("size %zu: the immediate is 0x%x", size, done->imm_data);
  }
  if (done->byte_len != sizeof(uint64_t)) {
    fail("size %zu: the last message has %u bytes, not 8", size, done->byte_len);
  }
}

static void receive_size(struct Bench* bench, size_t size, uint64_t round) {
  char* const received = bench->memory + bench->options.size_max;
  memset(received, 0, size);
  struct ibv_recv_wr receive = {.wr_id = kReceiveId};
  struct ibv_recv_wr* bad = NULL;
  entering("mrc_post_recv");
  const int result = mrc_post_recv(bench->qp, &receive, &bad);
  if (result != 0) fail_call("mrc_post_recv", error_of(result));
  // Never signalled, and its completion never polled for.
  atomic_store_explicit(word(bench, 0), round, memory_order_relaxed);
  struct ibv_send_wr go = {.opcode = IBV_WR_RDMA_WRITE};
  post_write(bench, &go, (uintptr_t)word(bench, 0), sizeof(uint64_t), word_there(bench, 0));

  struct ibv_wc done;
  poll_some(bench->recv_cq, 1, &done, "the write with immediate");
  check_signal(&done, size);
  if (atomic_load_explicit(word(bench, 1), memory_order_acquire) != round) {
    fail("size %zu: the completion came before the word that it is for", size);
  }
  const size_t difference = first_difference(received, size, round);
  if (difference != size) fail("size %zu: byte %zu is not what was sent", size, difference);
}

static void run_sizes(struct Bench* bench) {
  const size_t size_max = bench->options.size_max;
  const int sends = bench->options.server != NULL;
  if (sends) printf("%12s %9s %12s %15s\n", "bytes", "writes", "Gb/s", "Mwrites/s");
  uint64_t round = 0;
  uint64_t bytes = 0;
  for (size_t size = 1;; size = 2 * size < size_max ? 2 * size : size_max) {
    ++round;
    bytes += size;
    if (sends) {
      send_size(bench, size, round);
    } else {
      receive_size(bench, size, round);
    }
    if (size == size_max) break;
  }
  if (!sends) {
    printf("%llu sizes, %llu bytes verified\n", (unsigned long long)round,
           (unsigned long long)bytes);
  }
}

// --- Taking down --------------------------------------------------------------------------------

static void check(const char* call, int result) {
  if (result != 0) fail_call(call, error_of(result));
}
#define OPENMRC_CHECKED(name, call) (entering(name), check(name, call))

static void take_down(struct Bench* bench) {
  OPENMRC_CHECKED("mrc_destroy_qp", mrc_destroy_qp(bench->qp));
  OPENMRC_CHECKED("mrc_destroy_cq of the send queue", mrc_destroy_cq(bench->send_cq));
  OPENMRC_CHECKED("mrc_destroy_cq of the receive queue", mrc_destroy_cq(bench->recv_cq));
  OPENMRC_CHECKED("ibv_dereg_mr", ibv_dereg_mr(bench->mr));
  OPENMRC_CHECKED("ibv_dealloc_pd", ibv_dealloc_pd(bench->pd));
  OPENMRC_CHECKED("mrc_destroy_context", mrc_destroy_context(bench->mrc));
  OPENMRC_CHECKED("ibv_close_device", ibv_close_device(bench->verbs));
  entering("ibv_free_device_list");
  ibv_free_device_list(bench->devices);
  free(bench->memory);
  close(bench->tcp);
}

int main(int argc, char** argv) {
  struct Bench bench = {.options = parse_options(argc, argv)};
  watch_calls(kPatienceSeconds);
  open_device(&bench);
  open_mrc(&bench);
  create_queues(&bench);
  register_memory(&bench);
  to_init(&bench);
  introduce(&bench);
  to_ready_to_receive(&bench);
  to_ready_to_send(&bench);
  run_sizes(&bench);
  take_down(&bench);
  return 0;
}
