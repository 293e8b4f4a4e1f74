// SPDX-License-Identifier: BSD-3-Clause
// mrc_ctl.h as far as the node's agent does the work: ports and profiles.
#include <mrc_ctl.h>

#include <cerrno>
#include <variant>

#include "openmrc/agent/agent_client.h"
#include "openmrc/libmrc/control/control_attributes.h"
#include "openmrc/verbs/call_guard.h"

namespace {

using openmrc::PortNumber;
using openmrc::libmrc::AgentClient;
using openmrc::libmrc::change_of;
using openmrc::libmrc::fill;
using openmrc::libmrc::guarded;
using openmrc::libmrc::Outcome;
using openmrc::libmrc::Reply;
using openmrc::libmrc::Request;
namespace agent = openmrc::libmrc;

int result(int error) {
  if (error == 0) return 0;
  errno = error;
  return -1;
}

// What the interface calls the agent's errors.
int interface_error(const Outcome& outcome) {
  switch (outcome.error) {
    case ENOTCONN:
    case ETIMEDOUT: return EIO;
    case EBADMSG: return EINVAL;  // a value that has no name
    default: return outcome.error;
  }
}

Outcome tell(const Request& request) { return AgentClient::of_process().call(request).outcome; }

// Asks, and hands the answer to `use`, which returns an errno value.
template <class Body, class Use>
int ask(const Request& request, Use use) {
  const Reply reply = AgentClient::of_process().call(request);
  if (!reply.outcome.ok()) return result(interface_error(reply.outcome));
  const auto* const body = std::get_if<Body>(&reply.body);
  return result(body == nullptr ? EIO : use(*body));
}

int query_device(ibv_context* context, mrc_ctl_device_attr* attr) {
  if (context == nullptr || attr == nullptr) return result(EINVAL);
  return ask<agent::DeviceInfo>(agent::QueryDevice{}, [&](const agent::DeviceInfo& device) {
    fill(device, *attr);
    return 0;
  });
}

}  // namespace

extern "C" {

int mrc_ctl_query_device(struct ibv_context* context, struct mrc_ctl_device_attr* ctl_attr) {
  return guarded(result, [&]() -> int { return query_device(context, ctl_attr); });
}

// Without an agent there is nothing to control.
int mrc_ctl_query_device_ex(struct ibv_context* context, struct mrc_context* /*mcontext*/,
                            struct mrc_ctl_device_attr* ctl_attr, int* supported) {
  return guarded(result, [&]() -> int {
    if (context == nullptr || ctl_attr == nullptr || supported == nullptr) return result(EINVAL);
    *supported = AgentClient::of_process().connected() ? 1 : 0;
    if (*supported != 0) return query_device(context, ctl_attr);
    *ctl_attr = {};
    return 0;
  });
}

void mrc_ctl_query_version(uint32_t* current_version, uint32_t* last_supported_version,
                           uint32_t* vendor_version, uint32_t* last_supported_vendor_version) {
  const auto put = [](std::uint32_t* to, std::uint32_t version) {
    if (to != nullptr) *to = version;
  };
  put(current_version, MRC_CTL_API_CURRENT_VERSION);
  put(last_supported_version, MRC_CTL_API_LAST_SUPPORTED_VERSION);
  put(vendor_version, MRC_CTL_VENDOR_API_CURRENT_VERSION);
  put(last_supported_vendor_version, MRC_CTL_VENDOR_API_LAST_SUPPORTED_VERSION);
}

int mrc_ctl_query_port(struct mrc_context* context, uint8_t port_num,
                       struct mrc_ctl_port_attr* attr, int attr_mask) {
  return guarded(result, [&]() -> int {
    if (context == nullptr || attr == nullptr || (attr_mask & ~MRC_CTL_PORT_ADMIN_STATE) != 0) {
      return result(EINVAL);
    }
    return ask<agent::PortInfo>(
        agent::QueryPort{PortNumber(port_num)}, [&](const agent::PortInfo& port) {
          if ((attr_mask & MRC_CTL_PORT_ADMIN_STATE) == 0) return 0;
          attr->port_admin_state =
              port.enabled ? MRC_CTL_PORT_ADMIN_ENABLED : MRC_CTL_PORT_ADMIN_DISABLED;
          return 0;
        });
  });
}

int mrc_ctl_modify_port(struct mrc_context* context, uint8_t port_num,
                        struct mrc_ctl_port_attr* attr, int attr_mask) {
  return guarded(result, [&]() -> int {
    if (context == nullptr || attr == nullptr || attr_mask != MRC_CTL_PORT_ADMIN_STATE) {
      return result(EINVAL);
    }
    const bool enabled = attr->port_admin_state == MRC_CTL_PORT_ADMIN_ENABLED;
    if (!enabled && attr->port_admin_state != MRC_CTL_PORT_ADMIN_DISABLED) return result(EINVAL);
    return result(interface_error(tell(agent::ModifyPort{PortNumber(port_num), enabled})));
  });
}

int mrc_ctl_modify_ev_fmt_profile(struct mrc_context* mrc_ctx, uint64_t ev_fmt_profile_id,
                                  struct mrc_ctl_ev_fmt_profile_attr* attr, int attr_mask) {
  return guarded(result, [&]() -> int {
    if (mrc_ctx == nullptr || attr == nullptr) return result(EINVAL);
    const auto change = change_of(*attr, attr_mask);
    if (!change) return result(change.error());
    return result(
        interface_error(tell(agent::ModifyFormat{agent::FormatId(ev_fmt_profile_id), *change})));
  });
}

int mrc_ctl_query_ev_fmt_profile(struct mrc_context* mrc_ctx, uint64_t ev_fmt_profile_id,
                                 struct mrc_ctl_ev_fmt_profile_attr* attr, int attr_mask) {
  return guarded(result, [&]() -> int {
    if (mrc_ctx == nullptr || attr == nullptr) return result(EINVAL);
    return ask<agent::FormatProfile>(
        agent::QueryFormat{agent::FormatId(ev_fmt_profile_id)},
        [&](const agent::FormatProfile& profile) { return fill(profile, attr_mask, *attr); });
  });
}

int mrc_ctl_modify_ev_profile(struct mrc_context* mrc_ctx, uint64_t ev_profile_id,
                              struct mrc_ctl_ev_profile_attr* attr, int attr_mask) {
  return guarded(result, [&]() -> int {
    if (mrc_ctx == nullptr || attr == nullptr) return result(EINVAL);
    const auto change = change_of(*attr, attr_mask);
    if (!change) return result(change.error());
    const Outcome outcome =
        tell(agent::ModifyEvProfile{agent::EvProfileId(ev_profile_id), *change});
    if (change->edits) attr->ev_op.entry_count = static_cast<int>(outcome.entries_done);
    return result(interface_error(outcome));
  });
}

int mrc_ctl_query_ev_profile(struct mrc_context* mrc_ctx, uint64_t ev_profile_id,
                             struct mrc_ctl_ev_profile_attr* attr, int attr_mask) {
  return guarded(result, [&]() -> int {
    if (mrc_ctx == nullptr || attr == nullptr) return result(EINVAL);
    return ask<agent::EvProfile>(
        agent::QueryEvProfile{agent::EvProfileId(ev_profile_id)},
        [&](const agent::EvProfile& profile) { return fill(profile, attr_mask, *attr); });
  });
}

int mrc_ctl_modify_cc_profile(struct mrc_context* mrc_ctx, uint64_t cc_profile_id,
                              struct mrc_ctl_cc_profile_attr* attr, int attr_mask) {
  return guarded(result, [&]() -> int {
    if (mrc_ctx == nullptr || attr == nullptr) return result(EINVAL);
    const auto change = change_of(*attr, attr_mask);
    if (!change) return result(change.error());
    return result(
        interface_error(tell(agent::ModifyCcProfile{agent::CcProfileId(cc_profile_id), *change})));
  });
}

// The configuration is the thread's until its next query.
int mrc_ctl_query_cc_profile(struct mrc_context* mrc_ctx, uint64_t cc_profile_id,
                             struct mrc_ctl_cc_profile_attr* attr, int attr_mask) {
  return guarded(result, [&]() -> int {
    if (mrc_ctx == nullptr || attr == nullptr) return result(EINVAL);
    static thread_local mrc_ctl_cc_nscc_cfg config;
    return ask<agent::CcProfile>(
        agent::QueryCcProfile{agent::CcProfileId(cc_profile_id)},
        [&](const agent::CcProfile& profile) { return fill(profile, attr_mask, config, *attr); });
  });
}

}  // extern "C"
