// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/gloo/context.h"

#include <gloo/common/error.h>

#include <utility>

#include "openmrc/gloo/unbound_buffer.h"

namespace openmrc::gloo {

Context::Context(std::shared_ptr<Device> device, int own_rank, int members)
    : ::gloo::transport::Context(own_rank, members),
      device_(std::move(device)),
      group_(device_->host(), own_rank, members) {}

Context::~Context() {
  pairs_.clear();  // they refer to the group
}

std::unique_ptr<::gloo::transport::Pair>& Context::createPair(int peer) {
  auto own = group_.add_peer(peer);
  if (!own) throw ::gloo::IoException("openmrc: " + own.error());
  auto& pair = pairs_.at(static_cast<std::size_t>(peer));
  pair = std::make_unique<Pair>(group_, peer, std::move(*own));
  return pair;
}

std::unique_ptr<::gloo::transport::UnboundBuffer> Context::createUnboundBuffer(void* ptr,
                                                                               size_t bytes) {
  return std::make_unique<UnboundBuffer>(shared_from_this(), ptr, bytes);
}

void Pair::connect(const std::vector<char>& bytes) {
  const auto peer = Address::read(bytes);
  if (!peer) {
    throw ::gloo::IoException("openmrc: rank " + std::to_string(rank_) +
                              " does not use the same version of OpenMRC, or another transport");
  }
  if (const auto connected = group_.connect(rank_, *peer); !connected) {
    throw ::gloo::IoException("openmrc: " + connected.error());
  }
}

std::unique_ptr<::gloo::transport::Buffer> Pair::createSendBuffer(int /*slot*/, void* /*ptr*/,
                                                                  size_t /*size*/) {
  throw ::gloo::InvalidOperationException("openmrc: gloo's bound buffers are not offered");
}

std::unique_ptr<::gloo::transport::Buffer> Pair::createRecvBuffer(int /*slot*/, void* /*ptr*/,
                                                                  size_t /*size*/) {
  throw ::gloo::InvalidOperationException("openmrc: gloo's bound buffers are not offered");
}

void Pair::send(::gloo::transport::UnboundBuffer* buf, uint64_t tag, size_t offset, size_t nbytes) {
  buf->send(rank_, tag, offset, nbytes);
}

void Pair::recv(::gloo::transport::UnboundBuffer* buf, uint64_t tag, size_t offset, size_t nbytes) {
  buf->recv(rank_, tag, offset, nbytes);
}

}  // namespace openmrc::gloo
