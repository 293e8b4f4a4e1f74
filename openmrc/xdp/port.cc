// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/port.h"

#include <fmt/core.h>

#include <cstring>

#include "openmrc/base/check.h"
#include "openmrc/datapath/sockets.h"
#include "openmrc/xdp/interface_lock.h"

namespace openmrc::xdp {
namespace {

using datapath::Error;
using datapath::with_reason;

constexpr std::size_t kEthernetSize = wire::EthernetView::kSize;

// Puts pieces side by side; returns where they end.
std::byte* append(ConstBytes piece, std::byte* at) {
  if (!piece.empty()) std::memcpy(at, piece.data(), piece.size());
  return at + piece.size();
}

}  // namespace

Result<std::unique_ptr<Port>, Error> Port::open(const datapath::Settings& settings,
                                                const datapath::Port& port, datapath::Slot slot,
                                                Patience patience) {
  const auto interface = find_interface(port.interface);
  if (!interface) {
    return failure(Error{.what = with_reason(fmt::format("cannot use interface {}", port.interface),
                                             interface.error()),
                         .remedy = "see `ip link` for its name"});
  }
  if (!interface->has_ethernet) {
    return failure(Error{.what = fmt::format("the frames of {} are not Ethernet", port.interface),
                         .remedy = "mode = \"srv6\" needs none"});
  }
  auto lock =
      take_lock(port.interface, interface->index, common_settings(port, settings.wire), patience);
  if (!lock) return failure(std::move(lock.error()));
  if (!lock->is_open()) return std::unique_ptr<Port>();
  auto next_hops = NextHops::open(interface->index);
  if (!next_hops) return failure(std::move(next_hops.error()));
  auto program = Program::attach({.interface = port.interface,
                                  .interface_index = interface->index,
                                  .address = port.address,
                                  .wire = settings.wire,
                                  .slot = slot},
                                 patience);
  if (!program) return failure(std::move(program.error()));
  std::unique_ptr<Port> opened(new Port(settings, port.interface, *interface, *std::move(lock),
                                        *std::move(program), *std::move(next_hops)));
  if (auto sockets = opened->open_sockets(patience); !sockets)
    return failure(std::move(sockets.error()));
  return opened;
}

Port::Port(const datapath::Settings& settings, std::string name, Interface interface,
           datapath::FileDescriptor lock, Program program, NextHops next_hops)
    : settings_(settings),
      name_(std::move(name)),
      interface_(interface),
      lock_(std::move(lock)),
      program_(std::move(program)),
      next_hops_(std::move(next_hops)) {}

Result<void, Error> Port::open_sockets(Patience patience) {
  for (std::uint32_t queue = 0; queue < interface_.queues; ++queue) {
    auto socket = FrameSocket::open(name_, queue, interface_.mtu, patience);
    if (!socket) return failure(std::move(socket.error()));
    if (auto added = program_.add_socket(queue, (*socket)->descriptor()); !added) {
      return failure(std::move(added.error()));
    }
    sockets_.push_back(*std::move(socket));
  }
  return {};
}

bool Port::is_current() const {
  const auto now = find_interface(name_);
  return now && *now == interface_;
}

std::uint64_t Port::take_drops() {
  std::uint64_t drops = 0;
  for (const auto& socket : sockets_) drops += socket->dropped();
  return drops - std::exchange(drops_, drops);
}

Result<std::size_t, Port::Unsent> Port::send(const datapath::Outgoing& outgoing, Instant now) {
  const auto& route = std::get<wire::Ipv6Route>(outgoing.packet->route);
  const auto next_hop = next_hops_.find(route.encapsulation->destination, now);
  if (!next_hop) [[unlikely]]
    return failure(Unsent::kUnknown);
  const MutableBytes room = sender().frame_to_send();
  if (room.empty()) [[unlikely]]
    return failure(Unsent::kNoRoom);
  write_frame(outgoing, settings_, frame_);
  if (frame_.size() > interface_.mtu || kEthernetSize + frame_.size() > room.size()) [[unlikely]]
    return failure(Unsent::kTooLong);
  wire::Ethernet{.destination = *next_hop, .source = interface_.mac}.write(
      room.first<kEthernetSize>());
  std::byte* end = append(frame_.headers, room.data() + kEthernetSize);
  end = append(frame_.payload, end);
  end = append(frame_.trailer.bytes(), end);
  sender().push(static_cast<std::size_t>(end - room.data()));
  return frame_.size();
}

std::size_t Port::receive(std::span<MutableBytes> into) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < sockets_.size() && count < into.size(); ++i) {
    count += sockets_[next_queue_]->receive(into.subspan(count));
    next_queue_ = (next_queue_ + 1) % sockets_.size();
  }
  return count;
}

}  // namespace openmrc::xdp
