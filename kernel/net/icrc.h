/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The invariant CRC of packets whose IP and UDP headers differ in lengths and identification. */
#ifndef SROCE_NET_ICRC_H
#define SROCE_NET_ICRC_H

#include <linux/types.h>

#include "crc/crc.h"

struct sk_buff;
struct udphdr;

/**
 * struct sroce_icrc - the headers of an skb's packets as the ICRC sees them
 * @block: ones and the masked IP, UDP and base transport headers, up to its end; fields that differ
 *	   from packet to packet are zero
 * @bytes: packet size that the lengths in @block are for, from the BTH to the ICRC
 * @ip_bytes: length of the IP header or GRH; 0 before sroce_icrc_init()
 * @udp_bytes: length of the UDP header; 0 behind a GRH
 */
struct sroce_icrc {
	u8	block[SROCE_CRC_BLOCK_BYTES] __aligned(8);
	u32	bytes;
	u32	ip_bytes;
	u32	udp_bytes;
};

void sroce_icrc_init(struct sroce_icrc *icrc, const void *ip, const struct udphdr *uh);
void sroce_icrc_prefix(struct sroce_icrc *icrc, u16 ip_id, const u8 *bth, u32 bytes,
		       struct sroce_crc_prefix *prefix);
__le32 sroce_icrc_linear(struct sroce_icrc *icrc, u16 ip_id, const u8 *packet, u32 bytes);
__le32 sroce_icrc_nonlinear(struct sroce_icrc *icrc, u16 ip_id, struct sk_buff *skb, u32 from,
			    u32 bytes);

#endif
