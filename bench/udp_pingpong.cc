// SPDX-License-Identifier: BSD-3-Clause
// The least that a small message there and back costs: two bytes by UDP, nothing else. Prints the
// median of half a round trip in microseconds.
//   udp_pingpong sleep|poll            responds until it is stopped
//   udp_pingpong sleep|poll ADDRESS    sends
// Event-driven (sleeps in the kernel), or busy-polls.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr std::uint16_t kPort = 9001;
constexpr int kRounds = 20000;

sockaddr* generic(sockaddr_in6& address) { return reinterpret_cast<sockaddr*>(&address); }

// Returns how many bytes.
ssize_t take(int socket, int flags, char (&bytes)[2], sockaddr_in6& from) {
  for (;;) {
    socklen_t length = sizeof from;
    const ssize_t size = recvfrom(socket, bytes, sizeof bytes, flags, generic(from), &length);
    if (size >= 0 || errno != EAGAIN) return size;
  }
}

int answer(int socket, int flags) {
  for (;;) {
    char bytes[2];
    sockaddr_in6 from{};
    if (take(socket, flags, bytes, from) != 2) return 0;
    if (sendto(socket, bytes, 2, 0, generic(from), sizeof from) != 2) return 1;
  }
}

int ask(int socket, int flags, const char* name) {
  using Clock = std::chrono::steady_clock;
  sockaddr_in6 to{};
  to.sin6_family = AF_INET6;
  to.sin6_port = htons(kPort);
  if (inet_pton(AF_INET6, name, &to.sin6_addr) != 1) return 2;
  std::vector<double> half;
  for (int i = 0; i < kRounds; ++i) {
    char bytes[2] = {};
    const auto begin = Clock::now();
    if (sendto(socket, bytes, 2, 0, generic(to), sizeof to) != 2) return 1;
    sockaddr_in6 from{};
    if (take(socket, flags, bytes, from) != 2) return 1;
    half.push_back(std::chrono::duration<double, std::micro>(Clock::now() - begin).count() / 2);
  }
  (void)sendto(socket, "", 1, 0, generic(to), sizeof to);
  std::ranges::sort(half);
  std::printf("%.2f\n", half[half.size() / 2]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int flags = argv[1] == std::string_view("poll") ? MSG_DONTWAIT : 0;
  const int socket = ::socket(AF_INET6, SOCK_DGRAM, 0);
  sockaddr_in6 own{};
  own.sin6_family = AF_INET6;
  own.sin6_port = htons(kPort);
  if (argc < 3 && bind(socket, generic(own), sizeof own) != 0) return 2;
  return argc < 3 ? answer(socket, flags) : ask(socket, flags, argv[2]);
}
