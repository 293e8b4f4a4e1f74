// SPDX-License-Identifier: BSD-3-Clause
#include "openmrc/xdp/interface.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "openmrc/datapath/file_descriptor.h"

namespace openmrc::xdp {
namespace {

// Drivers that say nothing of queues have one.
std::uint32_t queues_of(int socket, ifreq request) {
  ethtool_channels channels{};
  channels.cmd = ETHTOOL_GCHANNELS;
  request.ifr_data = reinterpret_cast<char*>(&channels);
  if (::ioctl(socket, SIOCETHTOOL, &request) != 0) return 1;
  return std::max<std::uint32_t>(1, channels.rx_count + channels.combined_count);
}

wire::MacAddress mac_of(const ifreq& request) {
  std::uint64_t mac = 0;
  for (int i = 0; i < 6; ++i) {
    mac = mac << 8 | static_cast<unsigned char>(request.ifr_hwaddr.sa_data[i]);
  }
  return wire::MacAddress(mac);
}

}  // namespace

Result<Interface, int> find_interface(const std::string& name) {
  const datapath::FileDescriptor socket(::socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return failure(errno);
  ifreq request{};
  if (name.size() >= sizeof request.ifr_name) return failure(ENODEV);
  std::ranges::copy(name, request.ifr_name);
  Interface found;
  if (::ioctl(socket.get(), SIOCGIFINDEX, &request) != 0) return failure(errno);
  found.index = request.ifr_ifindex;
  if (::ioctl(socket.get(), SIOCGIFHWADDR, &request) != 0) return failure(errno);
  found.mac = mac_of(request);
  const auto hardware = request.ifr_hwaddr.sa_family;
  found.has_ethernet = hardware == ARPHRD_ETHER || hardware == ARPHRD_LOOPBACK;
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) != 0) return failure(errno);
  found.mtu = static_cast<std::uint32_t>(request.ifr_mtu);
  found.queues = queues_of(socket.get(), request);
  return found;
}

}  // namespace openmrc::xdp
