// SPDX-License-Identifier: BSD-3-Clause
// Statements about a C interface that the compiler checks.
#pragma once

#include <stddef.h>

#define SIZE_IS(type, bytes) \
  _Static_assert(sizeof(type) == (bytes), #type " has another size: its users overrun it")

#define OFFSET_IS(type, member, offset) \
  _Static_assert(offsetof(type, member) == (offset), #type "." #member " has moved")

#define VALUE_IS(name, value) _Static_assert((name) == (value), #name " has another value")

// Offset and type of a member.
#define MEMBER(type, member, member_type, offset)                                \
  OFFSET_IS(type, member, offset);                                               \
  _Static_assert(_Generic(&((type*)NULL)->member, member_type *: 1, default: 0), \
                 #type "." #member " is no " #member_type)
