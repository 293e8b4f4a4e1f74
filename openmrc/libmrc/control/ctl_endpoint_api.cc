// SPDX-License-Identifier: BSD-3-Clause
// mrc_ctl.h: requests to endpoints.
#include <mrc_ctl.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

#include "openmrc/libmrc/context.h"
#include "openmrc/libmrc/control/endpoint_batch.h"
#include "openmrc/verbs/call_guard.h"

extern "C" {

// Requests leave in the class of control packets, whatever `req_tc` wishes for.
int mrc_ctl_ep_batch_send_wait(struct mrc_context* mrc_ctx, uint8_t /*req_tc*/,
                               enum mrc_ctl_ep_op_type op_type, struct mrc_ctl_ep_req* req,
                               int num_req, uint32_t rsp_timeout, struct mrc_ctl_ep_rsp* rsp,
                               int* num_rsp) {
  const auto refuse = [](int error) {
    errno = error;
    return -1;
  };
  return openmrc::libmrc::guarded(refuse, [&] {
    const bool is_known =
        op_type == MRC_CTL_EP_OP_EV_PROBE || op_type == MRC_CTL_EP_OP_PORT_STATUS_UPDATE;
    const bool is_complete =
        mrc_ctx != nullptr && req != nullptr && num_req > 0 && rsp != nullptr && num_rsp != nullptr;
    if (!is_complete || !is_known) return refuse(is_complete ? ENOTSUP : EINVAL);
    *num_rsp = 0;
    std::vector<mrc_ctl_ep_rsp> answers;
    openmrc::libmrc::EndpointBatch batch(mrc_ctx->device, mrc_ctx->runtime);
    const int error = batch.run(op_type, {req, static_cast<std::size_t>(num_req)},
                                openmrc::nanoseconds(rsp_timeout), answers);
    std::copy(answers.begin(), answers.end(), rsp);
    *num_rsp = static_cast<int>(answers.size());
    return error == 0 ? 0 : refuse(error);
  });
}

}  // extern "C"
