// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/host/datagram_queue_pair.h"

#include <fmt/core.h>

#include "openmrc/core/context/limits.h"

namespace openmrc::host {
namespace {

Error refused(core::CreateError why, std::size_t send_queue, std::uint32_t mtu) {
  if (why == core::CreateError::kLimit) {
    return {
        .what = "the limit of queue pairs is reached",
        .remedy = fmt::format("raise max_queue_pairs in openmrc.toml; of datagrams, a shard has "
                              "at most {}",
                              core::kDatagramQueuePairsMax)};
  }
  return {
      .what = fmt::format("a queue of {} datagrams of {} bytes is not possible", send_queue, mtu),
      .remedy = fmt::format("1 to {} may wait, of {} to {} bytes", core::kDatagramQueueMax,
                            core::kMtuMin, core::kMtuMax)};
}

}  // namespace

Result<std::unique_ptr<DatagramQueuePair>, Error> Host::create_datagram_queue_pair(
    DatagramSink& sink, const DatagramOptions& options) {
  const std::size_t turn = options.shard.value_or(next_shard_.fetch_add(1)) % shards_.size();
  Shard& shard = *shards_[turn];
  // First what needs memory: a queue pair that was created has an owner.
  std::unique_ptr<DatagramQueuePair> made(new DatagramQueuePair(*this, shard, sink));
  const core::DatagramAttributes attributes{.mtu = made->mtu(), .send_queue = options.send_queue};
  // Nothing is delivered to it before its number is known.
  const auto qpn = shard.run([&](core::Endpoint& endpoint, Instant) {
    auto created = endpoint.create_datagram_queue_pair(*made, attributes);
    if (created) made->qpn_ = *created;
    return created;
  });
  if (!qpn) return failure(refused(qpn.error(), options.send_queue, attributes.mtu));
  return made;
}

DatagramQueuePair::~DatagramQueuePair() {
  const bool was_created = qpn_ != Qpn{};
  if (!was_created || !shard_.is_of_this_process()) return;
  shard_.run([&](core::Endpoint& endpoint, Instant) { endpoint.destroy_queue_pair(qpn_); });
}

void DatagramQueuePair::set_qkey(std::uint32_t qkey) {
  shard_.run([&](core::Endpoint& endpoint, Instant) { endpoint.set_qkey(qpn_, wire::QKey(qkey)); });
}

Result<void, PostError> DatagramQueuePair::send(
    const Destination& to, Qpn remote, std::uint32_t qkey, std::optional<std::uint32_t> immediate,
    std::span<const std::span<const std::byte>> pieces) {
  const profile::PathPlan& paths = host_.paths();
  const bool has_place = to.place && paths.plan() && paths.plan()->fabric().has(*to.place);
  if (paths.plan() && !has_place) return failure(PostError::kDestination);
  core::DatagramRequest request{
      .addresses = to.addresses,
      .path_overlay = paths.overlay(to.place),
      .ev_profile = core::EvProfileId(static_cast<std::uint32_t>(paths.profile_to(to.place))),
      .remote_qpn = remote,
      .qkey = wire::QKey(qkey),
      .pieces = pieces};
  if (immediate) request.immediate = wire::Immediate(*immediate);
  return shard_.run(
      [&](core::Endpoint& endpoint, Instant) { return endpoint.post_datagram(qpn_, request); });
}

void DatagramQueuePair::on_datagram(const core::ArrivedDatagram& datagram) {
  Datagram told{.source = datagram.source,
                .plane = datagram.plane,
                .source_qp = datagram.source_qp,
                .payload = datagram.payload.bytes()};
  if (datagram.immediate) told.immediate = datagram.immediate->raw();
  sink_.on_datagram(told);
}

}  // namespace openmrc::host
