// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Building skbs, see skb_builder.h.
 *
 * A single packet is a linear skb, and so is each packet of a list. Any other batch has its headers
 * in the linear part and its packets in page fragments, usually in one. No packet crosses a
 * fragment, so both ends find each of them contiguous in memory. The first BTH is at 4 mod 16,
 * which aligns the payload if no other header follows it. Full packets are a multiple of 16 long,
 * so those behind it are aligned, too.
 */
#include <linux/err.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/sch_generic.h>

#include "net/batch_pages.h"
#include "net/path.h"
#include "net/roce_v1.h"
#include "net/skb_builder.h"
#include "transport/psn.h"
#include "transport/wire.h"

/* An skb is shorter than 64 KiB, including link, IP and UDP headers. */
#define GSO_BYTES_MAX		(65535 - 128)
/* The count must fit the low bits of destructor_arg (datapath/tx.c); larger batches gain little. */
#define GSO_PACKETS_MAX		64
/* Smaller batches are not worth a page of the cache. */
#define CACHED_BYTES_MIN	16384
/* The largest fragment that is not from the cache. */
#define FRAGMENT_BYTES		32768
/*
 * The stack pushes what precedes the packets of a list without looking for space: VLAN tags, MPLS
 * labels, the headers of a tunnel that a packet is redirected to.
 */
#define MEMBER_HEADROOM		128
#define BTH_ALIGNMENT		16
#define BTH_OFFSET		4
/*
 * Payload begins 12 bytes later, at 256. Its source and its destination mostly begin at a page
 * boundary, and a load may wait for a store to the same offset of another page (4K aliasing).
 */
#define BTH_OFFSET_CACHED	(BTH_OFFSET + 240)

/**
 * struct gso_info - in the control block of an skb until it is sent
 * @packets: number of packets
 * @packet_bytes: size of each, from the BTH to the ICRC
 * @ifindex: RoCE v1: the interface that it leaves by; else 0
 * @has_checksum: it has a UDP checksum
 */
struct gso_info {
	u32	packets;
	u32	packet_bytes;
	int	ifindex;
	bool	has_checksum;
};

/*
 * Some hardware that segments UDP does not increment the IPv4 identification, which the ICRC
 * covers. It may be the device, or one below a VLAN, a bridge or a bond. The stack segments for a
 * device that does not claim to do so, and one with a peer on this host hands it the skb.
 */
static bool needs_list(const struct net_device *dev, bool is_ipv4)
{
	return is_ipv4 && dev->features & NETIF_F_GSO_UDP_L4 && !(dev->flags & IFF_LOOPBACK) &&
	       !dev->netdev_ops->ndo_get_peer_dev;
}

/*
 * Back-pressure no longer counts a GSO skb once the stack has segmented it (datapath/tx.c). A qdisc
 * delays GSO skbs while the device says that it is full, which hardware does. Without a qdisc,
 * packets are dropped.
 */
static bool may_drop_segments(const struct net_device *dev, bool is_list)
{
	return !(dev->features & (is_list ? NETIF_F_GSO_FRAGLIST : NETIF_F_GSO_UDP_L4)) &&
	       !rcu_dereference(netdev_get_tx_queue(dev, 0)->qdisc)->enqueue;
}

/* A route's IPsec or lightweight tunnel adds headers whose size is not known here. */
static bool has_transform(const struct dst_entry *dst)
{
	return dst_xfrm(dst) || dst->lwtstate;
}

static struct gso_info *gso_info_of(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct gso_info) > sizeof(skb->cb));
	return (struct gso_info *)skb->cb;
}

static void write_ipv4(struct sk_buff *skb, const struct sroce_path *path, u8 tos)
{
	struct iphdr *iph = skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	*iph = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = tos,
		.frag_off = htons(IP_DF),
		.ttl = path->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = path->saddr.s6_addr32[3],
		.daddr = path->daddr.s6_addr32[3],
	};
	skb->protocol = htons(ETH_P_IP);
}

static void write_ipv6(struct sk_buff *skb, const struct sroce_path *path, u8 tos)
{
	struct ipv6hdr *ip6h = skb_push(skb, sizeof(*ip6h));

	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6h, tos, htonl(path->flow_label));
	ip6h->payload_len = 0;
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = path->hop_limit;
	ip6h->saddr = path->saddr;
	ip6h->daddr = path->daddr;
	skb->protocol = htons(ETH_P_IPV6);
}

static void write_udp(struct sk_buff *skb, __be16 sport)
{
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = sport;
	uh->dest = htons(SROCE_UDP_PORT);
	uh->len = 0;
	uh->check = 0;
}

/*
 * Allocate an skb with IP and UDP headers, whose lengths are not set yet, space for a link header
 * of @link_bytes before them and for @linear_bytes behind them. @packet_bytes: BTH to ICRC of the
 * largest packet that it will carry. Returns ERR_PTR(-ENOMEM), or ERR_PTR(-EMSGSIZE) if the packet
 * does not fit the route's MTU.
 */
static struct sk_buff *alloc_headers(const struct sroce_path *path, struct dst_entry *dst,
				     __be16 sport, u8 tos, u32 packet_bytes,
				     u32 link_bytes, u32 linear_bytes)
{
	u32 header_bytes = sizeof(struct udphdr) +
			   (path->is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	struct sk_buff *skb;

	if (header_bytes + packet_bytes > dst_mtu(dst))
		return ERR_PTR(-EMSGSIZE);
	skb = alloc_skb(link_bytes + header_bytes + linear_bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return ERR_PTR(-ENOMEM);

	skb_reserve(skb, link_bytes + header_bytes);
	write_udp(skb, sport);
	if (path->is_ipv4)
		write_ipv4(skb, path, tos);
	else
		write_ipv6(skb, path, tos);
	skb_dst_set(skb, dst_clone(dst));
	skb->ip_summed = CHECKSUM_NONE;
	skb->priority = path->priority;
	return skb;
}

/**
 * sroce_builder_packets() - number of packets in an skb
 * @skb: built here, not sent yet
 *
 * Return: the number.
 */
u32 sroce_builder_packets(const struct sk_buff *skb)
{
	return gso_info_of(skb)->packets;
}

/**
 * sroce_builder_init() - start building skbs
 * @builder: filled in
 * @ep: the endpoint that sends
 * @out: queue to which skbs are added
 */
void sroce_builder_init(struct sroce_builder *builder, const struct sroce_endpoint *ep,
			struct sk_buff_head *out)
{
	builder->ep = ep;
	builder->out = out;
	builder->skb = NULL;
	builder->fragment = NULL;
	builder->member = NULL;
	builder->packets = 0;
	builder->piggyback_bytes = 0;
}

/**
 * sroce_builder_close() - add no more packets to the open skb
 * @builder: the builder
 */
void sroce_builder_close(struct sroce_builder *builder)
{
	if (builder->fragment)
		skb_free_frag(builder->fragment);
	kfree_skb(builder->member);
	builder->fragment = NULL;
	builder->member = NULL;
	builder->skb = NULL;
}

/**
 * sroce_builder_can_append() - can the open skb take another packet?
 * @builder: the builder
 * @path: where the packet goes
 * @bytes: its size, from the BTH to the ICRC
 *
 * Return: true if it can; otherwise the packet needs sroce_builder_open().
 */
bool sroce_builder_can_append(const struct sroce_builder *builder, const struct sroce_path *path,
			      u32 bytes)
{
	const struct sk_buff *skb = builder->skb;

	if (!skb || builder->path != path || bytes > builder->packet_bytes)
		return false;
	/* A single packet may have been given space for a piggybacked one. */
	if (gso_info_of(skb)->packets && !skb_is_nonlinear(skb) && !builder->is_list)
		return bytes <= builder->space_bytes;
	/* A shorter packet ends a batch. As the second it rather begins one of its own size. */
	if (bytes < builder->packet_bytes && gso_info_of(skb)->packets < 2)
		return false;
	return gso_info_of(skb)->packets < GSO_PACKETS_MAX && skb->len + bytes <= GSO_BYTES_MAX &&
	       (bytes <= builder->space_bytes || skb_shinfo(skb)->nr_frags < MAX_SKB_FRAGS);
}

/* @linear_bytes: space for packets in its linear part. */
static void set_open_skb(struct sroce_builder *builder, const struct sroce_path *path,
			 struct sk_buff *skb, u32 bytes, u32 linear_bytes, bool is_list)
{
	sroce_builder_close(builder);
	builder->skb = skb;
	builder->path = path;
	builder->packet_bytes = bytes;
	builder->space_bytes = linear_bytes;
	builder->is_list = is_list;
	gso_info_of(skb)->packet_bytes = bytes;
	gso_info_of(skb)->packets = 0;
	gso_info_of(skb)->ifindex = path->is_v1 ? path->oif : 0;
	builder->next = skb_tail_pointer(skb);
	sroce_icrc_init(&builder->icrc, skb_network_header(skb), path->is_v1 ? NULL : udp_hdr(skb));
	__skb_queue_tail(builder->out, skb);
}

/**
 * sroce_builder_open_v1() - open another skb for one packet of RoCE v1
 * @builder: the builder
 * @path: where it goes; must stay valid as long as the skb is open
 * @sport: as for sroce_builder_open()
 * @bytes: size of the packet, from the BTH to the ICRC
 *
 * Any context but hard interrupts. The caller must add a packet to the skb, or rewind.
 *
 * Return: 0, or as sroce_v1_alloc().
 */
int sroce_builder_open_v1(struct sroce_builder *builder, const struct sroce_path *path,
			  __be16 sport, u32 bytes)
{
	struct sk_buff *skb = sroce_v1_alloc(builder->ep, path, sport, bytes);

	if (IS_ERR(skb))
		return PTR_ERR(skb);
	set_open_skb(builder, path, skb, bytes, bytes, false);
	return 0;
}

/**
 * sroce_builder_open() - open another skb
 * @builder: the builder
 * @path: where it goes; must stay valid as long as the skb is open
 * @dst: route; a reference is taken for the skb
 * @sport: UDP source port, the same for all packets of @path
 * @tos: TOS or traffic class
 * @bytes: size of the first packet, from the BTH to the ICRC
 * @expected: number of packets of this size, the first included; a hint, unless it is 1: then no
 *            other packet of this size can be appended
 *
 * Any context but hard interrupts. The caller must add a packet to the skb, or rewind.
 *
 * Return: 0, -ENOMEM, or -EMSGSIZE when the packet does not fit the route's MTU.
 */
int sroce_builder_open(struct sroce_builder *builder, const struct sroce_path *path,
		       struct dst_entry *dst, __be16 sport, u8 tos, u32 bytes, u32 expected)
{
	struct sk_buff *skb;
	u32 linear_bytes = 0, link_bytes;
	u32 checksum = READ_ONCE(builder->ep->udp_checksum);
	bool accepts_batch, may_batch, is_single, by_list, is_list;

	rcu_read_lock();
	link_bytes = LL_RESERVED_SPACE(dst->dev);
	accepts_batch = dst->dev->features & NETIF_F_GSO;
	by_list = needs_list(dst->dev, path->is_ipv4);
	may_batch = accepts_batch && checksum != SROCE_UDP_CHECKSUM_OFF &&
		    !may_drop_segments(dst->dev, by_list) && !(by_list && has_transform(dst));
	is_single = expected < 2 || !may_batch;
	is_list = by_list && !is_single;
	rcu_read_unlock();
	if (is_single || is_list)
		linear_bytes = bytes;
	/* A single packet and one that follows it are no list, so hardware might segment them. */
	if (is_single && may_batch && !by_list && builder->piggyback_bytes <= bytes)
		linear_bytes += builder->piggyback_bytes;
	skb = alloc_headers(path, dst, sport, tos, bytes, link_bytes, linear_bytes);
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	set_open_skb(builder, path, skb, bytes, linear_bytes, is_list);
	/* A single packet has one too, or it would overtake the packets before it in GRO. */
	gso_info_of(skb)->has_checksum = checksum == SROCE_UDP_CHECKSUM_ON ||
					 (checksum == SROCE_UDP_CHECKSUM_AUTO && accepts_batch);
	return 0;
}

/* Freed by skb_free_frag(), or with the skb that it becomes part of. */
static void *alloc_fragment(u32 bytes, u32 *truesize)
{
	struct page *pages;

	*truesize = bytes;
	/* Smaller fragments share a page. */
	if (bytes <= PAGE_SIZE)
		return netdev_alloc_frag_align(bytes, BTH_ALIGNMENT);
	*truesize = PAGE_SIZE << get_order(bytes);
	pages = alloc_pages(GFP_ATOMIC | __GFP_COMP | __GFP_NOWARN | __GFP_NOMEMALLOC,
			    get_order(bytes));
	return pages ? page_address(pages) : NULL;
}

/* Space for @packets packets, or as many as fit @most bytes, but at least one. */
static u32 packets_space(const struct sroce_builder *builder, u32 most, u32 packets)
{
	return builder->packet_bytes * clamp(most / builder->packet_bytes, 1u, packets);
}

/* Allocate space for as many packets as are expected and fit. */
static bool add_fragment(struct sroce_builder *builder, u32 expected)
{
	u32 left = min((GSO_BYTES_MAX - builder->skb->len) / builder->packet_bytes,
		       GSO_PACKETS_MAX - gso_info_of(builder->skb)->packets);
	u32 packets = clamp(expected, 1u, max(left, 1u));
	u32 offset = BTH_OFFSET_CACHED;

	if (builder->packet_bytes * packets >= CACHED_BYTES_MIN)
		builder->fragment = sroce_batch_page_get();
	if (builder->fragment) {
		/* The batch gets all of it, because more packets than expected may follow. */
		builder->space_bytes =
			packets_space(builder, SROCE_CACHED_PAGE_BYTES - offset, max(left, 1u));
		builder->truesize = SROCE_CACHED_PAGE_BYTES;
	} else {
		offset = BTH_OFFSET;
		builder->space_bytes = packets_space(builder, FRAGMENT_BYTES - offset, packets);
		builder->fragment = alloc_fragment(builder->space_bytes + offset,
						   &builder->truesize);
	}
	if (!builder->fragment)
		return false;
	builder->next = builder->fragment + offset;
	return true;
}

/* Allocate another packet of a list, with headers like those of the first. */
static bool alloc_member(struct sroce_builder *builder, u32 bytes)
{
	const struct sk_buff *first = builder->skb;
	u32 header_bytes = skb_network_header_len(first) + sizeof(struct udphdr);
	u32 headroom = skb_headroom(first) + MEMBER_HEADROOM;
	struct sk_buff *member = alloc_skb(headroom + header_bytes + bytes,
					   GFP_ATOMIC | __GFP_NOWARN);

	if (!member)
		return false;
	skb_reserve(member, headroom);
	skb_reset_network_header(member);
	skb_set_transport_header(member, skb_network_header_len(first));
	skb_put_data(member, skb_network_header(first), header_bytes);
	skb_pull(member, header_bytes);
	member->protocol = first->protocol;
	builder->member = member;
	builder->next = skb_tail_pointer(member);
	builder->space_bytes = bytes;
	return true;
}

static bool add_space(struct sroce_builder *builder, u32 bytes, u32 expected)
{
	return builder->is_list ? alloc_member(builder, bytes) : add_fragment(builder, expected);
}

/**
 * sroce_builder_begin() - reserve space for a packet in the open skb
 * @builder: the builder, with an open skb, see sroce_builder_open() and sroce_builder_can_append()
 * @bytes: size of the packet, from the BTH to the ICRC; at most that of the skb's first packet
 * @expected: number of packets of this size, this one included; a hint
 *
 * Return: where its BTH goes; the packet is part of the batch after sroce_builder_end(). NULL if no
 * memory: then no skb is open, but there may be memory for an skb with a single packet.
 */
u8 *sroce_builder_begin(struct sroce_builder *builder, u32 bytes, u32 expected)
{
	if (bytes > builder->space_bytes && !add_space(builder, bytes, expected)) {
		if (!gso_info_of(builder->skb)->packets)
			kfree_skb(__skb_dequeue_tail(builder->out));
		sroce_builder_close(builder);
		return NULL;
	}
	builder->bytes = bytes;
	return builder->next;
}

/* Sum the pseudo header; segmentation or the device completes the checksum of each packet. */
static void start_checksum(struct sk_buff *skb, u32 udp_bytes)
{
	struct udphdr *uh = udp_hdr(skb);

	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	if (skb->protocol == htons(ETH_P_IP))
		uh->check = ~csum_tcpudp_magic(ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, udp_bytes,
					       IPPROTO_UDP, 0);
	else
		uh->check = ~csum_ipv6_magic(&ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr,
					     udp_bytes, IPPROTO_UDP, 0);
}

/* @skb may be a member of a list: its headers are before skb->data. */
static void finish_udp(struct sk_buff *skb, u32 udp_bytes, bool has_checksum)
{
	udp_hdr(skb)->len = htons(udp_bytes);
	if (has_checksum)
		start_checksum(skb, udp_bytes);
}

/* Taking the list apart sets the IPv4 lengths, identifications and header checksums. */
static void append_member(struct sroce_builder *builder, u32 bytes)
{
	struct sk_buff *skb = builder->skb, *member = builder->member;

	skb_put(member, bytes);
	finish_udp(member, sizeof(struct udphdr) + bytes, gso_info_of(skb)->has_checksum);
	if (skb_has_frag_list(skb))
		builder->last->next = member;
	else
		skb_shinfo(skb)->frag_list = member;
	builder->last = member;
	builder->member = NULL;
	skb->len += bytes;
	skb->data_len += bytes;
	skb->truesize += member->truesize;
}

static void append_packet(struct sroce_builder *builder, u32 bytes)
{
	struct sk_buff *skb = builder->skb;
	struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (builder->member) {
		append_member(builder, bytes);
	} else if (builder->fragment) {
		struct page *page = virt_to_head_page(builder->fragment);

		skb_add_rx_frag(skb, shinfo->nr_frags, page,
				builder->next - (u8 *)page_address(page), bytes, builder->truesize);
		builder->fragment = NULL;
	} else if (shinfo->nr_frags) {
		skb_frag_size_add(&shinfo->frags[shinfo->nr_frags - 1], bytes);
		skb->len += bytes;
		skb->data_len += bytes;
	} else {
		skb_put(skb, bytes);
	}
}

/**
 * sroce_builder_start_crc() - start the CRC of the packet begun, whose headers are written
 * @builder: the builder
 * @ip_id: its IPv4 identification
 * @header_bytes: its headers, from the BTH on
 *
 * Return: the CRC writer for everything behind the headers but the ICRC.
 */
struct sroce_crc_writer *sroce_builder_start_crc(struct sroce_builder *builder, u16 ip_id,
						 u32 header_bytes)
{
	struct sroce_crc_writer *writer = &builder->writer;

	sroce_icrc_prefix(&builder->icrc, ip_id, builder->next, builder->bytes, &builder->prefix);
	writer->to = builder->next + sizeof(struct sroce_bth);
	writer->prefix = &builder->prefix;
	writer->next_segment = NULL;
	builder->header_bytes = header_bytes;
	if (header_bytes > sizeof(struct sroce_bth))
		sroce_crc_advance(writer, header_bytes - sizeof(struct sroce_bth));
	return writer;
}

static void put_icrc(struct sroce_builder *builder)
{
	__le32 icrc = cpu_to_le32(~sroce_crc_finish(&builder->writer));

	memcpy(builder->next + builder->bytes - SROCE_ICRC_BYTES, &icrc, sizeof(icrc));
}

/**
 * sroce_builder_end() - add the ICRC of the packet begun, and the packet to the skb
 * @builder: the builder
 * @ip_id: its IPv4 identification, see sroce_builder_start_crc(); incremented. Unused for IPv6
 */
void sroce_builder_end(struct sroce_builder *builder, u16 *ip_id)
{
	struct gso_info *info = gso_info_of(builder->skb);

	/* Segmentation increments it, beginning with that of the first packet. */
	if (!info->packets && builder->path->is_ipv4)
		ip_hdr(builder->skb)->id = htons(*ip_id);
	(*ip_id)++;
	put_icrc(builder);
	append_packet(builder, builder->bytes);
	info->packets++;
	builder->packets++;
	builder->next += builder->bytes;
	builder->space_bytes -= builder->bytes;
	/* Only the last packet of a batch may be shorter, and a linear skb may be full. */
	if (builder->bytes != builder->packet_bytes ||
	    (!skb_is_nonlinear(builder->skb) && !builder->is_list && !builder->space_bytes))
		sroce_builder_close(builder);
}

/* Write the headers of the packet before, with the next PSN. */
static void begin_repetition(struct sroce_builder *builder)
{
	const u8 *before = builder->next - builder->bytes;
	u32 more_bytes = builder->header_bytes - sizeof(struct sroce_bth);
	__be32 end;

	memcpy(&end, before + sizeof(u64), sizeof(end));
	end = (end & ~htonl(SROCE_PSN_MASK)) | htonl(builder->psn);
	memcpy(builder->next, before, sizeof(u64));
	memcpy(builder->next + sizeof(u64), &end, sizeof(end));
	sroce_icrc_prefix(&builder->icrc, builder->ip_id, builder->next, builder->bytes,
			  &builder->prefix);
	builder->writer.to = builder->next + sizeof(struct sroce_bth);
	builder->writer.prefix = &builder->prefix;
	builder->writer.left = builder->bytes - builder->header_bytes - SROCE_ICRC_BYTES;
	if (!more_bytes)
		return;
	memcpy(builder->writer.to, before + sizeof(struct sroce_bth), more_bytes);
	sroce_crc_advance(&builder->writer, more_bytes);
}

static void end_repetition(struct sroce_crc_writer *writer)
{
	struct sroce_builder *builder = container_of(writer, struct sroce_builder, writer);

	put_icrc(builder);
	builder->next += builder->bytes;
	builder->psn = psn_add(builder->psn, 1);
	builder->ip_id++;
	if (++builder->repeated < builder->repeats)
		begin_repetition(builder);
}

/**
 * sroce_builder_repeat_begin() - reserve space for packets that differ in PSN and payload only
 * @builder: the builder, whose last packet has no pad
 * @count: number of packets wanted
 * @psn: PSN of the first
 * @ip_id: IPv4 identification of the first
 *
 * The caller writes exactly their payload to @builder->writer and calls sroce_builder_repeat_end().
 *
 * Return: the number of packets that fit; may be 0.
 */
u32 sroce_builder_repeat_begin(struct sroce_builder *builder, u32 count, u32 psn, u16 ip_id)
{
	u32 fit;

	/* The first packet of a fragment has none before it to copy the BTH from. */
	if (!builder->skb || builder->fragment || builder->is_list ||
	    !skb_is_nonlinear(builder->skb))
		return 0;
	fit = min(builder->space_bytes, GSO_BYTES_MAX - builder->skb->len) / builder->packet_bytes;
	builder->repeats = min3(count, fit, GSO_PACKETS_MAX - gso_info_of(builder->skb)->packets);
	if (!builder->repeats)
		return 0;
	builder->repeated = 0;
	builder->psn = psn;
	builder->ip_id = ip_id;
	builder->writer.next_segment = end_repetition;
	begin_repetition(builder);
	return builder->repeats;
}

/**
 * sroce_builder_repeat_end() - add the packets of sroce_builder_repeat_begin() to the skb
 * @builder: the builder
 * @ip_id: incremented for each, as by sroce_builder_end()
 */
void sroce_builder_repeat_end(struct sroce_builder *builder, u16 *ip_id)
{
	u32 bytes = builder->repeated * builder->packet_bytes;
	struct sk_buff *skb = builder->skb;

	WARN_ON_ONCE(builder->repeated != builder->repeats);
	skb_frag_size_add(&skb_shinfo(skb)->frags[skb_shinfo(skb)->nr_frags - 1], bytes);
	skb->len += bytes;
	skb->data_len += bytes;
	gso_info_of(skb)->packets += builder->repeated;
	builder->packets += builder->repeated;
	builder->space_bytes -= bytes;
	*ip_id = builder->ip_id;
}

/**
 * sroce_builder_mark() - remember the packets built so far
 * @builder: the builder
 * @mark: filled in
 */
void sroce_builder_mark(const struct sroce_builder *builder, struct sroce_builder_mark *mark)
{
	mark->skbs = skb_queue_len(builder->out);
	mark->skb = builder->skb;
	mark->bytes = builder->skb ? builder->skb->len : 0;
	mark->skb_packets = builder->skb ? gso_info_of(builder->skb)->packets : 0;
	mark->packets = builder->packets;
}

/* Not by pskb_trim(), which may pull the last members into the linear data of the first packet. */
static void trim_list(struct sk_buff *skb, u32 bytes)
{
	struct sk_buff **link = &skb_shinfo(skb)->frag_list, *member, *next;
	u32 kept = skb_headlen(skb);

	for (; *link && kept < bytes; link = &(*link)->next)
		kept += (*link)->len;
	member = *link;
	*link = NULL;
	for (; member; member = next) {
		next = member->next;
		skb->len -= member->len;
		skb->data_len -= member->len;
		skb->truesize -= member->truesize;
		member->next = NULL;
		kfree_skb(member);
	}
}

/**
 * sroce_builder_rewind() - remove the packets built since a mark
 * @builder: the builder
 * @mark: the mark
 */
void sroce_builder_rewind(struct sroce_builder *builder, const struct sroce_builder_mark *mark)
{
	while (skb_queue_len(builder->out) > mark->skbs)
		kfree_skb(__skb_dequeue_tail(builder->out));
	sroce_builder_close(builder);
	builder->packets = mark->packets;
	if (!mark->skb)
		return;
	if (skb_has_frag_list(mark->skb))
		trim_list(mark->skb, mark->bytes);
	else	/* The skb is not shared, so trimming it allocates nothing. */
		WARN_ON_ONCE(pskb_trim(mark->skb, mark->bytes));
	gso_info_of(mark->skb)->packets = mark->skb_packets;
}

static void finish_headers(struct sk_buff *skb)
{
	u32 udp_bytes = skb->len - skb_transport_offset(skb), checked_bytes = udp_bytes;
	struct skb_shared_info *shinfo = skb_shinfo(skb);
	bool is_list = skb_has_frag_list(skb);

	/* The first packet of a list keeps its checksum. */
	if (is_list)
		checked_bytes = sizeof(struct udphdr) + gso_info_of(skb)->packet_bytes;
	finish_udp(skb, checked_bytes, gso_info_of(skb)->has_checksum);
	udp_hdr(skb)->len = htons(udp_bytes);
	if (skb->protocol == htons(ETH_P_IPV6))
		ipv6_hdr(skb)->payload_len = htons(udp_bytes);
	if (gso_info_of(skb)->packets > 1) {
		shinfo->gso_size = gso_info_of(skb)->packet_bytes;
		shinfo->gso_segs = gso_info_of(skb)->packets;
		shinfo->gso_type = SKB_GSO_UDP_L4 | (is_list ? SKB_GSO_FRAGLIST : 0);
	}
}

static int output_skb(struct net *net, struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return ip_local_out(net, skb->sk, skb);
#if IS_ENABLED(CONFIG_IPV6)
	return ip6_local_out(net, skb->sk, skb);
#else
	kfree_skb(skb);
	return -EAFNOSUPPORT;
#endif
}

/**
 * sroce_skb_xmit() - hand an skb to the stack
 * @ep: the endpoint that sends
 * @skb: built here; consumed
 *
 * Softirq or process context, with no work queue lock held. Packets that the stack drops are
 * counted, and are otherwise lost like any others.
 *
 * Return: 0, an errno, NET_XMIT_DROP if a queue was full, or NET_XMIT_CN if it soon will be.
 */
int sroce_skb_xmit(const struct sroce_endpoint *ep, struct sk_buff *skb)
{
	u32 packets = gso_info_of(skb)->packets;
	u32 bytes = skb->len - skb_transport_offset(skb) + (packets - 1) * sizeof(struct udphdr);
	int err, ifindex = gso_info_of(skb)->ifindex;

	if (!ifindex)
		finish_headers(skb);
	/* The control block belongs to the stack from here on. */
	memset(skb->cb, 0, sizeof(skb->cb));
	rcu_read_lock();
	err = ifindex ? sroce_v1_output(ep, skb, ifindex) :
			output_skb(dev_net(skb_dst(skb)->dev), skb);
	rcu_read_unlock();

	if (net_xmit_eval(err)) {
		sroce_count_add(ep->counters, SROCE_CTR_SEND_ERR, packets);
	} else {
		sroce_count_add(ep->counters, SROCE_CTR_SENT_PKTS, packets);
		sroce_count_add(ep->counters, SROCE_CTR_SENT_BYTES, bytes);
	}
	return err;
}
