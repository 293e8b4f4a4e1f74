// SPDX-License-Identifier: BSD-3-Clause
// libibverbs as NCCL's own transport takes it: opened by name, each function looked up by name and
// version. What is posted and polled goes through the context, as in the header's inline functions.
#ifndef OPENMRC_TESTS_VERBS_NCCL_VERBS_H_
#define OPENMRC_TESTS_VERBS_NCCL_VERBS_H_

#include <infiniband/verbs.h>

struct Verbs {
  struct ibv_device** (*get_device_list)(int*);
  void (*free_device_list)(struct ibv_device**);
  const char* (*get_device_name)(struct ibv_device*);
  struct ibv_context* (*open_device)(struct ibv_device*);
  int (*close_device)(struct ibv_context*);
  int (*get_async_event)(struct ibv_context*, struct ibv_async_event*);
  void (*ack_async_event)(struct ibv_async_event*);
  int (*query_device)(struct ibv_context*, struct ibv_device_attr*);
  int (*query_port)(struct ibv_context*, uint8_t, struct ibv_port_attr*);
  int (*query_gid)(struct ibv_context*, uint8_t, int, union ibv_gid*);
  int (*query_qp)(struct ibv_qp*, struct ibv_qp_attr*, int, struct ibv_qp_init_attr*);
  struct ibv_pd* (*alloc_pd)(struct ibv_context*);
  int (*dealloc_pd)(struct ibv_pd*);
  struct ibv_mr* (*reg_mr)(struct ibv_pd*, void*, size_t, int);
  int (*dereg_mr)(struct ibv_mr*);
  struct ibv_cq* (*create_cq)(struct ibv_context*, int, void*, struct ibv_comp_channel*, int);
  int (*destroy_cq)(struct ibv_cq*);
  struct ibv_qp* (*create_qp)(struct ibv_pd*, struct ibv_qp_init_attr*);
  int (*modify_qp)(struct ibv_qp*, struct ibv_qp_attr*, int);
  int (*destroy_qp)(struct ibv_qp*);
  int (*fork_init)(void);
  const char* (*event_type_str)(enum ibv_event_type);
  // NCCL goes on without these.
  struct ibv_mr* (*reg_mr_iova2)(struct ibv_pd*, void*, size_t, uint64_t, unsigned);
  int (*query_ece)(struct ibv_qp*, struct ibv_ece*);
  int (*set_ece)(struct ibv_qp*, struct ibv_ece*);
  struct ibv_mr* (*reg_dmabuf_mr)(struct ibv_pd*, uint64_t, size_t, uint64_t, int, int);
};

// Prints what is missing; 0 if something is.
int look_up_verbs(struct Verbs* verbs);

#endif  // OPENMRC_TESTS_VERBS_NCCL_VERBS_H_
