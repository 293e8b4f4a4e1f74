// SPDX-License-Identifier: BSD-3-Clause
// The application interface to MRC, Multipath Reliable Connection: RDMA WRITE and RDMA WRITE with
// immediate over many paths at once. There is no SEND, READ or ATOMIC.
//
// Devices, protection domains and memory regions are those of libibverbs; what is needed besides is
// here and mirrors it: where a function here has a twin in libibverbs, it behaves like the twin.
//
// What functions return, unless they say otherwise:
//   a pointer                 NULL is failure, errno says why
//   int, [errno]              0, or the number of the error, which is in errno too
//   int, [-1]                 0, or -1 with errno
// A call that failed has changed nothing, unless it says so. Objects may be used by several threads
// at once; only the one who destroys an object must see to it that it is not in use any more.
#ifndef _MRC_API_H_
#define _MRC_API_H_

#include <infiniband/verbs.h>
#include <mrc_api_ver.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Bytes that a vendor gives a meaning. OpenMRC keeps them; mrc_openmrc.h says which it reads.
#define MRC_MAX_VENDOR_CFG_SIZE 128

// Masks are int and use bit 31, the sign: test them with &, never with >.

// Versions of the protocol on the wire, as bits.
enum mrc_protocol_version {
  MRC_PROTOCOL_VERSION_0 = 0,  // no wish: the library chooses
  MRC_PROTOCOL_VERSION_1 = 1 << 0,
};

// What a device is able to do.
enum mrc_device_cap {
  MRC_DEVICE_CAP_TRIM_NACK = 1 << 0,    // answers trimmed packets with a NACK
  MRC_DEVICE_CAP_DYNAMIC_MPR = 1 << 1,  // the range of PSNs may change while a connection lives
  MRC_DEVICE_CAP_SVC_TIME = 1 << 2,     // as responder, says how long it held a request
};

// Members of struct mrc_qp_hint_attr.
enum mrc_qp_hint_attr_mask {
  MRC_QP_HINT_NUM_QPS_PER_PEER = 1 << 0,
  MRC_QP_HINT_NUM_SEND_PEERS = 1 << 1,
  MRC_QP_HINT_NUM_REMOTE_RECV_PEERS = 1 << 2,
  MRC_QP_HINT_VENDOR_CFG = INT32_MIN,  // bit 31
};

// Members of struct mrc_qp_attr.
enum mrc_qp_attr_mask {
  MRC_QP_MAX_WIMM = 1 << 0,
  MRC_QP_MAX_WIMM_DEST = 1 << 1,
  MRC_QP_MPR = 1 << 2,
  MRC_QP_MPR_DEST = 1 << 3,
  MRC_QP_TIMEOUT = 1 << 4,
  MRC_QP_EV_PROFILE_ID = 1 << 5,
  MRC_QP_CC_PROFILE_ID = 1 << 6,
  MRC_QP_HINT = 1 << 7,
  MRC_QP_RETRY_CNT = 1 << 8,  // both members of `retry`
  MRC_QP_CAP = 1 << 9,
  MRC_QP_VENDOR_CFG = INT32_MIN,  // bit 31
};

// What differs from the defaults for one queue pair, mostly because of its peer.
enum mrc_qp_cap {
  MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED = 1 << 0,  // do not expect NACKs for trimmed packets
  MRC_QP_CAP_DYNAMIC_MPR = 1 << 1,                 // has an effect only if both peers set it
  MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED = 1 << 2,   // do not expect service times
};

struct mrc_context;
struct mrc_qp_hint;
struct mrc_qp;
struct mrc_cq;
struct mrc_comp_channel;

struct mrc_device_attr {
  uint32_t mrc_protocol_version;  // bits of enum mrc_protocol_version; 0: the library chooses
  // The largest number of writes with immediate that may be in flight at once.
  struct {
    uint16_t max_wimm;       // as requester
    uint16_t max_wimm_dest;  // as responder
  } wimm_attr;
  // MPR, the range of PSNs in use at once; in units of 128 PSNs, for either role.
  struct {
    uint8_t max_mpr;
    uint8_t mpr_resolution;  // MPR goes in steps of this
  } mpr_attr;
  struct {
    uint32_t max_qp_hint;  // so many hints may exist at once
  } qp_attr;
  uint32_t cap;  // bits of enum mrc_device_cap
};

// Versions that the program was compiled with; 0: not stated. Both come from mrc_api_ver.h.
struct mrc_context_attr {
  uint32_t mrc_api_version_used;         // MRC_API_VER_USED
  uint32_t mrc_vendor_api_version_used;  // MRC_VENDOR_API_VER_USED
};

// What the program knows of its own traffic. Queue pairs that share it share one hint.
struct mrc_qp_hint_attr {
  int num_qps_per_peer;       // queue pairs with this hint that send to one destination at once
  int num_send_peers;         // destinations that are sent to at once
  int num_remote_recv_peers;  // remote queue pairs that send to the same destination: incast
  uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

struct mrc_qp_hint_init_attr {
  struct mrc_qp_hint_attr attr;
};

struct mrc_qp_init_attr {
  void* qp_context;  // the caller's; handed back by mrc_query_qp
  struct mrc_cq* send_cq;
  struct mrc_cq* recv_cq;  // may be send_cq
  struct ibv_qp_cap cap;   // wished for; mrc_create_qp writes back what there is
  int sq_sig_all;          // 1: every send request gives a completion
  struct ibv_pd* pd;
  uint64_t send_ops_flags;                     // IBV_QP_EX_WITH_*; 0: whatever MRC has
  enum mrc_protocol_version protocol_version;  // one bit, or 0: the library chooses
};

// Every member has a default, so a program sets those it cares about and names them in the mask.
struct mrc_qp_attr {
  // In units of 128 PSNs.
  struct {
    uint8_t mpr;       // as requester; of a connection, what the peer offers at the moment
    uint8_t mpr_dest;  // as responder
  } mpr;
  // Writes with immediate in flight at once; the requester holds back those beyond. MRC knows no
  // "receiver not ready": the responder posts as many receive requests before, and the two agree.
  struct {
    uint16_t max_wimm;       // as requester
    uint16_t max_wimm_dest;  // as responder
  } wimm;
  uint8_t timeout;  // wait for an acknowledgement 1.024 us * 2^timeout; at most 24
  // Chosen by the node's controller (mrc_ctl.h), which tells the program.
  struct {
    uint64_t ev_profile_id;  // which paths
    uint64_t cc_profile_id;  // which congestion control
  } profile;
  // How often to try again: first at even distances, then at growing ones.
  struct {
    uint8_t linear_cnt;  // 0 to 7
    uint8_t exp_cnt;     // 0 to 25; 25: for ever
  } retry;
  struct mrc_qp_hint* qp_hint;  // NULL: none
  uint32_t cap;                 // bits of enum mrc_qp_cap
  uint8_t vendor_cfg[MRC_MAX_VENDOR_CFG_SIZE];
};

struct mrc_async_event {
  // Which of them is set depends on event_type, as in struct ibv_async_event.
  union {
    struct mrc_cq* cq;
    struct mrc_qp* qp;
    int port_num;
  } element;
  enum ibv_event_type event_type;
};

// --- Device and context ------------------------------------------------------------------------

#if MRC_API_VER_USED >= MRC_API_VER(1u, 0u, 1u)
// [-1] What the device is able to do, in the terms of the version that `mcontext` was made with.
// *supported is 0 if it does not speak MRC; nothing else is written then.
int mrc_query_device_ex(struct ibv_context* context, struct mrc_context* mcontext,
                        struct mrc_device_attr* attr, int* supported);
#endif

// [-1] The same in the terms of version 1.0.0; needs no mrc_context.
int mrc_query_device(struct ibv_context* context, struct mrc_device_attr* attr, int* supported);

// Which versions the library has, to compare with those of the header. Needs no mrc_context.
void mrc_query_version(uint32_t* current_version, uint32_t* last_supported_version,
                       uint32_t* vendor_version, uint32_t* last_supported_vendor_version);

// The parent of everything below. `context_attr` may be NULL. A device, and a process, may have
// several.
struct mrc_context* mrc_create_context(struct ibv_context* vcontext,
                                       struct mrc_context_attr* context_attr);

// [-1]
int mrc_destroy_context(struct mrc_context* mrc_ctx);

// --- Completions -------------------------------------------------------------------------------

// [errno] Writes the new channel to *channel.
int mrc_create_comp_channel(struct mrc_context* mrc_ctx, struct mrc_comp_channel** channel);

// [-1] A descriptor for poll() and the like: readable when mrc_get_cq_event would not block. It
// belongs to the channel; do not read or close it.
int mrc_get_comp_channel_fd(struct mrc_comp_channel* channel, int* fd);

// [errno] EBUSY while a completion queue uses it.
int mrc_destroy_comp_channel(struct mrc_comp_channel* channel);

// Room for at least `cqe` completions. `channel` may be NULL: no events then, only polling.
struct mrc_cq* mrc_create_cq(struct mrc_context* mrc_ctx, int cqe, void* cq_context,
                             struct mrc_comp_channel* channel, int comp_vector);

// The number of completions written to `wc`, or -1. Less than num_entries: there are no more now.
int mrc_poll_cq(struct mrc_cq* cq, int num_entries, struct ibv_wc* wc);

// [errno] Waits until every event that mrc_get_cq_event returned for it is acknowledged. Destroys
// completion queues of EV events (mrc_ctl.h) too.
int mrc_destroy_cq(struct mrc_cq* cq);

// [errno] The next completion makes an event on the queue's channel. Once: ask again after each
// event, then poll, or a completion in between goes unseen.
int mrc_req_notify_cq(struct mrc_cq* cq, int solicited_only);

// [-1] Waits for an event; with O_NONBLOCK on the channel's descriptor, EAGAIN instead.
int mrc_get_cq_event(struct mrc_comp_channel* channel, struct mrc_cq** cq, void** cq_context);

// Each event must be acknowledged before its queue is destroyed; several at once is cheaper.
void mrc_ack_cq_events(struct mrc_cq* cq, unsigned int nevents);

// --- Hints -------------------------------------------------------------------------------------

struct mrc_qp_hint* mrc_create_qp_hint(struct mrc_context* mrc_ctx,
                                       struct mrc_qp_hint_init_attr* init_attr);

// [-1] EBUSY while a queue pair uses it.
int mrc_destroy_qp_hint(struct mrc_qp_hint* qp_hint);

// [-1] Members named in the mask.
int mrc_query_qp_hint(struct mrc_qp_hint* qp_hint, struct mrc_qp_hint_attr* qp_hint_attr,
                      int qp_hint_attr_mask);

// [-1] Members named in the mask; the others stay as they are.
int mrc_modify_qp_hint(struct mrc_qp_hint* qp_hint, struct mrc_qp_hint_attr* qp_hint_attr,
                       int qp_hint_attr_mask);

// --- Queue pairs -------------------------------------------------------------------------------

// In state RESET. Writes the capacities it got back to mrc_qp_attr->cap.
struct mrc_qp* mrc_create_qp(struct mrc_context* mrc_ctx, struct mrc_qp_init_attr* mrc_qp_attr);

// [errno]
int mrc_destroy_qp(struct mrc_qp* qp);

// [errno] In any state.
int mrc_query_qp(struct mrc_qp* qp, struct ibv_qp_attr* vattr, int vattr_mask,
                 struct mrc_qp_attr* mrc_attr, int mrc_attr_mask,
                 struct mrc_qp_init_attr* init_attr);

// [errno] RESET to INIT to RTR to RTS, by IBV_QP_STATE; from anywhere to ERR and to RESET. What the
// other masks of ibv_modify_qp name that MRC has an attribute of its own for (timeout, retries), or
// does not have (RNR, atomics, migration), is ignored. mrc_attr may be NULL if mrc_attr_mask is 0.
// In RTR and RTS, with MRC_QP_CAP_DYNAMIC_MPR, mpr_dest may change: 1 to what it was at RTR.
int mrc_modify_qp(struct mrc_qp* qp, struct ibv_qp_attr* vattr, int vattr_mask,
                  struct mrc_qp_attr* mrc_attr, int mrc_attr_mask);

// [-1] Known from RESET on.
int mrc_get_qpn(struct mrc_qp* qp, uint32_t* qpn);

// [errno] Each write with immediate that arrives uses up one receive request; its scatter list is
// not written to and may be empty. On failure *bad_wr is the first that was not posted.
int mrc_post_recv(struct mrc_qp* qp, struct ibv_recv_wr* wr, struct ibv_recv_wr** bad_wr);

// [errno] IBV_WR_RDMA_WRITE and IBV_WR_RDMA_WRITE_WITH_IMM. On failure *bad_wr is the first that
// was not posted; those before it were.
int mrc_post_send(struct mrc_qp* qp, struct ibv_send_wr* wr, struct ibv_send_wr** bad_wr);

// --- Asynchronous events -----------------------------------------------------------------------

// [-1] Waits for an event of the context.
int mrc_get_async_event(struct mrc_context* mrc_ctx, struct mrc_async_event* event);

// Once for each event; an object cannot be destroyed before its events are acknowledged.
void mrc_ack_async_event(struct mrc_async_event* event);

#ifdef __cplusplus
}
#endif

#endif  // _MRC_API_H_
