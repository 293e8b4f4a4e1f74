// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include "openmrc/base/check.h"
#include "openmrc/base/ids.h"
#include "openmrc/core/containers/pool.h"
#include "openmrc/core/context/limits.h"
#include "openmrc/core/context/sent_pool.h"

namespace openmrc::core {

// MRC 7.4 (Table 7-4): the request packets that have been sent and have not arrived, as far as the
// requestor knows: PSNs [oldest, next). Chunks come from a pool and go back when all of their
// packets have arrived, so that an idle queue pair holds none.
class SentWindow {
 public:
  SentWindow() = default;
  // For windows of up to `mpr_max` steps. Allocates.
  SentWindow(std::uint8_t mpr_max, UnwrappedPsn first)
      : oldest_(first.raw()),
        next_(first.raw()),
        slot_mask_(std::bit_ceil(mpr_max * static_cast<std::uint64_t>(kPsnsPerMpr) / 64 + 1) - 1),
        slots_(std::make_unique<PoolIndex[]>(slot_mask_ + 1)) {
    std::fill_n(slots_.get(), slot_mask_ + 1, kNoElement);
  }

  [[nodiscard]] UnwrappedPsn oldest() const { return UnwrappedPsn(oldest_); }
  [[nodiscard]] UnwrappedPsn next() const { return UnwrappedPsn(next_); }
  [[nodiscard]] bool empty() const { return oldest_ == next_; }
  [[nodiscard]] std::int64_t size() const { return next_ - oldest_; }
  [[nodiscard]] bool has_lost() const { return lost_count_ > 0; }
  // There are packets, and each of them is to be retransmitted.
  [[nodiscard]] bool all_lost() const { return lost_count_ > 0 && lost_count_ == size(); }
  [[nodiscard]] bool covers(UnwrappedPsn psn) const { return psn >= oldest() && psn < next(); }

  [[nodiscard]] bool is_in_flight(const SentPool& pool, UnwrappedPsn psn) const {
    return covers(psn) && (chunk(pool, psn.raw()).in_flight & bit(psn.raw())) != 0;
  }
  // `psn` is covered.
  SentPacket& packet(SentPool& pool, UnwrappedPsn psn) {
    return chunk(pool, psn.raw()).packets[index(psn.raw())];
  }
  [[nodiscard]] SentRef ref(UnwrappedPsn psn) const {
    return slots_[slot_of(psn.raw())] * 64 + static_cast<SentRef>(psn.raw() & 63);
  }

  // Whether `append` may be called: the pool can give what is needed.
  [[nodiscard]] bool can_append(SentPool& pool) {
    PoolIndex& slot = slots_[slot_of(next_)];
    if (slot != kNoElement) return true;
    slot = pool.take();
    if (slot == kNoElement) return false;
    SentChunk& chunk = pool[slot];
    chunk.in_flight = 0;
    chunk.lost = 0;
    chunk.again = 0;
    chunk.first_psn = next_ & ~std::int64_t{63};
    return true;
  }
  SentPacket& append(SentPool& pool) {
    SentChunk& into = chunk(pool, next_);
    into.in_flight |= bit(next_);
    return into.packets[index(next_++)];
  }

  // How many can be appended without taking anything from the pool.
  [[nodiscard]] std::int64_t room_in_chunk() const {
    return slots_[slot_of(next_)] == kNoElement ? 0 : 64 - (next_ & 63);
  }
  // So many at once, one or more; returns the first of them.
  SentPacket* append(SentPool& pool, std::int64_t count) {
    OPENMRC_DCHECK(count > 0 && count <= room_in_chunk(), "they have room in one chunk");
    SentChunk& into = chunk(pool, next_);
    into.in_flight |= bits_between(next_, next_ + count);
    SentPacket* const first = &into.packets[index(next_)];
    next_ += count;
    return first;
  }

  // The lowest lost packet; there is one.
  UnwrappedPsn oldest_lost(SentPool& pool) {
    for (std::int64_t at = std::max(lost_from_, oldest_);; at = (at | 63) + 1) {
      OPENMRC_DCHECK(at < next_, "there is a lost packet");
      const std::uint64_t left = chunk(pool, at).lost >> (at & 63);
      if (left != 0) return UnwrappedPsn(lost_from_ = at + std::countr_zero(left));
    }
  }
  // It is lost, and is retransmitted now.
  SentPacket& retransmit(SentPool& pool, UnwrappedPsn psn) {
    SentChunk& at = chunk(pool, psn.raw());
    OPENMRC_DCHECK((at.lost & bit(psn.raw())) != 0, "only what is lost is retransmitted");
    at.lost &= ~bit(psn.raw());
    at.in_flight |= bit(psn.raw());
    at.again |= bit(psn.raw());
    --lost_count_;
    return at.packets[index(psn.raw())];
  }
  // It is in flight.
  void mark_lost(SentPool& pool, UnwrappedPsn psn) {
    SentChunk& at = chunk(pool, psn.raw());
    OPENMRC_DCHECK((at.in_flight & bit(psn.raw())) != 0, "only what is in flight gets lost");
    at.in_flight &= ~bit(psn.raw());
    at.again &= ~bit(psn.raw());
    at.lost |= bit(psn.raw());
    lost_from_ = lost_count_ == 0 ? psn.raw() : std::min(lost_from_, psn.raw());
    ++lost_count_;
  }

  // Whether a bitmap has reported the oldest, which must not be: then it would not be the oldest.
  // There is one.
  [[nodiscard]] bool oldest_is_reported(const SentPool& pool) const {
    const SentChunk& at = chunk(pool, oldest_);
    return ((at.in_flight | at.lost) & bit(oldest_)) == 0;
  }
  // It has not arrived after all.
  void take_back_oldest(SentPool& pool) {
    OPENMRC_DCHECK(oldest_is_reported(pool), "only what was reported is taken back");
    chunk(pool, oldest_).lost |= bit(oldest_);
    lost_from_ = oldest_;
    ++lost_count_;
  }

  // Everything below `end` has arrived: calls `arrived(SentPacket&, bool was_in_flight)` for each
  // packet of which this is news, or, if it takes that, `arrived(SentChunk&, bits)` for many at
  // once that were in flight for the first time. `end` is at most `next`.
  template <class Arrived>
  void arrived_below(SentPool& pool, UnwrappedPsn end, Arrived&& arrived) {
    while (oldest_ < end.raw()) {
      const std::int64_t chunk_end = (oldest_ | 63) + 1;
      const std::int64_t stop = std::min(chunk_end, end.raw());
      take_arrived(chunk(pool, oldest_), bits_between(oldest_, stop), arrived);
      oldest_ = stop;
      if (stop == chunk_end) release(pool, stop - 64);
    }
    if (empty()) release_last(pool);
  }

  // The packets whose bits are set have arrived; bit 0 stands for `base`. Bits outside the window
  // say nothing new.
  template <class Arrived>
  void arrived_bits(SentPool& pool, UnwrappedPsn base, std::uint64_t bits, Arrived&& arrived) {
    std::int64_t at = base.raw();
    if (at < oldest_) {
      if (oldest_ - at >= 64) return;
      bits >>= oldest_ - at;
      at = oldest_;
    }
    if (at >= next_) return;
    const auto offset = static_cast<unsigned>(at & 63);
    if (bits << offset != 0) take_arrived(chunk(pool, at), bits << offset, arrived);
    if (offset != 0 && bits >> (64 - offset) != 0 && (at | 63) + 1 < next_) {
      take_arrived(chunk(pool, (at | 63) + 1), bits >> (64 - offset), arrived);
    }
  }

  // Calls `visit(UnwrappedPsn, SentPacket&)` for each packet in flight from `oldest` up to `end`,
  // oldest first, until it returns false.
  template <class Visit>
  void visit_in_flight(SentPool& pool, UnwrappedPsn end, Visit&& visit) {
    visit_chunks(pool, end, visit, [](const SentChunk& in) { return in.in_flight; });
  }
  // The same for those that were sent once: that is the order in which they were sent.
  template <class Visit>
  void visit_sent_once(SentPool& pool, Visit&& visit) {
    visit_chunks(pool, next(), visit, [](const SentChunk& in) { return in.in_flight & ~in.again; });
  }

  // Calls `visit(SentPacket&)` for those of a chunk whose bits are set.
  template <class Visit>
  [[gnu::always_inline]] static void visit_bits(SentChunk& in, std::uint64_t bits, Visit&& visit) {
    for (; bits != 0; bits &= bits - 1) {
      visit(in.packets[static_cast<std::size_t>(std::countr_zero(bits))]);
    }
  }

  // For Prefetch: the slots first, then what they name.
  void prefetch_slot() const { __builtin_prefetch(slots_.get()); }
  void prefetch_packets(const SentPool& pool) const {
    if (!slots_ || slots_[slot_of(oldest_)] == kNoElement) return;
    const SentChunk& in = chunk(pool, oldest_);
    __builtin_prefetch(&in);
    for (std::size_t i = 0; i < kPrefetched; i += 2) {  // two in a cache line
      __builtin_prefetch(&in.packets[(index(oldest_) + i) & 63]);
    }
  }

  // Gives everything back; calls `dropped(SentPacket&)` for each packet in flight.
  template <class Dropped>
  void clear(SentPool& pool, Dropped&& dropped) {
    if (!slots_) return;  // never opened
    arrived_below(pool, next(), [&](SentPacket& packet, bool was_in_flight) {
      if (was_in_flight) dropped(packet);
    });
  }

 private:
  template <class Visit, class Which>
  void visit_chunks(SentPool& pool, UnwrappedPsn end, Visit&& visit, Which which) {
    const std::int64_t stop = std::min(end.raw(), next_);
    for (std::int64_t at = oldest_; at < stop; at = (at | 63) + 1) {
      SentChunk& in = chunk(pool, at);
      std::uint64_t left = which(in) & bits_between(at, std::min((at | 63) + 1, stop));
      for (; left != 0; left &= left - 1) {
        const int i = std::countr_zero(left);
        const UnwrappedPsn psn((at & ~std::int64_t{63}) + i);
        if (!visit(psn, in.packets[static_cast<std::size_t>(i)])) return;
      }
    }
  }

  static constexpr std::size_t kPrefetched = 8;

  static std::size_t index(std::int64_t psn) { return static_cast<std::size_t>(psn & 63); }
  static std::uint64_t bit(std::int64_t psn) { return std::uint64_t{1} << (psn & 63); }
  // The bits of [from, to), which lie in one chunk.
  static std::uint64_t bits_between(std::int64_t from, std::int64_t to) {
    const std::uint64_t count_ones =
        to - from >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << (to - from)) - 1;
    return count_ones << (from & 63);
  }
  [[nodiscard]] std::size_t slot_of(std::int64_t psn) const {
    return static_cast<std::uint64_t>(psn) / 64 & slot_mask_;
  }
  SentChunk& chunk(SentPool& pool, std::int64_t psn) { return pool[slots_[slot_of(psn)]]; }
  [[nodiscard]] const SentChunk& chunk(const SentPool& pool, std::int64_t psn) const {
    return pool[slots_[slot_of(psn)]];
  }

  template <class Arrived>
  void take_arrived(SentChunk& in, std::uint64_t bits, Arrived&& arrived) {
    std::uint64_t left = in.in_flight & bits;
    in.in_flight &= ~bits;
    if constexpr (std::is_invocable_v<Arrived&, SentChunk&, std::uint64_t>) {
      if ((in.lost | in.again) == 0) [[likely]]
        return arrived(in, left);
    }
    for (; left != 0; left &= left - 1) {
      arrived(in.packets[static_cast<std::size_t>(std::countr_zero(left))], true);
    }
    left = in.lost & bits;
    lost_count_ -= static_cast<std::uint32_t>(std::popcount(left));
    in.lost &= ~bits;
    in.again &= ~bits;
    for (; left != 0; left &= left - 1) {
      arrived(in.packets[static_cast<std::size_t>(std::countr_zero(left))], false);
    }
  }

  void release(SentPool& pool, std::int64_t psn) {
    PoolIndex& slot = slots_[slot_of(psn)];
    if (slot != kNoElement) pool.give_back(slot);
    slot = kNoElement;
  }
  // Also the chunk that `next` points into, when nothing in it is in flight.
  void release_last(SentPool& pool) { release(pool, next_); }

  std::int64_t oldest_ = 0;
  std::int64_t next_ = 0;
  std::int64_t lost_from_ = 0;  // no lost packet is below
  std::uint64_t slot_mask_ = 0;
  std::unique_ptr<PoolIndex[]> slots_;
  std::uint32_t lost_count_ = 0;
};

}  // namespace openmrc::core
