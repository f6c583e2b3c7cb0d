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
#include <linux/udp.h>

#include "net/rx.h"
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
 * Find @bytes at @offset, or return NULL if they are not contiguous. @piece_bytes is set to the
 * number of contiguous bytes from there on. Offsets must ascend from call to call.
 */
static const u8 *packet_bytes_at(struct sroce_rx *rx, u32 offset, u32 bytes, u32 *piece_bytes)
{
	const struct skb_shared_info *shinfo = skb_shinfo(rx->skb);

	*piece_bytes = skb_headlen(rx->skb) - offset;
	if (offset + bytes <= skb_headlen(rx->skb))
		return rx->skb->data + offset;
	for (; rx->frag < shinfo->nr_frags; rx->frag++) {
		const skb_frag_t *frag = &shinfo->frags[rx->frag];
		u32 within = offset - rx->frag_offset, size = skb_frag_size(frag);
		struct page *page = skb_frag_page(frag);

		if (offset < rx->frag_offset)
			return NULL;
		if (within < size) {
			/* Device memory has no page. */
			if (within + bytes > size || !page || PageHighMem(page))
				return NULL;
			*piece_bytes = size - within;
			return (u8 *)page_address(page) + skb_frag_off(frag) + within;
		}
		rx->frag_offset += size;
	}
	return NULL;
}

static enum sroce_parse_status parse_packet(struct sroce_rx *rx)
{
	u32 readable = min_t(u32, rx->bytes, SROCE_MAX_HEADER_BYTES);
	u8 copy[SROCE_MAX_HEADER_BYTES];
	const u8 *header = rx->at;

	if (!header)
		header = skb_header_pointer(rx->skb, rx->offset, readable, copy);
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

	while (rx->offset + rx->pkt.count * rx->bytes < end) {
		enum sroce_parse_status status;

		rx->number += rx->pkt.count;
		rx->offset += rx->pkt.count * rx->bytes;
		rx->bytes = min(rx->packet_bytes, end - rx->offset);
		rx->at = packet_bytes_at(rx, rx->offset, rx->bytes, &rx->piece_bytes);
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

	if (rx->at) {
		memcpy(&icrc, rx->at + icrc_offset, sizeof(icrc));
		return icrc == sroce_icrc_linear(&rx->icrc, ip_id, rx->at, rx->bytes);
	}
	if (skb_copy_bits(rx->skb, rx->offset + icrc_offset, &icrc, sizeof(icrc)))
		return false;
	return icrc == sroce_icrc_nonlinear(&rx->icrc, ip_id, rx->skb, rx->offset, rx->bytes);
}

/**
 * sroce_rx_crc_prefix() - the CRC prefix of a later packet
 * @rx: a packet that is contiguous in memory with those behind it; its ICRC is right
 * @i: number of packets to skip from the current one
 * @prefix: filled in; refers to @rx
 */
void sroce_rx_crc_prefix(struct sroce_rx *rx, u32 i, struct sroce_crc_prefix *prefix)
{
	u16 ip_id = rx->is_ipv4 ? ntohs(ip_hdr(rx->skb)->id) : 0;

	if (!rx->ip_id_stays)
		ip_id += rx->number + i;
	sroce_icrc_prefix(&rx->icrc, ip_id, rx->at + i * rx->bytes, rx->bytes, prefix);
}

/**
 * sroce_rx_crc_matches() - is the ICRC of a later packet right?
 * @rx: as for sroce_rx_crc_prefix()
 * @i: number of packets to skip from the current one
 * @crc: the CRC register after its pad
 *
 * Return: true if it is.
 */
bool sroce_rx_crc_matches(const struct sroce_rx *rx, u32 i, u32 crc)
{
	__le32 icrc;

	memcpy(&icrc, rx->at + (i + 1) * rx->bytes - SROCE_ICRC_BYTES, sizeof(icrc));
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
		sroce_icrc_init(&rx->icrc, skb_network_header(rx->skb), udp_hdr(rx->skb));
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
 * @rx->pkt.count and its payload grow; no packet is skipped. The ICRCs of the other packets are
 * NOT checked yet: that is done by sroce_rx_verify(), or while they are copied (rx_copy.c).
 */
void sroce_rx_coalesce(struct sroce_rx *rx)
{
	u32 count = 1, left;

	if (rx->pkt.header_bytes != sizeof(struct sroce_bth) || rx->pkt.pad_bytes)
		return;
	left = min(rx->piece_bytes, rx->skb->len - rx->offset);
	while ((count + 1) * rx->bytes <= left &&
	       sroce_bth_follows(rx->at, rx->at + count * rx->bytes, psn_add(rx->pkt.psn, count)))
		count++;
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
	struct sroce_crc_prefix prefix;
	u32 i;

	for (i = 1; i < rx->pkt.count; i++) {
		const u8 *payload = rx->at + i * rx->bytes + sizeof(struct sroce_bth);

		sroce_rx_crc_prefix(rx, i, &prefix);
		if (!sroce_rx_crc_matches(rx, i, sroce_crc32_prefixed(&prefix, payload, bytes)))
			break;
	}
	sroce_crc_vector_end(section);
	if (i == rx->pkt.count)
		return true;
	sroce_rx_set_count(rx, i);
	return false;
}
