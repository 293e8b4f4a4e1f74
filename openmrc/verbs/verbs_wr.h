// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "openmrc/verbs/verbs_qp.h"

namespace openmrc::libmrc {

// The operations that a queue pair may be asked for (enum ibv_qp_create_send_ops_flags).
inline constexpr std::uint64_t kSendOperations =
    IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_SEND |
    IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
    IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

// Work requests between ibv_wr_start and ibv_wr_complete: posted together, or none of them.
class WorkBatch {
 public:
  explicit WorkBatch(const ibv_qp_cap& cap) : cap_(cap) {}

  // Other threads wait until complete() or abort().
  void start();
  // Returns 0 or an error number.
  int complete(ibv_qp& qp);
  void abort();

  // A request; what follows is about the last one. A null pointer: there is none, which complete()
  // says.
  ibv_send_wr* add(const ibv_qp_ex& qp, ibv_wr_opcode opcode);
  ibv_send_wr* last();
  void set_segments(std::span<const ibv_sge> list);
  void set_copy(std::span<const ibv_data_buf> list);

 private:
  struct Part {
    std::size_t first_segment = 0;
    bool is_copy = false;  // its segment's address is an offset in copies_
  };

  void reset();
  void link();

  const ibv_qp_cap cap_;
  std::mutex mutex_;
  std::vector<ibv_send_wr> requests_;
  std::vector<Part> parts_;  // of the requests
  std::vector<ibv_sge> segments_;
  std::vector<std::byte> copies_;
  int error_ = 0;
};

// Lets ibv_wr_* use the queue pair's batch.
void set_wr_operations(ibv_qp_ex& qp);

}  // namespace openmrc::libmrc
