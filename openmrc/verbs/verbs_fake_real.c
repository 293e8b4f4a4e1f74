// SPDX-License-Identifier: BSD-3-Clause
// Plays the machine's own libibverbs to verbs_real_test.cc: one device, whose driver is a library
// of its own, and one that cannot be opened.
#include <dlfcn.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <stdlib.h>
#include <string.h>

#undef ibv_query_port
#undef ibv_reg_mr

static struct ibv_device devices[2];
static struct ibv_context context;
static struct ibv_pd pd;

// Called by the driver when it is loaded.
void verbs_register_driver_fake(const char* name);
void verbs_register_driver_fake(const char* name) {
  strncpy(devices[0].name, name, sizeof(devices[0].name) - 1);
}

struct ibv_device** ibv_get_device_list(int* count) {
  struct ibv_device** list = calloc(3, sizeof(*list));
  if (dlopen(FAKE_DRIVER, RTLD_NOW) == NULL) strcpy(devices[0].name, "no driver");
  strcpy(devices[1].name, "closed0");
  list[0] = &devices[0];
  list[1] = &devices[1];
  *count = 2;
  return list;
}

void ibv_free_device_list(struct ibv_device** list) { free(list); }
const char* ibv_get_device_name(struct ibv_device* device) { return device->name; }

struct ibv_context* ibv_open_device(struct ibv_device* device) {
  if (device == &devices[1]) {
    errno = EACCES;
    return NULL;
  }
  context.device = device;
  return &context;
}
int ibv_close_device(struct ibv_context* closed) { return closed == &context ? 0 : -1; }

int ibv_query_device(struct ibv_context* asked, struct ibv_device_attr* attributes) {
  memset(attributes, 0, sizeof(*attributes));
  attributes->vendor_id = 0xfa4e;
  return asked == &context ? 0 : EINVAL;
}

int ibv_query_port(struct ibv_context* asked, uint8_t port,
                   struct _compat_ibv_port_attr* attributes) {
  ((struct ibv_port_attr*)attributes)->lid = port;
  return asked == &context ? 0 : EINVAL;
}

struct ibv_pd* ibv_alloc_pd(struct ibv_context* asked) {
  pd.context = asked;
  return &pd;
}
int ibv_dealloc_pd(struct ibv_pd* gone) { return gone == &pd ? 0 : EINVAL; }

struct ibv_mr* ibv_reg_mr_iova2(struct ibv_pd* of, void* address, size_t length, uint64_t iova,
                                unsigned int access) {
  struct ibv_mr* mr = calloc(1, sizeof(*mr));
  (void)iova;
  (void)access;
  mr->context = of->context;
  mr->pd = of;
  mr->addr = address;
  mr->length = length;
  mr->lkey = 0x4711;
  return mr;
}
int ibv_dereg_mr(struct ibv_mr* mr) {
  free(mr);
  return 0;
}

int ibv_get_async_event(struct ibv_context* asked, struct ibv_async_event* event) {
  (void)asked;
  event->event_type = IBV_EVENT_PORT_ERR;
  event->element.port_num = 7;
  return 0;
}

int ibv_fork_init(void) { return ENOSYS; }
