// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace openmrc::libmrc {

// What a queue pair does, by its type. These return 0 or an error number.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] virtual std::uint32_t number() const = 0;
  [[nodiscard]] virtual ibv_qp_state state() const = 0;
  virtual int modify(const ibv_qp_attr& attributes, int mask) = 0;
  // What was set.
  virtual void query(ibv_qp_attr& attributes) const = 0;
  virtual int post_send(ibv_send_wr* first, ibv_send_wr** bad) = 0;
  virtual int post_receive(ibv_recv_wr* first, ibv_recv_wr** bad) = 0;
  // How many sends it would take now, at least.
  [[nodiscard]] virtual std::size_t free_sends() const = 0;

 protected:
  Transport() = default;
};

class WorkBatch;

struct SoftQueuePair {
  SoftQueuePair();
  ~SoftQueuePair();
  SoftQueuePair(const SoftQueuePair&) = delete;
  SoftQueuePair& operator=(const SoftQueuePair&) = delete;

  ibv_qp_ex extended{};  // first: applications have pointers to it
  ibv_qp& verbs = extended.qp_base;
  ibv_qp_cap cap{};                  // what it was given
  int sq_sig_all = 0;                // every send has a completion
  std::uint32_t events_fetched = 0;  // guarded by verbs.mutex
  std::unique_ptr<Transport> transport;
  std::unique_ptr<WorkBatch> batch;  // if it was made for ibv_wr_*
};

inline SoftQueuePair& soft(ibv_qp& qp) { return reinterpret_cast<SoftQueuePair&>(qp); }

// Each type's own, made with queues of cap; null and errno if there cannot be one.
std::unique_ptr<Transport> make_reliable_connection(SoftQueuePair& qp);
std::unique_ptr<Transport> make_datagrams(SoftQueuePair& qp);

}  // namespace openmrc::libmrc
