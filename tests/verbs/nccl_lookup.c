// SPDX-License-Identifier: BSD-3-Clause
// Looks libibverbs up as NCCL's own transport does. Prints the devices; ends with 1 if a name is
// missing.
#include <dlfcn.h>
#include <stdio.h>

#include "tests/verbs/nccl_verbs.h"

int main(void) {
  struct Verbs verbs;
  if (!look_up_verbs(&verbs)) return 1;
  // As it looks for functions of mlx5: a library that needs libibverbs.so.1, and private names of
  // it.
  if (dlopen("libmlx5.so.1", RTLD_NOW) == NULL) printf("no libmlx5: %s\n", dlerror());
  int count = 0;
  struct ibv_device** devices = verbs.get_device_list(&count);
  for (int i = 0; devices != NULL && i < count; ++i) printf("device %s\n", devices[i]->name);
  return 0;
}
