// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mrc_ctl.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "openmrc/base/result.h"
#include "openmrc/verbs/device.h"

namespace openmrc::libmrc {

// Requests of a controller to other hosts, sent by paths that it names, and their answers.
class EndpointBatch final : public Device::Listener {
 public:
  EndpointBatch(Device& device, host::Host& runtime);
  ~EndpointBatch();
  EndpointBatch(const EndpointBatch&) = delete;
  EndpointBatch& operator=(const EndpointBatch&) = delete;

  // Sends all of them and waits for the answers, at most so long. 0, or an errno value; `answers`
  // has what has come in any case, in order of arrival.
  int run(mrc_ctl_ep_op_type type, std::span<const mrc_ctl_ep_req> requests, Duration timeout,
          std::vector<mrc_ctl_ep_rsp>& answers);

  void on_event(const core::Event& event) override;

 private:
  [[nodiscard]] Result<core::DirectRequest, int> direct(mrc_ctl_ep_op_type type,
                                                        const mrc_ctl_ep_req& request) const;

  Device& device_;
  host::Host& runtime_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::map<std::uint32_t, std::uint16_t> awaited_;  // request ids by tag
  std::vector<mrc_ctl_ep_rsp> answers_;
};

}  // namespace openmrc::libmrc
