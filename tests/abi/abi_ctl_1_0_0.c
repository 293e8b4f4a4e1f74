// SPDX-License-Identifier: BSD-3-Clause
// What a program sees that asks for version 1.0.0 of both interfaces. Checked by the compiler.
#define MRC_API_VER_USED MRC_API_VER(1, 0, 0)
#define MRC_CTL_API_VER_USED MRC_CTL_API_VER(1, 0, 0)
#include <mrc.h>
#include <mrc_ctl.h>

#include "abi_checks.h"

VALUE_IS(MRC_API_VER_USED, 0x01000000u);
VALUE_IS(MRC_CTL_API_VER_USED, 0x01000000u);

// Without `state`, which came with 1.0.1.
SIZE_IS(struct mrc_ctl_ev_event, 48);
MEMBER(struct mrc_ctl_ev_event, profile_id, uint64_t, 0);
MEMBER(struct mrc_ctl_ev_event, ev, struct mrc_ctl_ev, 8);
MEMBER(struct mrc_ctl_ev_event, drop_count, uint32_t, 44);

// The functions of 1.0.1 are not declared: their names are free for other things.
enum { mrc_query_device_ex, mrc_ctl_query_device_ex };

// Those of 1.0.0 are.
int (*const query_device_1_0_0)(struct ibv_context*, struct mrc_device_attr*,
                                int*) = mrc_query_device;
int (*const ctl_query_device_1_0_0)(struct ibv_context*,
                                    struct mrc_ctl_device_attr*) = mrc_ctl_query_device;
