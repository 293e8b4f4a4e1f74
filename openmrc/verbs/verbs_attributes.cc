// SPDX-License-Identifier: BSD-3-Clause
// What the soft device says of itself, its ports and their GIDs.
#include <endian.h>
#include <net/if.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>

#include "openmrc/verbs/fork_guard.h"
#include "openmrc/verbs/verbs_route.h"
#include "openmrc/verbs/verbs_work.h"

namespace openmrc::libmrc {
namespace {

constexpr int kMemoryRegionsMax = 1 << 16;      // core/settings.h
constexpr int kProtectionDomainsMax = 1 << 24;  // they are but numbers
constexpr int kCqMax = 1 << 16;
constexpr int kSrqMax = 1 << 16;
constexpr int kAhMax = 1 << 24;  // they are but addresses
constexpr std::uint32_t kMessageMax = 1U << 31;
constexpr std::uint64_t kPageSizes = ~std::uint64_t{0xfff};
constexpr std::uint8_t kPhysicalLinkUp = 5;
constexpr std::uint8_t kPhysicalDisabled = 3;
constexpr unsigned kSysfsRoceV2 = 1;
constexpr std::size_t kCompatPortAttributes = 48;  // all that the exported function may write

bool has_port(const Device& device, std::uint32_t port) {
  return port >= 1 && port <= device.ports();
}

int clamp_to_int(std::size_t value) {
  return static_cast<int>(std::min<std::size_t>(value, std::numeric_limits<int>::max()));
}

ibv_mtu mtu_of(std::uint32_t bytes) {
  if (bytes >= 4096) return IBV_MTU_4096;
  if (bytes >= 2048) return IBV_MTU_2048;
  if (bytes >= 1024) return IBV_MTU_1024;
  return bytes >= 512 ? IBV_MTU_512 : IBV_MTU_256;
}

struct LinkRate {
  std::uint8_t width = 0;
  std::uint8_t speed = 0;
};

// The pair of codes whose product is nearest; of equals the one of fewest lanes.
LinkRate link_rate_of(double gigabits) {
  struct Code {
    std::uint8_t code;
    double value;
  };
  static constexpr std::array<Code, 4> kWidths{{{1, 1}, {16, 2}, {2, 4}, {4, 8}}};
  static constexpr std::array<Code, 7> kSpeeds{
      {{1, 2.5}, {2, 5}, {4, 10}, {16, 14}, {32, 25}, {64, 50}, {128, 100}}};
  LinkRate best;
  double nearest = std::numeric_limits<double>::infinity();
  for (const Code& width : kWidths) {
    for (const Code& speed : kSpeeds) {
      const double distance = std::abs(width.value * speed.value - gigabits);
      if (distance >= nearest) continue;
      nearest = distance;
      best = {.width = width.code, .speed = speed.code};
    }
  }
  return best;
}

double bits_per_second_of_port(const Device& device) {
  return static_cast<double>(device.config().transport.congestion.bits_per_second.value_or(
             openmrc::profile::NetworkFigures{}.bits_per_second)) /
         device.ports();
}

ibv_port_attr attributes_of(Device& device, std::uint8_t port) {
  const LinkRate rate = link_rate_of(bits_per_second_of_port(device) / 1e9);
  ibv_port_attr attributes{};
  // A queue pair uses all planes, whatever its port: programs that are told to use a port look at
  // its state first, and shall start while its own plane is down. The link itself is the physical
  // state.
  attributes.state = device.any_port_is_up() ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  attributes.max_mtu = IBV_MTU_4096;
  attributes.active_mtu = mtu_of(device.config().transport.mtu);
  attributes.gid_tbl_len = static_cast<int>(device.gids());
  attributes.max_msg_sz = kMessageMax;
  attributes.pkey_tbl_len = 1;
  attributes.max_vl_num = 1;
  attributes.active_width = rate.width;
  attributes.active_speed = rate.speed;
  attributes.phys_state = device.port_is_up(port) ? kPhysicalLinkUp : kPhysicalDisabled;
  attributes.link_layer = IBV_LINK_LAYER_ETHERNET;
  return attributes;
}

std::optional<ibv_gid_entry> gid_entry(const Device& device, std::uint32_t port,
                                       std::uint32_t index) {
  const Gid gid = device.gid(index);
  if (gid == Gid{}) return std::nullopt;
  ibv_gid_entry entry{};
  copy_gid(gid, entry.gid);
  entry.gid_index = index;
  entry.port_num = port;
  entry.gid_type = IBV_GID_TYPE_ROCE_V2;
  entry.ndev_ifindex = if_nametoindex(device.config().ports[port - 1].interface.c_str());
  return entry;
}

// The caller's struct may be older or newer than ours.
void copy_entry(const ibv_gid_entry& entry, void* to, std::size_t size) {
  std::memset(to, 0, size);
  std::memcpy(to, &entry, std::min(size, sizeof(entry)));
}

}  // namespace

namespace soft_verbs {

int ibv_query_device(ibv_context* context, ibv_device_attr* attributes) {
  const Device& device = *device_of(context);
  const host::Config& config = device.config();
  *attributes = {};
  std::snprintf(attributes->fw_ver, sizeof(attributes->fw_ver), "%s", OPENMRC_VERSION);
  attributes->node_guid = htobe64(device.guid());
  attributes->sys_image_guid = attributes->node_guid;
  attributes->max_mr_size = std::numeric_limits<std::uint64_t>::max();
  attributes->page_size_cap = kPageSizes;
  attributes->max_qp = clamp_to_int(config.transport.limits.queue_pairs * config.shards);
  attributes->max_qp_wr = kWorkRequestsMax;
  attributes->max_sge = kSgeMax;
  attributes->max_sge_rd = kSgeMax;
  attributes->max_cq = kCqMax;
  attributes->max_cqe = kCqeMax;
  attributes->max_mr = kMemoryRegionsMax;
  attributes->max_pd = kProtectionDomainsMax;
  // The processor's own: also between processes, and with other devices that do the same.
  attributes->atomic_cap = IBV_ATOMIC_GLOB;
  attributes->max_qp_rd_atom = messages::kDepthMax;
  attributes->max_qp_init_rd_atom = messages::kDepthMax;
  attributes->max_res_rd_atom = std::min(attributes->max_qp, (1 << 26)) * messages::kDepthMax;
  attributes->max_srq = kSrqMax;
  attributes->max_srq_wr = kWorkRequestsMax;
  attributes->max_srq_sge = kSgeMax;
  attributes->max_ah = kAhMax;
  attributes->max_pkeys = 1;
  attributes->phys_port_cnt = static_cast<std::uint8_t>(device.ports());
  return 0;
}

int query_port(ibv_context* context, std::uint8_t port, ibv_port_attr* attributes,
               std::size_t length) {
  if (in_forked_child()) return fail(kForkedError);
  Device& device = *device_of(context);
  if (!has_port(device, port)) return fail(EINVAL);
  const ibv_port_attr filled = attributes_of(device, port);
  std::memset(static_cast<void*>(attributes), 0, length);
  std::memcpy(static_cast<void*>(attributes), &filled, std::min(length, sizeof(filled)));
  return 0;
}

int ibv_query_port(ibv_context* context, std::uint8_t port, _compat_ibv_port_attr* attributes) {
  return query_port(context, port, reinterpret_cast<ibv_port_attr*>(attributes),
                    kCompatPortAttributes);
}

int ibv_query_port_speed(ibv_context* context, std::uint32_t port, std::uint64_t* speed) {
  const Device& device = *device_of(context);
  if (!has_port(device, port)) return fail(EINVAL);
  *speed = static_cast<std::uint64_t>(bits_per_second_of_port(device) / 1e8);  // in 100 Mb/s
  return 0;
}

int ibv_query_gid(ibv_context* context, std::uint8_t port, int index, ibv_gid* gid) {
  const Device& device = *device_of(context);
  if (!has_port(device, port) || index < 0 || static_cast<unsigned>(index) >= device.gids()) {
    errno = EINVAL;
    return -1;
  }
  copy_gid(device.gid(static_cast<unsigned>(index)), *gid);
  return 0;
}

int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port, std::uint32_t index,
                      ibv_gid_entry* entry, std::uint32_t flags, std::size_t entry_size) {
  const Device& device = *device_of(context);
  if (flags != 0 || !has_port(device, port) || index >= device.gids()) return fail(EINVAL);
  const auto found = gid_entry(device, port, index);
  if (!found) return fail(ENODATA);
  copy_entry(*found, entry, entry_size);
  return 0;
}

ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries, std::size_t entries_max,
                             std::uint32_t flags, std::size_t entry_size) {
  const Device& device = *device_of(context);
  if (flags != 0) return -fail(EINVAL);
  auto* to = reinterpret_cast<std::byte*>(entries);
  std::size_t count = 0;
  for (std::uint32_t port = 1; port <= device.ports(); ++port) {
    for (std::uint32_t index = 0; index < device.gids(); ++index) {
      const auto found = gid_entry(device, port, index);
      if (!found) continue;
      if (count == entries_max) return -fail(EINVAL);
      copy_entry(*found, to + count * entry_size, entry_size);
      ++count;
    }
  }
  return static_cast<ssize_t>(count);
}

int ibv_query_gid_type(ibv_context* context, std::uint8_t port, unsigned index, unsigned* type) {
  const Device& device = *device_of(context);
  if (!has_port(device, port) || index >= device.gids()) {
    errno = EINVAL;
    return -1;
  }
  *type = kSysfsRoceV2;
  return 0;
}

int ibv_query_pkey(ibv_context* context, std::uint8_t port, int index, __be16* pkey) {
  const Device& device = *device_of(context);
  if (!has_port(device, port) || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *pkey = htobe16(device.config().transport.pkey.raw());
  return 0;
}

int ibv_get_pkey_index(ibv_context* context, std::uint8_t port, __be16 pkey) {
  const Device& device = *device_of(context);
  if (has_port(device, port) && pkey == htobe16(device.config().transport.pkey.raw())) return 0;
  errno = EINVAL;
  return -1;
}

}  // namespace soft_verbs
}  // namespace openmrc::libmrc
