// SPDX-License-Identifier: BSD-3-Clause
// Writes a text into the memory of another host. Start it on one host without arguments, on the
// other with the name of the first:  h1$ write    h0$ write h1
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "openmrc/openmrc.h"

using namespace openmrc;

template <class T, class E>
T need(Result<T, E> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "write: %s\n", to_string(result.error()).c_str());
  std::exit(1);
}

int main(int argc, char** argv) {
  const bool is_server = argc < 2;
  const auto host = need(Host::open(need(host::load_config({}))));
  std::vector<std::byte> memory(4096);
  const auto region = need(host->register_memory(memory));
  const auto completions = host->create_completion_queue();
  const auto qp = need(host->create_queue_pair({.writes = completions.get()}));

  // The two ends tell each other who they are, over TCP.
  const std::uint16_t port = host->config().exchange_port;
  auto listener = is_server ? std::optional(need(ExchangeListener::open(port))) : std::nullopt;
  auto other = is_server ? need(listener->accept(seconds(60)))
                         : need(ExchangeConnection::connect(argv[1], port, seconds(10)));
  (void)other.send(to_json(qp->card()));
  (void)other.send(to_json(region->card()));
  const PeerCard peer = need(host::peer_card_from(need(other.receive(seconds(10)))));
  const MemoryCard remote = need(host::memory_card_from(need(other.receive(seconds(10)))));
  if (const auto error = qp->connect(peer)) return std::puts(to_string(*error).c_str()), 1;

  if (is_server) {
    (void)qp->post_receive(1);
  } else {
    need(other.receive(seconds(10)));  // the receive is posted
    std::strcpy(reinterpret_cast<char*>(memory.data()), "Hello over every path");
    (void)qp->post_write({.data = std::span(memory).first(64),
                          .remote_address = remote.address,
                          .rkey = RKey(remote.rkey),
                          .immediate = 1});
  }
  if (is_server) (void)other.send("{}");

  Completion completion;
  if (completions->wait({&completion, 1}, seconds(10)) == 0) return std::puts("nothing came"), 1;
  if (completion.status != WorkStatus::kSuccess) return std::puts(qp->failure_text()->c_str()), 1;
  std::printf("%s: %s\n", is_server ? "received" : "sent", reinterpret_cast<char*>(memory.data()));
}
