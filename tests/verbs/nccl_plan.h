// SPDX-License-Identifier: BSD-3-Clause
// What is moved, and how it is cut: both sides compute the same.
#ifndef OPENMRC_TESTS_VERBS_NCCL_PLAN_H_
#define OPENMRC_TESTS_VERBS_NCCL_PLAN_H_

#include <stdint.h>

enum { kGroupMax = 8, kGuard = 64 };  // messages of one receive; bytes kept free behind each

// The messages of one receive.
struct Plan {
  uint32_t count;
  int is_routed;  // as for adaptive routing: data first, an empty immediate behind it
  uint32_t sizes[kGroupMax];
};
struct Plan plan(uint64_t number, uint32_t message);
// How many receives it takes to move that many bytes.
uint64_t count_receives(uint64_t bytes, uint32_t message);

// What queue pair `qp` carries of a message: multiples of 128 bytes, the last ones less or nothing.
struct Share {
  uint32_t offset;
  uint32_t length;
};
struct Share share(uint32_t size, uint32_t qp, uint32_t qps);

#endif  // OPENMRC_TESTS_VERBS_NCCL_PLAN_H_
