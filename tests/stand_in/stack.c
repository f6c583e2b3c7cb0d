/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/stack.h"

#include "net/batch_pages.h"

struct stand_in_stack stand_in_stack;

void stand_in_event(const char *name)
{
	u32 bytes = strlen(name) + 1;

	if (stand_in_stack.event_bytes + bytes >= sizeof(stand_in_stack.events))
		return;
	stand_in_stack.events[stand_in_stack.event_bytes] = ' ';
	memcpy(stand_in_stack.events + stand_in_stack.event_bytes + 1, name, bytes - 1);
	stand_in_stack.event_bytes += bytes;
}

void synchronize_net(void)
{
	stand_in_event("grace");
	if (stand_in_stack.grace)
		stand_in_stack.grace();
}

int register_pernet_subsys(struct pernet_operations *ops)
{
	stand_in_stack.pernet = ops;
	return 0;
}

void unregister_pernet_subsys(struct pernet_operations *ops)
{
	WARN_ON(stand_in_stack.pernet != ops);
	stand_in_stack.pernet = NULL;
	stand_in_event("unregister");
}

static int set_option(struct socket *sock, int level, int option, sockptr_t value,
		      unsigned int bytes)
{
	bool on = *(int *)value;

	if (level == SOL_IP) {
		sock->loops = on;
		return 0;
	}
	if (!stand_in_stack.gro_error)
		sock->gro = on;
	return stand_in_stack.gro_error;
}

int udp_sock_create(struct net *net, struct udp_port_cfg *port, struct socket **sock)
{
	static const struct proto_ops ops = { .setsockopt = set_option };
	bool is_ipv4 = port->family == AF_INET;
	struct socket *created = is_ipv4 ? &stand_in_stack.v4 : &stand_in_stack.v6;
	int err = is_ipv4 ? stand_in_stack.v4_error : stand_in_stack.v6_error;

	if (err)
		return err;
	WARN_ON(created->is_open);
	*created = (struct socket){ .ops = &ops, .is_open = true, .loops = true };
	created->sk = &created->own;
	created->own.refs = 1;
	created->own.sk_family = port->family;
	stand_in_stack.port = *port;
	*sock = created;
	return 0;
}

void setup_udp_tunnel_sock(struct net *net, struct sock *sk, struct udp_tunnel_sock_cfg *tunnel)
{
	stand_in_stack.tunnel = *tunnel;
	sk->user_data = tunnel->sk_user_data;
	container_of(sk, struct socket, own)->loops = false;
}

void sock_release(struct socket *sock)
{
	WARN_ON(!sock->is_open);
	sock->is_open = false;
	sock->own.dead = true;
	stand_in_event(sock == &stand_in_stack.v4 ? "close-v4" : "close-v6");
}

/* No receiver finds the user data afterwards. */
void udp_tunnel_sock_release(struct sock *sk)
{
	sk->user_data = NULL;
	sock_release(container_of(sk, struct socket, own));
}

int nf_register_net_hooks(struct net *net, const struct nf_hook_ops *hooks, unsigned int count)
{
	if (stand_in_stack.hook_error)
		return stand_in_stack.hook_error;
	WARN_ON(stand_in_stack.hooks || count != 2);
	stand_in_stack.hooks = hooks;
	return 0;
}

void nf_unregister_net_hooks(struct net *net, const struct nf_hook_ops *hooks, unsigned int count)
{
	WARN_ON(stand_in_stack.hooks != hooks);
	stand_in_stack.hooks = NULL;
	stand_in_event("unhook");
}

struct page *stand_in_pages(u32 bytes)
{
	void *memory = stand_in_fragment(bytes, PAGE_SIZE);

	return memory ? virt_to_head_page(memory) : NULL;
}

void *sroce_batch_page_get(void)
{
	if (!stand_in_stack.batch_pages)
		return NULL;
	stand_in_stack.cached++;
	return stand_in_fragment(SROCE_CACHED_PAGE_BYTES, PAGE_SIZE);
}

void sroce_batch_pages_fini(void)
{
	stand_in_event("cache");
}

/* A packet that the stack drops has been freed when it returns. */
int ip_local_out(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	if (stand_in_stack.xmit_error && stand_in_stack.xmit_error != NET_XMIT_CN)
		kfree_skb(skb);
	else
		__skb_queue_tail(&stand_in_stack.sent, skb);
	return stand_in_stack.xmit_error;
}

int ip6_local_out(struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return ip_local_out(net, sk, skb);
}

int dev_queue_xmit(struct sk_buff *skb)
{
	return ip_local_out(NULL, NULL, skb);
}

int netif_rx(struct sk_buff *skb)
{
	__skb_queue_tail(&stand_in_stack.looped, skb);
	return NET_RX_SUCCESS;
}

int dev_hard_header(struct sk_buff *skb, struct net_device *netdev, u16 type, const void *dmac,
		    const void *smac, u32 bytes)
{
	u8 *header = skb_push(skb, ETH_HLEN);
	__be16 protocol = htons(type);

	memcpy(header, dmac, ETH_ALEN);
	memcpy(header + ETH_ALEN, smac ?: netdev->dev_addr, ETH_ALEN);
	memcpy(header + 2 * ETH_ALEN, &protocol, sizeof(protocol));
	return ETH_HLEN;
}

void dev_add_pack(struct packet_type *type)
{
	WARN_ON(stand_in_stack.frames);
	stand_in_stack.frames = type;
}

void dev_remove_pack(struct packet_type *type)
{
	WARN_ON(stand_in_stack.frames != type);
	stand_in_stack.frames = NULL;
	stand_in_event("frames");
}

void ip6_flow_hdr(struct ipv6hdr *header, unsigned int tclass, __be32 label)
{
	__be32 first = htonl(0x60000000 | tclass << 20) | label;

	memcpy(header, &first, sizeof(first));
}

static u32 sum_words(const void *data, u32 bytes, u32 sum)
{
	const u8 *at = data;

	for (; bytes; bytes -= 2, at += 2)
		sum += at[0] << 8 | at[1];
	return sum;
}

static __sum16 fold(u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (__sum16)htons((u16)~(sum + (sum >> 16)));
}

__sum16 csum_tcpudp_magic(__be32 saddr, __be32 daddr, u32 bytes, u8 protocol, u32 sum)
{
	sum += bytes + protocol;
	return fold(sum_words(&daddr, sizeof(daddr), sum_words(&saddr, sizeof(saddr), sum)));
}

__sum16 csum_ipv6_magic(const struct in6_addr *saddr, const struct in6_addr *daddr, u32 bytes,
			u8 protocol, u32 sum)
{
	sum += bytes + protocol;
	return fold(sum_words(daddr, sizeof(*daddr), sum_words(saddr, sizeof(*saddr), sum)));
}
