// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/verbs/agent_counters.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace openmrc::libmrc {
namespace {

constexpr timeval kTimeout{.tv_sec = 1, .tv_usec = 0};
constexpr std::size_t kAnswerMax = 4096;  // several times that of all names

// A piece of text put together on the stack.
template <std::size_t kSize>
class Line {
 public:
  Line& operator<<(std::string_view part) {
    part = part.substr(0, kSize - size_);
    std::ranges::copy(part, text_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += part.size();
    return *this;
  }
  Line& operator<<(unsigned number) {
    std::array<char, 16> digits{};
    auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    return *this << std::string_view(digits.data(), end);
  }
  [[nodiscard]] std::string_view text() const { return {text_.data(), size_}; }

 private:
  std::array<char, kSize> text_{};
  std::size_t size_ = 0;
};

class Connection {
 public:
  explicit Connection(std::string_view path)
      : descriptor_(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (descriptor_ < 0 || path.empty() || path.size() >= sizeof address.sun_path) return;
    std::ranges::copy(path, std::begin(address.sun_path));
    for (const int option : {SO_SNDTIMEO, SO_RCVTIMEO}) {
      ::setsockopt(descriptor_, SOL_SOCKET, option, &kTimeout, sizeof kTimeout);
    }
    connected_ =
        ::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }
  ~Connection() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Its answer, in `into`; empty: there is none.
  std::string_view ask(std::string_view request, std::array<char, kAnswerMax>& into) const {
    if (!connected_ || ::send(descriptor_, request.data(), request.size(), MSG_NOSIGNAL) < 0) {
      return {};
    }
    const ssize_t length = ::recv(descriptor_, into.data(), into.size(), 0);
    return {into.data(), length < 0 ? 0 : static_cast<std::size_t>(length)};
  }

 private:
  int descriptor_;
  bool connected_ = false;
};

}  // namespace

std::optional<std::uint64_t> counter_in(std::string_view answer, std::string_view name) {
  Line<128> key;
  key << R"({"name":")" << name << R"(","value":)";
  const std::size_t at = answer.find(key.text());
  if (at == std::string_view::npos) return std::nullopt;
  answer.remove_prefix(at + key.text().size());
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(answer.data(), answer.data() + answer.size(), value);
  if (error != std::errc()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> ask_for_counter(std::string_view socket, unsigned port,
                                             std::string_view name) {
  Line<128> request;
  request << R"({"call":1,"request":"query-rdma-counters","body":{"port":)" << port << "}}";
  std::array<char, kAnswerMax> answer;
  return counter_in(Connection(socket).ask(request.text(), answer), name);
}

}  // namespace openmrc::libmrc
