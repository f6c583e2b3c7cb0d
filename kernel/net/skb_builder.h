/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Builds and sends all our skbs: a single packet, or a GSO batch. The batch has consecutive packets
 * of one path and size, which cross the stack as one skb (UDP GSO). It is segmented as late as
 * possible: by the driver, in software before the driver, or, between two ends on this host, never.
 * The last packet of a batch may be shorter. Where hardware could segment and would write headers
 * that the ICRC does not cover, the batch is a list: each packet has its own skb with complete
 * headers in the fragment list of the first, and the stack only takes the list apart.
 *
 *   sroce_builder_begin()          reserve space for a packet; the caller writes its headers
 *   sroce_builder_start_crc()      sum them; the caller writes the payload to the CRC writer
 *   sroce_builder_end()            add the ICRC: the packet is part of the batch
 *
 *   sroce_builder_repeat_begin()   reserve space for equal packets; the caller writes their payload
 *   sroce_builder_repeat_end()     they are part of the batch
 *
 *   sroce_builder_rewind()         remove packets again, back to a mark
 *
 *   sroce_skb_xmit()               hand a finished skb to the stack
 */
#ifndef SROCE_NET_SKB_BUILDER_H
#define SROCE_NET_SKB_BUILDER_H

#include <linux/skbuff.h>

#include "net/icrc.h"
#include "net/path.h"

/**
 * struct sroce_builder - builds the skbs of one round of a work queue, under the lock of the queue
 * @ep: the endpoint that sends
 * @out: queue of the skbs built, the open one included
 * @packets: packets built
 * @path: where the packets of the open skb go
 * @skb: the open skb; NULL: the next packet needs another
 * @fragment: memory for its next packets that is not part of it yet, or NULL
 * @is_list: it is a list
 * @member: skb of the next packet of a list that is not part of it yet, or NULL
 * @last: last member of a list
 * @truesize: memory that all of @fragment uses
 * @next: where the next packet goes
 * @space_bytes: space left from there on
 * @packet_bytes: size of each packet of @skb, from the BTH to the ICRC
 * @bytes: size of the packet begun, likewise
 * @header_bytes: its headers, from the BTH on
 * @piggyback_bytes: size of a packet that may follow a single one, 0 for none; set by the caller
 * @icrc: ICRC state of the open skb
 * @prefix: CRC prefix of the packet begun
 * @writer: CRC writer for the bytes behind its headers
 * @repeats: number of equal packets to fill
 * @repeated: number of those that are filled
 * @psn: PSN of the next one
 * @ip_id: IPv4 identification of the next one
 */
struct sroce_builder {
	const struct sroce_endpoint *ep;
	struct sk_buff_head *out;
	u32	packets;
	const struct sroce_path *path;
	struct sk_buff *skb;
	u8	*fragment;
	bool	is_list;
	struct sk_buff *member;
	struct sk_buff *last;
	u32	truesize;
	u8	*next;
	u32	space_bytes;
	u32	packet_bytes;
	u32	bytes;
	u32	header_bytes;
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
 * struct sroce_builder_mark - a state to rewind to
 * @skbs: length of struct sroce_builder.out
 * @skb: the open skb
 * @bytes: its length
 * @skb_packets: its packets
 * @packets: packets of all skbs
 */
struct sroce_builder_mark {
	u32	skbs;
	struct sk_buff *skb;
	u32	bytes;
	u32	skb_packets;
	u32	packets;
};

void sroce_builder_init(struct sroce_builder *builder, const struct sroce_endpoint *ep,
			struct sk_buff_head *out);
bool sroce_builder_can_append(const struct sroce_builder *builder, const struct sroce_path *path,
			      u32 bytes);
int sroce_builder_open(struct sroce_builder *builder, const struct sroce_path *path,
		       struct dst_entry *dst, __be16 sport, u8 tos, u32 bytes, u32 expected);
int sroce_builder_open_v1(struct sroce_builder *builder, const struct sroce_path *path,
			  __be16 sport, u32 bytes);
u8 *sroce_builder_begin(struct sroce_builder *builder, u32 bytes, u32 expected);
struct sroce_crc_writer *sroce_builder_start_crc(struct sroce_builder *builder, u16 ip_id,
						 u32 header_bytes);
void sroce_builder_close(struct sroce_builder *builder);
void sroce_builder_end(struct sroce_builder *builder, u16 *ip_id);
u32 sroce_builder_repeat_begin(struct sroce_builder *builder, u32 count, u32 psn, u16 ip_id);
void sroce_builder_repeat_end(struct sroce_builder *builder, u16 *ip_id);
void sroce_builder_mark(const struct sroce_builder *builder, struct sroce_builder_mark *mark);
void sroce_builder_rewind(struct sroce_builder *builder, const struct sroce_builder_mark *mark);
u32 sroce_builder_packets(const struct sk_buff *skb);
int sroce_skb_xmit(const struct sroce_endpoint *ep, struct sk_buff *skb);

#endif
