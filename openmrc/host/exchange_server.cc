// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/exchange_server.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "openmrc/host/clock.h"
#include "openmrc/host/interrupt.h"
#include "openmrc/text/units.h"

namespace openmrc::host {
namespace {

// How often deadlines and signals are looked at while nobody comes.
constexpr Duration kLookInterval = milliseconds(100);
// Connections taken from the kernel before clients that are there already get their turn.
constexpr int kWelcomedAtOnce = 64;
// When the kernel gives no descriptors: others may free some.
constexpr auto kShortagePause = std::chrono::milliseconds(10);

constexpr Duration kAtOnce = nanoseconds(0);

}  // namespace

ExchangeServer::ExchangeServer(ExchangeServerSettings settings, ExchangeListener listener)
    : settings_(std::move(settings)),
      handshake_(std::make_unique<HandshakeSettings>()),
      listener_(std::move(listener)) {
  handshake_->lines = settings_.lines;
  handshake_->check_first = settings_.check_first;
}

Result<ExchangeServer, ExchangeError> ExchangeServer::open(ExchangeServerSettings settings) {
  auto listener = ExchangeListener::open(settings.port);
  if (!listener) return failure(std::move(listener.error()));
  return ExchangeServer(std::move(settings), *std::move(listener));
}

Result<ExchangeRequest, ExchangeError> ExchangeServer::accept(Duration timeout) {
  handshake_->secret = settings_.secret ? &*settings_.secret : nullptr;
  const Instant end = now() + timeout;
  for (;;) {
    if (auto request = take_complete()) return *std::move(request);
    if (interrupted()) {
      return failure(ExchangeError{.fault = ExchangeFault::kInterrupted,
                                   .what = "interrupted while waiting for a client"});
    }
    if (now() >= end) {
      return failure(ExchangeError{.fault = ExchangeFault::kTimeout,
                                   .what = fmt::format("no client came to TCP port {} within {}",
                                                       port(), text::format_duration(timeout))});
    }
    wait(std::clamp(end - now(), kAtOnce, kLookInterval));
    welcome();
    std::erase_if(pending_, [this](Pending& client) { return !advance(client); });
    enforce_limits();
  }
}

void ExchangeServer::wait(Duration longest) const {
  std::vector<pollfd> asked{{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0}};
  for (const Pending& client : pending_) {
    asked.push_back({.fd = client.connection.descriptor(), .events = POLLIN, .revents = 0});
  }
  ::poll(asked.data(), asked.size(), static_cast<int>((longest.raw() + 999'999) / 1'000'000));
}

void ExchangeServer::welcome() {
  for (int i = 0; i < kWelcomedAtOnce; ++i) {
    auto accepted = listener_.accept(kAtOnce);
    if (accepted) {
      pending_.push_back({.connection = *std::move(accepted),
                          .handshake = ServerHandshake(*handshake_, fresh_nonce()),
                          .deadline = now() + settings_.handshake_timeout});
      continue;
    }
    if (accepted.error().fault != ExchangeFault::kSystem) return;
    if (!pending_.empty()) pending_.pop_front();
    std::this_thread::sleep_for(kShortagePause);
    return;
  }
}

bool ExchangeServer::advance(Pending& client) {
  while (!client.handshake.is_complete()) {
    client.connection.limit_lines(client.handshake.line_max());
    auto line = client.connection.receive(kAtOnce);
    if (!line) {
      if (line.error().fault == ExchangeFault::kTimeout) return is_in_time(client);
      if (line.error().fault == ExchangeFault::kLine) refuse(client, line.error());
      return false;
    }
    const auto answer = client.handshake.take(*std::move(line));
    if (!answer) {
      refuse(client, answer.error());
      return false;
    }
    if (*answer && !client.connection.send(**answer, kAtOnce)) return false;
  }
  return true;
}

bool ExchangeServer::is_in_time(Pending& client) const {
  if (now() < client.deadline) return true;
  (void)client.connection.send(
      refusal_line(fmt::format("the handshake was not complete after {}",
                               text::format_duration(settings_.handshake_timeout))),
      kAtOnce);
  return false;
}

void ExchangeServer::refuse(Pending& client, const ExchangeError& why) {
  (void)client.connection.send(refusal_line(why.what), kAtOnce);
  if (settings_.on_refused) settings_.on_refused(client.connection.peer(), why);
}

std::size_t ExchangeServer::memory_of(Pending& client) {
  std::size_t bytes = client.connection.buffered();
  for (const std::string& line : client.handshake.lines()) bytes += line.size();
  return bytes;
}

void ExchangeServer::enforce_limits() {
  std::size_t bytes = 0;
  for (Pending& client : pending_) bytes += memory_of(client);
  while (pending_.size() > settings_.pending_max || bytes > settings_.pending_bytes_max) {
    bytes -= memory_of(pending_.front());
    pending_.pop_front();
  }
}

std::optional<ExchangeRequest> ExchangeServer::take_complete() {
  for (auto client = pending_.begin(); client != pending_.end();) {
    if (!client->handshake.is_complete()) {
      ++client;
      continue;
    }
    ExchangeRequest request{.connection = std::move(client->connection),
                            .lines = std::move(client->handshake.lines())};
    client = pending_.erase(client);
    request.connection.limit_lines(kExchangeLineMax);
    if (!request.connection.peer_gone()) return request;
  }
  return std::nullopt;
}

}  // namespace openmrc::host
