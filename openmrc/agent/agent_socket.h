// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "openmrc/base/result.h"
#include "openmrc/datapath/file_descriptor.h"

// UNIX sockets that keep messages apart, as the agent and its clients use them. All are
// non-blocking; errors are errno values.
namespace openmrc::libmrc {

// Waits for at most a second, if more clients want to connect than the agent has accepted.
Result<datapath::FileDescriptor, int> connect_to_agent(const std::string& path);
Result<datapath::FileDescriptor, int> listen_as_agent(const std::string& path);

// 0, or why it was not sent: EAGAIN if the other side is slow.
int send_message(int socket, std::string_view message);
// The next message. EAGAIN: there is none now. ECONNRESET: the other side is gone. EMSGSIZE: it was
// too long, and is thrown away.
Result<std::string, int> receive_message(int socket);
// The same with the descriptor that came with it, if one did. Of several the first.
struct MessageWithDescriptor {
  std::string text{};
  datapath::FileDescriptor descriptor{};
};
Result<MessageWithDescriptor, int> receive_with_descriptor(int socket);

}  // namespace openmrc::libmrc
