// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "openmrc/sim/engine/exchange.h"

namespace openmrc::tools {

// The processes that mpirun started, from construction to destruction. One object per process.
class MpiExchange : public sim::Exchange {
 public:
  MpiExchange(int* argc, char*** argv);
  ~MpiExchange() override;
  MpiExchange(const MpiExchange&) = delete;
  MpiExchange& operator=(const MpiExchange&) = delete;

  [[nodiscard]] std::size_t ranks() const override { return ranks_; }
  [[nodiscard]] std::size_t rank() const override { return rank_; }
  void trade(const std::vector<std::vector<sim::RemotePacket>>& outgoing,
             std::vector<sim::RemotePacket>& incoming) override;
  std::int64_t least(std::int64_t value) override;
  std::uint64_t sum(std::uint64_t value) override;
  std::vector<std::string> gather(const std::string& text) override;

 private:
  std::size_t ranks_ = 1;
  std::size_t rank_ = 0;
  std::vector<sim::RemotePacket> send_;
  std::vector<int> send_counts_;
  std::vector<int> send_offsets_;
  std::vector<int> receive_counts_;
  std::vector<int> receive_offsets_;
};

}  // namespace openmrc::tools
