// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrc/top/source.h"

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "openmrc/datapath/file_descriptor.h"

namespace openmrc::tools::top {
namespace {

using datapath::FileDescriptor;
using host::Error;

constexpr timeval kTimeout{.tv_sec = 5, .tv_usec = 0};
// Several times a host's with 4,096 processes.
constexpr std::size_t kAnswerMax = std::size_t{64} * 1024 * 1024;

std::string reason(int error) { return std::error_code(error, std::generic_category()).message(); }

class AgentSource final : public Source {
 public:
  explicit AgentSource(const std::string& socket) : client_({.path = socket}) {}

  Result<std::string, Error> fetch() override {
    const libmrc::Reply reply = client_.call(libmrc::QueryMetrics{});
    if (!reply.outcome.ok()) {
      return failure(Error{.what = reply.outcome.why,
                           .remedy = "start mrcd, or name a host: mrc top HOST:PORT"});
    }
    const auto* const metrics = std::get_if<libmrc::Metrics>(&reply.body);
    if (metrics == nullptr) return failure(Error{.what = "mrcd is of another release"});
    std::string text;
    for (const std::string& line : metrics->lines) text += line + '\n';
    return text;
  }

 private:
  libmrc::AgentClient client_;
};

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

Result<FileDescriptor, std::string> connect_to(const HttpAddress& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &found);
  if (error != 0) return failure(std::string(::gai_strerror(error)));
  const std::unique_ptr<addrinfo, FreeAddresses> list(found);
  int last = 0;
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    FileDescriptor socket(::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.is_open()) {
      last = errno;
      continue;
    }
    for (const int option : {SO_SNDTIMEO, SO_RCVTIMEO}) {
      ::setsockopt(socket.get(), SOL_SOCKET, option, &kTimeout, sizeof kTimeout);
    }
    if (::connect(socket.get(), each->ai_addr, each->ai_addrlen) == 0) return socket;
    last = errno == EINPROGRESS ? ETIMEDOUT : errno;
  }
  return failure(reason(last));
}

Result<std::string, std::string> ask(const FileDescriptor& socket, std::string_view request) {
  while (!request.empty()) {
    const ssize_t sent = ::send(socket.get(), request.data(), request.size(), MSG_NOSIGNAL);
    if (sent < 0) return failure(reason(errno));
    request.remove_prefix(static_cast<std::size_t>(sent));
  }
  std::string answer;
  std::array<char, 16 * 1024> piece{};
  for (;;) {
    const ssize_t got = ::recv(socket.get(), piece.data(), piece.size(), 0);
    if (got < 0) return failure(errno == EAGAIN ? "no answer within 5 s" : reason(errno));
    if (got == 0) return answer;
    if (answer.size() + static_cast<std::size_t>(got) > kAnswerMax) {
      return failure(std::string("the answer is too long"));
    }
    answer.append(piece.data(), static_cast<std::size_t>(got));
  }
}

class HttpSource final : public Source {
 public:
  explicit HttpSource(HttpAddress address) : address_(std::move(address)) {}

  // HTTP/1.0: the answer ends with the connection, and is in one piece.
  Result<std::string, Error> fetch() override {
    const auto socket = connect_to(address_);
    if (!socket) return failure(error(socket.error()));
    const auto answer =
        ask(*socket, fmt::format("GET {} HTTP/1.0\r\nHost: {}\r\nConnection: close\r\n\r\n",
                                 address_.path, address_.host));
    if (!answer) return failure(error(answer.error()));
    auto body = body_of(*answer);
    if (!body) return failure(error(body.error()));
    return *std::move(body);
  }

 private:
  [[nodiscard]] Error error(const std::string& why) const {
    return {.what = fmt::format("{}:{}: {}", address_.host, address_.port, why),
            .remedy = "mrcd serves metrics with --metrics, or [metrics] enabled = true"};
  }

  HttpAddress address_;
};

}  // namespace

std::optional<HttpAddress> parse_url(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  if (url.starts_with(kScheme)) url.remove_prefix(kScheme.size());
  HttpAddress address;
  if (const std::size_t slash = url.find('/'); slash != std::string_view::npos) {
    if (url.size() > slash + 1) address.path = url.substr(slash);
    url = url.substr(0, slash);
  }
  const bool has_brackets = url.starts_with('[');
  const std::size_t end = has_brackets ? url.find(']') : url.find(':');
  if (has_brackets && end == std::string_view::npos) return std::nullopt;
  address.host = has_brackets ? url.substr(1, end - 1) : url.substr(0, end);
  url.remove_prefix(std::min(url.size(), has_brackets ? end + 1 : end));
  if (url.starts_with(':')) {
    address.port = url.substr(1);
    url = {};
  }
  const auto is_bad = [](char c) { return c <= ' ' || c == '\x7f'; };
  const bool is_good =
      !address.host.empty() && !address.port.empty() && url.empty() &&
      std::ranges::all_of(address.port, [](char c) { return c >= '0' && c <= '9'; }) &&
      std::ranges::none_of(address.host, is_bad) && std::ranges::none_of(address.path, is_bad);
  return is_good ? std::optional(std::move(address)) : std::nullopt;
}

Result<std::string, std::string> body_of(std::string_view answer) {
  const std::size_t line_end = answer.find("\r\n");
  const std::size_t head_end = answer.find("\r\n\r\n");
  if (!answer.starts_with("HTTP/1.") || head_end == std::string_view::npos) {
    return failure(std::string("no answer of HTTP"));
  }
  const std::string_view status = answer.substr(0, line_end);
  if (status.find(" 200") == std::string_view::npos) return failure(std::string(status));
  return std::string(answer.substr(head_end + 4));
}

std::unique_ptr<Source> agent_source(const std::string& socket) {
  return std::make_unique<AgentSource>(socket);
}

std::unique_ptr<Source> http_source(const std::string& url) {
  auto address = parse_url(url);
  return address ? std::make_unique<HttpSource>(*std::move(address)) : nullptr;
}

}  // namespace openmrc::tools::top
