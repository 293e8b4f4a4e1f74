// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/exchange_handshake.h"

namespace openmrc::host {

struct ExchangeServerSettings {
  std::uint16_t port = 0;
  std::size_t lines = 1;  // that a client sends to complete its handshake
  std::optional<ExchangeSecret> secret{};
  std::function<Result<void, ExchangeError>(const std::string& line)> check_first{};
  // Told of each client that is refused, not of those that go away or stay silent.
  std::function<void(const std::string& peer, const ExchangeError& why)> on_refused{};
  Duration handshake_timeout = seconds(10);
  std::size_t pending_max = 256;  // clients whose handshake is not complete
  // What these may have sent in sum; one long line fits several times.
  std::size_t pending_bytes_max = 8 * kExchangeLineMax;
};

// A client that has completed its handshake, and the lines it sent for that.
struct ExchangeRequest {
  ExchangeConnection connection;
  std::vector<std::string> lines;
};

// Waits for clients on a port that anybody may reach. Handshakes of many clients proceed at the
// same time, in the thread that calls accept(); each has a deadline, and when there are too many
// the oldest is dropped. So those who are silent, slow or malicious keep nobody waiting.
class ExchangeServer {
 public:
  static Result<ExchangeServer, ExchangeError> open(ExchangeServerSettings settings);

  // The next client that completes its handshake.
  [[nodiscard]] Result<ExchangeRequest, ExchangeError> accept(Duration timeout);
  [[nodiscard]] std::uint16_t port() const { return listener_.port(); }
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }

 private:
  struct Pending {
    ExchangeConnection connection;
    ServerHandshake handshake;
    Instant deadline;
  };

  ExchangeServer(ExchangeServerSettings settings, ExchangeListener listener);

  void wait(Duration longest) const;
  void welcome();
  // Reads what the client has sent. False: it is over with it.
  [[nodiscard]] bool advance(Pending& client);
  // False: it took too long, and has been told.
  [[nodiscard]] bool is_in_time(Pending& client) const;
  void refuse(Pending& client, const ExchangeError& why);
  static std::size_t memory_of(Pending& client);
  void enforce_limits();
  std::optional<ExchangeRequest> take_complete();

  ExchangeServerSettings settings_;
  std::unique_ptr<HandshakeSettings> handshake_;  // where handshakes find it when this is moved
  ExchangeListener listener_;
  std::list<Pending> pending_;  // oldest first
};

}  // namespace openmrc::host
