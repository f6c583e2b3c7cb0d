/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Runs: packets of one path and size that follow each other travel through the
 * stack as one skb (UDP GSO), which is segmented as late as possible: by the
 * driver, in software before it, or, between two ends on this host, never. The
 * last packet of a run may be shorter.
 *
 *     sroce_run_begin() for each packet: room for it -> its headers are written
 *     -> sroce_run_headed(): they are summed -> its payload is put into the sink
 *     -> sroce_run_end(): ICRC; the packet is part of the run
 *
 *     sroce_run_repeat() behind it: room for more like it -> all their payload is put into
 *     the sink -> sroce_run_repeated(): they are part of the run
 *
 * sroce_run_rewind() takes packets out again, back to a mark.
 */
#ifndef SROCE_NET_RUN_H
#define SROCE_NET_RUN_H

#include <linux/skbuff.h>

#include "net/icrc.h"
#include "net/path.h"

/**
 * struct sroce_run - skbs being put together; lives for a burst, under the lock of a half
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
 * @rider_bytes: of a packet that may come behind one that is alone, 0 for none; set by the caller
 * @icrc: of the open skb
 * @head: what the ICRC of the packet begun begins with
 * @sink: where its next byte goes, behind the headers
 * @repeats: how many packets like the one before are to be filled,
 * @repeated: how many of them are,
 * @psn: the PSN of the next one,
 * @ip_id: and its IPv4 identification
 */
struct sroce_run {
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
	u32	rider_bytes;
	struct sroce_icrc icrc;
	struct sroce_crc_head head;
	struct sroce_crc_sink sink;
	u32	repeats;
	u32	repeated;
	u32	psn;
	u16	ip_id;
};

/**
 * struct sroce_run_mark - a place to go back to
 * @skbs: in struct sroce_run.out
 * @skb: the open one
 * @bytes: of it
 * @skb_packets: of it
 * @packets: all
 */
struct sroce_run_mark {
	u32	skbs;
	struct sk_buff *skb;
	u32	bytes;
	u32	skb_packets;
	u32	packets;
};

void sroce_run_init(struct sroce_run *run, struct sk_buff_head *out);
bool sroce_run_continues(const struct sroce_run *run, const struct sroce_path *path, u32 bytes);
int sroce_run_open(struct sroce_run *run, const struct sroce_path *path, struct dst_entry *dst,
		   u8 tos, u32 bytes, u32 expected);
u8 *sroce_run_begin(struct sroce_run *run, u32 bytes, u32 expected);
struct sroce_crc_sink *sroce_run_headed(struct sroce_run *run, u16 ip_id, u32 header_bytes);
void sroce_run_close(struct sroce_run *run);
void sroce_run_end(struct sroce_run *run, u16 *ip_id);
u32 sroce_run_repeat(struct sroce_run *run, u32 count, u32 psn, u16 ip_id);
void sroce_run_repeated(struct sroce_run *run, u16 *ip_id);
void sroce_run_mark(const struct sroce_run *run, struct sroce_run_mark *mark);
void sroce_run_rewind(struct sroce_run *run, const struct sroce_run_mark *mark);
u32 sroce_run_packets(const struct sk_buff *skb);
u32 sroce_run_packet_bytes(const struct sk_buff *skb);
bool sroce_run_is_summed(const struct sk_buff *skb);

#endif
