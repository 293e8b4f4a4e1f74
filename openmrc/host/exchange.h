// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/datapath/file_descriptor.h"
#include "openmrc/wire/field/ip_address.h"

// How two programs exchange connection information before there is a connection: lines
// of JSON over TCP. Every wait has an end, also by a signal that is caught (interrupt.h), and what
// the other side sends is not trusted. A server that anybody may reach is an ExchangeServer
// (exchange_server.h).
namespace openmrc::host {

enum class ExchangeFault : std::uint8_t {
  kName,         // the host's name cannot be resolved
  kUnreachable,  // no connection in time
  kTimeout,      // connected, but no data in time
  kClosed,       // the other side closed the connection
  kLine,         // a line is too long, or holds a line break
  kMalformed,    // malformed connection information
  kSecret,       // the shared secret is wrong, missing, or its file cannot be used
  kRefused,      // the other side said no, and why
  kInterrupted,  // a signal ended the wait (interrupt.h)
  kSystem,       // the kernel refused
};
std::string_view name_of(ExchangeFault fault);

struct ExchangeError {
  ExchangeFault fault = ExchangeFault::kSystem;
  std::string what{};
};
std::string to_string(const ExchangeError& error);

// Enough for the connection information of more than ten thousand queue pairs.
inline constexpr std::size_t kExchangeLineMax = 8 * 1024 * 1024;

class ExchangeConnection {
 public:
  // To a host by name or address. Tries again until the time is over, so that a client may be
  // started before its server.
  static Result<ExchangeConnection, ExchangeError> connect(const std::string& host,
                                                           std::uint16_t port, Duration timeout);

  // Without the line break. Waits as long as is allowed for the other side to take it.
  [[nodiscard]] Result<void, ExchangeError> send(std::string_view json_line,
                                                 Duration timeout = seconds(10));
  // The next line, without its break.
  [[nodiscard]] Result<std::string, ExchangeError> receive(Duration timeout);

  // Whether the other side has closed, without waiting; also if it was killed. Lines that it sent
  // before can still be received.
  [[nodiscard]] bool peer_gone() const;
  // From here on longer lines are an error: for a peer that is not known yet.
  void limit_lines(std::size_t size_max) { line_max_ = std::min(size_max, kExchangeLineMax); }
  // Memory that received bytes take.
  [[nodiscard]] std::size_t buffered() const { return inbox_.size(); }
  // Readable when there is something to receive, or the peer is gone.
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  [[nodiscard]] const std::string& peer() const { return peer_; }  // for messages

 private:
  friend class ExchangeListener;
  ExchangeConnection(datapath::FileDescriptor socket, std::string peer);

  [[nodiscard]] Result<void, ExchangeError> read_some(Instant end, Duration timeout);

  datapath::FileDescriptor socket_;
  std::string peer_;
  std::string inbox_;         // received and not yet asked for
  std::size_t searched_ = 0;  // bytes of it in which there is no line break
  std::size_t line_max_ = kExchangeLineMax;
};

class ExchangeListener {
 public:
  // On all addresses, IPv6 and IPv4. Port 0: one that is free.
  static Result<ExchangeListener, ExchangeError> open(std::uint16_t port);

  [[nodiscard]] Result<ExchangeConnection, ExchangeError> accept(Duration timeout) const;
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  ExchangeListener(datapath::FileDescriptor socket, std::uint16_t port)
      : socket_(std::move(socket)), port_(port) {}

  datapath::FileDescriptor socket_;
  std::uint16_t port_;
};

// What a peer must know of a queue pair to connect to it.
struct ConnectionInfo {
  std::string host{};  // its name, for messages
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;                       // of its first request
  std::vector<wire::Ipv6Address> addresses{};  // by plane
  std::optional<std::uint32_t> fabric_host{};  // its place in the fabric
  std::uint32_t mtu = 0;
  std::uint8_t mpr = 0;  // the window that it offers
  std::uint16_t max_wimm = 0;
  bool dynamic_mpr = false;  // it may change the window, and lets its peer do so

  bool operator==(const ConnectionInfo&) const = default;
};

// What a peer must know of a memory region to write to it.
struct RemoteMemory {
  std::uint64_t address = 0;
  std::uint64_t length = 0;
  std::uint32_t rkey = 0;

  bool operator==(const RemoteMemory&) const = default;
};

// One line of JSON each. Another version, an unknown or missing key, or a number out of range is an
// error with its reason.
std::string to_json(const ConnectionInfo& info);
std::string to_json(const RemoteMemory& info);
Result<ConnectionInfo, ExchangeError> connection_info_from(std::string_view json);
Result<RemoteMemory, ExchangeError> remote_memory_from(std::string_view json);

// Many in one line.
std::string to_json(std::span<const ConnectionInfo> infos);
std::string to_json(std::span<const RemoteMemory> infos);
Result<std::vector<ConnectionInfo>, ExchangeError> connection_infos_from(std::string_view json);
Result<std::vector<RemoteMemory>, ExchangeError> remote_memories_from(std::string_view json);

}  // namespace openmrc::host
