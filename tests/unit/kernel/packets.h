// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Received skbs with one packet or many, whose ICRCs are computed by definition.
#ifndef TESTS_UNIT_KERNEL_PACKETS_H
#define TESTS_UNIT_KERNEL_PACKETS_H

#include <linux/bits.h>

#include "stand_in/verbs.h"

extern "C" {
#include "net/rx_cursor.h"
#include "transport/opcode.h"
#include "transport/packet.h"
#include "transport/psn.h"
}

#include <string>
#include <vector>

using Bytes = std::vector<u8>;

constexpr u32 UDP_BYTES = sizeof(udphdr);
constexpr u32 OPTION_BYTES = 4;  // before the IP header there is space for one

struct Flow {
  bool is_ipv4 = true;
  u8 tos = 0;
  u16 ip_id = 100;
  in6_addr saddr = address(1);
  in6_addr daddr = address(2);

  static in6_addr address(u8 host) {
    in6_addr addr = {};
    addr.s6_addr[10] = addr.s6_addr[11] = 0xff;
    addr.s6_addr[12] = 10;
    addr.s6_addr[15] = host;
    return addr;
  }

  // IP and UDP header of a packet with @bytes from the BTH to the ICRC.
  Bytes headers(u32 bytes, u16 id) const {
    Bytes all((is_ipv4 ? sizeof(iphdr) : sizeof(ipv6hdr)) + UDP_BYTES);
    if (is_ipv4) {
      auto* ip = reinterpret_cast<iphdr*>(all.data());
      ip->version = 4;
      ip->ihl = 5;
      ip->tos = tos;
      ip->tot_len = cpu_to_be16(all.size() + bytes);
      ip->id = cpu_to_be16(id);
      ip->ttl = 64;
      ip->protocol = 17;
      memcpy(&ip->saddr, &saddr.s6_addr[12], 4);
      memcpy(&ip->daddr, &daddr.s6_addr[12], 4);
      ip->check = 0x1234;
    } else {
      auto* ip = reinterpret_cast<ipv6hdr*>(all.data());
      ip->version = 6;
      ip->payload_len = cpu_to_be16(UDP_BYTES + bytes);
      ip->nexthdr = 17;
      ip->hop_limit = 64;
      ip->flow_lbl[2] = 9;
      ip->saddr = saddr;
      ip->daddr = daddr;
    }
    auto* udp = reinterpret_cast<udphdr*>(&all[all.size() - UDP_BYTES]);
    udp->source = cpu_to_be16(50000);
    udp->dest = cpu_to_be16(4791);
    udp->len = cpu_to_be16(UDP_BYTES + bytes);
    udp->check = 0x4321;
    return all;
  }
};

// IBTA A17.3.4: ones for the local route header and for the fields that routers change.
inline u32 icrc_by_definition(Bytes headers, const Bytes& packet) {
  if (headers[0] >> 4 == 4) {
    headers[1] = headers[8] = headers[10] = headers[11] = 0xff;
  } else {
    headers[0] |= 0x0f;
    headers[1] = headers[2] = headers[3] = headers[7] = 0xff;
  }
  headers[headers.size() - 1] = headers[headers.size() - 2] = 0xff;
  Bytes all(8, 0xff);
  all.insert(all.end(), headers.begin(), headers.end());
  all.insert(all.end(), packet.begin(), packet.end() - 4);
  all[8 + headers.size() + 4] = 0xff;
  return ~crc32_le(~0u, all.data(), all.size());
}

inline sroce_packet packet_of(u8 opcode, u32 psn, u32 qpn = 17) {
  sroce_packet pkt = {};
  pkt.opcode = opcode;
  pkt.info = sroce_opcode_lookup(opcode);
  pkt.migreq = true;
  pkt.pkey = SROCE_PKEY_DEFAULT;
  pkt.dest_qpn = qpn;
  pkt.psn = psn;
  return pkt;
}

// Headers, payload, pad and ICRC.
inline Bytes packet_bytes(const Flow& flow, sroce_packet pkt, const Bytes& payload, u16 ip_id) {
  pkt.pad_bytes = -payload.size() & 3;
  Bytes bytes(pkt.info->header_bytes);
  sroce_packet_write(&pkt, bytes.data());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  bytes.resize(bytes.size() + pkt.pad_bytes + 4);
  const u32 icrc = icrc_by_definition(flow.headers(bytes.size(), ip_id), bytes);
  for (u32 i = 0; i < 4; i++) bytes[bytes.size() - 4 + i] = icrc >> 8 * i;
  return bytes;
}

// The first @linear bytes of @all, then fragments of @fragment bytes.
inline sk_buff* make_part(const Bytes& all, u32 linear, u32 fragment, u32 headroom = 0) {
  linear = std::min<u32>(linear, all.size());
  sk_buff* skb = alloc_skb(headroom + linear, 0);
  skb_reserve(skb, headroom);
  memcpy(skb_put(skb, linear), all.data(), linear);
  for (u32 at = linear; at < all.size(); at += fragment) {
    skb_frag_t* frag = &skb->shared.frags[skb->shared.nr_frags++];
    frag->size = std::min<u32>(fragment, all.size() - at);
    frag->offset = 3;
    frag->page = static_cast<page*>(calloc(1, sizeof(page)));
    frag->page->address = static_cast<u8*>(malloc(frag->size + frag->offset));
    memcpy(frag->page->address + frag->offset, &all[at], frag->size);
    skb->data_len += frag->size;
    skb->len += frag->size;
  }
  return skb;
}

// Moves @members to the end of the fragment list of @skb.
inline void add_members(sk_buff* skb, const std::vector<sk_buff*>& members) {
  sk_buff** link = &skb->shared.frag_list;
  while (*link) link = &(*link)->next;
  for (sk_buff* member : members) {
    *link = member;
    link = &member->next;
    skb->data_len += member->len;
    skb->len += member->len;
  }
}

// The UDP header is the first of the linear data.
inline void set_headers(sk_buff* skb, const Flow& flow) {
  const Bytes headers = flow.headers(0, flow.ip_id);
  skb->transport = skb->data;
  skb->network = skb->data - (headers.size() - UDP_BYTES);
  memcpy(skb->network, headers.data(), headers.size());
}

// How an skb is cut behind the UDP header, which is linear. @part: size of the skb itself and of
// each member of its fragment list; @linear and @fragment as for make_part(), of each.
struct Cut {
  u32 linear = ~0u;
  u32 fragment = 64;
  u32 part = ~0u;
};

// @all from skb->data on, which is the UDP header.
inline sk_buff* make_skb(const Flow& flow, const Bytes& all, const Cut& cut = {}) {
  const u32 part = std::min<u32>(cut.part, all.size() - UDP_BYTES);
  auto end = all.begin() + UDP_BYTES + part;
  const u32 linear = std::min<u32>(cut.linear, all.size());
  sk_buff* skb = make_part({all.begin(), end}, UDP_BYTES + linear, cut.fragment,
                           OPTION_BYTES + (flow.is_ipv4 ? sizeof(iphdr) : sizeof(ipv6hdr)));
  while (end != all.end()) {
    const auto begin = end;
    end += std::min<size_t>(part, all.end() - begin);
    add_members(skb, {make_part({begin, end}, linear, cut.fragment)});
  }
  set_headers(skb, flow);
  return skb;
}

// An endpoint and the skb that it has received.
struct Received {
  Received() {
    stand_in = {};
    netdev.mtu = 9000;
    ep.netdev = &netdev;
    ep.counters = counters;
  }
  ~Received() {
    kfree_skb(rx.skb);
    EXPECT_EQ(0u, stand_in.uncharged);
    stand_in = {};
  }

  void begin(const Flow& flow, const std::vector<Bytes>& packets, const Cut& cut = {}) {
    Bytes all(UDP_BYTES);
    for (const Bytes& packet : packets) all.insert(all.end(), packet.begin(), packet.end());
    sroce_rx_begin(&rx, make_skb(flow, all, cut), packets[0].size(), UDP_BYTES);
    rx.ep = &ep;
    rx.saddr = flow.saddr;
    rx.daddr = flow.daddr;
    rx.is_ipv4 = flow.is_ipv4;
    rx.ecn_ce = (flow.tos & 3) == 3;
    rx.vlan_id = SROCE_NO_VLAN;
  }
  u64 count(sroce_counter which) const { return counters[0].value[which]; }

  net_device netdev = {};
  sroce_counters counters[STAND_IN_CPUS] = {};
  sroce_endpoint ep = {};
  sroce_rx rx = {};
};

#endif
