// SPDX-License-Identifier: BSD-3-Clause
// What both programs need: to end with a message, to keep time, to meet over TCP, and to make data
// that cannot pass for other data.
#ifndef OPENMRC_TESTS_LIBMRC_SUPPORT_H_
#define OPENMRC_TESTS_LIBMRC_SUPPORT_H_

#include <stddef.h>
#include <stdint.h>

// Prints "error: ..." and ends the program with 1.
_Noreturn void fail(const char* format, ...) __attribute__((format(printf, 1, 2)));
// The same for a call that failed: "error: <call>: <what errno said>".
_Noreturn void fail_call(const char* call, int error);

// A number between two limits from the command line; anything else ends the program.
uint64_t parse_number(const char* option, const char* text, uint64_t min, uint64_t max);

double now_seconds(void);

// A call that never comes back ends the program too, with its name: each is announced before.
void watch_calls(double seconds);
void entering(const char* call);

// How long a loop may go round without anything happening. The clock is read now and then only.
struct Patience {
  double seconds;
  double deadline;
  unsigned spins;
};
void patience_begin(struct Patience* patience, double seconds);
// Something happened: the time starts again.
void patience_renew(struct Patience* patience);
// To be called each time round. Gives the processor away, and is 1 once the time is over.
int patience_is_over(struct Patience* patience);

// A TCP connection to the other process: the server waits for it, the client tries until the time
// is over. Each receive and send on it is bounded by the same time.
int meet_as_server(uint16_t port, double seconds);
int meet_as_client(const char* ipv4, uint16_t port, double seconds);
void send_all(int fd, const void* data, size_t size, const char* what);
void receive_all(int fd, void* data, size_t size, const char* what);
// Returns when both sides are here.
void wait_for_each_other(int fd, const char* what);

// Each word depends on its place and on the seed: data that is old, shifted or from another message
// differs.
void fill_pattern(void* data, size_t size, uint64_t seed);
// The first byte that is not as it was filled; `size` if there is none.
size_t first_difference(const void* data, size_t size, uint64_t seed);

#endif  // OPENMRC_TESTS_LIBMRC_SUPPORT_H_
