// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The RX cursor: the packets of a received skb, one after the other.
 *
 *   sroce_rx_next()         parse the next packet
 *   sroce_rx_icrc_ok()      check its ICRC
 *   sroce_rx_coalesce()     coalesce it with the equal packets behind it
 *   sroce_rx_verify()       check the ICRCs of those, unless the copy does (datapath/rx_copy.c)
 *   sroce_rx_set_count()    return the last ones to sroce_rx_next()
 *
 * An skb has many packets if its sender handed over a GSO skb on this host, or if GRO built one.
 * Nothing here trusts a byte of a packet, writes to the skb's data, which may be shared, or
 * allocates.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/prefetch.h>
#include <linux/udp.h>

#include "net/rx_cursor.h"
#include "trace.h"
#include "transport/psn.h"

static const enum sroce_counter parse_drop_counters[] = {
	[SROCE_PARSE_TRUNCATED] = SROCE_CTR_DROP_TRUNCATED,
	[SROCE_PARSE_BAD_VERSION] = SROCE_CTR_DROP_VERSION,
	[SROCE_PARSE_BAD_OPCODE] = SROCE_CTR_DROP_OPCODE,
	[SROCE_PARSE_BAD_PAD] = SROCE_CTR_DROP_PAD,
	[SROCE_PARSE_BAD_PAYLOAD] = SROCE_CTR_DROP_PAYLOAD,
};

/*
 * Go to the next member of the fragment list. GRO builds one level of lists; what comes behind a
 * deeper one is not read in place.
 */
static void enter_next_part(struct sroce_rx_pos *pos)
{
	bool is_deeper = pos->part_offset && skb_has_frag_list(pos->part);

	pos->part = is_deeper ? NULL : pos->next_part;
	if (!pos->part)
		return;
	pos->next_part = pos->part->next;
	/* The members of a long list are no longer in the cache. */
	if (pos->next_part) {
		prefetch(skb_shinfo(pos->next_part));
		if (pos->next_part->next)
			prefetch(&pos->next_part->next->end);
	}
	pos->part_offset = pos->frag_offset;
	pos->frag = 0;
	pos->frag_offset += skb_headlen(pos->part);
}

static void set_contiguous(struct sroce_rx_pos *pos, const u8 *at, u32 left, u32 bytes)
{
	if (bytes > left)
		return;
	pos->at = at;
	pos->end = at + left;
}

/* Look in the fragments of a part. Returns false if the packet begins behind it. */
static bool locate_in_fragments(struct sroce_rx_pos *pos, u32 bytes)
{
	const struct skb_shared_info *shinfo = skb_shinfo(pos->part);

	for (; pos->frag < shinfo->nr_frags; pos->frag++) {
		const skb_frag_t *frag = &shinfo->frags[pos->frag];
		u32 within = pos->offset - pos->frag_offset, size = skb_frag_size(frag);
		struct page *page = skb_frag_page(frag);

		if (within < size) {
			/* Device memory has no page. */
			if (page && !PageHighMem(page))
				set_contiguous(pos, (u8 *)page_address(page) +
					       skb_frag_off(frag) + within, size - within, bytes);
			return true;
		}
		pos->frag_offset += size;
	}
	return false;
}

/* Find the @bytes at the offset of a position, which only grows. */
static void locate_packet(struct sroce_rx_pos *pos, u32 bytes)
{
	pos->at = NULL;
	for (; pos->part; enter_next_part(pos)) {
		if (pos->offset < pos->frag_offset) {
			u32 within = pos->offset - pos->part_offset;

			set_contiguous(pos, pos->part->data + within,
				       pos->frag_offset - pos->offset, bytes);
			return;
		}
		if (locate_in_fragments(pos, bytes))
			return;
	}
}

/**
 * sroce_rx_pos_next() - go to the next packet
 * @pos: of a packet
 * @bytes: size of that and of the next packet
 */
void sroce_rx_pos_next(struct sroce_rx_pos *pos, u32 bytes)
{
	pos->offset += bytes;
	if (pos->at && pos->end - pos->at >= 2 * bytes)
		pos->at += bytes;
	else
		locate_packet(pos, bytes);
}

static enum sroce_parse_status parse_packet(struct sroce_rx *rx)
{
	u32 readable = min_t(u32, rx->bytes, SROCE_MAX_HEADER_BYTES);
	u8 copy[SROCE_MAX_HEADER_BYTES];
	const u8 *header = rx->pos.at;

	if (!header)
		header = skb_header_pointer(rx->skb, rx->pos.offset, readable, copy);
	/* Device memory cannot be read. */
	return sroce_packet_parse(header, header ? readable : 0, rx->bytes, &rx->pkt);
}

/**
 * sroce_rx_next() - parse the next packet of a received skb
 * @rx: @rx->pkt and the fields that belong to it are set when true is returned
 *
 * Malformed packets are counted and skipped.
 *
 * Return: whether there is one.
 */
bool sroce_rx_next(struct sroce_rx *rx)
{
	u32 end = rx->skb->len;

	while (rx->pos.offset + rx->pkt.count * rx->bytes < end) {
		enum sroce_parse_status status;

		rx->number += rx->pkt.count;
		rx->pos.offset += rx->pkt.count * rx->bytes;
		rx->bytes = min(rx->packet_bytes, end - rx->pos.offset);
		locate_packet(&rx->pos, rx->bytes);
		status = parse_packet(rx);
		if (status == SROCE_PARSE_OK) {
			rx->packets++;
			rx->wire_bytes += sizeof(struct udphdr) + rx->bytes;
			return true;
		}
		sroce_count(rx->ep->counters, parse_drop_counters[status]);
		trace_sroce_drop(rx->ep->netdev->ifindex, rx->pkt.dest_qpn,
				 parse_drop_counters[status]);
	}
	return false;
}

static bool icrc_matches(struct sroce_rx *rx, u16 ip_id)
{
	u32 icrc_offset = rx->bytes - SROCE_ICRC_BYTES;
	__le32 icrc;

	if (rx->pos.at) {
		memcpy(&icrc, rx->pos.at + icrc_offset, sizeof(icrc));
		return icrc == sroce_icrc_linear(&rx->icrc, ip_id, rx->pos.at, rx->bytes);
	}
	if (skb_copy_bits(rx->skb, rx->pos.offset + icrc_offset, &icrc, sizeof(icrc)))
		return false;
	return icrc == sroce_icrc_nonlinear(&rx->icrc, ip_id, rx->skb, rx->pos.offset,
					    rx->bytes);
}

/**
 * sroce_rx_crc_prefix() - the CRC prefix of a later packet
 * @rx: a packet whose ICRC is right
 * @i: number of packets to skip from the current one
 * @bth: the BTH of the later packet, which is contiguous in memory
 * @prefix: filled in; refers to @rx
 */
void sroce_rx_crc_prefix(struct sroce_rx *rx, u32 i, const u8 *bth,
			 struct sroce_crc_prefix *prefix)
{
	u16 ip_id = rx->is_ipv4 ? ntohs(ip_hdr(rx->skb)->id) : 0;

	if (!rx->ip_id_stays)
		ip_id += rx->number + i;
	sroce_icrc_prefix(&rx->icrc, ip_id, bth, rx->bytes, prefix);
}

/**
 * sroce_rx_crc_matches() - is the ICRC of a later packet right?
 * @rx: as for sroce_rx_crc_prefix()
 * @bth: the BTH of the later packet
 * @crc: the CRC register after its pad
 *
 * Return: true if it is.
 */
bool sroce_rx_crc_matches(const struct sroce_rx *rx, const u8 *bth, u32 crc)
{
	__le32 icrc;

	memcpy(&icrc, bth + rx->bytes - SROCE_ICRC_BYTES, sizeof(icrc));
	return icrc == cpu_to_le32(~crc);
}

/**
 * sroce_rx_icrc_ok() - is the ICRC of a received packet right?
 * @rx: the packet
 *
 * Only the IPv4 identification of the first packet of an skb is left. Those of the others were
 * either incremented from there or all the same; the ICRC of the next packet tells which.
 *
 * No RoCE sender puts options into IPv4, or extension headers between IPv6 and UDP, and no
 * specification says how an ICRC would cover them. Such packets are rejected.
 *
 * Return: true if it is.
 */
bool sroce_rx_icrc_ok(struct sroce_rx *rx)
{
	u32 ip_bytes = rx->is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	u16 ip_id = rx->is_ipv4 ? ntohs(ip_hdr(rx->skb)->id) : 0;

	if (skb_network_header_len(rx->skb) != ip_bytes)
		return false;
	if (!rx->icrc.ip_bytes)
		sroce_icrc_init(&rx->icrc, skb_network_header(rx->skb),
				rx->is_v1 ? NULL : udp_hdr(rx->skb));
	if (rx->ip_id_stays)
		return icrc_matches(rx, ip_id);
	if (icrc_matches(rx, ip_id + rx->number)) {
		rx->ip_id_counts = rx->number;
		return true;
	}
	if (!rx->is_ipv4 || !rx->number || rx->ip_id_counts)
		return false;
	rx->ip_id_stays = icrc_matches(rx, ip_id);
	return rx->ip_id_stays;
}

/**
 * sroce_bth_follows() - does a packet continue the one before it?
 * @bth: BTH of the packet before
 * @next: BTH of the packet
 * @psn: the PSN that it must have
 *
 * Return: true if it has that PSN, and everything else is as in @bth.
 */
bool sroce_bth_follows(const u8 *bth, const u8 *next, u32 psn)
{
	u64 a, b;
	__be32 end, next_end;

	memcpy(&a, bth, sizeof(a));
	memcpy(&b, next, sizeof(b));
	memcpy(&end, bth + sizeof(a), sizeof(end));
	memcpy(&next_end, next + sizeof(b), sizeof(next_end));
	return a == b && ((end & ~htonl(SROCE_PSN_MASK)) | htonl(psn)) == next_end;
}

/**
 * sroce_rx_set_count() - set how many packets are coalesced
 * @rx: the packets
 * @count: how many, at least 1
 *
 * sroce_rx_next() returns those left out again; if they come from the reorder queue, they stay
 * there.
 */
void sroce_rx_set_count(struct sroce_rx *rx, u32 count)
{
	u32 more = count - rx->pkt.count;

	rx->pkt.payload_bytes = rx->pkt.payload_bytes / rx->pkt.count * count;
	rx->pkt.count = count;
	/* Queued packets were counted when they came in. */
	if (rx->pkt.was_queued)
		return;
	rx->packets += more;
	rx->wire_bytes += more * (sizeof(struct udphdr) + rx->bytes);
}

/**
 * sroce_rx_coalesce() - coalesce the current packet with those that continue it
 * @rx: a packet whose ICRC is right, followed by others of its size, see sroce_rx_equal_sized();
 *      left as it is if it has extended headers or a pad
 *
 * Each must be contiguous in memory, but they need not be neighbours. @rx->pkt.count and its
 * payload grow; no packet is skipped. The ICRCs of the other packets are NOT checked yet: that is
 * done by sroce_rx_verify(), or while they are copied (rx_copy.c).
 */
void sroce_rx_coalesce(struct sroce_rx *rx)
{
	u32 count, most = sroce_rx_equal_sized(rx);
	struct sroce_rx_pos pos = rx->pos;

	if (rx->pkt.header_bytes != sizeof(struct sroce_bth) || rx->pkt.pad_bytes)
		return;
	for (count = 1; count < most; count++) {
		sroce_rx_pos_next(&pos, rx->bytes);
		if (!pos.at ||
		    !sroce_bth_follows(rx->pos.at, pos.at, psn_add(rx->pkt.psn, count)))
			break;
	}
	sroce_rx_set_count(rx, count);
}

/**
 * sroce_rx_verify() - check the ICRCs of coalesced packets
 * @rx: coalesced packets; truncated at the first whose ICRC is wrong
 *
 * Return: true if all are right.
 */
bool sroce_rx_verify(struct sroce_rx *rx)
{
	const u32 bytes = rx->bytes - sizeof(struct sroce_bth) - SROCE_ICRC_BYTES;
	bool section = sroce_crc_vector_begin(rx->pkt.payload_bytes);
	struct sroce_rx_pos pos = rx->pos;
	struct sroce_crc_prefix prefix;
	u32 i, crc;

	for (i = 1; i < rx->pkt.count; i++) {
		sroce_rx_pos_next(&pos, rx->bytes);
		sroce_rx_crc_prefix(rx, i, pos.at, &prefix);
		crc = sroce_crc32_prefixed(&prefix, pos.at + sizeof(struct sroce_bth), bytes);
		if (!sroce_rx_crc_matches(rx, pos.at, crc))
			break;
	}
	sroce_crc_vector_end(section);
	if (i == rx->pkt.count)
		return true;
	sroce_rx_set_count(rx, i);
	return false;
}
