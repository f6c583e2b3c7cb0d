/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sockets, network namespaces, netfilter, and the way out of the stack. */
#ifndef STAND_IN_STACK_H
#define STAND_IN_STACK_H

#include <limits.h>
#include <linux/if_ether.h>

#include "stand_in/route.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AF_INET		2
#define AF_INET6	10
#define SOL_IP		0
#define SOL_UDP		17

typedef void *sockptr_t;
#define KERNEL_SOCKPTR(pointer)	(pointer)

struct socket;

struct proto_ops {
	int	(*setsockopt)(struct socket *sock, int level, int option, sockptr_t value,
			      unsigned int bytes);
};

struct sock {
	void	*user_data;
	u8	sk_family;
	bool	dead;
	int	refs;
};

struct socket {
	struct sock *sk;
	const struct proto_ops *ops;
	bool	is_open;
	bool	gro;
	bool	loops;
	struct sock own;
};

#define SOCK_DEAD				0
#define sock_flag(sk, flag)			((void)(flag), (sk)->dead)
#define sock_hold(sk)				((void)(sk)->refs++)
#define rcu_dereference_sk_user_data(sk)	((sk)->user_data)

struct udp_port_cfg {
	u8	family;
	bool	ipv6_v6only;
	__be16	local_udp_port;
};

struct udp_tunnel_sock_cfg {
	void	*sk_user_data;
	u8	encap_type;
	int	(*encap_rcv)(struct sock *sk, struct sk_buff *skb);
	struct sk_buff *(*gro_receive)(struct sock *sk, struct list_head *batches,
				       struct sk_buff *skb);
};

struct pernet_operations {
	void	(*exit)(struct net *net);
	unsigned int *id;
	size_t	size;
};

struct packet_type {
	__be16	type;
	struct net_device *dev;
	int	(*func)(struct sk_buff *skb, struct net_device *netdev, struct packet_type *type,
			struct net_device *orig);
};

#define PACKET_HOST		0
#define PACKET_BROADCAST	1
#define PACKET_MULTICAST	2
#define PACKET_OTHERHOST	3
#define PACKET_LOOPBACK		5
#define NET_RX_SUCCESS		0
#define NET_RX_DROP		1

struct nf_hook_state {
	u8	pf;
};

struct nf_hook_ops {
	unsigned int (*hook)(void *priv, struct sk_buff *skb, const struct nf_hook_state *state);
	u8	pf;
	unsigned int hooknum;
	int	priority;
};

enum { NFPROTO_IPV4 = 2, NFPROTO_IPV6 = 10, NF_INET_LOCAL_IN = 1, NF_ACCEPT = 1 };

/**
 * struct stand_in_stack - what a test tells these functions, and what they tell it
 * @events: names of the calls that end something, in their order, each behind a space
 * @event_bytes: their length
 * @grace: called by synchronize_net()
 * @v4: the IPv4 socket, if it is open
 * @v6: the same for IPv6
 * @v4_error: from udp_sock_create()
 * @v6_error: the same for IPv6
 * @gro_error: from setting UDP_GRO
 * @tunnel: of the last socket
 * @port: of the last socket, from udp_sock_create()
 * @pernet: registered
 * @hooks: registered: the first, of two
 * @hook_error: from nf_register_net_hooks()
 * @xmit_error: from ip_local_out() and ip6_local_out()
 * @sent: skbs that have been handed to them
 * @frames: registered for frames of a type, or NULL
 * @looped: skbs that have been handed to netif_rx()
 * @batch_pages: sroce_batch_page_get() has a page
 * @cached: pages taken from there
 */
struct stand_in_stack {
	char	events[256];
	u32	event_bytes;
	void	(*grace)(void);
	struct socket v4;
	struct socket v6;
	int	v4_error;
	int	v6_error;
	int	gro_error;
	struct udp_tunnel_sock_cfg tunnel;
	struct udp_port_cfg port;
	const struct pernet_operations *pernet;
	const struct nf_hook_ops *hooks;
	int	hook_error;
	int	xmit_error;
	struct sk_buff_head sent;
	const struct packet_type *frames;
	struct sk_buff_head looped;
	bool	batch_pages;
	u32	cached;
};

extern struct stand_in_stack stand_in_stack;

void stand_in_event(const char *name);
void synchronize_net(void);
#define rcu_dereference_protected(pointer, condition) ({			\
	WARN_ON(!(condition));							\
	(pointer);								\
})
#define rcu_assign_pointer(pointer, value)	((pointer) = (value))
#define lockdep_is_held(mutex)	((mutex)->lock.locked)
#define rcu_barrier()		stand_in_event("barrier")
#define __net_exit
#define __read_mostly
#define net_generic(net, id)	((void)(id), (net)->generic)
int register_pernet_subsys(struct pernet_operations *ops);
void unregister_pernet_subsys(struct pernet_operations *ops);

int udp_sock_create(struct net *net, struct udp_port_cfg *port, struct socket **sock);
void setup_udp_tunnel_sock(struct net *net, struct sock *sk, struct udp_tunnel_sock_cfg *tunnel);
void udp_tunnel_sock_release(struct sock *sk);
void sock_release(struct socket *sock);

int nf_register_net_hooks(struct net *net, const struct nf_hook_ops *hooks, unsigned int count);
void nf_unregister_net_hooks(struct net *net, const struct nf_hook_ops *hooks,
			     unsigned int count);
#define inet6_iif(skb)		((skb)->iif)

/* ECN. */
#define INET_ECN_ECT_0		2
#define INET_ECN_MASK		3
#define INET_ECN_is_ce(tos)	(((tos) & INET_ECN_MASK) == INET_ECN_MASK)
#define ipv6_get_dsfield(ip6h)	((u8)(be16_to_cpu(*(const __be16 *)(ip6h)) >> 4))

/* Sending. */
#define IP_DF			0x4000
#define SKB_CLOCK_MONOTONIC	1
#define NETIF_F_GSO		1u
#define NETIF_F_GSO_UDP_L4	2u
#define NETIF_F_GSO_FRAGLIST	4u
#define SKB_GSO_UDP_L4		1u
#define SKB_GSO_FRAGLIST	2u
#define SKB_GSO_UDP_TUNNEL_CSUM	4u
#define CHECKSUM_NONE		0
#define CHECKSUM_UNNECESSARY	1
#define CHECKSUM_COMPLETE	2
#define CHECKSUM_PARTIAL	3
#define NET_XMIT_DROP		1
#define NET_XMIT_CN		2
#define net_xmit_eval(result)	((result) == NET_XMIT_CN ? 0 : (result))
#define alloc_pages(gfp, order)						\
	((void)(gfp), stand_in_pages(PAGE_SIZE << (order)))

struct page *stand_in_pages(u32 bytes);
void dev_add_pack(struct packet_type *type);
void dev_remove_pack(struct packet_type *type);
int dev_hard_header(struct sk_buff *skb, struct net_device *netdev, u16 type, const void *dmac,
		    const void *smac, u32 bytes);
int dev_queue_xmit(struct sk_buff *skb);
int netif_rx(struct sk_buff *skb);
int ip_local_out(struct net *net, struct sock *sk, struct sk_buff *skb);
int ip6_local_out(struct net *net, struct sock *sk, struct sk_buff *skb);
void ip6_flow_hdr(struct ipv6hdr *header, unsigned int tclass, __be32 label);
__sum16 csum_tcpudp_magic(__be32 saddr, __be32 daddr, u32 bytes, u8 protocol, u32 sum);
__sum16 csum_ipv6_magic(const struct in6_addr *saddr, const struct in6_addr *daddr, u32 bytes,
			u8 protocol, u32 sum);

#ifdef __cplusplus
}
#endif

#endif
