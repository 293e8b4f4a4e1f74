// SPDX-License-Identifier: BSD-3-Clause
#include "tests/verbs/nccl_verbs.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct Name {
  const char* name;
  const char* version;
  size_t place;
};

#define OPENMRC_NAME(function, version) \
  {"ibv_" #function, "IBVERBS_" version, offsetof(struct Verbs, function)}
static const struct Name kNames[] = {
    OPENMRC_NAME(get_device_list, "1.1"), OPENMRC_NAME(free_device_list, "1.1"),
    OPENMRC_NAME(get_device_name, "1.1"), OPENMRC_NAME(open_device, "1.1"),
    OPENMRC_NAME(close_device, "1.1"),    OPENMRC_NAME(get_async_event, "1.1"),
    OPENMRC_NAME(ack_async_event, "1.1"), OPENMRC_NAME(query_device, "1.1"),
    OPENMRC_NAME(query_port, "1.1"),      OPENMRC_NAME(query_gid, "1.1"),
    OPENMRC_NAME(query_qp, "1.1"),        OPENMRC_NAME(alloc_pd, "1.1"),
    OPENMRC_NAME(dealloc_pd, "1.1"),      OPENMRC_NAME(reg_mr, "1.1"),
    OPENMRC_NAME(dereg_mr, "1.1"),        OPENMRC_NAME(create_cq, "1.1"),
    OPENMRC_NAME(destroy_cq, "1.1"),      OPENMRC_NAME(create_qp, "1.1"),
    OPENMRC_NAME(modify_qp, "1.1"),       OPENMRC_NAME(destroy_qp, "1.1"),
    OPENMRC_NAME(fork_init, "1.1"),       OPENMRC_NAME(event_type_str, "1.1"),
    OPENMRC_NAME(reg_mr_iova2, "1.8"),    OPENMRC_NAME(query_ece, "1.10"),
    OPENMRC_NAME(set_ece, "1.10"),        OPENMRC_NAME(reg_dmabuf_mr, "1.12")};

int look_up_verbs(struct Verbs* verbs) {
  void* library = dlopen("libibverbs.so", RTLD_NOW);
  if (library == NULL) library = dlopen("libibverbs.so.1", RTLD_NOW);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 0;
  }
  int complete = 1;
  for (size_t i = 0; i < sizeof(kNames) / sizeof(kNames[0]); ++i) {
    void* const found = dlvsym(library, kNames[i].name, kNames[i].version);
    if (found == NULL) {
      printf("missing: %s %s\n", kNames[i].name, kNames[i].version);
      complete = 0;
    }
    // ISO C has no conversion to a function's pointer; POSIX says that they look the same.
    memcpy((char*)verbs + kNames[i].place, &found, sizeof(found));
  }
  return complete;
}
