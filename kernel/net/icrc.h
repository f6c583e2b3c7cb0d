/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The invariant CRC of packets whose IP and UDP headers differ by lengths and identification. */
#ifndef SROCE_NET_ICRC_H
#define SROCE_NET_ICRC_H

#include <linux/types.h>

struct udphdr;

/* An IPv4 header with all options. */
#define SROCE_MAX_IP_BYTES	60
/* With UDP header and BTH behind it. */
#define SROCE_ICRC_MASKED_BYTES	80

/**
 * struct sroce_icrc - the headers of an skb's packets as the ICRC sees them
 * @headers: IP, UDP and base transport header, masked
 * @ip_bytes: length of the IP header
 */
struct sroce_icrc {
	u8	headers[SROCE_ICRC_MASKED_BYTES] __aligned(8);
	u32	ip_bytes;
};

void sroce_icrc_init(struct sroce_icrc *icrc, const void *ip, u32 ip_bytes,
		     const struct udphdr *uh);
__le32 sroce_icrc_of(struct sroce_icrc *icrc, u16 ip_id, const u8 *packet, u32 bytes);

#endif
