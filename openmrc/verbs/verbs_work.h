// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <span>

#include "openmrc/messages/limits.h"
#include "openmrc/messages/work.h"
#include "openmrc/verbs/device.h"

// Work requests of verbs as the message layer has them.
namespace openmrc::libmrc {

// So many are posted with one turn of the shard's lock.
inline constexpr std::size_t kWorkBatch = 16;
inline constexpr std::size_t kSgeMax = messages::kSegmentsMax;

inline int error_of(messages::PostError error) {
  return error == messages::PostError::kFull ? ENOMEM : EINVAL;
}

// Where the memory is that a scatter/gather list names. It is looked up now, because the list need
// not stay; a key that is wrong is said by the completion.
struct LocalMemory {
  const MemoryTable& table;
  host::ProtectionDomain domain;

  enum class Use : std::uint8_t { kRead, kWrite };
  // False: a key is wrong, or does not allow it.
  bool find(std::span<const ibv_sge> list, Use use, messages::Segment* to) const {
    bool ok = true;
    for (const ibv_sge& sge : list) {
      std::byte* data =
          sge.length == 0 ? nullptr
                          : table.find(sge.lkey, domain, sge.addr, sge.length, use == Use::kWrite);
      ok = ok && (data != nullptr || sge.length == 0);
      *to++ = {.data = data, .length = sge.length};
    }
    return ok;
  }
};

// Posts a list of receives, `post` up to kWorkBatch of them: to a queue pair, or a shared queue.
template <class Post>
int post_receives(const LocalMemory& memory, ibv_recv_wr* first, ibv_recv_wr** bad, Post post) {
  for (ibv_recv_wr* wr = first; wr != nullptr;) {
    std::array<messages::ReceiveRequest, kWorkBatch> batch;
    std::array<std::array<messages::Segment, kSgeMax>, kWorkBatch> segments;
    std::array<ibv_recv_wr*, kWorkBatch> origin{};
    std::size_t count = 0;
    int error = 0;
    for (; wr != nullptr && count < kWorkBatch; wr = wr->next) {
      if (wr->num_sge < 0 || static_cast<std::size_t>(wr->num_sge) > kSgeMax) {
        error = EINVAL;
        break;
      }
      const std::span list(wr->sg_list, static_cast<std::size_t>(wr->num_sge));
      const bool keys_ok = memory.find(list, LocalMemory::Use::kWrite, segments[count].data());
      batch[count] = {.id = wr->wr_id,
                      .segments = std::span(segments[count]).first(list.size()),
                      .keys_ok = keys_ok};
      origin[count++] = wr;
    }
    const auto posted = post(std::span<const messages::ReceiveRequest>(batch).first(count));
    if (posted.count < count) {
      *bad = origin[posted.count];
      return errno = error_of(posted.last.error());
    }
    if (error != 0) {
      *bad = wr;
      return errno = error;
    }
  }
  return 0;
}

}  // namespace openmrc::libmrc
