// SPDX-License-Identifier: BSD-3-Clause
// Looks libibverbs up as NCCL's own transport does: dlopen by the name for linking, then each
// function by name and version. Prints the devices; ends with 1 if a name is missing.
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>

static const char* const kNames[] = {
    "ibv_get_device_list", "ibv_free_device_list", "ibv_get_device_name", "ibv_open_device",
    "ibv_close_device",    "ibv_get_async_event",  "ibv_ack_async_event", "ibv_query_device",
    "ibv_query_port",      "ibv_query_gid",        "ibv_query_qp",        "ibv_alloc_pd",
    "ibv_dealloc_pd",      "ibv_reg_mr",           "ibv_dereg_mr",        "ibv_create_cq",
    "ibv_destroy_cq",      "ibv_create_qp",        "ibv_modify_qp",       "ibv_destroy_qp",
    "ibv_fork_init",       "ibv_event_type_str"};

static const char* const kNewer[][2] = {{"ibv_reg_mr_iova2", "IBVERBS_1.8"},
                                        {"ibv_query_ece", "IBVERBS_1.10"},
                                        {"ibv_set_ece", "IBVERBS_1.10"},
                                        {"ibv_reg_dmabuf_mr", "IBVERBS_1.12"}};

static void* find(void* library, const char* name, const char* version) {
  void* found = dlvsym(library, name, version);
  if (found == NULL) printf("missing: %s %s\n", name, version);
  return found;
}

static int print_devices(void* library) {
  union {
    void* symbol;
    struct ibv_device** (*call)(int*);
  } list = {find(library, "ibv_get_device_list", "IBVERBS_1.1")};
  int count = 0;
  struct ibv_device** devices = list.call(&count);
  for (int i = 0; devices != NULL && i < count; ++i) printf("device %s\n", devices[i]->name);
  return 0;
}

int main(void) {
  void* library = dlopen("libibverbs.so", RTLD_NOW);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 1;
  }
  int missing = 0;
  for (size_t i = 0; i < sizeof(kNames) / sizeof(kNames[0]); ++i) {
    missing += find(library, kNames[i], "IBVERBS_1.1") == NULL;
  }
  for (size_t i = 0; i < sizeof(kNewer) / sizeof(kNewer[0]); ++i) {
    missing += find(library, kNewer[i][0], kNewer[i][1]) == NULL;
  }
  if (missing != 0) return 1;
  // As it looks for functions of mlx5: a library that needs libibverbs.so.1, and private names of
  // it.
  if (dlopen("libmlx5.so.1", RTLD_NOW) == NULL) printf("no libmlx5: %s\n", dlerror());
  return print_devices(library);
}
