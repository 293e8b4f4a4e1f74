// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/libmrc/control/endpoint_batch.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <limits>
#include <optional>
#include <set>
#include <thread>
#include <utility>
#include <variant>

#include "openmrc/libmrc/control/control_attributes.h"
#include "openmrc/verbs/verbs_objects.h"

namespace openmrc::libmrc {
namespace {

using Clock = std::chrono::steady_clock;

// When the runtime has no room for another request.
constexpr auto kPause = std::chrono::microseconds(50);

// Answers to an earlier batch must not be taken for this one's.
std::uint32_t next_batch() {
  static std::atomic<std::uint32_t> batch = 0;
  return batch.fetch_add(1) << 16;
}

std::uint32_t be16(const EvKey& key, std::size_t at) {
  return std::to_integer<std::uint32_t>(key.value[at]) << 8 |
         std::to_integer<std::uint32_t>(key.value[at + 1]);
}

wire::Ipv6Address address_at(const EvKey& key, std::size_t at) {
  wire::Ipv6Address address;
  std::copy_n(key.value.begin() + static_cast<std::ptrdiff_t>(at), address.bytes.size(),
              address.bytes.begin());
  return address;
}

// The path that an EV, already expanded, names.
bool set_path(mrc_ctl_ev_fmt_mode mode, const EvKey& key, core::DirectRequest& request) {
  switch (mode) {
    case MRC_CTL_EV_FMT_MODE_STEV: request.ev = Ev(be16(key, 0) << 16 | be16(key, 2)); return true;
    case MRC_CTL_EV_FMT_MODE_UDP: request.ev = Ev(be16(key, 0)); return true;
    case MRC_CTL_EV_FMT_MODE_SRV6: break;
    default: return false;
  }
  request.ev = Ev(core::kSrv6SourcePortFirst);
  request.outer = address_at(key, 0);
  if (const auto segment = address_at(key, 16); segment != wire::Ipv6Address{}) {
    request.segment = segment;
  }
  return true;
}

}  // namespace

EndpointBatch::EndpointBatch(Device& device, host::Host& runtime)
    : device_(device), runtime_(runtime) {
  device_.add_listener(*this);
}

EndpointBatch::~EndpointBatch() { device_.remove_listener(*this); }

Result<core::DirectRequest, int> EndpointBatch::direct(mrc_ctl_ep_op_type type,
                                                       const mrc_ctl_ep_req& request) const {
  const EvKey key = key_of(request.req_ev);
  const std::size_t port = key.port.raw();
  if (port == 0 || port > device_.ports()) return failure(EINVAL);
  const auto destination = device_.destination_of(gid_of(request.dgid));
  if (!destination || destination->addresses.size() < port) return failure(EINVAL);
  core::DirectRequest made{.destination = destination->addresses[port - 1],
                           .plane = Plane(static_cast<std::uint8_t>(port - 1))};
  if (!set_path(request.ev_fmt_mode, key, made)) return failure(EINVAL);
  if (made.outer) made.outer = device_.completed(*made.outer, *destination);
  if (type == MRC_CTL_EP_OP_PORT_STATUS_UPDATE) {
    made.port_status = request.op.port_status_update.port_status;
  }
  return made;
}

int EndpointBatch::run(mrc_ctl_ep_op_type type, std::span<const mrc_ctl_ep_req> requests,
                       Duration timeout, std::vector<mrc_ctl_ep_rsp>& answers) {
  const auto end = Clock::now() + std::chrono::nanoseconds(timeout.raw());
  std::vector<core::DirectRequest> made;
  std::set<std::uint16_t> ids;
  const std::uint32_t batch = next_batch();
  for (const mrc_ctl_ep_req& request : requests) {
    auto one = direct(type, request);
    if (!one) return one.error();
    if (!ids.insert(request.req_id).second) return EINVAL;
    one->tag = batch | request.req_id;
    made.push_back(*one);
  }
  {
    const std::lock_guard lock(mutex_);
    for (const core::DirectRequest& each : made) {
      awaited_[each.tag] = static_cast<std::uint16_t>(each.tag);
    }
  }
  for (const core::DirectRequest& each : made) {
    while (!runtime_.send_request(each) && Clock::now() < end) std::this_thread::sleep_for(kPause);
  }
  std::unique_lock lock(mutex_);
  const bool all = answered_.wait_until(lock, end, [this] { return awaited_.empty(); });
  awaited_.clear();
  answers = std::exchange(answers_, {});
  return all ? 0 : ETIMEDOUT;
}

void EndpointBatch::on_event(const core::Event& event) {
  const auto* const answer = std::get_if<core::ProbeAnswer>(&event);
  if (answer == nullptr) return;
  const std::lock_guard lock(mutex_);
  const auto found = awaited_.find(answer->tag);
  if (found == awaited_.end() || answer->qpn != Qpn{}) return;
  mrc_ctl_ep_rsp rsp{};
  rsp.req_id = found->second;
  rsp.port = port_of(answer->plane).raw();
  rsp.rtt = static_cast<unsigned>(
      std::clamp<std::int64_t>(answer->rtt.raw(), 0, std::numeric_limits<std::uint32_t>::max()));
  rsp.adj_svc_time = 0;  // the round trip as it was, with the time that the other side took
  answers_.push_back(rsp);
  awaited_.erase(found);
  if (awaited_.empty()) answered_.notify_all();
}

}  // namespace openmrc::libmrc
