// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Received datagrams: from the UDP socket to a decoded packet.
 *
 * Nothing here trusts a byte of the packet, or writes to the skb's data, which
 * may be shared. UDP has checked its own checksum and length.
 *
 * Packets that were sent as one skb (GSO, on a veth or the loopback), or that the
 * stack has put together (GRO), come as one and are taken one after the other.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>

#include "compat/compat.h"
#include "net/endpoint.h"
#include "trace.h"
#include "transport/psn.h"

static enum sroce_counter parse_drop_counter(enum sroce_parse_status status)
{
	switch (status) {
	case SROCE_PARSE_BAD_VERSION:
		return SROCE_CTR_DROP_VERSION;
	case SROCE_PARSE_BAD_OPCODE:
		return SROCE_CTR_DROP_OPCODE;
	case SROCE_PARSE_BAD_PAD:
		return SROCE_CTR_DROP_PAD;
	case SROCE_PARSE_BAD_PAYLOAD:
		return SROCE_CTR_DROP_PAYLOAD;
	default:
		return SROCE_CTR_DROP_TRUNCATED;
	}
}

/*
 * The interface it came in by, as its sender and the GID table see it: a packet
 * to an address of this host comes by loopback, whosever the address is.
 */
static const struct net_device *ingress_of(const struct sk_buff *skb)
{
	const struct net_device *owner;

	if (!(skb->dev->flags & IFF_LOOPBACK))
		return skb->dev;
	if (ip_hdr(skb)->version == 4)
		owner = __ip_dev_find(dev_net(skb->dev), ip_hdr(skb)->daddr, false);
	else
		owner = dev_get_by_index_rcu(dev_net(skb->dev), inet6_iif(skb));
	return owner ?: skb->dev;
}

static void read_addresses(const struct sk_buff *skb, struct sroce_rx *rx)
{
	if (ip_hdr(skb)->version == 4) {
		const struct iphdr *iph = ip_hdr(skb);

		rx->is_ipv4 = true;
		rx->ecn_ce = INET_ECN_is_ce(iph->tos);
		ipv6_addr_set_v4mapped(iph->saddr, &rx->saddr);
		ipv6_addr_set_v4mapped(iph->daddr, &rx->daddr);
	} else {
		const struct ipv6hdr *ip6h = ipv6_hdr(skb);

		rx->is_ipv4 = false;
		rx->ecn_ce = INET_ECN_is_ce(ipv6_get_dsfield(ip6h));
		rx->saddr = ip6h->saddr;
		rx->daddr = ip6h->daddr;
	}
}

/*
 * Where @bytes from @offset on lie, if in one piece, and how many there are in it in all; asked for
 * ascending offsets.
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
			/* A device's own memory has no page. */
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
	if (!header)
		return SROCE_PARSE_TRUNCATED;
	return sroce_packet_parse(header, readable, rx->bytes, &rx->pkt);
}

/**
 * sroce_rx_next() - the next packet of a received skb
 * @rx: @rx->pkt and what belongs to it are set when true is returned
 *
 * Packets that are none are counted and passed over. Memory is not asked for.
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
		sroce_count(rx->ep->counters, parse_drop_counter(status));
		trace_sroce_drop(rx->ep->netdev->ifindex, 0, parse_drop_counter(status));
	}
	return false;
}

/**
 * sroce_bth_follows() - is a packet one of several alike?
 * @bth: the BTH of the one before
 * @next: its BTH
 * @psn: the PSN that it is to have
 *
 * Return: whether all but the PSN is as in @bth.
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

static void set_coalesced(struct sroce_rx *rx, u32 count)
{
	u32 more = count - rx->pkt.count;

	rx->pkt.payload_bytes = rx->pkt.payload_bytes / rx->pkt.count * count;
	rx->pkt.count = count;
	/* Held ones were counted when they came. */
	if (rx->was_queued)
		return;
	rx->packets += more;
	rx->wire_bytes += more * (sizeof(struct udphdr) + rx->bytes);
}

/**
 * sroce_rx_coalesce() - take the packets that continue the current one together with it
 * @rx: a packet without extended headers, whose ICRC is right; it is one of several alike, see
 *      sroce_rx_equal_sized()
 *
 * @rx->pkt.count and its payload grow; no packet is passed over. The ICRCs of those that come in
 * are NOT checked yet: by sroce_rx_verify(), or while they are copied, see rx_copy.c.
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
	set_coalesced(rx, count);
}

/**
 * sroce_rx_truncate() - leave the later packets of those that were merged for sroce_rx_next(), or
 *			held
 * @rx: merged packets
 * @count: how many stay, at least 1
 */
void sroce_rx_truncate(struct sroce_rx *rx, u32 count)
{
	set_coalesced(rx, count);
}

/**
 * sroce_rx_verify() - check the ICRCs of packets that were merged
 * @rx: merged packets; those from the first wrong one on are left out
 *
 * Return: whether all were right.
 */
bool sroce_rx_verify(struct sroce_rx *rx)
{
	const u32 payload_bytes = rx->bytes - sizeof(struct sroce_bth) - SROCE_ICRC_BYTES;
	bool section = sroce_crc_vector_begin(rx->pkt.payload_bytes);
	struct sroce_crc_prefix prefix;
	u32 i;

	for (i = 1; i < rx->pkt.count; i++) {
		const u8 *payload = rx->at + i * rx->bytes + sizeof(struct sroce_bth);

		sroce_icrc_rx_prefix(rx, i, &prefix);
		if (!sroce_icrc_is(rx, i, sroce_crc32_prefixed(&prefix, payload, payload_bytes)))
			break;
	}
	sroce_crc_vector_end(section);
	if (i == rx->pkt.count)
		return true;
	sroce_rx_truncate(rx, i);
	return false;
}

static void count_received(const struct sroce_rx *rx)
{
	sroce_count_add(rx->ep->counters, SROCE_CTR_RCVD_PKTS, rx->packets);
	sroce_count_add(rx->ep->counters, SROCE_CTR_RCVD_BYTES, rx->wire_bytes);
	if (rx->ecn_ce)
		sroce_count_add(rx->ep->counters, SROCE_CTR_NP_ECN_MARKED, rx->packets);
}

/* Returns whether the skb has been handed on. */
static bool take_skb(const struct sroce_sockets *sockets, struct sk_buff *skb)
{
	const struct net_device *ingress = ingress_of(skb);
	struct sroce_rx rx = {
		.skb = skb,
		.packet_bytes = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
						  skb->len - sizeof(struct udphdr),
		.offset = sizeof(struct udphdr),
		.frag_offset = skb_headlen(skb),
	};

	read_addresses(skb, &rx);
	rx.vlan_id = is_vlan_dev(ingress) ? vlan_dev_vlan_id(ingress) : SROCE_NO_VLAN;
	rx.ep = sroce_sockets_find_endpoint(sockets, ingress, &rx.daddr);
	if (!rx.ep)
		return false;
	if (!rx.packet_bytes) {
		sroce_count(rx.ep->counters, SROCE_CTR_DROP_TRUNCATED);
		trace_sroce_drop(rx.ep->netdev->ifindex, 0, SROCE_CTR_DROP_TRUNCATED);
		return false;
	}
	rx.now_ns = ktime_get_ns();
	sroce_net_receive(&rx);
	count_received(&rx);
	return true;
}

/**
 * sroce_udp_receive() - encap_rcv of our sockets
 * @sk: the socket
 * @skb: skb->data is at the UDP header; consumed
 *
 * Runs in softirq under rcu_read_lock().
 *
 * Return: 0, the packet is ours.
 */
int sroce_udp_receive(struct sock *sk, struct sk_buff *skb)
{
	const struct sroce_sockets *sockets = rcu_dereference_sk_user_data(sk);

	/* NULL: the socket is being closed. */
	if (!sockets || !take_skb(sockets, skb))
		kfree_skb(skb);
	return 0;
}
