// SPDX-License-Identifier: BSD-3-Clause
/* Runs in the kernel for every frame that a port receives. MRC packets of this host go to the
 * AF_XDP socket of the receive queue; everything else takes its usual way.
 *
 * One shard has the sockets of a port. A packet for another shard takes its usual way too, to that
 * shard's UDP socket, unless the network has said something in its outer header that would be lost
 * there: then the shard with the sockets gets it and passes it on. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ipv6.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "steer.h"

#define QUEUES_MAX 64
#define ECN_MASK 3
#define ECN_CONGESTED 3
#define ROUTING_TYPE_SEGMENT 4

/* RFC 8754, with one segment (MRC 9.2). */
struct segment_routing {
  __u8 next_header;
  __u8 length; /* in units of 8 bytes, without the first */
  __u8 type;
  __u8 segments_left;
  __u8 rest[20];
};

struct bth {
  __u8 opcode;
  __u8 flags;
  __be16 pkey;
  __u8 reserved;
  __u8 destination_qp[3];
  __u8 flags_2;
  __u8 psn[3];
};

struct {
  __uint(type, BPF_MAP_TYPE_XSKMAP);
  __uint(max_entries, QUEUES_MAX);
  __type(key, __u32);
  __type(value, __u32);
} sockets SEC(".maps");

const volatile struct steer_settings settings;

static __always_inline __u8 traffic_class(const struct ipv6hdr* header) {
  return header->priority << 4 | header->flow_lbl[0] >> 4;
}

static __always_inline int is_own(const struct in6_addr* address) {
  for (int i = 0; i < 16; ++i) {
    if (address->in6_u.u6_addr8[i] != settings.address[i]) return 0;
  }
  return 1;
}

static __always_inline int is_for_this_shard(const struct bth* bth) {
  if (bth->opcode == settings.endpoint_request) return 1; /* passes it on to all */
  /* Both are read, whichever counts: of one place or the other the compiler would make a pointer by
   * adding a register to it, which the kernel takes from those with CAP_PERFMON only. */
  __u32 of_request = bth->psn[1];
  __u32 of_queue_pair = bth->destination_qp[0];
  barrier_var(of_request);
  barrier_var(of_queue_pair);
  const int is_response = bth->opcode == settings.endpoint_response;
  return (is_response ? of_request : of_queue_pair) >> settings.slot_shift == settings.slot;
}

/* What a socket behind the kernel's decapsulation would not see. */
static __always_inline int is_marked(__u8 outer) {
  const __u8 dscp = outer >> 2;
  return (outer & ECN_MASK) == ECN_CONGESTED || dscp == settings.trimmed ||
         dscp == settings.trimmed_last_hop;
}

SEC("xdp.frags")
int steer(struct xdp_md* ctx) {
  const void* end = (const void*)(long)ctx->data_end;
  const struct ethhdr* ethernet = (const void*)(long)ctx->data;
  if ((const void*)(ethernet + 1) > end) return XDP_PASS;
  if (ethernet->h_proto != bpf_htons(ETH_P_IPV6)) return XDP_PASS;

  const struct ipv6hdr* outer = (const void*)(ethernet + 1);
  if ((const void*)(outer + 1) > end) return XDP_PASS;
  const struct ipv6hdr* inner = outer;
  const void* at = outer + 1;
  __u8 next = outer->nexthdr;
  if (next == IPPROTO_ROUTING) {
    const struct segment_routing* routing = at;
    if ((const void*)(routing + 1) > end) return XDP_PASS;
    if (routing->type != ROUTING_TYPE_SEGMENT || routing->length != 2) return XDP_PASS;
    if (routing->segments_left != 0) return XDP_PASS;
    next = routing->next_header;
    at = routing + 1;
  }
  if (next == IPPROTO_IPV6) {
    inner = at;
    if ((const void*)(inner + 1) > end) return XDP_PASS;
    next = inner->nexthdr;
    at = inner + 1;
  }
  if (next != IPPROTO_UDP || !is_own(&inner->daddr)) return XDP_PASS;

  const struct udphdr* udp = at;
  const struct bth* bth = (const void*)(udp + 1);
  if ((const void*)(bth + 1) > end) return XDP_PASS;
  if (udp->dest != settings.udp_port) return XDP_PASS;
  if (!is_for_this_shard(bth) && !is_marked(traffic_class(outer))) return XDP_PASS;
  return bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
}

char LICENSE[] SEC("license") = "BSD";
