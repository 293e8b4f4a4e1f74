// SPDX-License-Identifier: BSD-3-Clause
#ifndef _MRC_CTL_API_H_
#define _MRC_CTL_API_H_

/*
 * The control interface of MRC: what the one controller of a node may ask of the device and set.
 * The caller of whatever changes something needs CAP_NET_ADMIN; others get EPERM.
 *
 * A profile is state of the device. It is named by a number that its maker chooses; queue pairs of
 * any process use it by that number. Every number names a profile, in the state INIT at first. One
 * call takes it one step further: INIT, OFFLINE, ONLINE, OFFLINE, INIT; back in INIT it is gone.
 *
 * Functions that return int return 0, or -1 with errno set, except where another rule is named.
 */
#include <mrc.h>
#include <mrc_ctl_api_ver.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MRC_CTL_MAX_VENDOR_CFG_SIZE 128
#define MRC_CTL_EV_MAX_BYTES 32

enum mrc_ctl_protocol_version {
  MRC_CTL_PROTOCOL_VERSION_0 = 0, /* the provider chooses */
  MRC_CTL_PROTOCOL_VERSION_1 = 1 << 0,
};

enum mrc_ctl_profile_state {
  MRC_CTL_PROFILE_INIT = 0,
  MRC_CTL_PROFILE_OFFLINE = 1, /* being made */
  MRC_CTL_PROFILE_ONLINE = 2,  /* may be used */
};

/* What a device can do beyond what all can. */
enum mrc_ctl_attr_opt {
  MRC_CTL_OPT_CAP_EV_PROFILE_MODIFY_ONLINE = 1 << 0,
  MRC_CTL_OPT_CAP_CC_PROFILE_MODIFY_ONLINE = 1 << 1,
  MRC_CTL_OPT_CAP_EV_EVENT = 1 << 2,
  MRC_CTL_OPT_CAP_EV_EXPLICIT_RANGE = 1 << 3, /* explicit EVs must follow one on the other */
  MRC_CTL_OPT_CAP_EV_EVENT_PRECISE_DROP_CNT = 1 << 4,
  MRC_CTL_OPT_CAP_EP_OP_EV_PROBE = 1 << 5,
};

struct mrc_ctl_device_attr {
  uint32_t mrc_ctl_protocol_version; /* bits of enum mrc_ctl_protocol_version */
  struct {
    uint32_t ev_max_fmt_profiles;
    uint32_t ev_max_profiles;
    uint32_t ev_max_count;         /* EVs of all profiles together */
    uint32_t ev_free_count;        /* those that no profile has taken */
    uint32_t ev_max_count_profile; /* EVs of one profile */
    uint32_t ev_count_align;       /* a profile's EVs are a multiple of this */
    uint32_t ev_max_width;         /* bits of an EV that may be in use */
    uint32_t ev_fmt_mode_mask;     /* bits of enum mrc_ctl_ev_fmt_mode */
    uint32_t ev_mode_mask;         /* bits of enum mrc_ctl_ev_mode */
    uint32_t ev_op_max_entries;    /* of one call; 0: no limit is stated */
  } ev;
  struct {
    uint32_t cc_max_profiles;
    const char** algorithms; /* ends with NULL; belongs to the library */
  } cc;
  uint32_t phy_port_mask; /* bit n: there is a port n; ports count from 1 */
  uint32_t opt_attr;      /* bits of enum mrc_ctl_attr_opt */
};

/* Ports. One that is disabled is IBV_PORT_DOWN for ibv_query_port. */
enum mrc_ctl_port_admin_state {
  MRC_CTL_PORT_ADMIN_DISABLED = 0,
  MRC_CTL_PORT_ADMIN_ENABLED = 1,
};

enum mrc_ctl_port_attr_mask {
  MRC_CTL_PORT_ADMIN_STATE = 1 << 0,
};

struct mrc_ctl_port_attr {
  enum mrc_ctl_port_admin_state port_admin_state;
};

/* EV format profiles: how the bits that a packet carries divide into fields. */
enum mrc_ctl_ev_fmt_mode {
  MRC_CTL_EV_FMT_MODE_STEV = 1 << 0, /* IPv6 flow label and UDP source port */
  MRC_CTL_EV_FMT_MODE_SRV6 = 1 << 1, /* outer IPv6 destination of uSIDs, and perhaps one segment */
  MRC_CTL_EV_FMT_MODE_UDP = 1 << 2,  /* UDP source port alone, on IPv4 or IPv6 */
};

enum mrc_ctl_ev_fmt_op {
  MRC_CTL_EV_FMT_OP_MODIFY_FIELDS = 0,
  MRC_CTL_EV_FMT_OP_QUERY_FIELDS = 1,
};

/* The sign bit of an int is 1 << 31, written so that no shift overflows. */
enum mrc_ctl_ev_fmt_profile_attr_mask {
  MRC_CTL_EV_FMT_PROFILE_STATE = 1 << 0,
  MRC_CTL_EV_FMT_PROFILE_CUR_STATE = 1 << 1,
  MRC_CTL_EV_FMT_PROFILE_MODE = 1 << 2,
  MRC_CTL_EV_FMT_PROFILE_OP = 1 << 3,
  MRC_CTL_EV_FMT_VENDOR_CFG = INT32_MIN,
};

struct mrc_ctl_ev_fmt_field {
  uint8_t width; /* bits */
};

struct mrc_ctl_ev_fmt_profile_attr {
  enum mrc_ctl_profile_state profile_state;     /* where it shall go */
  enum mrc_ctl_profile_state cur_profile_state; /* where the caller holds it to be */
  enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
  struct {
    enum mrc_ctl_ev_fmt_op op;
    struct mrc_ctl_ev_fmt_field* fmt_fields;
    int fmt_field_count; /* in and out: with E2BIG, how many there are */
  } ev_fmt_op;
  uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/* EVs. The bits of a value are counted from the most significant bit of its first byte. */
typedef uint8_t mrc_ctl_ev_t[MRC_CTL_EV_MAX_BYTES];

struct mrc_ctl_ev {
  mrc_ctl_ev_t val;
  uint8_t port; /* counts from 1 */
};

/* What stands in an explicit profile where no EV has been put yet. */
#ifdef __cplusplus
#define MRC_CTL_EV_UNPOPULATED (mrc_ctl_ev())
#else
#define MRC_CTL_EV_UNPOPULATED ((struct mrc_ctl_ev){{0}, 0})
#endif

enum mrc_ctl_ev_state {
  MRC_CTL_EV_GOOD = 1 << 0,
  MRC_CTL_EV_ASSUMED_BAD = 1 << 1, /* lost packets, and is being probed */
  MRC_CTL_EV_DENIED = 1 << 2,      /* the controller forbids it */
  MRC_CTL_EV_UNKNOWN = INT32_MIN,
};

enum mrc_ctl_ev_mode {
  MRC_CTL_EV_MODE_AUTO = 1 << 0, /* the provider makes EVs as it likes */
  MRC_CTL_EV_MODE_EXP = 1 << 1,  /* the controller lists them */
  MRC_CTL_EV_MODE_GEN = 1 << 2,  /* the device draws them from the ranges of the fields */
};

enum mrc_ctl_ev_op {
  MRC_CTL_EV_OP_REPLACE_EV = 0,
  MRC_CTL_EV_OP_MODIFY_EV_STATE = 1,
  MRC_CTL_EV_OP_QUERY_EV_STATE = 2,
  MRC_CTL_EV_OP_QUERY_EV_ARRAY = 3,
};

enum mrc_ctl_ev_fields_op {
  MRC_CTL_EV_FIELDS_OP_MODIFY_FIELDS = 0,
  MRC_CTL_EV_FIELDS_OP_QUERY_FIELDS = 1,
};

enum mrc_ctl_ev_profile_attr_mask {
  MRC_CTL_EV_PROFILE_STATE = 1 << 0,
  MRC_CTL_EV_PROFILE_CUR_STATE = 1 << 1,
  MRC_CTL_EV_PROFILE_MODE = 1 << 2,
  MRC_CTL_EV_PROFILE_FMT_ID = 1 << 3,
  MRC_CTL_EV_PROFILE_COUNT = 1 << 4,
  MRC_CTL_EV_PROFILE_MIN_ACTIVE = 1 << 5,
  MRC_CTL_EV_PROFILE_EVENT_MASK = 1 << 6,
  MRC_CTL_EV_PROFILE_EV_OP = 1 << 7,
  MRC_CTL_EV_PROFILE_EV_FIELDS_OP = 1 << 8,
  MRC_CTL_EV_PROFILE_VENDOR_CFG = INT32_MIN,
};

enum mrc_ctl_ev_op_flags {
  MRC_CTL_EV_OP_F_ALL_COPIES = 1 << 0, /* every EV that is alike, not one of them */
};

/* What goes into one field of the format: a value, with bits of the EV where the mask has ones. */
struct mrc_ctl_ev_field {
  uint32_t width; /* bits, at most 32 */
  uint32_t init_val;
  uint32_t min_val; /* generated EVs take the masked bits, as a number, from this range */
  uint32_t max_val;
  uint32_t mask;
};

/*
 * REPLACE_EV       ev becomes ev_new with this state
 * MODIFY_EV_STATE  ev gets this state
 * QUERY_EV_STATE   state of ev is returned
 * QUERY_EV_ARRAY   ev and state are returned
 */
struct mrc_ctl_ev_op_entry {
  struct mrc_ctl_ev ev;
  struct mrc_ctl_ev ev_new;
  enum mrc_ctl_ev_state state;
  uint32_t flags; /* bits of enum mrc_ctl_ev_op_flags */
};

struct mrc_ctl_ev_profile_attr {
  enum mrc_ctl_profile_state profile_state;
  enum mrc_ctl_profile_state cur_profile_state;
  enum mrc_ctl_ev_mode ev_mode;
  uint64_t ev_fmt_profile_id;
  uint32_t ev_count;      /* a query returns what came of it */
  uint32_t ev_min_active; /* none is disabled for loss if only so many are left */
  int ev_event_mask;      /* GOOD, ASSUMED_BAD: which changes make an event */
  struct {
    enum mrc_ctl_ev_op op;
    struct mrc_ctl_ev_op_entry* entries;
    int entry_count; /* in and out: with E2BIG, how many there are */
  } ev_op;
  struct {
    enum mrc_ctl_ev_fields_op op;
    struct mrc_ctl_ev_field* fields;
    int field_count; /* in and out: with E2BIG, how many there are */
  } ev_fields_op;
  uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/* Congestion control profiles. */
enum mrc_ctl_cc_profile_attr_mask {
  MRC_CTL_CC_PROFILE_STATE = 1 << 0,
  MRC_CTL_CC_PROFILE_CUR_STATE = 1 << 1,
  MRC_CTL_CC_PROFILE_ALGORITHM = 1 << 2,
  MRC_CTL_CC_PROFILE_CONFIG = 1 << 3,
  MRC_CTL_CC_PROFILE_VENDOR_CFG = INT32_MIN,
};

struct mrc_ctl_cc_profile_attr {
  enum mrc_ctl_profile_state profile_state;
  enum mrc_ctl_profile_state cur_profile_state;
  const char* algorithm; /* one that the device names; NULL: none */
  const void* cc_config; /* its type depends on the algorithm */
  uint8_t vendor_cfg[MRC_CTL_MAX_VENDOR_CFG_SIZE];
};

/* cc_config of "uet-1.0-nscc". Times are nanoseconds. */
struct mrc_ctl_cc_nscc_cfg {
  uint8_t disable_qa; /* not 0: no quick adapt */
  uint32_t adjust_bytes_threshold;
  uint32_t adjust_period_threshold;
  uint32_t base_rtt;
  float eta;
  float fi;
  float fi_scale;
  float gamma;
  float max_md_jump;
  uint32_t max_cwnd; /* bytes */
  uint8_t qa_gate;
  uint32_t qa_threshold;
  uint32_t target_delay;
};

/* An EV changed its state. */
struct mrc_ctl_ev_event {
  uint64_t profile_id;
  struct mrc_ctl_ev ev;
  uint32_t drop_count; /* events lost since the one before */
#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
  enum mrc_ctl_ev_state state; /* the new one */
#endif
};

/* Endpoint operations: questions to the device of another host, each answered by it. */
enum mrc_ctl_ep_op_type {
  MRC_CTL_EP_OP_EV_PROBE = 0,
  MRC_CTL_EP_OP_PORT_STATUS_UPDATE = 1,
};

struct mrc_ctl_ep_req {
  uint16_t req_id; /* differs from that of every other request under way */
  union ibv_gid sgid;
  union ibv_gid dgid;
  enum mrc_ctl_ev_fmt_mode ev_fmt_mode;
  struct mrc_ctl_ev req_ev; /* the path, and the port that the request leaves by */
  union {
    struct {
      uint32_t port_status; /* bit n: port n is up */
    } port_status_update;
  } op;
};

struct mrc_ctl_ep_rsp {
  uint16_t req_id;
  uint8_t port;         /* where the answer arrived */
  unsigned int rtt;     /* ns */
  uint8_t adj_svc_time; /* not 0: without the time that the responder took */
};

/* What the device can do, and how much. */
#if MRC_CTL_API_VER_USED >= MRC_CTL_API_VER(1, 0, 1)
int mrc_ctl_query_device_ex(struct ibv_context* context, struct mrc_context* mcontext,
                            struct mrc_ctl_device_attr* ctl_attr, int* supported);
#endif
int mrc_ctl_query_device(struct ibv_context* context, struct mrc_ctl_device_attr* ctl_attr);

/* Versions of the library. Any pointer may be NULL. */
void mrc_ctl_query_version(uint32_t* current_version, uint32_t* last_supported_version,
                           uint32_t* vendor_version, uint32_t* last_supported_vendor_version);

int mrc_ctl_query_port(struct mrc_context* context, uint8_t port_num,
                       struct mrc_ctl_port_attr* attr, int attr_mask);
int mrc_ctl_modify_port(struct mrc_context* context, uint8_t port_num,
                        struct mrc_ctl_port_attr* attr, int attr_mask);

/* EBUSY: an EV profile that uses it is ONLINE. E2BIG: the device cannot carry such fields. */
int mrc_ctl_modify_ev_fmt_profile(struct mrc_context* mrc_ctx, uint64_t ev_fmt_profile_id,
                                  struct mrc_ctl_ev_fmt_profile_attr* attr, int attr_mask);
int mrc_ctl_query_ev_fmt_profile(struct mrc_context* mrc_ctx, uint64_t ev_fmt_profile_id,
                                 struct mrc_ctl_ev_fmt_profile_attr* attr, int attr_mask);

/*
 * Entries are worked on in order until one fails; those before it stay done, and entry_count says
 * how many they are. ENOENT: there is no such EV. EBUSY: queue pairs use the profile.
 */
int mrc_ctl_modify_ev_profile(struct mrc_context* mrc_ctx, uint64_t ev_profile_id,
                              struct mrc_ctl_ev_profile_attr* attr, int attr_mask);
int mrc_ctl_query_ev_profile(struct mrc_context* mrc_ctx, uint64_t ev_profile_id,
                             struct mrc_ctl_ev_profile_attr* attr, int attr_mask);

/* A query points cc_config to memory of the library, which is the thread's until its next query. */
int mrc_ctl_modify_cc_profile(struct mrc_context* mrc_ctx, uint64_t cc_profile_id,
                              struct mrc_ctl_cc_profile_attr* attr, int attr_mask);
int mrc_ctl_query_cc_profile(struct mrc_context* mrc_ctx, uint64_t cc_profile_id,
                             struct mrc_ctl_cc_profile_attr* attr, int attr_mask);

/* Events of all EV profiles whose ev_event_mask asks for them. mrc_destroy_cq frees the queue. */
struct mrc_cq* mrc_ctl_create_ev_event_cq(struct mrc_context* mrc_ctx, int cqe, void* cq_context,
                                          struct mrc_comp_channel* channel, int comp_vector);
/* How many events there were, or a negative errno value. */
int mrc_ctl_poll_ev_event(struct mrc_cq* ev_cq, int num_entries, struct mrc_ctl_ev_event* ev_event);

/*
 * Sends requests of one kind and waits for the answers, which come in the order of their arrival.
 * rsp has room for num_req. rsp_timeout is in nanoseconds; when it is over, the call fails with
 * ETIMEDOUT, and rsp and num_rsp tell which answers have come. req_tc is a DSCP.
 */
int mrc_ctl_ep_batch_send_wait(struct mrc_context* mrc_ctx, uint8_t req_tc,
                               enum mrc_ctl_ep_op_type op_type, struct mrc_ctl_ep_req* req,
                               int num_req, uint32_t rsp_timeout, struct mrc_ctl_ep_rsp* rsp,
                               int* num_rsp);

#ifdef __cplusplus
}
#endif

#endif /* _MRC_CTL_API_H_ */
