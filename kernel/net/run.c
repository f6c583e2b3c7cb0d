// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Putting packets together, see run.h.
 *
 * One packet alone is a linear skb. A run has its headers in the linear part and
 * its packets in page fragments, each of which holds whole packets, so that both
 * ends find every packet in one piece. The BTH lies at 4 mod 16: then the payload
 * behind a BTH alone is aligned, and stays so from packet to packet.
 */
#include <linux/err.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/rtnetlink.h>

#include "net/path.h"
#include "net/run.h"
#include "transport/wire.h"

/* An skb is shorter than 64 KiB, with link, IP and UDP header. */
#define RUN_BYTES_MAX		(65535 - 128)
/* More would not fit into the byte that counts them elsewhere; hardly more are gained. */
#define RUN_PACKETS_MAX		64
#define FRAGMENT_BYTES		32768
#define BTH_ALIGNMENT		16
#define BTH_OFFSET		4

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

/* No packet joins the open skb any more. */
static void close(struct sroce_run *run)
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
	bool runs, alone;

	rcu_read_lock();
	runs = takes_runs(dst->dev);
	rcu_read_unlock();
	alone = expected < 2 || !runs;
	if (alone)
		linear_bytes = bytes + (runs && run->rider_bytes <= bytes ? run->rider_bytes : 0);
	skb = sroce_skb_alloc(path, dst, tos, bytes, linear_bytes);
	if (IS_ERR(skb))
		return PTR_ERR(skb);
	close(run);
	run->skb = skb;
	run->path = path;
	run->packet_bytes = bytes;
	run->room_bytes = 0;
	info_of(skb)->packet_bytes = bytes;
	info_of(skb)->packets = 0;
	/* A packet alone without one would overtake, in GRO, the run in front of it. */
	info_of(skb)->summed = runs;
	if (alone) {
		run->next = skb_tail_pointer(skb);
		run->room_bytes = linear_bytes;
	}
	sroce_icrc_init(&run->icrc, skb_network_header(skb), skb_network_header_len(skb),
			udp_hdr(skb));
	__skb_queue_tail(run->out, skb);
	return 0;
}

/* Freed by skb_free_frag(), or with the skb that it becomes part of. */
static void *alloc_fragment(u32 bytes)
{
	struct page *pages;

	/* Whatever has room in a page shares it with others. */
	if (bytes <= PAGE_SIZE)
		return netdev_alloc_frag_align(bytes, BTH_ALIGNMENT);
	pages = alloc_pages(GFP_ATOMIC | __GFP_COMP | __GFP_NOWARN | __GFP_NOMEMALLOC,
			    get_order(bytes));
	return pages ? page_address(pages) : NULL;
}

/* Room for as many packets as are expected and fit. */
static bool add_fragment(struct sroce_run *run, u32 bytes, u32 expected)
{
	struct sk_buff *skb = run->skb;
	u32 fit = (FRAGMENT_BYTES - BTH_OFFSET) / run->packet_bytes;
	u32 left = (RUN_BYTES_MAX - skb->len) / run->packet_bytes;
	u32 want = max(bytes, run->packet_bytes * min3(max(expected, 1u), fit, left));
	u8 *at = alloc_fragment(want + BTH_OFFSET);

	if (!at)
		return false;
	run->fragment = at;
	run->next = at + BTH_OFFSET;
	run->room_bytes = want;
	return true;
}

/**
 * sroce_run_begin() - room for a packet in the open skb
 * @run: the run, which has an open skb, see sroce_run_open() and sroce_run_continues()
 * @bytes: of the packet, from the BTH to the ICRC
 * @expected: how many packets of this size will follow, this one included; a hint
 *
 * Return: where its BTH goes; it is not part of the run before sroce_run_end(). NULL for want
 * of memory: then there is no open skb any more, and one for a packet alone may be had.
 */
u8 *sroce_run_begin(struct sroce_run *run, u32 bytes, u32 expected)
{
	if (bytes > run->room_bytes && !add_fragment(run, bytes, expected)) {
		if (!info_of(run->skb)->packets)
			kfree_skb(__skb_dequeue_tail(run->out));
		close(run);
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
				run->next - (u8 *)page_address(page), bytes, run->room_bytes);
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
 * sroce_run_end() - the packet begun is complete but for its ICRC
 * @run: the run
 * @ip_id: the IPv4 identification to use, counted up; IPv6 has none
 */
void sroce_run_end(struct sroce_run *run, u16 *ip_id)
{
	struct run_info *info = info_of(run->skb);
	__le32 icrc;

	/* Segmentation will count up from the first one. */
	if (!info->packets && run->path->is_ipv4)
		ip_hdr(run->skb)->id = htons(*ip_id);
	icrc = sroce_icrc_of(&run->icrc, (*ip_id)++, run->next, run->bytes);
	memcpy(run->next + run->bytes - SROCE_ICRC_BYTES, &icrc, sizeof(icrc));
	take_in(run, run->bytes);
	info->packets++;
	run->packets++;
	run->next += run->bytes;
	run->room_bytes -= run->bytes;
	/* A linear skb is full; only the last packet of a run may be shorter. */
	if (run->bytes != run->packet_bytes || (!skb_is_nonlinear(run->skb) && !run->room_bytes))
		close(run);
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
	close(run);
	run->packets = mark->packets;
	if (!mark->skb)
		return;
	/* Nobody shares it, so that nothing need be allocated. */
	WARN_ON_ONCE(pskb_trim(mark->skb, mark->bytes));
	info_of(mark->skb)->packets = mark->skb_packets;
}
