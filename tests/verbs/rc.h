// SPDX-License-Identifier: BSD-3-Clause
// RC queue pairs for programs that meet over TCP. What fails ends the program with a message.
#ifndef OPENMRC_TESTS_VERBS_RC_H_
#define OPENMRC_TESTS_VERBS_RC_H_

#include "tests/verbs/nccl_verbs.h"

// The device openmrc0 with one protection domain and one completion queue.
struct Rc {
  struct Verbs verbs;
  struct ibv_context* context;
  struct ibv_pd* pd;
  struct ibv_cq* cq;
  union ibv_gid gid;
  enum ibv_mtu mtu;
};

// What the peer has to know of a queue pair.
struct RcAddress {
  union ibv_gid gid;
  uint32_t number;
  uint32_t mtu;
};

void rc_open(struct Rc* rc, int completions);
struct ibv_mr* rc_register(struct Rc* rc, void* memory, size_t size, int access);
// In state INIT, with the sizes of NCCL.
struct ibv_qp* rc_create(struct Rc* rc, int access);
struct RcAddress rc_address(const struct Rc* rc, const struct ibv_qp* qp);
// To RTR and RTS, with the attributes of NCCL but for the READs and atomics under way, which are 1
// there.
void rc_connect(struct Rc* rc, struct ibv_qp* qp, const struct RcAddress* peer, uint8_t reads);
void rc_post(struct ibv_qp* qp, struct ibv_send_wr* chain);
// Up to 4 completions, as NCCL polls; all of them are successes.
int rc_poll(struct Rc* rc, struct ibv_wc completions[4]);
void rc_close(struct Rc* rc);

#endif  // OPENMRC_TESTS_VERBS_RC_H_
