// SPDX-License-Identifier: BSD-3-Clause
// The parts of nccl_pattern: what both sides have, the receiver, the sender.
#ifndef OPENMRC_TESTS_VERBS_NCCL_PATTERN_H_
#define OPENMRC_TESTS_VERBS_NCCL_PATTERN_H_

#include "tests/libmrc/support.h"
#include "tests/verbs/nccl_plan.h"
#include "tests/verbs/rc.h"

enum {
  kQpsMax = 8,
  kFifoSlots = 256,
  kDepth = 8,  // receives under way
  kPolled = 4,
  kPatience = 30
};

struct Options {
  const char* receiver;  // NULL: this is the receiver
  uint64_t bytes;
  uint32_t message;
  uint32_t qps;
  uint16_t tcp_port;
  uint32_t seconds;  // that the receives are spread over at least, as between steps of a job
  uint64_t spoilt;   // the receive in which the sender changes a bit, to see that it is found
};

// Where one buffer of a receive is. The sender waits for `index`, so what is before it must be
// there by then.
struct FifoElement {
  uint64_t address;
  uint64_t size;
  uint32_t keys[4];
  uint32_t count;  // elements of this receive
  uint32_t tag;
  uint64_t index;
  char unused[16];
};
_Static_assert(sizeof(struct FifoElement) == 64, "as large as NCCL's");
typedef struct FifoElement Fifo[kFifoSlots][kGroupMax];
typedef uint32_t Records[kFifoSlots][kGroupMax];  // sizes of the messages of one receive

struct Hello {
  uint64_t bytes;
  uint64_t shared;  // the sender's FIFO; the receiver's records
  uint32_t shared_key;
  uint32_t message;
  uint32_t qps;
  uint32_t seconds;
  struct RcAddress addresses[kQpsMax];
};

struct Side {
  struct Rc rc;
  struct Options options;
  int tcp;
  struct ibv_qp* qps[kQpsMax];
  char* data;
  Fifo* fifo;        // of the sender; the receiver's copy, to write from
  Records* records;  // of the receiver; the sender's copy
  struct ibv_mr* data_mr;
  struct ibv_mr* fifo_mr;
  struct ibv_mr* records_mr;
  struct Hello peer;
  struct Patience patience;
  double begin;
  uint64_t receives;        // to be made in all
  uint64_t ended[kQpsMax];  // receives that this queue pair has done its part of
  struct ibv_qp* flush;     // of the receiver, connected to itself
  struct ibv_mr* flushed_mr;
  uint32_t flushed;
  int flush_pending;
};

// Where a message is, and what its bytes are made of.
char* buffer(const struct Side* side, uint64_t number, uint32_t part);
uint64_t seed(uint64_t number, uint32_t part);
// How many receives all queue pairs have done their parts of.
uint64_t all_ended(const struct Side* side);
// One turn of a loop that waits for something; with `polls` it takes completions.
void turn(struct Side* side, int polls);

// The size and the bytes of an immediate are as planned, or the program ends.
void check_immediate(const struct Side* side, const struct ibv_wc* wc, uint32_t qp);
// Both return how many bytes they moved.
uint64_t receive_messages(struct Side* side);
uint64_t send_messages(struct Side* side);

#endif  // OPENMRC_TESTS_VERBS_NCCL_PATTERN_H_
