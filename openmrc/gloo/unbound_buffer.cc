// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/gloo/unbound_buffer.h"

#include <fmt/core.h>
#include <gloo/common/error.h>

#include <utility>

namespace openmrc::gloo {
namespace {

using Direction = tagged::Group::Direction;

void check(const Result<void, tagged::Reason>& result) {
  if (!result) throw ::gloo::IoException("openmrc: " + result.error());
}

}  // namespace

UnboundBuffer::UnboundBuffer(std::shared_ptr<Context> context, void* first, size_t bytes)
    : ::gloo::transport::UnboundBuffer(first, bytes),
      context_(std::move(context)),
      buffer_({static_cast<std::byte*>(first), bytes}) {}

UnboundBuffer::~UnboundBuffer() { context_->group().forget(buffer_); }

std::span<std::byte> UnboundBuffer::part(size_t offset, size_t nbytes) const {
  if (offset <= size && nbytes == kUnspecifiedByteCount) nbytes = size - offset;
  if (offset > size || nbytes > size - offset) {
    throw ::gloo::InvalidOperationException(
        fmt::format("openmrc: {} bytes at {} of a buffer of {}", nbytes, offset, size));
  }
  return buffer_.bytes().subspan(offset, nbytes);
}

void UnboundBuffer::send(int to, uint64_t slot, size_t offset, size_t nbytes) {
  check(context_->group().send(buffer_, part(offset, nbytes), to, slot));
}

void UnboundBuffer::recv(int from, uint64_t slot, size_t offset, size_t nbytes) {
  check(context_->group().receive(buffer_, part(offset, nbytes), {from}, slot));
}

void UnboundBuffer::recv(std::vector<int> from, uint64_t slot, size_t offset, size_t nbytes) {
  check(context_->group().receive(buffer_, part(offset, nbytes), std::move(from), slot));
}

bool UnboundBuffer::wait(Direction direction, int* rank, std::chrono::milliseconds timeout) {
  if (timeout == ::gloo::transport::kUnsetTimeout) timeout = context_->getTimeout();
  const auto done = context_->group().wait(buffer_, direction, milliseconds(timeout.count()));
  if (!done) throw ::gloo::IoException("openmrc: " + done.error());
  if (!*done) return false;
  if (rank != nullptr) *rank = **done;
  return true;
}

bool UnboundBuffer::waitRecv(int* rank, std::chrono::milliseconds timeout) {
  return wait(Direction::kReceive, rank, timeout);
}

bool UnboundBuffer::waitSend(int* rank, std::chrono::milliseconds timeout) {
  return wait(Direction::kSend, rank, timeout);
}

void UnboundBuffer::abortWaitRecv() { context_->group().abort(buffer_, Direction::kReceive); }

void UnboundBuffer::abortWaitSend() { context_->group().abort(buffer_, Direction::kSend); }

}  // namespace openmrc::gloo
