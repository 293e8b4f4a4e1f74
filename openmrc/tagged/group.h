// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/base/time.h"
#include "openmrc/host/exchange.h"
#include "openmrc/host/host.h"
#include "openmrc/tagged/buffer.h"
#include "openmrc/tagged/inbox.h"
#include "openmrc/tagged/ledger.h"
#include "openmrc/tagged/matcher.h"
#include "openmrc/tagged/peer.h"

namespace openmrc::tagged {

// Why something cannot be done, or did not happen: for people.
using Reason = std::string;

// Processes that send each other messages with tags, as collective operations need them. Messages
// with the same tag between two members arrive in order. Short ones are copied and sent at once;
// the others are announced, and the receiver READs them from the sender's memory into its own.
//
// Any thread may use it. Those who wait are those who make progress: nothing else is done in the
// background than what the host does. A member that fails ends the group: all that wait are told,
// and so are the other members. A member that leaves in order ends nothing but what was expected of
// it.
class Group {
 public:
  enum class Direction { kSend, kReceive };

  Group(host::Host& host, int rank, int size);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // What the member `rank` needs to know to connect to this one.
  [[nodiscard]] Result<host::ConnectionInfo, Reason> add_peer(int rank);
  [[nodiscard]] Result<void, Reason> connect(int rank, const host::ConnectionInfo& info);

  // `bytes` are some of the buffer's, and stay as they are until wait() has returned.
  [[nodiscard]] Result<void, Reason> send(Buffer& buffer, std::span<std::byte> bytes, int to,
                                          std::uint64_t tag);
  // A message of one of the ranks, not longer than `bytes`, which are some of the buffer's.
  [[nodiscard]] Result<void, Reason> receive(Buffer& buffer, std::span<std::byte> bytes,
                                             std::vector<int> from, std::uint64_t tag);
  // Until one that was begun with the buffer is complete: the other end of it. Nothing: abort() was
  // called. A wait that takes too long ends the group.
  [[nodiscard]] Result<std::optional<int>, Reason> wait(Buffer& buffer, Direction direction,
                                                        Duration timeout);
  // One who waits, now or next, waits no longer.
  void abort(Buffer& buffer, Direction direction);
  // What was begun with it, and is not complete, ends the group.
  void forget(Buffer& buffer);

  // Leaves the group, once all that was sent has arrived; does not wait for ever.
  void close();

 private:
  [[nodiscard]] Peer* find(int rank) const;
  [[nodiscard]] Result<void, Reason> usable(int rank) const;
  [[nodiscard]] Result<void, Reason> announce(Buffer& buffer, std::span<std::byte> bytes, Peer& to,
                                              std::uint64_t tag);
  static Buffer::Count& count_of(Buffer& buffer, Direction direction);
  // What a wait has come to, if it has.
  [[nodiscard]] std::optional<Result<std::optional<int>, Reason>> outcome(Buffer& buffer,
                                                                          Direction direction);
  [[nodiscard]] std::vector<int> awaited(const Buffer& buffer, Direction direction) const;
  [[nodiscard]] Reason late(const Buffer& buffer, Direction direction, Duration timeout) const;
  void pause(std::uint64_t seen, Duration at_most);
  void wait_for_acknowledgements(const host::MemoryRegion& region);

  // What the inbox has.
  void progress();
  void handle(const Inbox::Entry& entry);
  void on_failure(Peer& peer, std::optional<messages::Status> status);
  void on_message(Peer& peer, ConstBytes message);
  void on_data(Peer& peer, const Header& header, ConstBytes payload);
  void on_read(Peer& peer, std::uint32_t id);
  void on_abort(const Peer& peer, ConstBytes reason);
  void on_close(Peer& peer);
  // A message and one who waits for it.
  void deliver(Peer& peer, const Header& header, ConstBytes payload, Receive receive);
  static void complete(const Ledger::Completed& completed, Direction direction, int rank);
  void fail(const Reason& reason, const Peer* culprit);
  void stop_reading();
  [[nodiscard]] bool is_flushed() const;

  host::Host& host_;
  int rank_;
  Inbox inbox_;
  std::mutex mutex_;                          // of all that follows, and of buffers
  std::vector<std::unique_ptr<Peer>> peers_;  // by rank; null: none yet, or this member
  Matcher matcher_;
  std::uint32_t next_id_ = 1;
  std::optional<Reason> broken_;
};

}  // namespace openmrc::tagged
