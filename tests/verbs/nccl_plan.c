// SPDX-License-Identifier: BSD-3-Clause
#include "tests/verbs/nccl_plan.h"

enum { kSplit = 128 };

static uint32_t plan_size(uint64_t number, uint32_t message) {
  if (number % 8 == 3) return 0;
  if (number % 16 == 2) return (uint32_t)(1 + number % 300);  // not enough for all queue pairs
  return message - (uint32_t)(number * 61 % 4096);
}

struct Plan plan(uint64_t number, uint32_t message) {
  struct Plan result = {.count = 1, .is_routed = number % 4 == 1};
  result.sizes[0] = plan_size(number, message);
  if (number % 8 != 7) return result;
  result.count = (uint32_t)(2 + number / 8 % (kGroupMax - 1));
  for (uint32_t i = 0; i < result.count; ++i) {
    result.sizes[i] = i == 1 ? 0 : message / kGroupMax - kGuard - (uint32_t)(number + i * 61) % 512;
  }
  return result;
}

uint64_t count_receives(uint64_t bytes, uint32_t message) {
  uint64_t number = 0;
  for (uint64_t sum = 0; sum < bytes; ++number) {
    const struct Plan next = plan(number, message);
    for (uint32_t i = 0; i < next.count; ++i) sum += next.sizes[i];
  }
  return number;
}

struct Share share(uint32_t size, uint32_t qp, uint32_t qps) {
  const uint32_t each = ((size + qps - 1) / qps + kSplit - 1) / kSplit * kSplit;
  const uint32_t offset = qp * each < size ? qp * each : size;
  return (struct Share){offset, size - offset < each ? size - offset : each};
}
