// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

#include "openmrc/host/clock.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/text/units.h"

namespace openmrc::host {
namespace {

using datapath::FileDescriptor;

constexpr Duration kRetryInterval = milliseconds(50);
// One address of several that does not answer must not take all the time.
constexpr Duration kAddressTimeout = seconds(2);
constexpr int kBacklog = 128;
constexpr std::size_t kReadSize = 64 * 1024;

// A host that is dead, not only a process, shows after about this many seconds.
constexpr int kKeepaliveIdleSeconds = 2;
constexpr int kKeepaliveIntervalSeconds = 1;
constexpr int kKeepaliveProbes = 5;
constexpr unsigned kUserTimeoutMilliseconds = 7000;

ExchangeError fault(ExchangeFault kind, std::string what) {
  return {.fault = kind, .what = std::move(what)};
}
std::string reason(int error) { return std::error_code(error, std::generic_category()).message(); }
ExchangeError system_fault(std::string_view what) {
  return fault(ExchangeFault::kSystem, fmt::format("{}: {}", what, reason(errno)));
}

ExchangeError interrupted_fault(std::string_view doing) {
  return fault(ExchangeFault::kInterrupted, fmt::format("interrupted while {}", doing));
}

enum class Wait : std::uint8_t { kReady, kOver, kInterrupted };

// A signal may reach another thread than the one that waits, which then looks this often.
constexpr Duration kSignalInterval = milliseconds(100);

// Waits for the events, until the end.
Wait wait_for(int descriptor, short events, Instant end) {
  for (;;) {
    const Duration left = std::clamp(end - now(), Duration(0), kSignalInterval);
    pollfd asked{.fd = descriptor, .events = events, .revents = 0};
    // Rounded up, so that the last part of a millisecond is not spent asking again and again.
    const int found = ::poll(&asked, 1, static_cast<int>((left.raw() + 999'999) / 1'000'000));
    if (found > 0) return Wait::kReady;
    if (found < 0 && errno != EINTR) return Wait::kReady;  // the call that follows says why
    if (now() >= end) return Wait::kOver;
    if (interrupted()) return Wait::kInterrupted;
  }
}

bool set_option(int descriptor, int level, int name, int value) {
  return ::setsockopt(descriptor, level, name, &value, sizeof value) == 0;
}

// A peer that is gone shall be noticed, and a small line shall not wait for another.
void set_tcp_options(int descriptor) {
  set_option(descriptor, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, kKeepaliveIdleSeconds);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, kKeepaliveIntervalSeconds);
  set_option(descriptor, IPPROTO_TCP, TCP_KEEPCNT, kKeepaliveProbes);
  set_option(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(kUserTimeoutMilliseconds));
}

std::string address_text(const sockaddr* address, socklen_t length) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  const int error = ::getnameinfo(address, length, host.data(), host.size(), port.data(),
                                  port.size(), NI_NUMERICHOST | NI_NUMERICSERV);
  return error == 0 ? fmt::format("{} port {}", host.data(), port.data()) : "an unknown address";
}

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

using Addresses = Result<std::vector<SocketAddress>, ExchangeError>;

Addresses resolve_now(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    return failure(fault(ExchangeFault::kName,
                         fmt::format("cannot resolve {}: {}", host, ::gai_strerror(error))));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    SocketAddress& address = addresses.emplace_back();
    address.length = each->ai_addrlen;
    std::copy_n(reinterpret_cast<const std::byte*>(each->ai_addr), each->ai_addrlen,
                reinterpret_cast<std::byte*>(&address.storage));
  }
  ::freeaddrinfo(list);
  return addresses;
}

// Nothing bounds the time that a name server takes, so another thread waits for it.
Addresses resolve(const std::string& host, std::uint16_t port, Instant end) {
  if (auto addresses = resolve_now(host, port, AI_NUMERICHOST)) return addresses;
  std::packaged_task<Addresses()> task([host, port] { return resolve_now(host, port, 0); });
  auto answer = task.get_future();
  std::thread(std::move(task)).detach();
  while (now() < end) {
    const Duration slice = std::min(end - now(), kSignalInterval);
    if (answer.wait_for(std::chrono::nanoseconds(slice.raw())) == std::future_status::ready) {
      return answer.get();
    }
    if (interrupted()) return failure(interrupted_fault("resolving " + host));
  }
  return failure(fault(ExchangeFault::kName,
                       fmt::format("cannot resolve {}: the name server timed out", host)));
}

// A connected socket, or the kernel's reason.
Result<FileDescriptor, int> connect_to(const SocketAddress& address, Instant end) {
  FileDescriptor socket(
      ::socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return failure(errno);
  set_tcp_options(socket.get());
  if (::connect(socket.get(), address.get(), address.length) == 0) return socket;
  if (errno != EINPROGRESS) return failure(errno);
  if (wait_for(socket.get(), POLLOUT, end) != Wait::kReady) return failure(ETIMEDOUT);
  int error = 0;
  socklen_t length = sizeof error;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) != 0) return failure(errno);
  if (error != 0) return failure(error);
  return socket;
}

}  // namespace

std::string_view name_of(ExchangeFault fault) {
  switch (fault) {
    case ExchangeFault::kName: return "name";
    case ExchangeFault::kUnreachable: return "unreachable";
    case ExchangeFault::kTimeout: return "timeout";
    case ExchangeFault::kClosed: return "closed";
    case ExchangeFault::kLine: return "line";
    case ExchangeFault::kMalformed: return "malformed";
    case ExchangeFault::kSecret: return "secret";
    case ExchangeFault::kRefused: return "refused";
    case ExchangeFault::kInterrupted: return "interrupted";
    case ExchangeFault::kSystem: return "system";
  }
  return "unknown";
}

std::string to_string(const ExchangeError& error) { return error.what; }

ExchangeConnection::ExchangeConnection(FileDescriptor socket, std::string peer)
    : socket_(std::move(socket)), peer_(std::move(peer)) {}

Result<ExchangeConnection, ExchangeError> ExchangeConnection::connect(const std::string& host,
                                                                      std::uint16_t port,
                                                                      Duration timeout) {
  const Instant end = now() + timeout;
  const auto addresses = resolve(host, port, end);
  if (!addresses) return failure(addresses.error());
  int last_error = ETIMEDOUT;
  for (;;) {
    for (const SocketAddress& address : *addresses) {
      auto socket = connect_to(address, std::min(end, now() + kAddressTimeout));
      if (socket) {
        return ExchangeConnection(
            std::move(*socket),
            fmt::format("{} ({})", host, address_text(address.get(), address.length)));
      }
      last_error = socket.error();
    }
    if (interrupted()) return failure(interrupted_fault("connecting to " + host));
    if (now() + kRetryInterval >= end) break;
    std::this_thread::sleep_for(std::chrono::nanoseconds(kRetryInterval.raw()));
  }
  return failure(
      fault(ExchangeFault::kUnreachable,
            fmt::format("no connection to {} port {} within {}: {}; is the server "
                        "running there, and does it listen on this port?",
                        host, port, text::format_duration(timeout), reason(last_error))));
}

Result<void, ExchangeError> ExchangeConnection::send(std::string_view json_line, Duration timeout) {
  if (json_line.size() > kExchangeLineMax || json_line.find('\n') != std::string_view::npos) {
    return failure(
        fault(ExchangeFault::kLine, fmt::format("a line for {} holds a line break or more than "
                                                "{}",
                                                peer_, text::format_size(kExchangeLineMax))));
  }
  const std::string whole = std::string(json_line) + '\n';
  std::string_view left = whole;
  const Instant end = now() + timeout;
  while (!left.empty()) {
    const ssize_t sent = ::send(socket_.get(), left.data(), left.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      left.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT) {
      return failure(fault(ExchangeFault::kClosed,
                           fmt::format("{} has closed the connection: {}", peer_, reason(errno))));
    } else if (errno != EAGAIN && errno != EINTR) {
      return failure(system_fault(fmt::format("sending to {}", peer_)));
    } else if (const Wait wait = wait_for(socket_.get(), POLLOUT, end); wait == Wait::kOver) {
      return failure(fault(ExchangeFault::kTimeout, fmt::format("{} accepted no data for {}", peer_,
                                                                text::format_duration(timeout))));
    } else if (wait == Wait::kInterrupted) {
      return failure(interrupted_fault("sending to " + peer_));
    }
  }
  return {};
}

Result<std::string, ExchangeError> ExchangeConnection::receive(Duration timeout) {
  const Instant end = now() + timeout;
  for (;;) {
    const std::size_t line_break = inbox_.find('\n', searched_);
    if (line_break <= line_max_) {
      std::string line = inbox_.substr(0, line_break);
      inbox_.erase(0, line_break + 1);
      searched_ = 0;
      return line;
    }
    searched_ = inbox_.size();
    if (inbox_.size() > line_max_) {
      return failure(fault(ExchangeFault::kLine, fmt::format("{} sent a line of more than {}",
                                                             peer_, text::format_size(line_max_))));
    }
    if (auto read = read_some(end, timeout); !read) return failure(std::move(read.error()));
  }
}

// Adds at least a byte to the inbox.
Result<void, ExchangeError> ExchangeConnection::read_some(Instant end, Duration timeout) {
  std::array<char, kReadSize> buffer;  // NOLINT(cppcoreguidelines-pro-type-member-init): is filled
  for (;;) {
    const ssize_t size = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (size > 0) {
      inbox_.append(buffer.data(), static_cast<std::size_t>(size));
      return {};
    }
    if (size == 0) {
      return failure(
          fault(ExchangeFault::kClosed, fmt::format("{} has closed the connection", peer_)));
    }
    if (errno == ECONNRESET || errno == ETIMEDOUT || errno == EHOSTUNREACH || errno == EPIPE) {
      return failure(fault(ExchangeFault::kClosed,
                           fmt::format("{} has closed the connection: {}", peer_, reason(errno))));
    }
    if (errno != EAGAIN && errno != EINTR) {
      return failure(system_fault(fmt::format("receiving from {}", peer_)));
    }
    const Wait wait = wait_for(socket_.get(), POLLIN, end);
    if (wait == Wait::kInterrupted) return failure(interrupted_fault("waiting for " + peer_));
    if (wait == Wait::kOver) {
      return failure(fault(ExchangeFault::kTimeout, fmt::format("no data from {} for {}", peer_,
                                                                text::format_duration(timeout))));
    }
  }
}

bool ExchangeConnection::peer_gone() const {
  pollfd asked{.fd = socket_.get(), .events = POLLRDHUP, .revents = 0};
  return ::poll(&asked, 1, 0) > 0 && (asked.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

Result<ExchangeListener, ExchangeError> ExchangeListener::open(std::uint16_t port) {
  constexpr int kKind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
  FileDescriptor socket(::socket(AF_INET6, kKind, 0));
  SocketAddress address;
  if (socket.is_open()) {
    set_option(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(port);
    std::copy_n(reinterpret_cast<const std::byte*>(&any), sizeof any,
                reinterpret_cast<std::byte*>(&address.storage));
    address.length = sizeof any;
  } else {  // a kernel without IPv6
    socket = FileDescriptor(::socket(AF_INET, kKind, 0));
    if (!socket.is_open()) return failure(system_fault("creating a socket"));
    sockaddr_in any{};
    any.sin_family = AF_INET;
    any.sin_port = htons(port);
    std::copy_n(reinterpret_cast<const std::byte*>(&any), sizeof any,
                reinterpret_cast<std::byte*>(&address.storage));
    address.length = sizeof any;
  }
  set_option(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (::bind(socket.get(), address.get(), address.length) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return failure(system_fault(fmt::format(
        "listening on TCP port {} (is another server running? exchange.port sets it)", port)));
  }
  address.length = sizeof address.storage;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address.storage), &address.length) !=
      0) {
    return failure(system_fault("getting the port"));
  }
  // The port is in the same place in both families.
  const auto* bound = reinterpret_cast<const sockaddr_in*>(&address.storage);
  return ExchangeListener(std::move(socket), ntohs(bound->sin_port));
}

Result<ExchangeConnection, ExchangeError> ExchangeListener::accept(Duration timeout) const {
  const Instant end = now() + timeout;
  for (;;) {
    SocketAddress address;
    address.length = sizeof address.storage;
    FileDescriptor socket(::accept4(socket_.get(), reinterpret_cast<sockaddr*>(&address.storage),
                                    &address.length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.is_open()) {
      set_tcp_options(socket.get());
      return ExchangeConnection(std::move(socket), address_text(address.get(), address.length));
    }
    // A client that went away again while it waited is no reason to stop.
    const bool is_passing = errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
    if (!is_passing) return failure(system_fault("accepting a connection"));
    const Wait wait = wait_for(socket_.get(), POLLIN, end);
    if (wait == Wait::kInterrupted) return failure(interrupted_fault("waiting for a client"));
    if (wait == Wait::kOver) {
      return failure(
          fault(ExchangeFault::kTimeout, fmt::format("no client connected to TCP port {} within {}",
                                                     port_, text::format_duration(timeout))));
    }
  }
}

}  // namespace openmrc::host
