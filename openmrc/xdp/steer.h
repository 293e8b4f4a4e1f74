// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/* What the program in the kernel is told before it is loaded. Read by C and by C++. */
// NOLINTNEXTLINE(readability-identifier-naming): C
struct steer_settings {
  unsigned char address[16]; /* the port's own: the (inner) destination of its packets */
  unsigned short udp_port;   /* in network order */
  unsigned char slot;        /* of the shard that has the sockets */
  unsigned char slot_shift;  /* to the right: of the first byte of a queue pair number, or of the
                                id of an endpoint request; leaves the slot */
  unsigned char endpoint_request; /* opcodes */
  unsigned char endpoint_response;
  unsigned char trimmed; /* DSCPs of trimmed packets */
  unsigned char trimmed_last_hop;
};
