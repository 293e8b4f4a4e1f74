// SPDX-License-Identifier: BSD-3-Clause
// Address handles of verbs.
#include "openmrc/verbs/verbs_ah.h"

#include <cstring>
#include <memory>

#include "openmrc/verbs/verbs_route.h"

namespace openmrc::libmrc::soft_verbs {

ibv_ah* ibv_create_ah(ibv_pd* pd, ibv_ah_attr* attributes) {
  Device& device = *device_of(pd->context);
  if (attributes->is_global == 0 || attributes->port_num < 1 ||
      attributes->port_num > device.ports() || attributes->grh.sgid_index >= device.gids()) {
    return null(EINVAL);
  }
  auto destination = device.destination_of(gid_of(attributes->grh.dgid));
  if (!destination) return null(EHOSTUNREACH);
  auto made = std::make_unique<SoftAddressHandle>();
  made->verbs.context = pd->context;
  made->verbs.pd = pd;
  made->destination = std::move(*destination);
  ++soft_domain(pd)->users;
  return &made.release()->verbs;
}

int ibv_destroy_ah(ibv_ah* ah) {
  --soft_domain(ah->pd)->users;
  delete &soft(*ah);
  return 0;
}

// To whom a datagram came from: the GRH in front of it says so.
int ibv_init_ah_from_wc(ibv_context* /*context*/, std::uint8_t port, ibv_wc* wc, ibv_grh* grh,
                        ibv_ah_attr* attributes) {
  if ((wc->wc_flags & IBV_WC_GRH) == 0) {
    errno = EINVAL;
    return -1;
  }
  *attributes = {};
  attributes->is_global = 1;
  attributes->port_num = port;
  attributes->grh.dgid = grh->sgid;
  attributes->grh.sgid_index = Device::kGidIpv4;
  attributes->grh.hop_limit = 255;
  return 0;
}

ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* wc, ibv_grh* grh, std::uint8_t port) {
  ibv_ah_attr attributes;
  if (soft_verbs::ibv_init_ah_from_wc(pd->context, port, wc, grh, &attributes) != 0) return nullptr;
  return soft_verbs::ibv_create_ah(pd, &attributes);
}

}  // namespace openmrc::libmrc::soft_verbs
