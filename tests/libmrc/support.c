// SPDX-License-Identifier: BSD-3-Clause
#include "support.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kSpinsBetweenClocks = 64, kRetryMicroseconds = 50000 };

_Noreturn void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fflush(stdout);
  fputs("error: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  va_end(arguments);
  // Not exit(): threads of a library may be anywhere, and this is not a test of its end.
  fflush(stderr);
  _exit(1);
}

_Noreturn void fail_call(const char* call, int error) { fail("%s: %s", call, strerror(error)); }

uint64_t parse_number(const char* option, const char* text, uint64_t min, uint64_t max) {
  char* end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 0);
  if (errno != 0 || end == text || *end != '\0' || text[0] == '-' || value < min || value > max) {
    fail("%s takes a number from %llu to %llu, not '%s'", option, (unsigned long long)min,
         (unsigned long long)max, text);
  }
  return value;
}

double now_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static const char* volatile call_now = "the program";
static double watch_seconds = 0;
static double watch_renewed = 0;

// Runs as a signal handler, so it only writes.
static void write_text(const char* text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(1);
}

static void end_hung_call(int signal) {
  (void)signal;
  write_text("error: ");
  write_text(call_now);
  write_text(": did not come back in time\n");
  _exit(1);
}

void watch_calls(double seconds) {
  watch_seconds = seconds;
  const struct sigaction action = {.sa_handler = end_hung_call};
  if (sigaction(SIGALRM, &action, NULL) != 0) fail_call("sigaction", errno);
  entering("the program");
}

void entering(const char* call) {
  call_now = call;
  // Loops that poll end themselves sooner; this is for one call that takes longer than they may.
  const double now = now_seconds();
  if (now < watch_renewed + 1) return;
  watch_renewed = now;
  alarm((unsigned)watch_seconds + 5);
}

void patience_begin(struct Patience* patience, double seconds) {
  patience->seconds = seconds;
  patience->spins = 0;
  patience_renew(patience);
}

void patience_renew(struct Patience* patience) {
  patience->deadline = now_seconds() + patience->seconds;
}

int patience_is_over(struct Patience* patience) {
  sched_yield();
  if (++patience->spins % kSpinsBetweenClocks != 0) return 0;
  return now_seconds() > patience->deadline;
}

static void prepare(int fd, double seconds) {
  const struct timeval limit = {.tv_sec = (time_t)seconds};
  const int on = 1;
  if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
      setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) != 0 ||
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) {
    fail_call("setsockopt", errno);
  }
}

int meet_as_server(uint16_t port, double seconds) {
  entering("waiting for the client");
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0) fail_call("socket", errno);
  const int on = 1;
  if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0) {
    fail_call("setsockopt(SO_REUSEADDR)", errno);
  }
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_ANY)};
  if (bind(listener, (const struct sockaddr*)&address, sizeof(address)) != 0) {
    fail("bind to TCP port %u: %s", port, strerror(errno));
  }
  if (listen(listener, 1) != 0) fail_call("listen", errno);
  struct pollfd waiting = {.fd = listener, .events = POLLIN};
  const int ready = poll(&waiting, 1, (int)(seconds * 1000));
  if (ready < 0) fail_call("poll", errno);
  if (ready == 0) fail("no client came to TCP port %u within %.0f s", port, seconds);
  const int fd = accept(listener, NULL, NULL);
  if (fd < 0) fail_call("accept", errno);
  close(listener);
  prepare(fd, seconds);
  return fd;
}

int meet_as_client(const char* ipv4, uint16_t port, double seconds) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
  if (inet_pton(AF_INET, ipv4, &address.sin_addr) != 1) fail("'%s' is no IPv4 address", ipv4);
  const double deadline = now_seconds() + seconds;
  for (;;) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) fail_call("socket", errno);
    if (connect(fd, (const struct sockaddr*)&address, sizeof(address)) == 0) {
      prepare(fd, seconds);
      return fd;
    }
    const int error = errno;
    close(fd);
    // The server may still be starting.
    if (error != ECONNREFUSED || now_seconds() > deadline) {
      fail("connect to %s, TCP port %u: %s", ipv4, port, strerror(error));
    }
    const struct timespec pause = {.tv_nsec = kRetryMicroseconds * 1000};
    nanosleep(&pause, NULL);
  }
}

void send_all(int fd, const void* data, size_t size, const char* what) {
  const char* next = data;
  while (size > 0) {
    const ssize_t sent = send(fd, next, size, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) fail("send of %s: %s", what, strerror(errno));
    next += sent;
    size -= (size_t)sent;
  }
}

void receive_all(int fd, void* data, size_t size, const char* what) {
  entering(what);
  char* next = data;
  while (size > 0) {
    const ssize_t got = recv(fd, next, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) fail("%s did not come from the other side in time", what);
    if (got < 0) fail("receive of %s: %s", what, strerror(errno));
    if (got == 0) fail("the other side ended before it sent %s", what);
    next += got;
    size -= (size_t)got;
  }
}

void wait_for_each_other(int fd, const char* what) {
  char token = '.';
  send_all(fd, &token, sizeof(token), what);
  receive_all(fd, &token, sizeof(token), what);
}

static uint64_t pattern_word(uint64_t index, uint64_t seed) {
  return (index + 1) * UINT64_C(0x9E3779B97F4A7C15) + seed * UINT64_C(0xD1342543DE82EF95);
}

void fill_pattern(void* data, size_t size, uint64_t seed) {
  char* const bytes = data;
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    const uint64_t word = pattern_word(at / sizeof(word), seed);
    memcpy(bytes + at, &word, size - at < sizeof(word) ? size - at : sizeof(word));
  }
}

size_t first_difference(const void* data, size_t size, uint64_t seed) {
  const char* const bytes = data;
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    const uint64_t word = pattern_word(at / sizeof(word), seed);
    const size_t length = size - at < sizeof(word) ? size - at : sizeof(word);
    if (memcmp(bytes + at, &word, length) == 0) continue;
    for (size_t i = 0; i < length; ++i) {
      if (bytes[at + i] != ((const char*)&word)[i]) return at + i;
    }
  }
  return size;
}
