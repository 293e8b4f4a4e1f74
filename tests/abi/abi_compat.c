// SPDX-License-Identifier: BSD-3-Clause
// Compiled with `-include mrc_compat.h`: a source that uses the old name of struct mrc_device_attr,
// and has a variable of that name too.
#include <mrc.h>

int (*const query_device_old_name)(struct ibv_context*, struct mrc_attr*, int*) = mrc_query_device;

uint32_t read_by_both_names(void);
uint32_t read_by_both_names(void) {
  struct mrc_attr old_name = {.cap = MRC_DEVICE_CAP_SVC_TIME};
  const struct mrc_device_attr* mrc_attr = &old_name;
  return mrc_attr->cap;
}
