// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Putting packets together, see run.h.
 *
 * One packet alone is a linear skb. A run has its headers in the linear part and
 * its packets in page fragments, mostly in one, and whole in each, so that both
 * ends find every packet in one piece. The BTH lies at 4 mod 16: then the payload
 * behind a BTH alone is aligned, and stays so from packet to packet.
 */
#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/rtnetlink.h>
#include <net/sch_generic.h>

#include "net/block.h"
#include "net/path.h"
#include "net/run.h"
#include "transport/psn.h"
#include "transport/wire.h"

/* An skb is shorter than 64 KiB, with link, IP and UDP header. */
#define RUN_BYTES_MAX		(65535 - 128)
/* More would not fit into the byte that counts them elsewhere; hardly more are gained. */
#define RUN_PACKETS_MAX		64
/* Fewer are not worth a block. */
#define BLOCK_BYTES_MIN		16384
/* The largest one that is no block. */
#define FRAGMENT_BYTES		32768
#define BTH_ALIGNMENT		16
#define BTH_OFFSET		4
/*
 * Payload begins 12 bytes behind: at 256. It mostly comes from where a page begins, and goes
 * there; a processor that loads waits for a store to the same offset of another page.
 */
#define BTH_OFFSET_BLOCK	(BTH_OFFSET + 240)

/**
 * struct run_info - in the control block of an skb until it is sent
 * @packets: how many it has
 * @packet_bytes: of each, from the BTH to the ICRC
 * @summed: it has a UDP checksum
 */
struct run_info {
	u32	packets;
	u32	packet_bytes;
	bool	summed;
};

/*
 * Devices that hand a run on as it is. Hardware that segments it may not count the IPv4
 * identification up, which the ICRC covers; what lies behind a bridge is not seen.
 */
static bool is_software(const struct net_device *dev)
{
	static const char *const kinds[] = { "veth", "netkit", "dummy", "tun" };
	u32 i;

	if (dev->flags & IFF_LOOPBACK)
		return true;
	for (i = 0; dev->rtnl_link_ops && i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(dev->rtnl_link_ops->kind, kinds[i]))
			return true;
	return false;
}

/* Without UDP segmentation of its own, the stack segments for the device. */
static bool takes_runs(const struct net_device *dev)
{
	netdev_features_t features = dev->features;

	return (features & NETIF_F_GSO) && (!(features & NETIF_F_GSO_UDP_L4) || is_software(dev));
}

/*
 * Once the stack has segmented a run, its packets are in nobody's account any more (see
 * transmit.c). Where there is a queue, it holds runs back while the device has no room, if
 * that says so: hardware does. Where there is none, packets are dropped.
 */
static bool may_overrun(const struct net_device *dev)
{
	return !(dev->features & NETIF_F_GSO_UDP_L4) &&
	       !rcu_dereference(netdev_get_tx_queue(dev, 0)->qdisc)->enqueue;
}

static struct run_info *info_of(const struct sk_buff *skb)
{
	BUILD_BUG_ON(sizeof(struct run_info) > sizeof(skb->cb));
	return (struct run_info *)skb->cb;
}

/**
 * sroce_run_packets() - how many packets are in an skb?
 * @skb: from a run, not sent yet
 *
 * Return: their number.
 */
u32 sroce_run_packets(const struct sk_buff *skb)
{
	return info_of(skb)->packets;
}

/**
 * sroce_run_packet_bytes() - how large are the packets of an skb?
 * @skb: from a run, not sent yet
 *
 * Return: from the BTH to the ICRC; the last may have less.
 */
u32 sroce_run_packet_bytes(const struct sk_buff *skb)
{
	return info_of(skb)->packet_bytes;
}

/**
 * sroce_run_is_summed() - does an skb get a UDP checksum?
 * @skb: from a run, not sent yet
 *
 * Return: whether it does, as all that go where runs may go.
 */
bool sroce_run_is_summed(const struct sk_buff *skb)
{
	return info_of(skb)->summed;
}

/**
 * sroce_run_init() - begin
 * @run: the run
 * @out: where skbs go
 */
void sroce_run_init(struct sroce_run *run, struct sk_buff_head *out)
{
	run->out = out;
	run->skb = NULL;
	run->fragment = NULL;
	run->packets = 0;
	run->rider_bytes = 0;
}

/**
 * sroce_run_close() - no packet joins the open skb any more
 * @run: the run
 */
void sroce_run_close(struct sroce_run *run)
{
	if (run->fragment)
		skb_free_frag(run->fragment);
	run->fragment = NULL;
	run->skb = NULL;
}

/**
 * sroce_run_continues() - can a packet join the open skb?
 * @run: the run
 * @path: where it goes
 * @bytes: of it, from the BTH to the ICRC
 *
 * Return: whether it can; else sroce_run_open() begins another skb.
 */
bool sroce_run_continues(const struct sroce_run *run, const struct sroce_path *path, u32 bytes)
{
	const struct sk_buff *skb = run->skb;

	if (!skb || run->path != path || bytes > run->packet_bytes)
		return false;
	/* Behind one that is alone, what there is room for. */
	if (info_of(skb)->packets && !skb_is_nonlinear(skb))
		return bytes <= run->room_bytes;
	/* A shorter one ends a run; it does not hinder one of its own size. */
	if (bytes < run->packet_bytes && info_of(skb)->packets < 2)
		return false;
	return info_of(skb)->packets < RUN_PACKETS_MAX && skb->len + bytes <= RUN_BYTES_MAX &&
	       (bytes <= run->room_bytes || skb_shinfo(skb)->nr_frags < MAX_SKB_FRAGS);
}

/**
 * sroce_run_open() - begin another skb
 * @run: the run
 * @path: where it goes; stays as long as the run
 * @dst: route; a reference is taken for the skb
 * @tos: TOS or traffic class
 * @bytes: of the first packet, from the BTH to the ICRC
 * @expected: how many packets of this size will follow, at least 1 with the first; a hint.
 *            With 1, none can.
 *
 * Any context but hard interrupts. The skb is open, and has to be given a packet or rewound.
 *
 * Return: 0, -ENOMEM, or -EMSGSIZE when the packet does not fit the route's MTU.
 */
int sroce_run_open(struct sroce_run *run, const struct sroce_path *path, struct dst_entry *dst,
		   u8 tos, u32 bytes, u32 expected)
{
	struct sk_buff *skb;
	u32 linear_bytes = 0;
	bool summed, runs, alone;

	rcu_read_lock();
	summed = takes_runs(dst->dev);
	runs = summed && !may_overrun(dst->dev);
	rcu_read_unlock();
	alone = expected < 2 || !runs;
	if (alone)
		linear_bytes = bytes + (runs && run->rider_bytes <= bytes ? run->rider_bytes : 0);
	skb = sroce_skb_alloc(path, dst, tos, bytes, linear_bytes);
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	sroce_run_close(run);
	run->skb = skb;
	run->path = path;
	run->packet_bytes = bytes;
	run->room_bytes = 0;
	info_of(skb)->packet_bytes = bytes;
	info_of(skb)->packets = 0;
	/* A packet alone without one would overtake, in GRO, those in front of it. */
	info_of(skb)->summed = summed;
	if (alone) {
		run->next = skb_tail_pointer(skb);
		run->room_bytes = linear_bytes;
	}
	sroce_icrc_init(&run->icrc, skb_network_header(skb), udp_hdr(skb));
	__skb_queue_tail(run->out, skb);
	return 0;
}

/* Freed by skb_free_frag(), or with the skb that it becomes part of. */
static void *alloc_fragment(u32 bytes, u32 *truesize)
{
	struct page *pages;

	*truesize = bytes;
	/* Whatever has room in a page shares it with others. */
	if (bytes <= PAGE_SIZE)
		return netdev_alloc_frag_align(bytes, BTH_ALIGNMENT);
	*truesize = PAGE_SIZE << get_order(bytes);
	pages = alloc_pages(GFP_ATOMIC | __GFP_COMP | __GFP_NOWARN | __GFP_NOMEMALLOC,
			    get_order(bytes));
	return pages ? page_address(pages) : NULL;
}

/* How much room for so many packets there is in @most bytes; for one in any case. */
static u32 room_in(const struct sroce_run *run, u32 most, u32 packets)
{
	return run->packet_bytes * clamp(most / run->packet_bytes, 1u, packets);
}

/* Room for as many packets as are expected and fit. */
static bool add_fragment(struct sroce_run *run, u32 expected)
{
	u32 left = min((RUN_BYTES_MAX - run->skb->len) / run->packet_bytes,
		       RUN_PACKETS_MAX - info_of(run->skb)->packets);
	u32 packets = clamp(expected, 1u, max(left, 1u));
	u32 offset = BTH_OFFSET_BLOCK;

	if (run->packet_bytes * packets >= BLOCK_BYTES_MIN)
		run->fragment = sroce_block_get();
	if (run->fragment) {
		/* All of it is the run's; those that follow may be more than expected. */
		run->room_bytes = room_in(run, SROCE_BLOCK_BYTES - offset, max(left, 1u));
		run->truesize = SROCE_BLOCK_BYTES;
	} else {
		offset = BTH_OFFSET;
		run->room_bytes = room_in(run, FRAGMENT_BYTES - offset, packets);
		run->fragment = alloc_fragment(run->room_bytes + offset, &run->truesize);
	}
	if (!run->fragment)
		return false;
	run->next = run->fragment + offset;
	return true;
}

/**
 * sroce_run_begin() - room for a packet in the open skb
 * @run: the run, which has an open skb, see sroce_run_open() and sroce_run_continues()
 * @bytes: of the packet, from the BTH to the ICRC; no more than the first one of the skb has
 * @expected: how many packets of this size will follow, this one included; a hint
 *
 * Return: where its BTH goes; it is not part of the run before sroce_run_end(). NULL for want
 * of memory: then there is no open skb any more, and one for a packet alone may be had.
 */
u8 *sroce_run_begin(struct sroce_run *run, u32 bytes, u32 expected)
{
	if (bytes > run->room_bytes && !add_fragment(run, expected)) {
		if (!info_of(run->skb)->packets)
			kfree_skb(__skb_dequeue_tail(run->out));
		sroce_run_close(run);
		return NULL;
	}
	run->bytes = bytes;
	return run->next;
}

static void take_in(struct sroce_run *run, u32 bytes)
{
	struct sk_buff *skb = run->skb;
	struct skb_shared_info *shinfo = skb_shinfo(skb);

	if (run->fragment) {
		struct page *page = virt_to_head_page(run->fragment);

		skb_add_rx_frag(skb, shinfo->nr_frags, page,
				run->next - (u8 *)page_address(page), bytes, run->truesize);
		run->fragment = NULL;
	} else if (shinfo->nr_frags) {
		skb_frag_size_add(&shinfo->frags[shinfo->nr_frags - 1], bytes);
		skb->len += bytes;
		skb->data_len += bytes;
	} else {
		skb_put(skb, bytes);
	}
}

/**
 * sroce_run_headed() - the headers of the packet begun are written
 * @run: the run
 * @ip_id: the IPv4 identification it will have
 * @header_bytes: all from the BTH on
 *
 * Return: where all that comes behind them but the ICRC is put.
 */
struct sroce_crc_sink *sroce_run_headed(struct sroce_run *run, u16 ip_id, u32 header_bytes)
{
	struct sroce_crc_sink *sink = &run->sink;

	sroce_icrc_head(&run->icrc, ip_id, run->next, run->bytes, &run->head);
	sink->to = run->next + sizeof(struct sroce_bth);
	sink->head = &run->head;
	sink->full = NULL;
	if (header_bytes > sizeof(struct sroce_bth))
		sroce_sink_pass(sink, header_bytes - sizeof(struct sroce_bth));
	return sink;
}

static void put_icrc(struct sroce_run *run)
{
	__le32 icrc = cpu_to_le32(~sroce_sink_end(&run->sink));

	memcpy(run->next + run->bytes - SROCE_ICRC_BYTES, &icrc, sizeof(icrc));
}

/**
 * sroce_run_end() - the packet begun is complete but for its ICRC
 * @run: the run
 * @ip_id: the IPv4 identification it has, see sroce_run_headed(); counted up. IPv6 has none
 */
void sroce_run_end(struct sroce_run *run, u16 *ip_id)
{
	struct run_info *info = info_of(run->skb);

	/* Segmentation will count up from the first one. */
	if (!info->packets && run->path->is_ipv4)
		ip_hdr(run->skb)->id = htons(*ip_id);
	(*ip_id)++;
	put_icrc(run);
	take_in(run, run->bytes);
	info->packets++;
	run->packets++;
	run->next += run->bytes;
	run->room_bytes -= run->bytes;
	/* A linear skb is full; only the last packet of a run may be shorter. */
	if (run->bytes != run->packet_bytes || (!skb_is_nonlinear(run->skb) && !run->room_bytes))
		sroce_run_close(run);
}

/* The header of the packet before, with the next PSN. */
static void begin_repetition(struct sroce_run *run)
{
	const u8 *before = run->next - run->bytes;
	__be32 end;

	memcpy(&end, before + sizeof(u64), sizeof(end));
	end = (end & ~htonl(SROCE_PSN_MASK)) | htonl(run->psn);
	memcpy(run->next, before, sizeof(u64));
	memcpy(run->next + sizeof(u64), &end, sizeof(end));
	sroce_icrc_head(&run->icrc, run->ip_id, run->next, run->bytes, &run->head);
	run->sink.to = run->next + sizeof(struct sroce_bth);
	run->sink.head = &run->head;
	run->sink.left = run->bytes - sizeof(struct sroce_bth) - SROCE_ICRC_BYTES;
}

static void end_repetition(struct sroce_crc_sink *sink)
{
	struct sroce_run *run = container_of(sink, struct sroce_run, sink);

	put_icrc(run);
	run->next += run->bytes;
	run->psn = psn_add(run->psn, 1);
	run->ip_id++;
	if (++run->repeated < run->repeats)
		begin_repetition(run);
}

/**
 * sroce_run_repeat() - room for packets that are as the last one, but for PSN and payload
 * @run: the run; the last packet has a BTH and no other header, and no pad
 * @count: how many are wanted
 * @psn: of the first
 * @ip_id: the IPv4 identification of the first
 *
 * Their payload, and no byte more, is to be put into @run->sink; then sroce_run_repeated().
 *
 * Return: how many there is room for; maybe none.
 */
u32 sroce_run_repeat(struct sroce_run *run, u32 count, u32 psn, u16 ip_id)
{
	u32 fit;

	/* The first packet of a fragment has none in front. */
	if (!run->skb || run->fragment || !skb_is_nonlinear(run->skb))
		return 0;
	fit = min(run->room_bytes, RUN_BYTES_MAX - run->skb->len) / run->packet_bytes;
	run->repeats = min3(count, fit, RUN_PACKETS_MAX - info_of(run->skb)->packets);
	if (!run->repeats)
		return 0;
	run->repeated = 0;
	run->psn = psn;
	run->ip_id = ip_id;
	run->sink.full = end_repetition;
	begin_repetition(run);
	return run->repeats;
}

/**
 * sroce_run_repeated() - the packets of sroce_run_repeat() have their payload
 * @run: the run
 * @ip_id: counted up, as by sroce_run_end() for each
 */
void sroce_run_repeated(struct sroce_run *run, u16 *ip_id)
{
	u32 bytes = run->repeated * run->packet_bytes;
	struct sk_buff *skb = run->skb;

	WARN_ON_ONCE(run->repeated != run->repeats);
	skb_frag_size_add(&skb_shinfo(skb)->frags[skb_shinfo(skb)->nr_frags - 1], bytes);
	skb->len += bytes;
	skb->data_len += bytes;
	info_of(skb)->packets += run->repeated;
	run->packets += run->repeated;
	run->room_bytes -= bytes;
	*ip_id = run->ip_id;
}

/**
 * sroce_run_mark() - remember what the run holds
 * @run: the run
 * @mark: filled in
 */
void sroce_run_mark(const struct sroce_run *run, struct sroce_run_mark *mark)
{
	mark->skbs = skb_queue_len(run->out);
	mark->skb = run->skb;
	mark->bytes = run->skb ? run->skb->len : 0;
	mark->skb_packets = run->skb ? info_of(run->skb)->packets : 0;
	mark->packets = run->packets;
}

/**
 * sroce_run_rewind() - take out what came after a mark
 * @run: the run
 * @mark: the mark
 */
void sroce_run_rewind(struct sroce_run *run, const struct sroce_run_mark *mark)
{
	while (skb_queue_len(run->out) > mark->skbs)
		kfree_skb(__skb_dequeue_tail(run->out));
	sroce_run_close(run);
	run->packets = mark->packets;
	if (!mark->skb)
		return;
	/* Nobody shares it, so that nothing need be allocated. */
	WARN_ON_ONCE(pskb_trim(mark->skb, mark->bytes));
	info_of(mark->skb)->packets = mark->skb_packets;
}
