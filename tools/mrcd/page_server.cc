// SPDX-License-Identifier: BSD-3-Clause
#include "tools/mrcd/page_server.h"

#ifdef OPENMRC_MICROHTTPD
#include <microhttpd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <system_error>

#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/host/address_text.h"

namespace openmrc::tools {
namespace {

using datapath::FileDescriptor;
using host::Error;

// What clients may take of this host.
constexpr unsigned kConnectionsMax = 32;
constexpr unsigned kConnectionsPerAddressMax = 8;
constexpr std::size_t kMemoryPerConnection = 8192;  // head of the request; the page is apart
constexpr unsigned kTimeoutSeconds = 5;
constexpr int kBacklog = 32;

Error cannot_serve(const std::string& address) {
  return {.what = datapath::with_reason("cannot serve HTTP at " + address, errno),
          .remedy =
              "another program has the port (`ss -tlpn`), or the address is not this host's: "
              "change [agent] listen, or --listen"};
}

// `address` was checked by the caller.
Result<FileDescriptor, Error> listen_at(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  std::uint16_t port = 0;
  std::from_chars(address.data() + colon + 1, address.data() + address.size(), port);
  const datapath::SocketAddress at(*host::parse_address(host), port);
  FileDescriptor socket(::socket(at.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  constexpr int kYes = 1;
  if (!socket.is_open() ||
      ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &kYes, sizeof kYes) != 0 ||
      ::bind(socket.get(), at.get(), at.size()) != 0 || ::listen(socket.get(), kBacklog) != 0) {
    return failure(cannot_serve(address));
  }
  return socket;
}

MHD_Result respond(MHD_Connection* connection, unsigned status, const std::string& type,
                   std::string text) {
  MHD_Response* response =
      MHD_create_response_from_buffer(text.size(), text.data(), MHD_RESPMEM_MUST_COPY);
  if (response == nullptr) return MHD_NO;
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type.c_str());
  MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
  const MHD_Result queued = MHD_queue_response(connection, status, response);
  MHD_destroy_response(response);
  return queued;
}

std::string paths_of(const std::vector<Page>& pages) {
  std::string all;
  for (const Page& each : pages) all += " " + each.path;
  return all;
}

// Called for a request, and again if it has a body, which nobody reads.
MHD_Result answer(void* served, MHD_Connection* connection, const char* path, const char* method,
                  const char* /*version*/, const char* /*body*/, std::size_t* body_size,
                  void** seen) {
  const auto& pages = *static_cast<const std::vector<Page>*>(served);
  if (*seen == nullptr) {
    *seen = served;
    if (std::string_view(method) == "GET") return MHD_YES;
  }
  *body_size = 0;
  if (std::string_view(method) != "GET") {
    return respond(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "GET only\n");
  }
  const auto page = std::ranges::find(pages, path, &Page::path);
  if (page == pages.end()) {
    return respond(connection, MHD_HTTP_NOT_FOUND, "text/plain", "see" + paths_of(pages) + "\n");
  }
  return respond(connection, MHD_HTTP_OK, page->type, page->text());
}

}  // namespace

Result<std::unique_ptr<PageServer>, Error> PageServer::open(const std::string& address,
                                                            std::vector<Page> pages) {
  auto socket = listen_at(address);
  if (!socket) return failure(std::move(socket.error()));
  std::unique_ptr<PageServer> server(new PageServer(std::move(pages)));
  MHD_Daemon* daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD, 0, nullptr, nullptr, answer, &server->pages_,
      MHD_OPTION_LISTEN_SOCKET, socket->get(), MHD_OPTION_CONNECTION_LIMIT, kConnectionsMax,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, kConnectionsPerAddressMax,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, kMemoryPerConnection, MHD_OPTION_CONNECTION_TIMEOUT,
      kTimeoutSeconds, MHD_OPTION_END);
  if (daemon == nullptr) return failure(cannot_serve(address));
  // From now on it is the daemon's.
  static_cast<void>(std::move(*socket).release());
  server->daemon_ = daemon;
  return server;
}

PageServer::~PageServer() {
  if (daemon_ != nullptr) MHD_stop_daemon(static_cast<MHD_Daemon*>(daemon_));
}

}  // namespace openmrc::tools

#else

namespace openmrc::tools {

Result<std::unique_ptr<PageServer>, host::Error> PageServer::open(const std::string& /*address*/,
                                                                  std::vector<Page> /*pages*/) {
  return failure(host::Error{.what = "this mrcd was built without libmicrohttpd: it serves no HTTP",
                             .remedy =
                                 "install libmicrohttpd-dev and build again, or leave [agent] "
                                 "listen and --listen out"});
}

PageServer::~PageServer() = default;

}  // namespace openmrc::tools

#endif
