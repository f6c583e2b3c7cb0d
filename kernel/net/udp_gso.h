/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Runs: packets of one path and size that follow each other travel through the
 * stack as one skb (UDP GSO), which is segmented as late as possible: by the
 * driver, in software before it, or, between two ends on this host, never. The
 * last packet of a run may be shorter.
 *
 *     sroce_gso_begin() for each packet: room for it -> its headers are written
 *     -> sroce_gso_start_crc(): they are summed -> its payload is put into the sink
 *     -> sroce_gso_end(): ICRC; the packet is part of the run
 *
 *     sroce_gso_repeat_begin() behind it: room for more like it -> all their payload is put into
 *     the sink -> sroce_gso_repeat_end(): they are part of the run
 *
 * sroce_gso_rewind() takes packets out again, back to a mark.
 */
#ifndef SROCE_NET_UDP_GSO_H
#define SROCE_NET_UDP_GSO_H

#include <linux/skbuff.h>

#include "net/icrc.h"
#include "net/path.h"

/**
 * struct sroce_gso - skbs being put together; lives for a burst, under the lock of a half
 * @out: where skbs go, the open one too
 * @packets: all that have been put together
 * @path: where the packets of the open skb go
 * @skb: the open one; NULL: the next packet begins another
 * @fragment: memory for its next packets that is not part of it yet, or NULL
 * @truesize: what @fragment costs, all its room with it
 * @next: where the next packet goes
 * @room_bytes: how much room there is
 * @packet_bytes: of each packet of @skb, from the BTH to the ICRC
 * @bytes: of the packet begun, the same way
 * @piggyback_bytes: of a packet that may come behind one that is alone, 0 for none; set by the
 * caller
 * @icrc: of the open skb
 * @prefix: what the ICRC of the packet begun begins with
 * @writer: where its next byte goes, behind the headers
 * @repeats: how many packets like the one before are to be filled,
 * @repeated: how many of them are,
 * @psn: the PSN of the next one,
 * @ip_id: and its IPv4 identification
 */
struct sroce_gso {
	struct sk_buff_head *out;
	u32	packets;
	const struct sroce_path *path;
	struct sk_buff *skb;
	u8	*fragment;
	u32	truesize;
	u8	*next;
	u32	room_bytes;
	u32	packet_bytes;
	u32	bytes;
	u32	piggyback_bytes;
	struct sroce_icrc icrc;
	struct sroce_crc_prefix prefix;
	struct sroce_crc_writer writer;
	u32	repeats;
	u32	repeated;
	u32	psn;
	u16	ip_id;
};

/**
 * struct sroce_gso_mark - a place to go back to
 * @skbs: in struct sroce_gso.out
 * @skb: the open one
 * @bytes: of it
 * @skb_packets: of it
 * @packets: all
 */
struct sroce_gso_mark {
	u32	skbs;
	struct sk_buff *skb;
	u32	bytes;
	u32	skb_packets;
	u32	packets;
};

void sroce_gso_init(struct sroce_gso *gso, struct sk_buff_head *out);
bool sroce_gso_can_append(const struct sroce_gso *gso, const struct sroce_path *path, u32 bytes);
int sroce_gso_open(struct sroce_gso *gso, const struct sroce_path *path, struct dst_entry *dst,
		   u8 tos, u32 bytes, u32 expected);
u8 *sroce_gso_begin(struct sroce_gso *gso, u32 bytes, u32 expected);
struct sroce_crc_writer *sroce_gso_start_crc(struct sroce_gso *gso, u16 ip_id, u32 header_bytes);
void sroce_gso_close(struct sroce_gso *gso);
void sroce_gso_end(struct sroce_gso *gso, u16 *ip_id);
u32 sroce_gso_repeat_begin(struct sroce_gso *gso, u32 count, u32 psn, u16 ip_id);
void sroce_gso_repeat_end(struct sroce_gso *gso, u16 *ip_id);
void sroce_gso_mark(const struct sroce_gso *gso, struct sroce_gso_mark *mark);
void sroce_gso_rewind(struct sroce_gso *gso, const struct sroce_gso_mark *mark);
u32 sroce_gso_packets(const struct sk_buff *skb);
void sroce_skb_xmit(const struct sroce_endpoint *ep, struct sk_buff *skb);

#endif
