// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>

#include <memory>

#include "openmrc/gloo/address.h"
#include "openmrc/gloo/device.h"
#include "openmrc/tagged/group.h"

namespace openmrc::gloo {

// A group of processes, for gloo.
class Context final : public ::gloo::transport::Context,
                      public std::enable_shared_from_this<Context> {
 public:
  Context(std::shared_ptr<Device> device, int own_rank, int members);
  ~Context() override;

  std::unique_ptr<::gloo::transport::Pair>& createPair(int peer) override;
  std::unique_ptr<::gloo::transport::UnboundBuffer> createUnboundBuffer(void* ptr,
                                                                        size_t bytes) override;

  [[nodiscard]] tagged::Group& group() { return group_; }

 private:
  std::shared_ptr<Device> device_;
  tagged::Group group_;
};

// One other member of it. gloo closes all pairs of a context together, so that the group does.
class Pair final : public ::gloo::transport::Pair {
 public:
  Pair(tagged::Group& group, int rank, host::ConnectionInfo own)
      : group_(group), rank_(rank), address_(std::move(own)) {}

  [[nodiscard]] const ::gloo::transport::Address& address() const override { return address_; }
  void connect(const std::vector<char>& bytes) override;
  void close() override { group_.close(); }
  // Who waits sleeps; which thread moves packets is the configuration's.
  void setSync(bool /*enable*/, bool /*busyPoll*/) override {}

  // Memory that a peer writes to unasked: only gloo's older algorithms want it, which PyTorch does
  // not use. They throw.
  std::unique_ptr<::gloo::transport::Buffer> createSendBuffer(int slot, void* ptr,
                                                              size_t size) override;
  std::unique_ptr<::gloo::transport::Buffer> createRecvBuffer(int slot, void* ptr,
                                                              size_t size) override;

  void send(::gloo::transport::UnboundBuffer* buf, uint64_t tag, size_t offset,
            size_t nbytes) override;
  void recv(::gloo::transport::UnboundBuffer* buf, uint64_t tag, size_t offset,
            size_t nbytes) override;

 private:
  tagged::Group& group_;
  int rank_;
  Address address_;
};

}  // namespace openmrc::gloo
