// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/agent_socket.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "openmrc/agent/agent_protocol.h"

namespace openmrc::libmrc {
namespace {

using datapath::FileDescriptor;

constexpr int kBacklog = 1024;
// An agent whose backlog is full is waited for.
constexpr timeval kConnectTimeout{.tv_sec = 1, .tv_usec = 0};
// Everybody may ask and use; who may change is decided by the user behind the connection.
constexpr mode_t kForEverybody = 0666;

std::optional<sockaddr_un> address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) return std::nullopt;
  std::ranges::copy(path, std::begin(address.sun_path));
  return address;
}

FileDescriptor new_socket(int flags = 0) {
  return FileDescriptor(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
}

// There is room for one descriptor: the kernel closes all others. The length is that of the text,
// even if it did not fit.
ssize_t take_one(int socket, MessageWithDescriptor& into) {
  iovec text{.iov_base = into.text.data(), .iov_len = into.text.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t length = ::recvmsg(socket, &message, MSG_TRUNC | MSG_CMSG_CLOEXEC);
  const cmsghdr* const header = length < 0 ? nullptr : CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
      header->cmsg_len >= CMSG_LEN(sizeof(int))) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
    into.descriptor = FileDescriptor(descriptor);
  }
  return length;
}

}  // namespace

Result<FileDescriptor, int> connect_to_agent(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return failure(ENAMETOOLONG);
  FileDescriptor socket = new_socket();
  if (!socket.is_open()) return failure(errno);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &kConnectTimeout, sizeof kConnectTimeout);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::fcntl(socket.get(), F_SETFL, O_NONBLOCK) != 0) {
    return failure(errno);
  }
  return socket;
}

Result<FileDescriptor, int> listen_as_agent(const std::string& path) {
  const auto address = address_of(path);
  if (!address) return failure(ENAMETOOLONG);
  FileDescriptor socket = new_socket(SOCK_NONBLOCK);
  if (!socket.is_open()) return failure(errno);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
      ::chmod(path.c_str(), kForEverybody) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return failure(errno);
  }
  return socket;
}

int send_message(int socket, std::string_view message) {
  for (;;) {
    if (::send(socket, message.data(), message.size(), MSG_NOSIGNAL) >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

Result<std::string, int> receive_message(int socket) {
  auto message = receive_with_descriptor(socket);
  if (!message) return failure(message.error());
  return std::move(message->text);
}

Result<MessageWithDescriptor, int> receive_with_descriptor(int socket) {
  MessageWithDescriptor message{.text = std::string(kAgentMessageMax, '\0')};
  const auto take = [&] {
    ssize_t length = 0;
    do {
      length = take_one(socket, message);
    } while (length < 0 && errno == EINTR);
    return length;
  };
  ssize_t length = take();
  // The other side has closed with messages of ours unread. What it sent before comes next.
  if (length < 0 && errno == ECONNRESET) length = take();
  if (length < 0) return failure(errno);
  if (length == 0) return failure(ECONNRESET);  // there are no empty messages
  if (static_cast<std::size_t>(length) > message.text.size()) return failure(EMSGSIZE);
  message.text.resize(static_cast<std::size_t>(length));
  return message;
}

}  // namespace openmrc::libmrc
