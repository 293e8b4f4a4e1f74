// SPDX-License-Identifier: BSD-3-Clause
// Every name of mrc.h and mrc_ctl.h, used as a C program uses it, with the sizes, offsets, values
// and prototypes that the published interface has. Most of it is checked by the compiler. What is
// left for running: each function that the program was linked to is exported by the library that
// has to.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mrc.h>
#include <mrc_ctl.h>
#include <stdio.h>
#include <string.h>

#include "abi_checks.h"

typedef uint8_t vendor_cfg_bytes[128];

// --- mrc_api_ver.h -----------------------------------------------------------------------------

VALUE_IS(MRC_API_VER_MAJOR_OFFSET, 24);
VALUE_IS(MRC_API_VER_MINOR_OFFSET, 16);
VALUE_IS(MRC_API_VER_SUBMINOR_OFFSET, 0);
VALUE_IS(MRC_API_VER(2, 3, 4), 0x02030004u);
VALUE_IS(MRC_API_VER(0xFF, 0, 0), 0xFF000000u);
VALUE_IS(MRC_API_VER_LATEST, 0xFFFFFFFFu);
VALUE_IS(MRC_API_CURRENT_VERSION, 0x01000001u);
VALUE_IS(MRC_API_LAST_SUPPORTED_VERSION, 0u);
VALUE_IS(MRC_API_VER_USED, 0x01000001u);
VALUE_IS(MRC_VENDOR_API_CURRENT_VERSION, 0x01000000u);
VALUE_IS(MRC_VENDOR_API_LAST_SUPPORTED_VERSION, 0u);
VALUE_IS(MRC_VENDOR_API_VER_USED, 0x01000000u);

// --- mrc.h: values -----------------------------------------------------------------------------

VALUE_IS(MRC_MAX_VENDOR_CFG_SIZE, 128);

VALUE_IS(MRC_PROTOCOL_VERSION_0, 0);
VALUE_IS(MRC_PROTOCOL_VERSION_1, 0x1);
SIZE_IS(enum mrc_protocol_version, 4);

VALUE_IS(MRC_DEVICE_CAP_TRIM_NACK, 0x1);
VALUE_IS(MRC_DEVICE_CAP_DYNAMIC_MPR, 0x2);
VALUE_IS(MRC_DEVICE_CAP_SVC_TIME, 0x4);
SIZE_IS(enum mrc_device_cap, 4);

VALUE_IS(MRC_QP_HINT_NUM_QPS_PER_PEER, 0x1);
VALUE_IS(MRC_QP_HINT_NUM_SEND_PEERS, 0x2);
VALUE_IS(MRC_QP_HINT_NUM_REMOTE_RECV_PEERS, 0x4);
VALUE_IS(MRC_QP_HINT_VENDOR_CFG, INT32_MIN);
SIZE_IS(enum mrc_qp_hint_attr_mask, 4);

VALUE_IS(MRC_QP_MAX_WIMM, 0x1);
VALUE_IS(MRC_QP_MAX_WIMM_DEST, 0x2);
VALUE_IS(MRC_QP_MPR, 0x4);
VALUE_IS(MRC_QP_MPR_DEST, 0x8);
VALUE_IS(MRC_QP_TIMEOUT, 0x10);
VALUE_IS(MRC_QP_EV_PROFILE_ID, 0x20);
VALUE_IS(MRC_QP_CC_PROFILE_ID, 0x40);
VALUE_IS(MRC_QP_HINT, 0x80);
VALUE_IS(MRC_QP_RETRY_CNT, 0x100);
VALUE_IS(MRC_QP_CAP, 0x200);
VALUE_IS(MRC_QP_VENDOR_CFG, INT32_MIN);
SIZE_IS(enum mrc_qp_attr_mask, 4);

VALUE_IS(MRC_QP_CAP_TRIM_NACK_DEST_UNSUPPORTED, 0x1);
VALUE_IS(MRC_QP_CAP_DYNAMIC_MPR, 0x2);
VALUE_IS(MRC_QP_CAP_SVC_TIME_DEST_UNSUPPORTED, 0x4);
SIZE_IS(enum mrc_qp_cap, 4);

// --- mrc.h: structs ----------------------------------------------------------------------------

SIZE_IS(struct mrc_device_attr, 20);
MEMBER(struct mrc_device_attr, mrc_protocol_version, uint32_t, 0);
MEMBER(struct mrc_device_attr, wimm_attr.max_wimm, uint16_t, 4);
MEMBER(struct mrc_device_attr, wimm_attr.max_wimm_dest, uint16_t, 6);
MEMBER(struct mrc_device_attr, mpr_attr.max_mpr, uint8_t, 8);
MEMBER(struct mrc_device_attr, mpr_attr.mpr_resolution, uint8_t, 9);
MEMBER(struct mrc_device_attr, qp_attr.max_qp_hint, uint32_t, 12);
MEMBER(struct mrc_device_attr, cap, uint32_t, 16);

SIZE_IS(struct mrc_context_attr, 8);
MEMBER(struct mrc_context_attr, mrc_api_version_used, uint32_t, 0);
MEMBER(struct mrc_context_attr, mrc_vendor_api_version_used, uint32_t, 4);

SIZE_IS(struct mrc_qp_hint_attr, 140);
MEMBER(struct mrc_qp_hint_attr, num_qps_per_peer, int, 0);
MEMBER(struct mrc_qp_hint_attr, num_send_peers, int, 4);
MEMBER(struct mrc_qp_hint_attr, num_remote_recv_peers, int, 8);
MEMBER(struct mrc_qp_hint_attr, vendor_cfg, vendor_cfg_bytes, 12);

SIZE_IS(struct mrc_qp_hint_init_attr, 140);
MEMBER(struct mrc_qp_hint_init_attr, attr, struct mrc_qp_hint_attr, 0);

SIZE_IS(struct mrc_qp_init_attr, 72);
MEMBER(struct mrc_qp_init_attr, qp_context, void*, 0);
MEMBER(struct mrc_qp_init_attr, send_cq, struct mrc_cq*, 8);
MEMBER(struct mrc_qp_init_attr, recv_cq, struct mrc_cq*, 16);
MEMBER(struct mrc_qp_init_attr, cap, struct ibv_qp_cap, 24);
MEMBER(struct mrc_qp_init_attr, sq_sig_all, int, 44);
MEMBER(struct mrc_qp_init_attr, pd, struct ibv_pd*, 48);
MEMBER(struct mrc_qp_init_attr, send_ops_flags, uint64_t, 56);
MEMBER(struct mrc_qp_init_attr, protocol_version, enum mrc_protocol_version, 64);

SIZE_IS(struct mrc_qp_attr, 176);
MEMBER(struct mrc_qp_attr, mpr.mpr, uint8_t, 0);
MEMBER(struct mrc_qp_attr, mpr.mpr_dest, uint8_t, 1);
MEMBER(struct mrc_qp_attr, wimm.max_wimm, uint16_t, 2);
MEMBER(struct mrc_qp_attr, wimm.max_wimm_dest, uint16_t, 4);
MEMBER(struct mrc_qp_attr, timeout, uint8_t, 6);
MEMBER(struct mrc_qp_attr, profile.ev_profile_id, uint64_t, 8);
MEMBER(struct mrc_qp_attr, profile.cc_profile_id, uint64_t, 16);
MEMBER(struct mrc_qp_attr, retry.linear_cnt, uint8_t, 24);
MEMBER(struct mrc_qp_attr, retry.exp_cnt, uint8_t, 25);
MEMBER(struct mrc_qp_attr, qp_hint, struct mrc_qp_hint*, 32);
MEMBER(struct mrc_qp_attr, cap, uint32_t, 40);
MEMBER(struct mrc_qp_attr, vendor_cfg, vendor_cfg_bytes, 44);

SIZE_IS(struct mrc_async_event, 16);
MEMBER(struct mrc_async_event, element.cq, struct mrc_cq*, 0);
MEMBER(struct mrc_async_event, element.qp, struct mrc_qp*, 0);
MEMBER(struct mrc_async_event, element.port_num, int, 0);
MEMBER(struct mrc_async_event, event_type, enum ibv_event_type, 8);

// --- mrc_ctl_api_ver.h -------------------------------------------------------------------------

VALUE_IS(MRC_CTL_API_VER_MAJOR_OFFSET, 24);
VALUE_IS(MRC_CTL_API_VER_MINOR_OFFSET, 16);
VALUE_IS(MRC_CTL_API_VER_SUBMINOR_OFFSET, 0);
VALUE_IS(MRC_CTL_API_VER(2, 3, 4), 0x02030004u);
VALUE_IS(MRC_CTL_API_VER(0xFF, 0, 0), 0xFF000000u);
VALUE_IS(MRC_CTL_API_VER_LATEST, 0xFFFFFFFFu);
VALUE_IS(MRC_CTL_API_CURRENT_VERSION, 0x01000001u);
VALUE_IS(MRC_CTL_API_LAST_SUPPORTED_VERSION, 0u);
VALUE_IS(MRC_CTL_API_VER_USED, 0x01000001u);
VALUE_IS(MRC_CTL_VENDOR_API_CURRENT_VERSION, 0x01000000u);
VALUE_IS(MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION, 0u);
VALUE_IS(MRC_CTL_VENDOR_API_VER_USED, 0x01000000u);

// --- mrc_ctl.h: values -------------------------------------------------------------------------

VALUE_IS(MRC_CTL_MAX_VENDOR_CFG_SIZE, 128);
VALUE_IS(MRC_CTL_EV_MAX_BYTES, 32);

VALUE_IS(MRC_CTL_PROTOCOL_VERSION_0, 0);
VALUE_IS(MRC_CTL_PROTOCOL_VERSION_1, 0x1);
SIZE_IS(enum mrc_ctl_protocol_version, 4);

VALUE_IS(MRC_CTL_PROFILE_INIT, 0);
VALUE_IS(MRC_CTL_PROFILE_OFFLINE, 1);
VALUE_IS(MRC_CTL_PROFILE_ONLINE, 2);
SIZE_IS(enum mrc_ctl_profile_state, 4);

VALUE_IS(MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE, 0x1);
VALUE_IS(MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE, 0x2);
VALUE_IS(MRC_CTL_OPT_CAP_EV_EVENT, 0x4);
VALUE_IS(MRC_CTL_OPT_CAP_EV_EXPLICIT_RANGE, 0x8);
VALUE_IS(MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT, 0x10);
VALUE_IS(MRC_CTL_OPT_CAP_EP_OP_EV_PROBE, 0x20);
SIZE_IS(enum mrc_ctl_attr_opt, 4);

VALUE_IS(MRC_CTL_PORT_ADMIN_DISABLED, 0);
VALUE_IS(MRC_CTL_PORT_ADMIN_ENABLED, 1);
SIZE_IS(enum mrc_ctl_port_admin_state, 4);

VALUE_IS(MRC_CTL_PORT_ADMIN_STATE, 0x1);
SIZE_IS(enum mrc_ctl_port_attr_mask, 4);

VALUE_IS(MRC_CTL_EV_FMT_MODE_STEV, 0x1);
VALUE_IS(MRC_CTL_EV_FMT_MODE_SRV6, 0x2);
VALUE_IS(MRC_CTL_EV_FMT_MODE_UDP, 0x4);
SIZE_IS(enum mrc_ctl_ev_fmt_mode, 4);

VALUE_IS(MRC_CTL_EV_FMT_OP_MODIFY_FIELDS, 0);
VALUE_IS(MRC_CTL_EV_FMT_OP_QUERY_FIELDS, 1);
SIZE_IS(enum mrc_ctl_ev_fmt_op, 4);

VALUE_IS(MRC_CTL_EV_FMT_PROFILE_STATE, 0x1);
VALUE_IS(MRC_CTL_EV_FMT_PROFILE_CUR_STATE, 0x2);
VALUE_IS(MRC_CTL_EV_FMT_PROFILE_MODE, 0x4);
VALUE_IS(MRC_CTL_EV_FMT_PROFILE_OP, 0x8);
VALUE_IS(MRC_CTL_EV_FMT_VENDOR_CFG, INT32_MIN);
SIZE_IS(enum mrc_ctl_ev_fmt_profile_attr_mask, 4);

VALUE_IS(MRC_CTL_EV_GOOD, 0x1);
VALUE_IS(MRC_CTL_EV_ASSUMED_BAD, 0x2);
VALUE_IS(MRC_CTL_EV_DENIED, 0x4);
VALUE_IS(MRC_CTL_EV_UNKNOWN, INT32_MIN);
SIZE_IS(enum mrc_ctl_ev_state, 4);

VALUE_IS(MRC_CTL_EV_MODE_AUTO, 0x1);
VALUE_IS(MRC_CTL_EV_MODE_EXP, 0x2);
VALUE_IS(MRC_CTL_EV_MODE_GEN, 0x4);
SIZE_IS(enum mrc_ctl_ev_mode, 4);

VALUE_IS(MRC_CTL_EV_OP_REPLACE_EV, 0);
VALUE_IS(MRC_CTL_EV_OP_MODIFY_EV_STATE, 1);
VALUE_IS(MRC_CTL_EV_OP_QUERY_EV_STATE, 2);
VALUE_IS(MRC_CTL_EV_OP_QUERY_EV_ARRAY, 3);
SIZE_IS(enum mrc_ctl_ev_op, 4);

VALUE_IS(MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS, 0);
VALUE_IS(MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS, 1);
SIZE_IS(enum mrc_ctl_ev_fields_op, 4);

VALUE_IS(MRC_CTL_EV_PROFILE_STATE, 0x1);
VALUE_IS(MRC_CTL_EV_PROFILE_CUR_STATE, 0x2);
VALUE_IS(MRC_CTL_EV_PROFILE_MODE, 0x4);
VALUE_IS(MRC_CTL_EV_PROFILE_FMT_ID, 0x8);
VALUE_IS(MRC_CTL_EV_PROFILE_COUNT, 0x10);
VALUE_IS(MRC_CTL_EV_PROFILE_MIN_ACTIVE, 0x20);
VALUE_IS(MRC_CTL_EV_PROFILE_EVENT_MASK, 0x40);
VALUE_IS(MRC_CTL_EV_PROFILE_EV_OP, 0x80);
VALUE_IS(MRC_CTL_EV_PROFILE_EV_FIELDS_OP, 0x100);
VALUE_IS(MRC_CTL_EV_PROFILE_VENDOR_CFG, INT32_MIN);
SIZE_IS(enum mrc_ctl_ev_profile_attr_mask, 4);

VALUE_IS(MRC_CTL_EV_OP_F_ALL_COPIES, 0x1);
SIZE_IS(enum mrc_ctl_ev_op_flags, 4);

VALUE_IS(MRC_CTL_CC_PROFILE_STATE, 0x1);
VALUE_IS(MRC_CTL_CC_PROFILE_CUR_STATE, 0x2);
VALUE_IS(MRC_CTL_CC_PROFILE_ALGORITHM, 0x4);
VALUE_IS(MRC_CTL_CC_PROFILE_CONFIG, 0x8);
VALUE_IS(MRC_CTL_CC_PROFILE_VENDOR_CFG, INT32_MIN);
SIZE_IS(enum mrc_ctl_cc_profile_attr_mask, 4);

VALUE_IS(MRC_CTL_EP_OP_EV_PROBE, 0);
VALUE_IS(MRC_CTL_EP_OP_PORT_STATUS_UPDATE, 1);
SIZE_IS(enum mrc_ctl_ep_op_type, 4);

// --- mrc_ctl.h: structs ------------------------------------------------------------------------

SIZE_IS(struct mrc_ctl_device_attr, 72);
MEMBER(struct mrc_ctl_device_attr, mrc_ctl_protocol_version, uint32_t, 0);
MEMBER(struct mrc_ctl_device_attr, ev.ev_max_fmt_profiles, uint32_t, 4);
MEMBER(struct mrc_ctl_device_attr, ev.ev_max_profiles, uint32_t, 8);
MEMBER(struct mrc_ctl_device_attr, ev.ev_max_count, uint32_t, 12);
MEMBER(struct mrc_ctl_device_attr, ev.ev_free_count, uint32_t, 16);
MEMBER(struct mrc_ctl_device_attr, ev.ev_max_count_profile, uint32_t, 20);
MEMBER(struct mrc_ctl_device_attr, ev.ev_count_align, uint32_t, 24);
MEMBER(struct mrc_ctl_device_attr, ev.ev_max_width, uint32_t, 28);
MEMBER(struct mrc_ctl_device_attr, ev.ev_fmt_mode_mask, uint32_t, 32);
MEMBER(struct mrc_ctl_device_attr, ev.ev_mode_mask, uint32_t, 36);
MEMBER(struct mrc_ctl_device_attr, ev.ev_op_max_entries, uint32_t, 40);
MEMBER(struct mrc_ctl_device_attr, cc.cc_max_profiles, uint32_t, 48);
MEMBER(struct mrc_ctl_device_attr, cc.algorithms, const char**, 56);
MEMBER(struct mrc_ctl_device_attr, phy_port_mask, uint32_t, 64);
MEMBER(struct mrc_ctl_device_attr, opt_attr, uint32_t, 68);

SIZE_IS(struct mrc_ctl_port_attr, 4);
MEMBER(struct mrc_ctl_port_attr, port_admin_state, enum mrc_ctl_port_admin_state, 0);

SIZE_IS(struct mrc_ctl_ev_fmt_field, 1);
MEMBER(struct mrc_ctl_ev_fmt_field, width, uint8_t, 0);

SIZE_IS(struct mrc_ctl_ev_fmt_profile_attr, 168);
MEMBER(struct mrc_ctl_ev_fmt_profile_attr, profile_state, enum mrc_ctl_profile_state, 0);
MEMBER(struct mrc_ctl_ev_fmt_profile_attr, cur_profile_state, enum mrc_ctl_profile_state, 4);
MEMBER(struct mrc_ctl_ev_fmt_profile_attr, ev_fmt_mode, enum mrc_ctl_ev_fmt_mode, 8);
MEMBER(struct mrc_ctl_ev_fmt_profile_attr, ev_fmt_op.op, enum mrc_ctl_ev_fmt_op, 16);
MEMBER(struct mrc_ctl_ev_fmt_profile_attr, ev_fmt_op.fmt_fields, struct mrc_ctl_ev_fmt_field*, 24);
MEMBER(struct mrc_ctl_ev_fmt_profile_attr, ev_fmt_op.fmt_field_count, int, 32);
MEMBER(struct mrc_ctl_ev_fmt_profile_attr, vendor_cfg, vendor_cfg_bytes, 40);

SIZE_IS(mrc_ctl_ev_t, 32);
SIZE_IS(struct mrc_ctl_ev, 33);
MEMBER(struct mrc_ctl_ev, val, mrc_ctl_ev_t, 0);
MEMBER(struct mrc_ctl_ev, val[31], uint8_t, 31);
MEMBER(struct mrc_ctl_ev, port, uint8_t, 32);
_Static_assert(_Generic(&MRC_CTL_EV_UNPOPULATED, struct mrc_ctl_ev*: 1, default: 0),
               "MRC_CTL_EV_UNPOPULATED is no struct mrc_ctl_ev that has an address");

SIZE_IS(struct mrc_ctl_ev_field, 20);
MEMBER(struct mrc_ctl_ev_field, width, uint32_t, 0);
MEMBER(struct mrc_ctl_ev_field, init_val, uint32_t, 4);
MEMBER(struct mrc_ctl_ev_field, min_val, uint32_t, 8);
MEMBER(struct mrc_ctl_ev_field, max_val, uint32_t, 12);
MEMBER(struct mrc_ctl_ev_field, mask, uint32_t, 16);

SIZE_IS(struct mrc_ctl_ev_op_entry, 76);
MEMBER(struct mrc_ctl_ev_op_entry, ev, struct mrc_ctl_ev, 0);
MEMBER(struct mrc_ctl_ev_op_entry, ev_new, struct mrc_ctl_ev, 33);
MEMBER(struct mrc_ctl_ev_op_entry, state, enum mrc_ctl_ev_state, 68);
MEMBER(struct mrc_ctl_ev_op_entry, flags, uint32_t, 72);

SIZE_IS(struct mrc_ctl_ev_profile_attr, 216);
MEMBER(struct mrc_ctl_ev_profile_attr, profile_state, enum mrc_ctl_profile_state, 0);
MEMBER(struct mrc_ctl_ev_profile_attr, cur_profile_state, enum mrc_ctl_profile_state, 4);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_mode, enum mrc_ctl_ev_mode, 8);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_fmt_profile_id, uint64_t, 16);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_count, uint32_t, 24);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_min_active, uint32_t, 28);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_event_mask, int, 32);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_op.op, enum mrc_ctl_ev_op, 40);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_op.entries, struct mrc_ctl_ev_op_entry*, 48);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_op.entry_count, int, 56);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_fields_op.op, enum mrc_ctl_ev_fields_op, 64);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_fields_op.fields, struct mrc_ctl_ev_field*, 72);
MEMBER(struct mrc_ctl_ev_profile_attr, ev_fields_op.field_count, int, 80);
MEMBER(struct mrc_ctl_ev_profile_attr, vendor_cfg, vendor_cfg_bytes, 88);

SIZE_IS(struct mrc_ctl_cc_profile_attr, 152);
MEMBER(struct mrc_ctl_cc_profile_attr, profile_state, enum mrc_ctl_profile_state, 0);
MEMBER(struct mrc_ctl_cc_profile_attr, cur_profile_state, enum mrc_ctl_profile_state, 4);
MEMBER(struct mrc_ctl_cc_profile_attr, algorithm, const char*, 8);
MEMBER(struct mrc_ctl_cc_profile_attr, cc_config, const void*, 16);
MEMBER(struct mrc_ctl_cc_profile_attr, vendor_cfg, vendor_cfg_bytes, 24);

SIZE_IS(struct mrc_ctl_cc_nscc_cfg, 52);
MEMBER(struct mrc_ctl_cc_nscc_cfg, disable_qa, uint8_t, 0);
MEMBER(struct mrc_ctl_cc_nscc_cfg, adjust_bytes_threshold, uint32_t, 4);
MEMBER(struct mrc_ctl_cc_nscc_cfg, adjust_period_threshold, uint32_t, 8);
MEMBER(struct mrc_ctl_cc_nscc_cfg, base_rtt, uint32_t, 12);
MEMBER(struct mrc_ctl_cc_nscc_cfg, eta, float, 16);
MEMBER(struct mrc_ctl_cc_nscc_cfg, fi, float, 20);
MEMBER(struct mrc_ctl_cc_nscc_cfg, fi_scale, float, 24);
MEMBER(struct mrc_ctl_cc_nscc_cfg, gamma, float, 28);
MEMBER(struct mrc_ctl_cc_nscc_cfg, max_md_jump, float, 32);
MEMBER(struct mrc_ctl_cc_nscc_cfg, max_cwnd, uint32_t, 36);
MEMBER(struct mrc_ctl_cc_nscc_cfg, qa_gate, uint8_t, 40);
MEMBER(struct mrc_ctl_cc_nscc_cfg, qa_threshold, uint32_t, 44);
MEMBER(struct mrc_ctl_cc_nscc_cfg, target_delay, uint32_t, 48);

SIZE_IS(struct mrc_ctl_ev_event, 56);
MEMBER(struct mrc_ctl_ev_event, profile_id, uint64_t, 0);
MEMBER(struct mrc_ctl_ev_event, ev, struct mrc_ctl_ev, 8);
MEMBER(struct mrc_ctl_ev_event, drop_count, uint32_t, 44);
MEMBER(struct mrc_ctl_ev_event, state, enum mrc_ctl_ev_state, 48);

SIZE_IS(struct mrc_ctl_ep_req, 88);
MEMBER(struct mrc_ctl_ep_req, req_id, uint16_t, 0);
MEMBER(struct mrc_ctl_ep_req, sgid, union ibv_gid, 8);
MEMBER(struct mrc_ctl_ep_req, dgid, union ibv_gid, 24);
MEMBER(struct mrc_ctl_ep_req, ev_fmt_mode, enum mrc_ctl_ev_fmt_mode, 40);
MEMBER(struct mrc_ctl_ep_req, req_ev, struct mrc_ctl_ev, 44);
MEMBER(struct mrc_ctl_ep_req, op.port_status_update.port_status, uint32_t, 80);

SIZE_IS(struct mrc_ctl_ep_rsp, 12);
MEMBER(struct mrc_ctl_ep_rsp, req_id, uint16_t, 0);
MEMBER(struct mrc_ctl_ep_rsp, port, uint8_t, 2);
MEMBER(struct mrc_ctl_ep_rsp, rtt, unsigned int, 4);
MEMBER(struct mrc_ctl_ep_rsp, adj_svc_time, uint8_t, 8);

// --- functions ---------------------------------------------------------------------------------

// X(what it returns, name, (what it takes))
#define MRC_FUNCTIONS(X)                                                                           \
  X(int, mrc_query_device_ex,                                                                      \
    (struct ibv_context*, struct mrc_context*, struct mrc_device_attr*, int*))                     \
  X(int, mrc_query_device, (struct ibv_context*, struct mrc_device_attr*, int*))                   \
  X(void, mrc_query_version, (uint32_t*, uint32_t*, uint32_t*, uint32_t*))                         \
  X(struct mrc_context*, mrc_create_context, (struct ibv_context*, struct mrc_context_attr*))      \
  X(int, mrc_destroy_context, (struct mrc_context*))                                               \
  X(int, mrc_create_comp_channel, (struct mrc_context*, struct mrc_comp_channel**))                \
  X(int, mrc_get_comp_channel_fd, (struct mrc_comp_channel*, int*))                                \
  X(int, mrc_destroy_comp_channel, (struct mrc_comp_channel*))                                     \
  X(struct mrc_cq*, mrc_create_cq,                                                                 \
    (struct mrc_context*, int, void*, struct mrc_comp_channel*, int))                              \
  X(int, mrc_poll_cq, (struct mrc_cq*, int, struct ibv_wc*))                                       \
  X(int, mrc_destroy_cq, (struct mrc_cq*))                                                         \
  X(struct mrc_qp_hint*, mrc_create_qp_hint, (struct mrc_context*, struct mrc_qp_hint_init_attr*)) \
  X(int, mrc_destroy_qp_hint, (struct mrc_qp_hint*))                                               \
  X(int, mrc_query_qp_hint, (struct mrc_qp_hint*, struct mrc_qp_hint_attr*, int))                  \
  X(int, mrc_modify_qp_hint, (struct mrc_qp_hint*, struct mrc_qp_hint_attr*, int))                 \
  X(struct mrc_qp*, mrc_create_qp, (struct mrc_context*, struct mrc_qp_init_attr*))                \
  X(int, mrc_destroy_qp, (struct mrc_qp*))                                                         \
  X(int, mrc_query_qp,                                                                             \
    (struct mrc_qp*, struct ibv_qp_attr*, int, struct mrc_qp_attr*, int,                           \
     struct mrc_qp_init_attr*))                                                                    \
  X(int, mrc_modify_qp, (struct mrc_qp*, struct ibv_qp_attr*, int, struct mrc_qp_attr*, int))      \
  X(int, mrc_get_qpn, (struct mrc_qp*, uint32_t*))                                                 \
  X(int, mrc_post_recv, (struct mrc_qp*, struct ibv_recv_wr*, struct ibv_recv_wr**))               \
  X(int, mrc_post_send, (struct mrc_qp*, struct ibv_send_wr*, struct ibv_send_wr**))               \
  X(int, mrc_get_async_event, (struct mrc_context*, struct mrc_async_event*))                      \
  X(void, mrc_ack_async_event, (struct mrc_async_event*))                                          \
  X(int, mrc_req_notify_cq, (struct mrc_cq*, int))                                                 \
  X(int, mrc_get_cq_event, (struct mrc_comp_channel*, struct mrc_cq**, void**))                    \
  X(void, mrc_ack_cq_events, (struct mrc_cq*, unsigned int))

#define MRC_CTL_FUNCTIONS(X)                                                                       \
  X(int, mrc_ctl_query_device_ex,                                                                  \
    (struct ibv_context*, struct mrc_context*, struct mrc_ctl_device_attr*, int*))                 \
  X(int, mrc_ctl_query_device, (struct ibv_context*, struct mrc_ctl_device_attr*))                 \
  X(void, mrc_ctl_query_version, (uint32_t*, uint32_t*, uint32_t*, uint32_t*))                     \
  X(int, mrc_ctl_query_port, (struct mrc_context*, uint8_t, struct mrc_ctl_port_attr*, int))       \
  X(int, mrc_ctl_modify_port, (struct mrc_context*, uint8_t, struct mrc_ctl_port_attr*, int))      \
  X(int, mrc_ctl_modify_ev_fmt_profile,                                                            \
    (struct mrc_context*, uint64_t, struct mrc_ctl_ev_fmt_profile_attr*, int))                     \
  X(int, mrc_ctl_query_ev_fmt_profile,                                                             \
    (struct mrc_context*, uint64_t, struct mrc_ctl_ev_fmt_profile_attr*, int))                     \
  X(int, mrc_ctl_modify_ev_profile,                                                                \
    (struct mrc_context*, uint64_t, struct mrc_ctl_ev_profile_attr*, int))                         \
  X(int, mrc_ctl_query_ev_profile,                                                                 \
    (struct mrc_context*, uint64_t, struct mrc_ctl_ev_profile_attr*, int))                         \
  X(int, mrc_ctl_modify_cc_profile,                                                                \
    (struct mrc_context*, uint64_t, struct mrc_ctl_cc_profile_attr*, int))                         \
  X(int, mrc_ctl_query_cc_profile,                                                                 \
    (struct mrc_context*, uint64_t, struct mrc_ctl_cc_profile_attr*, int))                         \
  X(struct mrc_cq*, mrc_ctl_create_ev_event_cq,                                                    \
    (struct mrc_context*, int, void*, struct mrc_comp_channel*, int))                              \
  X(int, mrc_ctl_poll_ev_event, (struct mrc_cq*, int, struct mrc_ctl_ev_event*))                   \
  X(int, mrc_ctl_ep_batch_send_wait,                                                               \
    (struct mrc_context*, uint8_t, enum mrc_ctl_ep_op_type, struct mrc_ctl_ep_req*, int, uint32_t, \
     struct mrc_ctl_ep_rsp*, int*))

#define POINTER(returned, name, taken) returned(*name) taken;
#define ADDRESS(returned, name, taken) .name = (name),
#define NAME(returned, name, taken) #name,
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// One pointer beside the other, each of the type that its function must have.
static const struct {
  MRC_FUNCTIONS(POINTER)
} mrc_functions = {MRC_FUNCTIONS(ADDRESS)};
static const char* const mrc_names[] = {MRC_FUNCTIONS(NAME)};
VALUE_IS(COUNT(mrc_names), 27);
SIZE_IS(mrc_functions, 27 * sizeof(void*));

static const struct {
  MRC_CTL_FUNCTIONS(POINTER)
} mrc_ctl_functions = {MRC_CTL_FUNCTIONS(ADDRESS)};
static const char* const mrc_ctl_names[] = {MRC_CTL_FUNCTIONS(NAME)};
VALUE_IS(COUNT(mrc_ctl_names), 14);
SIZE_IS(mrc_ctl_functions, 14 * sizeof(void*));

// How many of the functions that this program calls are not those that the library exports.
static int undeclared_in(const char* soname, const char* const* names, const void* functions,
                         size_t count) {
  void* library = dlopen(soname, RTLD_NOW | RTLD_NOLOAD);
  if (library == NULL) {
    printf("FAIL: %s is not loaded: %s\n", soname, dlerror());
    return 1;
  }
  int undeclared = 0;
  for (size_t i = 0; i < count; ++i) {
    void* linked = NULL;
    memcpy(&linked, (const char*)functions + i * sizeof(void*), sizeof(void*));
    if (linked == NULL || linked != dlsym(library, names[i])) {
      printf("FAIL: %s is not that of %s\n", names[i], soname);
      ++undeclared;
    }
  }
  dlclose(library);
  printf("%s: %zu functions looked at\n", soname, count);
  return undeclared;
}

int main(void) {
  const struct mrc_ctl_ev unpopulated = MRC_CTL_EV_UNPOPULATED;
  static const struct mrc_ctl_ev zeros;
  int bad = memcmp(&unpopulated, &zeros, sizeof(zeros)) != 0;
  if (bad) printf("FAIL: MRC_CTL_EV_UNPOPULATED is not all zeros\n");
  bad += undeclared_in("libmrc.so.1", mrc_names, &mrc_functions, COUNT(mrc_names));
  bad += undeclared_in("libmrc-ctl.so.1", mrc_ctl_names, &mrc_ctl_functions, COUNT(mrc_ctl_names));
  return bad != 0;
}
