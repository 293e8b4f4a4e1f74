// SPDX-License-Identifier: BSD-3-Clause
// Writes a text into the memory of another host. Start it on one host without arguments and on the
// other with the name of the first:   h1$ write     h0$ write h1
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string_view>
#include <vector>

#include "openmrc/openmrc.h"

namespace {

using namespace openmrc;

constexpr std::string_view kText = "Hello over every path";
constexpr Duration kTimeout = seconds(30);

// A TCP connection, over which the two sides describe their queue pairs and memory.
ExchangeConnection connect_exchange(const char* server, std::uint16_t port) {
  if (server != nullptr) return expect(ExchangeConnection::connect(server, port, kTimeout));
  const ExchangeListener listener = expect(ExchangeListener::open(port));
  return expect(listener.accept(kTimeout));
}

// Returns when the other side has called it too.
void barrier(ExchangeConnection& exchange) {
  expect(exchange.send("{}"));
  expect(exchange.receive(kTimeout));
}

Result<void, Error> wait_for_success(CompletionQueue& completions, const QueuePair& qp) {
  Completion completion;
  if (completions.wait({&completion, 1}, kTimeout) == 0) {
    return failure(Error{.what = "no completion within 30 s"});
  }
  if (completion.status != WorkStatus::kSuccess) {
    return failure(Error{.what = qp.failure_text().value_or(error_text(completion.status))});
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const char* const server = argc > 1 ? argv[1] : nullptr;  // null: this is the server
  const auto host = expect(Host::open(expect(load_config({}))));
  std::vector<std::byte> memory(4096);
  const auto region = expect(host->register_memory(memory));
  const auto completions = host->create_completion_queue();
  const auto qp = expect(host->create_queue_pair({.writes = completions.get()}));

  ExchangeConnection exchange = connect_exchange(server, host->config().exchange_port);
  expect(exchange.send(to_json(qp->connection_info())));
  expect(exchange.send(to_json(region->remote())));
  const ConnectionInfo peer = expect(connection_info_from(expect(exchange.receive(kTimeout))));
  const RemoteMemory remote = expect(remote_memory_from(expect(exchange.receive(kTimeout))));
  expect(qp->connect(peer));
  if (server == nullptr) expect(qp->post_receive(1));  // for the immediate
  barrier(exchange);

  if (server != nullptr) {
    expect(qp->post_write({.data = std::as_bytes(std::span(kText)),
                           .remote_address = remote.address,
                           .rkey = RKey(remote.rkey),
                           .immediate = 1}));
  }
  expect(wait_for_success(*completions, *qp));
  barrier(exchange);  // neither side leaves while the other may need an answer

  if (server != nullptr) {
    std::puts("sent");
  } else {
    std::printf("received: %s\n", reinterpret_cast<const char*>(memory.data()));
  }
}
