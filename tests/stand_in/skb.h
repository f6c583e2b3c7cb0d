/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Socket buffers with headroom, linear data and fragments, each in memory of exactly its size. */
#ifndef STAND_IN_SKB_H
#define STAND_IN_SKB_H

#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include_next <linux/udp.h>

#include "stand_in/sync.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_SKB_FRAGS	17
#define CSUM_MANGLED_0	((__sum16)0xffff)
#ifndef htons
#define htons(x)	cpu_to_be16(x)
#define ntohs(x)	be16_to_cpu(x)
#define htonl(x)	cpu_to_be32(x)
#endif

/**
 * struct page - memory of one fragment
 * @address: of its first byte
 * @is_highmem: it has no address in the kernel
 * @next: another of stand_in_fragment()
 * @bytes: size, of stand_in_fragment()
 * @refs: references, where they are counted
 */
struct page {
	u8	*address;
	bool	is_highmem;
	struct page *next;
	u32	bytes;
	int	refs;
};

typedef struct {
	struct page *page;
	u32	offset;
	u32	size;
} skb_frag_t;

struct skb_shared_info {
	struct sk_buff *frag_list;
	u8	flags;
	u16	gso_size;
	u16	gso_segs;
	u32	gso_type;
	void	*destructor_arg;
	u32	nr_frags;
	skb_frag_t frags[MAX_SKB_FRAGS];
};

/**
 * struct sk_buff - a packet, or many
 * @next: in a queue, or in a fragment list
 * @list: of the skbs that GRO keeps
 * @head: memory of headroom and linear data
 * @end: its end
 * @data: first byte
 * @len: bytes, with those of fragments and the fragment list
 * @data_len: bytes of fragments and the fragment list
 * @truesize: memory that it uses
 * @priority: for qdisc and VLAN
 * @dev: the interface that it came in on
 * @network: its IP header; NULL for none
 * @transport: its UDP header; NULL for none
 * @mac: its Ethernet header; NULL for none
 * @hash: of its flow
 * @pkt_type: PACKET_*
 * @dst: its route, with a reference, or NULL
 * @sk: the socket that owns it
 * @destructor: called when it is freed
 * @delivery_ns: when it departs, 0 for at once
 * @iif: index of the interface that IPv6 names as the one it came in on
 * @protocol: ETH_P_IP, ETH_P_IPV6 or ETH_P_IBOE
 * @ip_summed: CHECKSUM_*
 * @csum_level: how many more checksums the interface has verified
 * @encapsulation: the packet is in a tunnel
 * @csum_start: offset from @head where a checksum begins
 * @csum_offset: where it is put, from there
 * @shared_data: skb_unclone() has not been called yet
 * @cb: of the owner
 * @shared: its fragments
 */
struct sk_buff {
	struct sk_buff *next;
	struct list_head list;
	u8	*head, *end;
	u8	*data;
	u32	len;
	u32	data_len;
	u32	truesize;
	u32	priority;
	struct net_device *dev;
	u8	*network;
	u8	*transport;
	u8	*mac;
	u32	hash;
	u32	sender_cpu;
	u8	pkt_type;
	struct dst_entry *dst;
	struct sock *sk;
	void	(*destructor)(struct sk_buff *skb);
	u64	delivery_ns;
	int	iif;
	__be16	protocol;
	u8	ip_summed;
	u8	csum_level;
	bool	encapsulation;
	u16	csum_start;
	u16	csum_offset;
	bool	shared_data;
	char	cb[48] __attribute__((aligned(8)));
	struct skb_shared_info shared;
};

struct sk_buff_head {
	struct sk_buff *first;
	u32	qlen;
};

struct skb_seq_state {
	const struct sk_buff *skb;
	u32	from;
	u32	to;
};

#define skb_shinfo(skb)			(&(skb)->shared)
#define skb_headlen(skb)		((skb)->len - (skb)->data_len)
#define skb_has_frag_list(skb)		((skb)->shared.frag_list)
#define skb_is_nonlinear(skb)		((skb)->data_len)
#define skb_frag_size(frag)		((frag)->size)
#define skb_frag_off(frag)		((frag)->offset)
#define skb_frag_page(frag)		((frag)->page)
#define PageHighMem(page)		((page)->is_highmem)
#define page_address(page)		((page)->address)
#define skb_network_header(skb)		((skb)->network)
#define skb_network_header_len(skb)	((u32)((skb)->transport - (skb)->network))
#define skb_network_offset(skb)		((int)((skb)->network - (skb)->data))
#define skb_transport_header(skb)	((skb)->transport)
#define skb_transport_offset(skb)	((int)((skb)->transport - (skb)->data))
#define skb_set_transport_header(skb, offset)	((skb)->transport = (skb)->data + (offset))
#define skb_reset_transport_header(skb)	((skb)->transport = (skb)->data)
#define skb_reset_network_header(skb)	((skb)->network = (skb)->data)
#define skb_reset_mac_header(skb)	((skb)->mac = (skb)->data)
#define skb_set_hash(skb, value, type)	((skb)->hash = (value))
#define PKT_HASH_TYPE_L4		3
#define pskb_may_pull(skb, bytes)	((bytes) <= skb_headlen(skb))
#define skb_share_check(skb, gfp)	(skb)
#define skb_headroom(skb)		((u32)((skb)->data - (skb)->head))
#define skb_tail_pointer(skb)		((skb)->data + skb_headlen(skb))
#define skb_tailroom(skb)		((int)((skb)->end - skb_tail_pointer(skb)))
#define skb_trim(skb, bytes)		((void)pskb_trim(skb, bytes))
#define skb_is_gso(skb)			((skb)->shared.gso_size)
#define skb_frag_size_add(frag, bytes)	((frag)->size += (bytes))
#define skb_dst(skb)			((skb)->dst)
#define skb_dst_set(skb, route)		((skb)->dst = (route))
#define skb_set_delivery_time(skb, ns, clock)	((skb)->delivery_ns = (ns))
#define ip_hdr(skb)			((struct iphdr *)(skb)->network)
#define ipv6_hdr(skb)			((struct ipv6hdr *)(skb)->network)
#define udp_hdr(skb)			((struct udphdr *)(skb)->transport)
#define ip_hdrlen(skb)			(ip_hdr(skb)->ihl * 4u)
#define nf_reset_ct(skb)		((void)(skb))

static inline void skb_orphan(struct sk_buff *skb)
{
	if (skb->destructor)
		skb->destructor(skb);
	skb->destructor = NULL;
}

#define consume_skb(skb)		kfree_skb(skb)
#define napi_consume_skb(skb, budget)	kfree_skb(skb)
#define prefetch(address)		__builtin_prefetch(address)

struct sk_buff *alloc_skb(u32 bytes, gfp_t gfp);
void kfree_skb(struct sk_buff *skb);
struct sk_buff *skb_clone(const struct sk_buff *skb, gfp_t gfp);
void *skb_put(struct sk_buff *skb, u32 bytes);
void skb_put_data(struct sk_buff *skb, const void *data, u32 bytes);
void skb_reserve(struct sk_buff *skb, u32 bytes);
void *skb_push(struct sk_buff *skb, u32 bytes);
void __skb_pull(struct sk_buff *skb, u32 bytes);
#define skb_pull(skb, bytes)		__skb_pull(skb, bytes)
void skb_dst_drop(struct sk_buff *skb);
int skb_unclone(struct sk_buff *skb, gfp_t gfp);
void skb_add_rx_frag(struct sk_buff *skb, u32 i, struct page *page, u32 offset, u32 bytes,
		     u32 truesize);
int pskb_trim(struct sk_buff *skb, u32 bytes);
int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int bytes);
const void *skb_header_pointer(const struct sk_buff *skb, int offset, int bytes, void *copy);
void skb_prepare_seq_read(struct sk_buff *skb, u32 from, u32 to, struct skb_seq_state *state);
u32 skb_seq_read(u32 consumed, const u8 **data, struct skb_seq_state *state);
void ip_send_check(struct iphdr *iph);

void __skb_queue_head_init(struct sk_buff_head *queue);
void __skb_queue_tail(struct sk_buff_head *queue, struct sk_buff *skb);
struct sk_buff *__skb_dequeue(struct sk_buff_head *queue);
struct sk_buff *__skb_dequeue_tail(struct sk_buff_head *queue);
struct sk_buff *skb_peek_tail(const struct sk_buff_head *queue);
void skb_queue_splice_init(struct sk_buff_head *from, struct sk_buff_head *to);
void __skb_queue_purge(struct sk_buff_head *queue);
#define skb_queue_empty(queue)		(!(queue)->first)
#define skb_queue_len(queue)		((queue)->qlen)
#define skb_peek(queue)			((queue)->first)
#define skb_queue_walk(queue, skb)	\
	for ((skb) = (queue)->first; (skb); (skb) = (skb)->next)

/* Memory of fragments: virt_to_head_page() finds the page of an address in it. */
void *stand_in_fragment(u32 bytes, u32 alignment);
struct page *virt_to_head_page(const void *address);
void skb_free_frag(void *address);
#define netdev_alloc_frag_align(bytes, alignment)	stand_in_fragment(bytes, alignment)

#ifdef __cplusplus
}
#endif

#endif
