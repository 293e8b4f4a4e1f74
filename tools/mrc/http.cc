// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/http.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <system_error>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/host/clock.h"

namespace openmrc::tools {
namespace {

using datapath::FileDescriptor;

constexpr std::size_t kHeadMax = 8192;
constexpr std::string_view kScheme = "http://";

std::string text_of_errno(int error) {
  return std::error_code(error, std::generic_category()).message();
}

std::optional<std::string_view> after(std::string_view text, std::string_view mark) {
  const std::size_t found = text.find(mark);
  if (found == std::string_view::npos) return std::nullopt;
  return text.substr(found + mark.size());
}

// A connection that ends at a fixed time, whatever the other side does.
class Connection {
 public:
  explicit Connection(Instant deadline) : deadline_(deadline) {}

  Result<void, std::string> connect(const addrinfo& to) {
    socket_ = FileDescriptor(
        ::socket(to.ai_family, to.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, to.ai_protocol));
    if (!socket_.is_open()) return failure(text_of_errno(errno));
    if (::connect(socket_.get(), to.ai_addr, to.ai_addrlen) == 0) return {};
    if (errno != EINPROGRESS) return failure(text_of_errno(errno));
    if (!wait(POLLOUT)) return failure(std::string("no answer"));
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) return failure(text_of_errno(error));
    return {};
  }

  Result<void, std::string> send(std::string_view text) {
    while (!text.empty()) {
      const ssize_t sent = ::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
      if (sent >= 0) {
        text.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno != EAGAIN && errno != EINTR) {
        return failure(text_of_errno(errno));
      } else if (!wait(POLLOUT)) {
        return failure(std::string("no answer"));
      }
    }
    return {};
  }

  // Until the other side closes.
  Result<std::string, std::string> receive(std::size_t size_max) {
    std::string all;
    std::array<char, 16384> buffer{};
    while (all.size() <= size_max) {
      const ssize_t got = ::recv(socket_.get(), buffer.data(), buffer.size(), 0);
      if (got == 0) return all;
      if (got > 0) {
        all.append(buffer.data(), static_cast<std::size_t>(got));
      } else if (errno != EAGAIN && errno != EINTR) {
        return failure(text_of_errno(errno));
      } else if (!wait(POLLIN)) {
        return failure(std::string("the answer does not end"));
      }
    }
    return failure(std::string("the answer is too long"));
  }

 private:
  bool wait(short events) {
    const std::int64_t left = (deadline_ - host::now()).raw() / 1'000'000;
    if (left <= 0) return false;
    pollfd descriptor{socket_.get(), events, 0};
    return ::poll(&descriptor, 1, static_cast<int>(left)) != 0;
  }

  Instant deadline_;
  FileDescriptor socket_{};
};

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Result<Addresses, std::string> look_up(const Url& url) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(url.host.c_str(), url.port.c_str(), &hints, &found);
  if (error != 0) return failure(std::string(::gai_strerror(error)));
  return Addresses(found, ::freeaddrinfo);
}

}  // namespace

Result<Url, std::string> parse_url(std::string_view text, std::string_view path) {
  Url url{.port = std::string(kAgentPort), .path = std::string(path)};
  std::string_view rest = text;
  if (rest.starts_with(kScheme)) rest.remove_prefix(kScheme.size());
  if (const std::size_t slash = rest.find('/'); slash != std::string_view::npos) {
    if (rest.size() > slash + 1) url.path = rest.substr(slash);
    rest = rest.substr(0, slash);
  }
  const bool has_brackets = rest.starts_with('[');
  const std::size_t end = rest.find(has_brackets ? ']' : ':');
  url.host = has_brackets ? rest.substr(1, end - 1) : rest.substr(0, end);
  rest.remove_prefix(std::min(rest.size(), has_brackets && end < rest.size() ? end + 1 : end));
  if (rest.starts_with(':')) {
    url.port = rest.substr(1);
    rest = {};
  }
  const auto is_odd = [](char c) { return c <= ' ' || c > '~'; };
  const bool port_is_number =
      !url.port.empty() && url.port.size() <= 5 &&
      std::ranges::all_of(url.port, [](char c) { return c >= '0' && c <= '9'; });
  const bool is_closed = !has_brackets || end != std::string_view::npos;
  if (url.host.empty() || !is_closed || !rest.empty() || !port_is_number ||
      std::ranges::any_of(text, is_odd)) {
    return failure(fmt::format("'{}' is no address of an agent, such as h0 or h0:9917", text));
  }
  return url;
}

Result<std::string, std::string> body_of(std::string_view response) {
  const auto status = after(response.substr(0, response.find('\n')), " ");
  if (!response.starts_with("HTTP/1.") || !status) return failure(std::string("this is no HTTP"));
  if (!status->starts_with("200")) {
    return failure(fmt::format("HTTP status {}", status->substr(0, 3)));
  }
  const auto body = after(response, "\r\n\r\n");
  if (!body) return failure(std::string("the answer ends early"));
  return std::string(*body);
}

Result<std::string, std::string> fetch(const Url& url, const FetchLimits& limits) {
  auto addresses = look_up(url);
  if (!addresses) return failure(std::move(addresses.error()));
  const Instant deadline = host::now() + limits.timeout;
  std::string error = "it has no address";
  for (const addrinfo* each = addresses->get(); each != nullptr; each = each->ai_next) {
    Connection connection(deadline);
    if (auto connected = connection.connect(*each); !connected) {
      error = std::move(connected.error());
      continue;
    }
    const std::string request =
        fmt::format("GET {} HTTP/1.0\r\nHost: {}\r\n\r\n", url.path, url.host);
    if (auto sent = connection.send(request); !sent) return failure(std::move(sent.error()));
    auto response = connection.receive(limits.bytes_max + kHeadMax);
    if (!response) return failure(std::move(response.error()));
    return body_of(*response);
  }
  return failure(std::move(error));
}

}  // namespace openmrc::tools
