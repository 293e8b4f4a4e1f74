// SPDX-License-Identifier: BSD-3-Clause
// Completion queues that are read by calls: ibv_start_poll, ibv_wc_read_byte_len, ...,
// ibv_end_poll.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "openmrc/host/clock.h"
#include "openmrc/verbs/call_guard.h"
#include "openmrc/verbs/fork_guard.h"
#include "openmrc/verbs/verbs_cq.h"
#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc {
namespace {

constexpr std::uint64_t kStandard = IBV_WC_STANDARD_FLAGS;
constexpr std::uint64_t kStamp = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
constexpr std::uint64_t kReadable = kStandard | kStamp;
constexpr std::uint32_t kFlags =
    IBV_CREATE_CQ_ATTR_SINGLE_THREADED | IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
constexpr std::uint64_t kClockKilohertz = 1'000'000;  // stamps are nanoseconds

SoftCompletionQueue& queue_of(ibv_cq_ex* cq) { return soft(*ibv_cq_ex_to_cq(cq)); }
const ibv_wc& completion_of(ibv_cq_ex* cq) { return queue_of(cq).current().completion; }

void set_polls(ibv_cq_ex& cq) {
  cq.start_poll = [](ibv_cq_ex* from, ibv_poll_cq_attr* attributes) {
    if (in_forked_child()) return fail(kForkedError);
    if (attributes->comp_mask != 0) return fail(EINVAL);
    return queue_of(from).start_poll() ? 0 : ENOENT;
  };
  cq.next_poll = [](ibv_cq_ex* from) { return queue_of(from).next_poll() ? 0 : ENOENT; };
  cq.end_poll = [](ibv_cq_ex* from) { queue_of(from).end_poll(); };
}

void set_reads(ibv_cq_ex& cq) {
  cq.read_opcode = [](ibv_cq_ex* from) { return completion_of(from).opcode; };
  cq.read_vendor_err = [](ibv_cq_ex* from) { return completion_of(from).vendor_err; };
  cq.read_byte_len = [](ibv_cq_ex* from) { return completion_of(from).byte_len; };
  cq.read_imm_data = [](ibv_cq_ex* from) { return completion_of(from).imm_data; };
  cq.read_qp_num = [](ibv_cq_ex* from) { return completion_of(from).qp_num; };
  cq.read_src_qp = [](ibv_cq_ex* from) { return completion_of(from).src_qp; };
  cq.read_wc_flags = [](ibv_cq_ex* from) { return completion_of(from).wc_flags; };
  cq.read_slid = [](ibv_cq_ex* from) -> std::uint32_t { return completion_of(from).slid; };
  cq.read_sl = [](ibv_cq_ex* from) { return completion_of(from).sl; };
  cq.read_dlid_path_bits = [](ibv_cq_ex* from) { return completion_of(from).dlid_path_bits; };
  cq.read_completion_ts = [](ibv_cq_ex* from) {
    return static_cast<std::uint64_t>(queue_of(from).current().at.ns());
  };
}

// What is refused, and why: an error number.
int objection_to(const ibv_cq_init_attr_ex& attributes) {
  const bool has_flags = (attributes.comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS) != 0;
  if ((attributes.comp_mask & ~std::uint32_t{IBV_CQ_INIT_ATTR_MASK_FLAGS}) != 0) return EOPNOTSUPP;
  if (has_flags && (attributes.flags & ~kFlags) != 0) return EOPNOTSUPP;
  if ((attributes.wc_flags & ~kReadable) != 0) return EOPNOTSUPP;
  return attributes.cqe > static_cast<std::uint32_t>(kCqeMax) ? EINVAL : 0;
}

}  // namespace

namespace soft_verbs {

ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes) {
  if (const int error = objection_to(*attributes); error != 0) return null(error);
  return guarded([](int error) -> ibv_cq_ex* { return null(error); },
                 [&]() -> ibv_cq_ex* {
                   ibv_cq* cq = soft_verbs::ibv_create_cq(
                       context, static_cast<int>(attributes->cqe), attributes->cq_context,
                       attributes->channel, static_cast<int>(attributes->comp_vector));
                   if (cq == nullptr) return nullptr;
                   SoftCompletionQueue& made = soft(*cq);
                   made.stamps = (attributes->wc_flags & kStamp) != 0;
                   set_polls(made.extended);
                   set_reads(made.extended);
                   return &made.extended;
                 });
}

// A program of another release of rdma-core may have a shorter structure, or a longer one.
int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* /*input*/,
                    ibv_device_attr_ex* attributes, std::size_t length) {
  ibv_device_attr_ex all{};
  const int error = soft_verbs::ibv_query_device(context, &all.orig_attr);
  if (error != 0) return error;
  all.completion_timestamp_mask = ~std::uint64_t{0};
  all.hca_core_clock = kClockKilohertz;
  all.phys_port_cnt_ex = all.orig_attr.phys_port_cnt;
  std::memset(static_cast<void*>(attributes), 0, length);
  std::memcpy(static_cast<void*>(attributes), &all, std::min(length, sizeof all));
  return 0;
}

int query_rt_values(ibv_context* /*context*/, ibv_values_ex* values) {
  if ((values->comp_mask & ~std::uint32_t{IBV_VALUES_MASK_RAW_CLOCK}) != 0) return fail(EOPNOTSUPP);
  const std::int64_t now = host::now().ns();
  constexpr std::int64_t kSecond = 1'000'000'000;
  values->raw_clock = {.tv_sec = now / kSecond, .tv_nsec = now % kSecond};
  return 0;
}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc
