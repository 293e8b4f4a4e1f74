// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/agent/activation.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace openmrc::libmrc {
namespace {

using datapath::FileDescriptor;
using host::Error;

constexpr int kFirstDescriptor = 3;  // SD_LISTEN_FDS_START

std::string_view variable(const char* name) {
  const char* value = ::getenv(name);  // NOLINT(concurrency-mt-unsafe): before there are threads
  return value != nullptr ? value : "";
}

bool has_option(int socket, int option, int expected) {
  int value = 0;
  socklen_t length = sizeof value;
  return ::getsockopt(socket, SOL_SOCKET, option, &value, &length) == 0 && value == expected;
}

bool is_listening_for_messages(int socket) {
  return has_option(socket, SO_DOMAIN, AF_UNIX) && has_option(socket, SO_TYPE, SOCK_SEQPACKET) &&
         has_option(socket, SO_ACCEPTCONN, 1);
}

bool set_flags(int descriptor) {
  const int status = ::fcntl(descriptor, F_GETFL);
  return status >= 0 && ::fcntl(descriptor, F_SETFL, status | O_NONBLOCK) == 0 &&
         ::fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0;
}

}  // namespace

Result<std::optional<FileDescriptor>, Error> take_activation_socket() {
  const bool is_for_this_process = variable("LISTEN_PID") == std::to_string(::getpid());
  const std::string count(variable("LISTEN_FDS"));
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) {
    ::unsetenv(name);  // NOLINT(concurrency-mt-unsafe): before there are threads
  }
  if (!is_for_this_process || count.empty()) return std::nullopt;
  if (count != "1" || !is_listening_for_messages(kFirstDescriptor)) {
    return failure(Error{.what = "expected one socket that listens for sequenced packets, and the "
                                 "service manager passed " +
                                 count + " of some kind",
                         .remedy = "one ListenSequentialPacket= in mrcd.socket, with Accept=no"});
  }
  FileDescriptor socket(kFirstDescriptor);
  if (!set_flags(socket.get())) {
    return failure(Error{.what = "fcntl on the socket of the service manager failed"});
  }
  return std::optional<FileDescriptor>(std::move(socket));
}

}  // namespace openmrc::libmrc
