// SPDX-License-Identifier: BSD-3-Clause
// Processes of several hosts count on one word by fetch-and-add, each over an RC queue pair. The
// server has the word, and looks at what the clients got: every old value once, and the exact sum.
//
//   fetch_add -c 4                     the server, of 4 clients
//   fetch_add -i 2 10.255.0.1          client 2 of 0..3, given the address of the server
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/libmrc/support.h"
#include "tests/verbs/rc.h"

enum { kClientsMax = 16, kAddsMax = 1 << 20, kUnderWay = 16, kPolled = 4, kPatience = 60 };

struct Options {
  const char* server;  // NULL: this is the server
  unsigned clients;
  unsigned index;
  unsigned adds;  // of each client
  uint16_t tcp_port;
};

struct Hello {
  struct RcAddress address;
  uint64_t word;
  uint32_t key;
  uint32_t adds;
};

// --- Server -------------------------------------------------------------------------------------

struct Count {
  uint64_t word;        // what is counted on
  uint64_t total;       // what it must be in the end
  unsigned char* seen;  // by old value: 1 + the client that got it
};

static void take_values(struct Count* count, int tcp, unsigned client, unsigned adds) {
  uint64_t* const values = calloc(adds, sizeof(*values));
  if (values == NULL) fail("no memory");
  receive_all(tcp, values, adds * sizeof(*values), "what a client got");
  for (unsigned i = 0; i < adds; ++i) {
    const unsigned long long value = values[i];
    if (value >= count->total) fail("client %u, add %u: old value %llu", client, i, value);
    if (i > 0 && value <= values[i - 1]) fail("client %u, add %u: out of order", client, i);
    if (count->seen[value] != 0) fail("two adds got the old value %llu", value);
    count->seen[value] = (unsigned char)(client + 1);
  }
  free(values);
}

// How often the word went from one client to another: were they at it at the same time?
static unsigned long long turns(const struct Count* count) {
  unsigned long long result = 0;
  for (uint64_t i = 1; i < count->total; ++i) result += count->seen[i] != count->seen[i - 1];
  return result;
}

static void serve(struct Rc* rc, const struct Options* options) {
  struct Count count = {.total = (uint64_t)options->clients * options->adds};
  count.seen = calloc(count.total, 1);
  if (count.seen == NULL) fail("no memory");
  struct ibv_mr* const mr = rc_register(rc, &count.word, sizeof(count.word),
                                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
  struct ibv_qp* qps[kClientsMax];
  int tcp[kClientsMax];
  for (unsigned i = 0; i < options->clients; ++i) {
    qps[i] = rc_create(rc, IBV_ACCESS_REMOTE_ATOMIC);
    tcp[i] = meet_as_server((uint16_t)(options->tcp_port + i), kPatience);
    const struct Hello mine = {rc_address(rc, qps[i]), (uintptr_t)&count.word, mr->rkey,
                               options->adds};
    struct Hello theirs;
    send_all(tcp[i], &mine, sizeof(mine), "the address");
    receive_all(tcp[i], &theirs, sizeof(theirs), "the address");
    rc_connect(rc, qps[i], &theirs.address, kUnderWay);
  }
  for (unsigned i = 0; i < options->clients; ++i) wait_for_each_other(tcp[i], "the start");
  for (unsigned i = 0; i < options->clients; ++i) take_values(&count, tcp[i], i, options->adds);
  // Each client has its last answer, so nothing may come any more.
  if (count.word != count.total) {
    fail("the word is %llu, not %llu", (unsigned long long)count.word,
         (unsigned long long)count.total);
  }
  printf("%u clients x %u: the word is %llu, each old value once, %llu turns\n", options->clients,
         options->adds, (unsigned long long)count.word, turns(&count));
  for (unsigned i = 0; i < options->clients; ++i) {
    wait_for_each_other(tcp[i], "the end");
    close(tcp[i]);
    rc->verbs.destroy_qp(qps[i]);
  }
  rc->verbs.dereg_mr(mr);
  free(count.seen);
}

// --- Client -------------------------------------------------------------------------------------

static void add_one(struct ibv_qp* qp, const struct Hello* peer, uint64_t* old, uint32_t lkey,
                    uint64_t number) {
  struct ibv_sge piece = {.addr = (uintptr_t)old, .length = sizeof(*old), .lkey = lkey};
  struct ibv_send_wr request = {
      .wr_id = number,
      .sg_list = &piece,
      .num_sge = 1,
      .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
      .send_flags = IBV_SEND_SIGNALED,
      .wr.atomic = {.remote_addr = peer->word, .compare_add = 1, .rkey = peer->key}};
  rc_post(qp, &request);
}

static void add_all(struct Rc* rc, struct ibv_qp* qp, const struct Hello* peer, uint64_t* values,
                    uint32_t lkey) {
  struct Patience patience;
  patience_begin(&patience, kPatience);
  uint64_t posted = 0;
  uint64_t done = 0;
  while (done < peer->adds) {
    for (; posted < peer->adds && posted < done + kUnderWay; ++posted) {
      add_one(qp, peer, &values[posted], lkey, posted);
    }
    struct ibv_wc completions[kPolled];
    const int count = rc_poll(rc, completions);
    for (int i = 0; i < count; ++i) {
      if (completions[i].opcode != IBV_WC_FETCH_ADD || completions[i].wr_id != done++) {
        fail("completion of work request %llu is out of order",
             (unsigned long long)completions[i].wr_id);
      }
    }
    if (count > 0) patience_renew(&patience);
    if (patience_is_over(&patience)) fail("add %llu does not end", (unsigned long long)done);
  }
}

static void count_as_client(struct Rc* rc, const struct Options* options) {
  struct ibv_qp* const qp = rc_create(rc, 0);
  const int tcp =
      meet_as_client(options->server, (uint16_t)(options->tcp_port + options->index), kPatience);
  const struct Hello mine = {.address = rc_address(rc, qp)};
  struct Hello peer;
  send_all(tcp, &mine, sizeof(mine), "the address");
  receive_all(tcp, &peer, sizeof(peer), "the address");
  if (peer.adds == 0 || peer.adds > kAddsMax) fail("the server wants %u adds", peer.adds);
  const size_t size = peer.adds * sizeof(uint64_t);
  uint64_t* const values = malloc(size);
  if (values == NULL) fail("no memory");
  memset(values, 0xff, size);  // an answer that was not written is no old value
  struct ibv_mr* const mr = rc_register(rc, values, size, IBV_ACCESS_LOCAL_WRITE);
  rc_connect(rc, qp, &peer.address, kUnderWay);
  wait_for_each_other(tcp, "the start");
  add_all(rc, qp, &peer, values, mr->lkey);
  send_all(tcp, values, size, "what this client got");
  wait_for_each_other(tcp, "the end");
  printf("client %u: %u adds\n", options->index, peer.adds);
  close(tcp);
  rc->verbs.destroy_qp(qp);
  rc->verbs.dereg_mr(mr);
  free(values);
}

static struct Options read_options(int argc, char** argv) {
  struct Options options = {.clients = 4, .adds = 10000, .tcp_port = 18600};
  for (int option = 0; (option = getopt(argc, argv, "c:i:n:P:")) != -1;) {
    switch (option) {
      case 'c': options.clients = (unsigned)parse_number("-c", optarg, 1, kClientsMax); break;
      case 'i': options.index = (unsigned)parse_number("-i", optarg, 0, kClientsMax - 1); break;
      case 'n': options.adds = (unsigned)parse_number("-n", optarg, 1, kAddsMax); break;
      case 'P': options.tcp_port = (uint16_t)parse_number("-P", optarg, 1024, 65000); break;
      default: fail("usage: fetch_add [-c clients] [-i index] [-n adds] [-P port] [server]");
    }
  }
  if (optind < argc) options.server = argv[optind];
  return options;
}

int main(int argc, char** argv) {
  const struct Options options = read_options(argc, argv);
  watch_calls(kPatience);
  struct Rc rc;
  rc_open(&rc, kClientsMax * kUnderWay);
  if (options.server == NULL) {
    serve(&rc, &options);
  } else {
    count_as_client(&rc, &options);
  }
  rc_close(&rc);
  return 0;
}
