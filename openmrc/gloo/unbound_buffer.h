// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gloo/transport/unbound_buffer.h>

#include <chrono>
#include <memory>
#include <vector>

#include "openmrc/gloo/context.h"
#include "openmrc/tagged/buffer.h"

namespace openmrc::gloo {

// Memory that gloo sends from and receives into. What fails throws ::gloo::IoException, which
// PyTorch makes a RuntimeError of.
class UnboundBuffer final : public ::gloo::transport::UnboundBuffer {
 public:
  UnboundBuffer(std::shared_ptr<Context> context, void* first, size_t bytes);
  ~UnboundBuffer() override;

  bool waitRecv(int* rank, std::chrono::milliseconds timeout) override;
  bool waitSend(int* rank, std::chrono::milliseconds timeout) override;
  void abortWaitRecv() override;
  void abortWaitSend() override;
  void send(int to, uint64_t slot, size_t offset, size_t nbytes) override;
  void recv(int from, uint64_t slot, size_t offset, size_t nbytes) override;
  void recv(std::vector<int> from, uint64_t slot, size_t offset, size_t nbytes) override;

 private:
  [[nodiscard]] std::span<std::byte> part(size_t offset, size_t nbytes) const;
  bool wait(tagged::Group::Direction direction, int* rank, std::chrono::milliseconds timeout);

  std::shared_ptr<Context> context_;
  tagged::Buffer buffer_;
};

}  // namespace openmrc::gloo
