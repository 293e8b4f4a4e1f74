// SPDX-License-Identifier: BSD-3-Clause
// What OpenMRC makes of vendor_cfg in struct mrc_qp_attr. Programs that also run on other
// implementations set it only where the library is OpenMRC's.
#ifndef _MRC_OPENMRC_H_
#define _MRC_OPENMRC_H_

#include <mrc.h>
#include <stdint.h>

#define MRC_OPENMRC_QP_CFG 0x43524d4fu

// The first bytes of vendor_cfg, for mrc_modify_qp with MRC_QP_VENDOR_CFG, in any state but ERR.
struct mrc_openmrc_qp_cfg {
  uint32_t magic;  // MRC_OPENMRC_QP_CFG; with another value vendor_cfg is kept and means nothing
  // How much less the peer is to send to this queue pair, 0 to 127: 64 halves its window within a
  // round trip, 127 leads to one packet. 0 gives the window back. The peer learns it with the next
  // packet that is reported to it. What the library asks for by itself, when packets are trimmed at
  // this host's link, counts if it is more.
  uint8_t receiver_penalty;
};

#endif  // _MRC_OPENMRC_H_
