// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/messages/receive_queue.h"

#include <algorithm>

#include "openmrc/messages/scatter.h"

namespace openmrc::messages {

ReceiveQueue::ReceiveQueue(const QueueOptions& options)
    : segments_each_(options.segments),
      receives_(options.requests),
      segments_(options.requests * options.segments) {
  free_.reserve(options.requests);
  for (std::size_t i = options.requests; i > 0; --i) free_.push_back(static_cast<Slot>(i - 1));
  waiting_.reserve(options.requests);
}

Result<void, PostError> ReceiveQueue::post(const ReceiveRequest& request) {
  if (request.segments.size() > segments_each_) return failure(PostError::kSegments);
  if (free_.empty()) return failure(PostError::kFull);
  const Slot slot = free_.back();
  free_.pop_back();
  receives_[slot] = {.id = request.id,
                     .size = size_of(request.segments),
                     .segments = static_cast<std::uint32_t>(request.segments.size()),
                     .keys_ok = request.keys_ok};
  std::copy(request.segments.begin(), request.segments.end(),
            segments_.begin() + static_cast<std::ptrdiff_t>(slot * segments_each_));
  waiting_.push(slot);
  return {};
}

}  // namespace openmrc::messages
