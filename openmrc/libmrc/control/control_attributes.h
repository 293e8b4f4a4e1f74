// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mrc_ctl.h>

#include "openmrc/agent/agent_protocol.h"
#include "openmrc/agent/profiles/profile_types.h"
#include "openmrc/base/result.h"

// The structs of mrc_ctl.h to ours and back. Errors are errno values.
namespace openmrc::libmrc {

// What a call that modifies asks for. An unknown bit of the mask, a list without a pointer
// or an operation that only asks is EINVAL.
Result<FormatChange, int> change_of(const mrc_ctl_ev_fmt_profile_attr& attr, int mask);
Result<EvProfileChange, int> change_of(const mrc_ctl_ev_profile_attr& attr, int mask);
Result<CcProfileChange, int> change_of(const mrc_ctl_cc_profile_attr& attr, int mask);

// What a call that asks gets: 0, or an errno value. With E2BIG, the count in `attr` is what is
// needed; with ENOENT, how many EVs were found before.
int fill(const FormatProfile& profile, int mask, mrc_ctl_ev_fmt_profile_attr& attr);
int fill(const EvProfile& profile, int mask, mrc_ctl_ev_profile_attr& attr);
// The configuration that `attr` then points to is `config`.
int fill(const CcProfile& profile, int mask, mrc_ctl_cc_nscc_cfg& config,
         mrc_ctl_cc_profile_attr& attr);

void fill(const DeviceInfo& device, mrc_ctl_device_attr& attr);

EvKey key_of(const mrc_ctl_ev& ev);
mrc_ctl_ev ev_of(const EvKey& key);

}  // namespace openmrc::libmrc
