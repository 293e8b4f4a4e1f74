// SPDX-License-Identifier: BSD-3-Clause
// Writes a text into the memory of another host with the C interface of MRC, mrc.h. Start it on one
// host without arguments and on the other with the name of the first:   h2$ write     h0$ write h2
//
//   gcc write.c -o write -lmrc -libverbs
#include <infiniband/verbs.h>
#include <mrc.h>
#include <netdb.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static const char kText[] = "Hello over every path";
static const char kTcpPort[] = "18186";
enum { kPort = 1, kGidIndex = 3, kMemoryBytes = 4096, kSecondsMax = 30 };

// What each side tells the other before the first packet.
struct Introduction {
  uint64_t address;
  uint32_t rkey;
  uint32_t qpn;
  union ibv_gid gid;
};

struct Side {
  struct ibv_context* device;
  struct ibv_pd* pd;
  struct mrc_context* mrc;
  struct mrc_cq* cq;
  struct mrc_qp* qp;
  struct ibv_mr* mr;
  char* memory;
  int tcp;
};

static void check(int ok, const char* call) {
  if (ok) return;
  perror(call);
  exit(1);
}

// --- 1. A device that speaks MRC, memory, and a queue pair ---

static void open_device(struct Side* side) {
  struct ibv_device** const devices = ibv_get_device_list(NULL);
  check(devices != NULL && devices[0] != NULL, "ibv_get_device_list");
  side->device = ibv_open_device(devices[0]);
  check(side->device != NULL, "ibv_open_device");
  ibv_free_device_list(devices);
  struct mrc_context_attr version = {.mrc_api_version_used = MRC_API_VER_USED};
  side->mrc = mrc_create_context(side->device, &version);
  check(side->mrc != NULL, "mrc_create_context");
}

static void create_objects(struct Side* side) {
  side->pd = ibv_alloc_pd(side->device);
  check(side->pd != NULL, "ibv_alloc_pd");
  side->memory = calloc(1, kMemoryBytes);
  check(side->memory != NULL, "calloc");
  side->mr = ibv_reg_mr(side->pd, side->memory, kMemoryBytes,
                        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  check(side->mr != NULL, "ibv_reg_mr");
  side->cq = mrc_create_cq(side->mrc, 16, NULL, NULL, 0);
  check(side->cq != NULL, "mrc_create_cq");
  struct mrc_qp_init_attr wish = {
      .send_cq = side->cq,
      .recv_cq = side->cq,
      .pd = side->pd,
      .cap = {.max_send_wr = 16, .max_send_sge = 1, .max_recv_wr = 1, .max_recv_sge = 1},
  };
  side->qp = mrc_create_qp(side->mrc, &wish);
  check(side->qp != NULL, "mrc_create_qp");
}

// --- 2. A TCP connection, over which both sides describe them ---

static int meet(const char* server) {
  struct addrinfo* found = NULL;
  const struct addrinfo hints = {.ai_family = AF_INET6,
                                 .ai_socktype = SOCK_STREAM,
                                 .ai_flags = server == NULL ? AI_PASSIVE : 0};
  check(getaddrinfo(server, kTcpPort, &hints, &found) == 0, "getaddrinfo");
  const int tcp = socket(found->ai_family, found->ai_socktype, 0);
  check(tcp >= 0, "socket");
  if (server == NULL) {
    const int yes = 1;  // start again at once, while connections of the last run linger
    check(setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0, "setsockopt");
    check(bind(tcp, found->ai_addr, found->ai_addrlen) == 0, "bind");
    check(listen(tcp, 1) == 0, "listen");
    const int client = accept(tcp, NULL, NULL);
    check(client >= 0, "accept");
    close(tcp);
    freeaddrinfo(found);
    return client;
  }
  for (int seconds = 0; connect(tcp, found->ai_addr, found->ai_addrlen) != 0; ++seconds) {
    check(seconds < kSecondsMax, "connect");  // the server may start a little later
    sleep(1);
  }
  freeaddrinfo(found);
  return tcp;
}

static void swap(int tcp, const void* mine, void* theirs, size_t size) {
  check(send(tcp, mine, size, 0) == (ssize_t)size, "send");
  check(recv(tcp, theirs, size, MSG_WAITALL) == (ssize_t)size, "recv");
}

// Returns when the other side has called it too.
static void barrier(const struct Side* side) {
  char mine = 0;
  char theirs = 0;
  swap(side->tcp, &mine, &theirs, 1);
}

static struct Introduction introduce(const struct Side* side) {
  struct Introduction here = {.address = (uintptr_t)side->memory, .rkey = side->mr->rkey};
  struct Introduction there;
  check(mrc_get_qpn(side->qp, &here.qpn) == 0, "mrc_get_qpn");
  check(ibv_query_gid(side->device, kPort, kGidIndex, &here.gid) == 0, "ibv_query_gid");
  swap(side->tcp, &here, &there, sizeof(here));
  return there;
}

// --- 3. INIT, ready to receive, ready to send ---

static void connect_queue_pair(const struct Side* side, const struct Introduction* there) {
  struct mrc_qp_attr defaults = {0};
  struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                             .port_num = kPort,
                             .qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE};
  check(mrc_modify_qp(side->qp, &init,
                      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
                      &defaults, 0) == 0,
        "mrc_modify_qp to INIT");
  struct ibv_qp_attr receive = {
      .qp_state = IBV_QPS_RTR,
      .path_mtu = IBV_MTU_4096,
      .dest_qp_num = there->qpn,
      .ah_attr = {.is_global = 1,
                  .port_num = kPort,
                  .grh = {.dgid = there->gid, .sgid_index = kGidIndex}},
  };
  check(mrc_modify_qp(side->qp, &receive,
                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_PATH_MTU,
                      &defaults, 0) == 0,
        "mrc_modify_qp to RTR");
  struct ibv_qp_attr send = {.qp_state = IBV_QPS_RTS};
  check(mrc_modify_qp(side->qp, &send, IBV_QP_STATE | IBV_QP_SQ_PSN, &defaults, 0) == 0,
        "mrc_modify_qp to RTS");
}

// --- 4. A write with immediate, and its two completions ---

static void post_receive(const struct Side* side) {
  struct ibv_recv_wr request = {.wr_id = 1};
  struct ibv_recv_wr* bad = NULL;
  check(mrc_post_recv(side->qp, &request, &bad) == 0, "mrc_post_recv");
}

static void post_write(const struct Side* side, const struct Introduction* there) {
  memcpy(side->memory, kText, sizeof(kText));
  struct ibv_sge piece = {
      .addr = (uintptr_t)side->memory, .length = sizeof(kText), .lkey = side->mr->lkey};
  struct ibv_send_wr request = {
      .wr_id = 2,
      .sg_list = &piece,
      .num_sge = 1,
      .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
      .send_flags = IBV_SEND_SIGNALED,
      .wr = {.rdma = {.remote_addr = there->address, .rkey = there->rkey}},
  };
  struct ibv_send_wr* bad = NULL;
  check(mrc_post_send(side->qp, &request, &bad) == 0, "mrc_post_send");
}

static void wait_for_completion(const struct Side* side) {
  struct ibv_wc done;
  const time_t end = time(NULL) + kSecondsMax;
  int count = 0;
  while ((count = mrc_poll_cq(side->cq, 1, &done)) == 0 && time(NULL) < end) {
  }
  check(count >= 0, "mrc_poll_cq");
  if (count == 0 || done.status != IBV_WC_SUCCESS) {
    fprintf(stderr, "%s\n", count == 0 ? "no completion" : ibv_wc_status_str(done.status));
    exit(1);
  }
}

int main(int argc, char** argv) {
  const char* const server = argc > 1 ? argv[1] : NULL;  // NULL: this is the server
  struct Side side = {0};
  open_device(&side);
  create_objects(&side);
  side.tcp = meet(server);
  const struct Introduction there = introduce(&side);
  connect_queue_pair(&side, &there);
  if (server == NULL) post_receive(&side);  // for the immediate
  barrier(&side);

  if (server != NULL) post_write(&side, &there);
  wait_for_completion(&side);
  barrier(&side);  // neither side leaves while the other may need an answer
  if (server != NULL) {
    puts("sent");
  } else {
    printf("received: %s\n", side.memory);
  }

  mrc_destroy_qp(side.qp);
  mrc_destroy_cq(side.cq);
  ibv_dereg_mr(side.mr);
  ibv_dealloc_pd(side.pd);
  mrc_destroy_context(side.mrc);
  ibv_close_device(side.device);
  free(side.memory);
  close(side.tcp);
  return 0;
}
