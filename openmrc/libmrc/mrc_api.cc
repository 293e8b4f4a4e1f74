// SPDX-License-Identifier: BSD-3-Clause
// The functions of mrc.h. They check what they are given and leave the work to the objects. Errors
// are what the verbs of the same name return: an error number (which is in errno, too), or -1. In a
// child made by fork() and without memory all fail (call_guard.h).
#include <mrc.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>

#include "openmrc/libmrc/completion_queue.h"
#include "openmrc/libmrc/context.h"
#include "openmrc/libmrc/queue_pair.h"
#include "openmrc/verbs/call_guard.h"
#include "openmrc/verbs/verbs_objects.h"

namespace {

using openmrc::libmrc::Device;
using openmrc::libmrc::device_of;
using openmrc::libmrc::guarded;
using openmrc::libmrc::in_forked_child;

constexpr std::uint32_t kHintsMax = 65536;
constexpr int kHintMask = MRC_QP_HINT_NUM_QPS_PER_PEER | MRC_QP_HINT_NUM_SEND_PEERS |
                          MRC_QP_HINT_NUM_REMOTE_RECV_PEERS | MRC_QP_HINT_VENDOR_CFG;

// The error number, and in errno, too.
int number(int error) {
  if (error != 0) errno = error;
  return error;
}
int minus_one(int error) {
  errno = error;
  return -1;
}
template <class Object>
Object* null(int error) {
  errno = error;
  return nullptr;
}

int query(ibv_context* context, mrc_device_attr* attr, int* supported) {
  if (context == nullptr || attr == nullptr || supported == nullptr) return minus_one(EINVAL);
  *supported = device_of(context) != nullptr ? 1 : 0;
  if (*supported == 0) return 0;
  *attr = {};
  attr->mrc_protocol_version = MRC_PROTOCOL_VERSION_1;
  attr->wimm_attr.max_wimm = UINT16_MAX;
  attr->wimm_attr.max_wimm_dest = UINT16_MAX;
  attr->mpr_attr.max_mpr = UINT8_MAX;
  attr->mpr_attr.mpr_resolution = 1;
  attr->qp_attr.max_qp_hint = kHintsMax;
  attr->cap = MRC_DEVICE_CAP_TRIM_NACK | MRC_DEVICE_CAP_DYNAMIC_MPR;
  return 0;
}

bool is_possible(const mrc_context& context, const mrc_qp_init_attr& attr) {
  using namespace openmrc::libmrc;
  const auto* domain = soft_domain(attr.pd);
  return domain != nullptr && device_of(attr.pd->context) == &context.device &&
         attr.send_cq != nullptr && attr.recv_cq != nullptr &&
         &attr.send_cq->context.device == &context.device &&
         &attr.recv_cq->context.device == &context.device &&
         attr.cap.max_send_wr <= kWorkRequestsMax && attr.cap.max_recv_wr <= kWorkRequestsMax &&
         attr.cap.max_send_sge <= kScatterMax && attr.cap.max_recv_sge <= kScatterMax &&
         attr.cap.max_inline_data <= kInlineMax;
}

bool is_supported(const mrc_qp_init_attr& attr) {
  constexpr std::uint64_t kOperations =
      IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
  return (attr.send_ops_flags & ~kOperations) == 0 &&
         (attr.protocol_version == MRC_PROTOCOL_VERSION_0 ||
          attr.protocol_version == MRC_PROTOCOL_VERSION_1);
}

void copy_hint(const mrc_qp_hint_attr& from, int mask, mrc_qp_hint_attr& to) {
  if ((mask & MRC_QP_HINT_NUM_QPS_PER_PEER) != 0) to.num_qps_per_peer = from.num_qps_per_peer;
  if ((mask & MRC_QP_HINT_NUM_SEND_PEERS) != 0) to.num_send_peers = from.num_send_peers;
  if ((mask & MRC_QP_HINT_NUM_REMOTE_RECV_PEERS) != 0) {
    to.num_remote_recv_peers = from.num_remote_recv_peers;
  }
  if ((mask & MRC_QP_HINT_VENDOR_CFG) != 0) {
    std::memcpy(to.vendor_cfg, from.vendor_cfg, sizeof to.vendor_cfg);
  }
}

}  // namespace

extern "C" {

int mrc_query_device_ex(ibv_context* context, mrc_context* mcontext, mrc_device_attr* attr,
                        int* supported) {
  return guarded(minus_one, [&]() -> int {
    if (mcontext == nullptr) return minus_one(EINVAL);
    return query(context, attr, supported);
  });
}

int mrc_query_device(ibv_context* context, mrc_device_attr* attr, int* supported) {
  return guarded(minus_one, [&]() -> int { return query(context, attr, supported); });
}

void mrc_query_version(uint32_t* current_version, uint32_t* last_supported_version,
                       uint32_t* vendor_version, uint32_t* last_supported_vendor_version) {
  const auto put = [](uint32_t* to, uint32_t value) {
    if (to != nullptr) *to = value;
  };
  put(current_version, MRC_API_CURRENT_VERSION);
  put(last_supported_version, MRC_API_LAST_SUPPORTED_VERSION);
  put(vendor_version, MRC_VENDOR_API_CURRENT_VERSION);
  put(last_supported_vendor_version, MRC_VENDOR_API_LAST_SUPPORTED_VERSION);
}

mrc_context* mrc_create_context(ibv_context* vcontext, mrc_context_attr* context_attr) {
  return guarded(null<mrc_context>, [&]() -> mrc_context* {
    Device* device = vcontext == nullptr ? nullptr : device_of(vcontext);
    if (device == nullptr) return null<mrc_context>(ENODEV);
    // The vendor's version is not looked at: older programs have a shorter struct.
    const uint32_t version = context_attr == nullptr ? 0 : context_attr->mrc_api_version_used;
    if (version > MRC_API_CURRENT_VERSION && version != MRC_API_VER_LATEST) {
      return null<mrc_context>(EINVAL);
    }
    const auto runtime = device->runtime();
    if (!runtime) return null<mrc_context>(EIO);
    auto made = std::make_unique<mrc_context>(vcontext, *device, **runtime, version);
    device->add_listener(*made);
    return made.release();
  });
}

int mrc_destroy_context(mrc_context* mrc_ctx) {
  return guarded(minus_one, [&]() -> int {
    if (mrc_ctx == nullptr) return minus_one(EINVAL);
    if (mrc_ctx->users.any()) return minus_one(EBUSY);
    mrc_ctx->device.remove_listener(*mrc_ctx);
    mrc_ctx->end_events();
    delete mrc_ctx;
    return 0;
  });
}

int mrc_create_comp_channel(mrc_context* mrc_ctx, mrc_comp_channel** channel) {
  return guarded(number, [&]() -> int {
    if (mrc_ctx == nullptr || channel == nullptr) return number(EINVAL);
    auto made = std::make_unique<mrc_comp_channel>(*mrc_ctx);
    if (!made->open()) return errno;
    mrc_ctx->users.add();
    *channel = made.release();
    return 0;
  });
}

int mrc_get_comp_channel_fd(mrc_comp_channel* channel, int* fd) {
  return guarded(minus_one, [&]() -> int {
    if (channel == nullptr || fd == nullptr) return minus_one(EINVAL);
    *fd = channel->descriptor();
    return 0;
  });
}

int mrc_destroy_comp_channel(mrc_comp_channel* channel) {
  return guarded(number, [&]() -> int {
    if (channel == nullptr) return number(EINVAL);
    if (channel->users.any()) return number(EBUSY);
    channel->context.users.remove();
    delete channel;
    return 0;
  });
}

mrc_cq* mrc_create_cq(mrc_context* mrc_ctx, int cqe, void* cq_context, mrc_comp_channel* channel,
                      int comp_vector) {
  return guarded(null<mrc_cq>, [&]() -> mrc_cq* {
    if (mrc_ctx == nullptr || cqe < 1 || comp_vector < 0) return null<mrc_cq>(EINVAL);
    if (comp_vector >= mrc_ctx->verbs->num_comp_vectors) return null<mrc_cq>(EINVAL);
    if (channel != nullptr && &channel->context != mrc_ctx) return null<mrc_cq>(EINVAL);
    return new mrc_cq(*mrc_ctx, cq_context, channel);
  });
}

int mrc_poll_cq(mrc_cq* cq, int num_entries, ibv_wc* wc) {
  return guarded(minus_one, [&]() -> int {
    if (cq == nullptr || num_entries < 0 || (wc == nullptr && num_entries > 0)) {
      return minus_one(EINVAL);
    }
    return cq->poll({wc, static_cast<std::size_t>(num_entries)});
  });
}

int mrc_destroy_cq(mrc_cq* cq) {
  return guarded(number, [&]() -> int {
    if (cq == nullptr) return number(EINVAL);
    if (cq->users.any()) return number(EBUSY);
    if (cq->channel != nullptr) cq->channel->forget(*cq);
    cq->events.wait_until_none();
    delete cq;
    return 0;
  });
}

int mrc_req_notify_cq(mrc_cq* cq, int /*solicited_only*/) {
  return guarded(number, [&]() -> int {
    if (cq == nullptr) return number(EINVAL);
    cq->arm();
    return 0;
  });
}

int mrc_get_cq_event(mrc_comp_channel* channel, mrc_cq** cq, void** cq_context) {
  return guarded(minus_one, [&]() -> int {
    if (channel == nullptr || cq == nullptr) return minus_one(EINVAL);
    mrc_cq* next = channel->next();
    if (next == nullptr) return -1;
    *cq = next;
    if (cq_context != nullptr) *cq_context = next->cq_context;
    return 0;
  });
}

void mrc_ack_cq_events(mrc_cq* cq, unsigned int nevents) {
  if (in_forked_child()) return;
  if (cq != nullptr && nevents > 0) cq->events.acknowledged(nevents);
}

mrc_qp_hint* mrc_create_qp_hint(mrc_context* mrc_ctx, mrc_qp_hint_init_attr* init_attr) {
  return guarded(null<mrc_qp_hint>, [&]() -> mrc_qp_hint* {
    if (mrc_ctx == nullptr || init_attr == nullptr) return null<mrc_qp_hint>(EINVAL);
    std::unique_ptr<mrc_qp_hint> made(
        new mrc_qp_hint{.context = *mrc_ctx, .attr = init_attr->attr});
    if (mrc_ctx->hints.fetch_add(1) >= kHintsMax) {
      mrc_ctx->hints.fetch_sub(1);
      return null<mrc_qp_hint>(ENOMEM);
    }
    mrc_ctx->users.add();
    return made.release();
  });
}

int mrc_destroy_qp_hint(mrc_qp_hint* qp_hint) {
  return guarded(minus_one, [&]() -> int {
    if (qp_hint == nullptr) return minus_one(EINVAL);
    if (qp_hint->users.any()) return minus_one(EBUSY);
    qp_hint->context.hints.fetch_sub(1);
    qp_hint->context.users.remove();
    delete qp_hint;
    return 0;
  });
}

int mrc_query_qp_hint(mrc_qp_hint* qp_hint, mrc_qp_hint_attr* qp_hint_attr, int mask) {
  return guarded(minus_one, [&]() -> int {
    if (qp_hint == nullptr || qp_hint_attr == nullptr || (mask & ~kHintMask) != 0) {
      return minus_one(EINVAL);
    }
    const std::lock_guard lock(qp_hint->mutex);
    copy_hint(qp_hint->attr, mask, *qp_hint_attr);
    return 0;
  });
}

int mrc_modify_qp_hint(mrc_qp_hint* qp_hint, mrc_qp_hint_attr* qp_hint_attr, int mask) {
  return guarded(minus_one, [&]() -> int {
    if (qp_hint == nullptr || qp_hint_attr == nullptr || (mask & ~kHintMask) != 0) {
      return minus_one(EINVAL);
    }
    const std::lock_guard lock(qp_hint->mutex);
    copy_hint(*qp_hint_attr, mask, qp_hint->attr);
    return 0;
  });
}

mrc_qp* mrc_create_qp(mrc_context* mrc_ctx, mrc_qp_init_attr* mrc_qp_attr) {
  return guarded(null<mrc_qp>, [&]() -> mrc_qp* {
    if (mrc_ctx == nullptr || mrc_qp_attr == nullptr || !is_possible(*mrc_ctx, *mrc_qp_attr)) {
      return null<mrc_qp>(EINVAL);
    }
    if (!is_supported(*mrc_qp_attr)) return null<mrc_qp>(EOPNOTSUPP);
    auto made = std::make_unique<mrc_qp>(*mrc_ctx, *mrc_qp_attr);
    return made->open() ? made.release() : nullptr;
  });
}

int mrc_destroy_qp(mrc_qp* qp) {
  return guarded(number, [&]() -> int {
    if (qp == nullptr) return number(EINVAL);
    delete qp;
    return 0;
  });
}

int mrc_query_qp(mrc_qp* qp, ibv_qp_attr* vattr, int /*vattr_mask*/, mrc_qp_attr* mrc_attr,
                 int /*mrc_attr_mask*/, mrc_qp_init_attr* init_attr) {
  return guarded(number, [&]() -> int {
    if (qp == nullptr) return number(EINVAL);
    return number(qp->query(vattr, mrc_attr, init_attr));
  });
}

int mrc_modify_qp(mrc_qp* qp, ibv_qp_attr* vattr, int vattr_mask, mrc_qp_attr* mrc_attr,
                  int mrc_attr_mask) {
  return guarded(number, [&]() -> int {
    const bool is_missing =
        (vattr == nullptr && vattr_mask != 0) || (mrc_attr == nullptr && mrc_attr_mask != 0);
    if (qp == nullptr || is_missing) return number(EINVAL);
    const ibv_qp_attr no_verbs{};
    const mrc_qp_attr no_mrc{};
    return number(qp->modify(vattr == nullptr ? no_verbs : *vattr, vattr_mask,
                             mrc_attr == nullptr ? no_mrc : *mrc_attr, mrc_attr_mask));
  });
}

int mrc_get_qpn(mrc_qp* qp, uint32_t* qpn) {
  return guarded(minus_one, [&]() -> int {
    if (qp == nullptr || qpn == nullptr) return minus_one(EINVAL);
    *qpn = qp->number();
    return 0;
  });
}

int mrc_post_recv(mrc_qp* qp, ibv_recv_wr* wr, ibv_recv_wr** bad_wr) {
  if (qp == nullptr || bad_wr == nullptr) return number(EINVAL);
  *bad_wr = wr;  // in case that none is posted
  return guarded(number, [&] { return number(qp->post_receive(wr, bad_wr)); });
}

int mrc_post_send(mrc_qp* qp, ibv_send_wr* wr, ibv_send_wr** bad_wr) {
  if (qp == nullptr || bad_wr == nullptr) return number(EINVAL);
  *bad_wr = wr;  // in case that none is posted
  return guarded(number, [&] { return number(qp->post_send(wr, bad_wr)); });
}

int mrc_get_async_event(mrc_context* mrc_ctx, mrc_async_event* event) {
  return guarded(minus_one, [&]() -> int {
    if (mrc_ctx == nullptr || event == nullptr) return minus_one(EINVAL);
    return mrc_ctx->next_event(*event) ? 0 : minus_one(ENODEV);
  });
}

void mrc_ack_async_event(mrc_async_event* event) {
  if (in_forked_child()) return;
  if (event != nullptr && event->element.qp != nullptr) event->element.qp->events.acknowledged(1);
}

}  // extern "C"
