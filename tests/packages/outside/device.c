// SPDX-License-Identifier: BSD-3-Clause
// A program of somebody else, in the C that is C++ too: opens the soft verbs device, and asks the
// libraries of both published headers for their versions.
#include <infiniband/verbs.h>
#include <mrc.h>
#include <mrc_ctl.h>
#include <stdio.h>

static int print_device(struct ibv_device* device) {
  struct ibv_context* verbs = ibv_open_device(device);
  if (!verbs) return 1;
  struct mrc_context* context = mrc_create_context(verbs, NULL);
  printf("%s: %s\n", ibv_get_device_name(device), context ? "MRC" : "no MRC");
  const int failed = !context || mrc_destroy_context(context) != 0;
  return ibv_close_device(verbs) != 0 || failed;
}

int main(void) {
  uint32_t own = 0, control = 0, ignored = 0;
  mrc_query_version(&own, &ignored, &ignored, &ignored);
  mrc_ctl_query_version(&control, &ignored, &ignored, &ignored);
  printf("mrc.h %u, mrc_ctl.h %u\n", own, control);

  int count = 0;
  struct ibv_device** devices = ibv_get_device_list(&count);
  const int failed = !devices || count == 0 || print_device(devices[0]);
  if (devices) ibv_free_device_list(devices);
  return failed;
}
