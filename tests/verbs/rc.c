// SPDX-License-Identifier: BSD-3-Clause
#include "tests/verbs/rc.h"

#include <errno.h>
#include <string.h>

#include "tests/libmrc/support.h"

enum { kPort = 1, kGidIndex = 3, kRequestsMax = 256, kPolled = 4 };
static const char kDevice[] = "openmrc0";

static void check(const char* call, int error) {
  if (error != 0) fail_call(call, error);
}

static struct ibv_context* open_device(const struct Verbs* verbs) {
  int count = 0;
  struct ibv_device** const devices = verbs->get_device_list(&count);
  if (devices == NULL) fail_call("ibv_get_device_list", errno);
  struct ibv_context* context = NULL;
  for (int i = 0; i < count && context == NULL; ++i) {
    if (strcmp(verbs->get_device_name(devices[i]), kDevice) != 0) continue;
    context = verbs->open_device(devices[i]);
    if (context == NULL) fail_call("ibv_open_device", errno);
  }
  verbs->free_device_list(devices);
  if (context == NULL) fail("there is no device %s", kDevice);
  return context;
}

void rc_open(struct Rc* rc, int completions) {
  entering("ibv_open_device");
  if (!look_up_verbs(&rc->verbs)) fail("libibverbs is not complete");
  check("ibv_fork_init", rc->verbs.fork_init());
  rc->context = open_device(&rc->verbs);
  struct ibv_port_attr port = {0};
  check("ibv_query_port", rc->verbs.query_port(rc->context, kPort, &port));
  if (port.state != IBV_PORT_ACTIVE || port.link_layer != IBV_LINK_LAYER_ETHERNET) {
    fail("port %d: state %d, link layer %d", kPort, (int)port.state, port.link_layer);
  }
  rc->mtu = port.active_mtu;
  check("ibv_query_gid", rc->verbs.query_gid(rc->context, kPort, kGidIndex, &rc->gid));
  rc->pd = rc->verbs.alloc_pd(rc->context);
  if (rc->pd == NULL) fail_call("ibv_alloc_pd", errno);
  rc->cq = rc->verbs.create_cq(rc->context, completions, NULL, NULL, 0);
  if (rc->cq == NULL) fail_call("ibv_create_cq", errno);
}

struct ibv_mr* rc_register(struct Rc* rc, void* memory, size_t size, int access) {
  struct ibv_mr* const mr = rc->verbs.reg_mr(rc->pd, memory, size, access);
  if (mr == NULL) fail_call("ibv_reg_mr", errno);
  if (mr->rkey == 0) fail("ibv_reg_mr: rkey 0, which NCCL takes for an error");
  return mr;
}

struct ibv_qp* rc_create(struct Rc* rc, int access) {
  struct ibv_qp_init_attr init = {.send_cq = rc->cq,
                                  .recv_cq = rc->cq,
                                  .qp_type = IBV_QPT_RC,
                                  .cap = {.max_send_wr = 2 * kRequestsMax,
                                          .max_recv_wr = kRequestsMax,
                                          .max_send_sge = 1,
                                          .max_recv_sge = 1}};
  struct ibv_qp* const qp = rc->verbs.create_qp(rc->pd, &init);
  if (qp == NULL) fail_call("ibv_create_qp", errno);
  struct ibv_qp_attr attributes = {
      .qp_state = IBV_QPS_INIT, .port_num = kPort, .qp_access_flags = (unsigned)access};
  check("ibv_modify_qp to INIT",
        rc->verbs.modify_qp(qp, &attributes,
                            IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS));
  return qp;
}

struct RcAddress rc_address(const struct Rc* rc, const struct ibv_qp* qp) {
  const struct RcAddress address = {.gid = rc->gid, .number = qp->qp_num, .mtu = rc->mtu};
  return address;
}

void rc_connect(struct Rc* rc, struct ibv_qp* qp, const struct RcAddress* peer, uint8_t reads) {
  struct ibv_qp_attr attributes = {
      .qp_state = IBV_QPS_RTR,
      .path_mtu = (enum ibv_mtu)(peer->mtu < rc->mtu ? peer->mtu : rc->mtu),
      .dest_qp_num = peer->number,
      .max_dest_rd_atomic = reads,
      .min_rnr_timer = 12,
      .ah_attr = {.is_global = 1,
                  .port_num = kPort,
                  .grh = {.dgid = peer->gid, .sgid_index = kGidIndex, .hop_limit = 255}}};
  check("ibv_modify_qp to RTR",
        rc->verbs.modify_qp(qp, &attributes,
                            IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                                IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER));
  attributes = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                    .timeout = 20,
                                    .retry_cnt = 7,
                                    .rnr_retry = 7,
                                    .max_rd_atomic = reads};
  check("ibv_modify_qp to RTS",
        rc->verbs.modify_qp(qp, &attributes,
                            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

void rc_post(struct ibv_qp* qp, struct ibv_send_wr* chain) {
  entering("ibv_post_send");
  struct ibv_send_wr* bad = NULL;
  check("ibv_post_send", ibv_post_send(qp, chain, &bad));
}

int rc_poll(struct Rc* rc, struct ibv_wc completions[4]) {
  entering("ibv_poll_cq");
  const int count = ibv_poll_cq(rc->cq, kPolled, completions);
  if (count < 0) fail("ibv_poll_cq: %d", count);
  for (int i = 0; i < count; ++i) {
    if (completions[i].status == IBV_WC_SUCCESS) continue;
    fail("queue pair %u, work request %llu: status %d", completions[i].qp_num,
         (unsigned long long)completions[i].wr_id, (int)completions[i].status);
  }
  return count;
}

void rc_close(struct Rc* rc) {
  entering("ibv_close_device");
  check("ibv_destroy_cq", rc->verbs.destroy_cq(rc->cq));
  check("ibv_dealloc_pd", rc->verbs.dealloc_pd(rc->pd));
  check("ibv_close_device", rc->verbs.close_device(rc->context));
}
