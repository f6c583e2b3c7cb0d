// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Endpoints and the sockets they share.
 *
 * References:
 *
 *   endpoint --counted--> struct sroce_sockets <--pointer-- struct net
 *      |                        |
 *      +--reference--> netdev   +--> UDP sockets (hold no reference to the net)
 *
 * The sockets are closed with the last endpoint, or with the namespace if that ends first. A netdev
 * that moved to another namespace keeps its endpoint until the device has been unregistered, which
 * is asynchronous. The struct then stays, without sockets, for the endpoints that point to it. But
 * their QPs have no routes any more, because a route must be gone before its namespace.
 *
 * sockets_mutex serialises writers; readers use RCU.
 */
#include <linux/hashtable.h>
#include <linux/if_vlan.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/rtnetlink.h>

#include "compat/compat.h"
#include "net/batch_pages.h"
#include "net/endpoint.h"
#include "net/membership.h"
#include "net/roce_v1.h"
#include "net/sockets.h"
#include "transport/wire.h"

/* The part of a namespace that is ours. */
struct sroce_net {
	struct sroce_sockets __rcu *sockets;
};

sroce_receive_fn sroce_receive_hook __read_mostly;
static sroce_release_routes_fn release_routes_hook __read_mostly;

static unsigned int sroce_net_id __read_mostly;
static DEFINE_MUTEX(sockets_mutex);

static struct sroce_sockets *sockets_of(const struct sroce_net *sn)
{
	return rcu_dereference_protected(sn->sockets, lockdep_is_held(&sockets_mutex));
}

static void close_socket(struct socket *sock)
{
	if (sock)
		udp_tunnel_sock_release(sock->sk);
}

static void close_sockets(struct sroce_sockets *sockets, struct net *net)
{
	close_socket(sockets->v4);
	close_socket(sockets->v6);
	sockets->v4 = NULL;
	sockets->v6 = NULL;
	sroce_gro_stop(net);
}

/*
 * QPs of this host receive what it sends to their group. setup_udp_tunnel_sock() has disabled this
 * for IPv4.
 */
static void loop_multicast(struct socket *sock, const struct udp_port_cfg *port)
{
	int on = 1;

	if (port->family == AF_INET)
		WARN_ON_ONCE(sock->ops->setsockopt(sock, SOL_IP, IP_MULTICAST_LOOP,
						   KERNEL_SOCKPTR(&on), sizeof(on)));
}

static int open_socket(struct sroce_sockets *sockets, struct udp_port_cfg *port,
		       struct socket **sock)
{
	struct udp_tunnel_sock_cfg tunnel = {
		.sk_user_data = sockets,
		.encap_type = 1,
		.encap_rcv = sroce_udp_receive,
		.gro_receive = sroce_gro_receive,
	};
	int err;

	/* Without checksum flags, UDP checksum 0 is sent and accepted, over IPv6 too. */
	port->local_udp_port = htons(SROCE_UDP_PORT);
	err = udp_sock_create(sockets->net, port, sock);
	if (err)
		return err;
	err = sroce_gro_enable(*sock);
	if (err) {
		sock_release(*sock);
		*sock = NULL;
		return err;
	}
	setup_udp_tunnel_sock(sockets->net, (*sock)->sk, &tunnel);
	loop_multicast(*sock, port);
	return 0;
}

static int open_sockets(struct sroce_sockets *sockets)
{
	struct udp_port_cfg v4 = { .family = AF_INET };
	struct udp_port_cfg v6 = { .family = AF_INET6, .ipv6_v6only = true };
	int err;

	err = sroce_gro_start(sockets->net);
	if (err)
		return err;
	err = open_socket(sockets, &v4, &sockets->v4);
	if (!err)
		err = open_socket(sockets, &v6, &sockets->v6);
	/* IPv6 may be compiled out or disabled. */
	if (sockets->v4 && (err == -EAFNOSUPPORT || err == -EPFNOSUPPORT))
		err = 0;
	if (err)
		close_sockets(sockets, sockets->net);
	return err;
}

/* Sockets that a worker opens, and the result. */
struct opening {
	struct work_struct work;
	struct sroce_sockets *sockets;
	int err;
};

static void open_in_worker(struct work_struct *work)
{
	struct opening *opening = container_of(work, struct opening, work);

	opening->err = open_sockets(opening->sockets);
}

/*
 * A socket belongs to the cgroup of the process that opens it. Egress programs of that cgroup see
 * all that the devices of the namespace send. The process may be udevd, which systemd lets send
 * nothing. A worker is in the root cgroup.
 */
static int open_in_root_cgroup(struct sroce_sockets *sockets)
{
	struct opening opening = { .sockets = sockets };

	INIT_WORK_ONSTACK(&opening.work, open_in_worker);
	schedule_work(&opening.work);
	flush_work(&opening.work);
	destroy_work_on_stack(&opening.work);
	return opening.err;
}

static struct sroce_sockets *create_sockets(struct net *net)
{
	struct sroce_sockets *sockets = kzalloc(sizeof(*sockets), GFP_KERNEL);
	int err;

	if (!sockets)
		return ERR_PTR(-ENOMEM);
	sockets->net = net;
	hash_init(sockets->addresses);
	hash_init(sockets->endpoints);
	err = open_in_root_cgroup(sockets);
	if (err) {
		kfree_rcu(sockets, rcu);
		return ERR_PTR(err);
	}
	return sockets;
}

/* Add @ep to the sockets of @net, which are opened for the first endpoint. */
static int join_sockets(struct sroce_endpoint *ep, struct net *net)
{
	struct sroce_net *sn = net_generic(net, sroce_net_id);
	struct sroce_sockets *sockets;
	int err = 0;

	mutex_lock(&sockets_mutex);
	sockets = sockets_of(sn);
	if (!sockets) {
		sockets = create_sockets(net);
		if (IS_ERR(sockets)) {
			err = PTR_ERR(sockets);
			goto unlock;
		}
		rcu_assign_pointer(sn->sockets, sockets);
	}
	sockets->users++;
	ep->sockets = sockets;
	hash_add_rcu(sockets->endpoints, &ep->node, (unsigned long)ep->netdev);
unlock:
	mutex_unlock(&sockets_mutex);
	return err;
}

static void remove_address(struct sroce_own_address *address)
{
	hash_del_rcu(&address->node);
	kfree_rcu(address, rcu);
}

static void leave_sockets(struct sroce_endpoint *ep)
{
	struct sroce_sockets *sockets = ep->sockets;
	struct sroce_own_address *address;
	struct hlist_node *next;
	int bucket;

	mutex_lock(&sockets_mutex);
	hash_del_rcu(&ep->node);
	hash_for_each_safe(sockets->addresses, bucket, next, address, node)
		if (address->ep == ep)
			remove_address(address);
	if (!--sockets->users) {
		if (sockets->net) {
			struct sroce_net *sn = net_generic(sockets->net, sroce_net_id);

			RCU_INIT_POINTER(sn->sockets, NULL);
			close_sockets(sockets, sockets->net);
		}
		kfree_rcu(sockets, rcu);
	}
	mutex_unlock(&sockets_mutex);
}

/*
 * The endpoints that are left will be unregistered, but perhaps later, because that is queued work.
 * Freeing a route takes data of the namespace, and IPv6 ends after this module.
 */
static void end_sockets(struct sroce_sockets *sockets, struct net *net)
{
	struct sroce_endpoint *ep;
	int bucket;

	WRITE_ONCE(sockets->net, NULL);
	/* Routes that were looked up before are in a QP now; no others will be. */
	synchronize_net();
	hash_for_each(sockets->endpoints, bucket, ep, node)
		release_routes_hook(ep);
	/* A run that had a route from its QP has passed its packets on. */
	synchronize_net();
	close_sockets(sockets, net);
}

static void __net_exit exit_net(struct net *net)
{
	struct sroce_net *sn = net_generic(net, sroce_net_id);

	mutex_lock(&sockets_mutex);
	if (sockets_of(sn)) {
		end_sockets(sockets_of(sn), net);
		RCU_INIT_POINTER(sn->sockets, NULL);
	}
	mutex_unlock(&sockets_mutex);
}

static struct pernet_operations net_ops = {
	.exit = exit_net,
	.id = &sroce_net_id,
	.size = sizeof(struct sroce_net),
};

/**
 * sroce_net_init() - register with network namespaces; no socket is open yet
 * @receive: handles received packets
 * @release_routes: called for an endpoint whose namespace ends
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int sroce_net_init(sroce_receive_fn receive, sroce_release_routes_fn release_routes)
{
	int err;

	sroce_receive_hook = receive;
	release_routes_hook = release_routes;
	err = register_pernet_subsys(&net_ops);
	if (!err)
		sroce_v1_init();
	return err;
}

/**
 * sroce_net_fini() - undo sroce_net_init()
 *
 * May sleep. No endpoint may be left. Afterwards no code of this module runs for a received
 * packet, and no page is kept for batches.
 */
void sroce_net_fini(void)
{
	sroce_v1_fini();
	unregister_pernet_subsys(&net_ops);
	/* A receiver may have looked up its socket before it was closed. */
	synchronize_net();
	rcu_barrier();
	sroce_batch_pages_fini();
}

/**
 * sroce_sockets_of() - the sockets of a namespace
 * @net: the namespace
 *
 * Called under rcu_read_lock(), which keeps the result alive.
 *
 * Return: the sockets, or NULL: it has no endpoint.
 */
struct sroce_sockets *sroce_sockets_of(struct net *net)
{
	const struct sroce_net *sn = net_generic(net, sroce_net_id);

	return rcu_dereference(sn->sockets);
}

/**
 * sroce_endpoint_init() - open a netdev for RoCE
 * @ep: zeroed
 * @netdev: the interface; takes a reference
 * @net: namespace that @netdev was found in; the caller has a reference. If @netdev has moved
 *	since, the caller must find out.
 *
 * May sleep. Packets may be received from here on.
 *
 * Return: 0, -EADDRINUSE if another socket in the namespace has the UDP port, or another errno.
 */
int sroce_endpoint_init(struct sroce_endpoint *ep, struct net_device *netdev, struct net *net)
{
	int err;

	ep->counters = alloc_percpu(struct sroce_counters);
	if (!ep->counters)
		return -ENOMEM;
	ep->netdev = netdev;
	netdev_hold(netdev, &ep->tracker, GFP_KERNEL);
	err = join_sockets(ep, net);
	if (err) {
		netdev_put(netdev, &ep->tracker);
		free_percpu(ep->counters);
		ep->counters = NULL;
		ep->netdev = NULL;
	}
	return err;
}

/**
 * sroce_endpoint_fini() - release the netdev and the sockets
 * @ep: the endpoint; nothing is sent on it any more
 *
 * May sleep. No packet is received for @ep afterwards.
 */
void sroce_endpoint_fini(struct sroce_endpoint *ep)
{
	leave_sockets(ep);
	synchronize_net();
	netdev_put(ep->netdev, &ep->tracker);
	free_percpu(ep->counters);
}

/**
 * sroce_endpoint_net() - the namespace that an endpoint sends in
 * @ep: the endpoint
 *
 * Called under rcu_read_lock(). The namespace does not end before rcu_read_unlock().
 *
 * Return: the namespace of the sockets, or NULL if it has ended or the netdev has left it.
 */
struct net *sroce_endpoint_net(const struct sroce_endpoint *ep)
{
	struct net *net = READ_ONCE(ep->sockets->net);

	return net == dev_net(ep->netdev) ? net : NULL;
}

/**
 * sroce_endpoint_has_ended() - has the namespace of the sockets ended?
 * @ep: the endpoint
 *
 * Return: true once sroce_net_init()'s @release_routes has been called for it.
 */
bool sroce_endpoint_has_ended(const struct sroce_endpoint *ep)
{
	return !READ_ONCE(ep->sockets->v4);
}

/**
 * sroce_endpoint_is_in_place() - is the netdev still in the namespace of its sockets?
 * @ep: the endpoint
 *
 * Caller holds RTNL.
 *
 * Return: false if the netdev has been unregistered or has moved to another namespace.
 */
bool sroce_endpoint_is_in_place(const struct sroce_endpoint *ep)
{
	ASSERT_RTNL();
	/* Only compared. A namespace moves its netdevs out before it ends. */
	return ep->netdev->reg_state == NETREG_REGISTERED && sroce_endpoint_net(ep);
}

/**
 * sroce_endpoint_get_sock() - a socket that may own packets of an endpoint
 * @ep: the endpoint
 * @is_ipv4: of IPv4 packets
 *
 * May sleep.
 *
 * Return: the socket, to be released with sock_put(), or NULL. It may be closed meanwhile.
 */
struct sock *sroce_endpoint_get_sock(const struct sroce_endpoint *ep, bool is_ipv4)
{
	const struct socket *sock;
	struct sock *sk = NULL;

	mutex_lock(&sockets_mutex);
	sock = is_ipv4 ? ep->sockets->v4 : ep->sockets->v6;
	if (sock) {
		sk = sock->sk;
		sock_hold(sk);
	}
	mutex_unlock(&sockets_mutex);
	return sk;
}

static struct sroce_own_address *find_own_address(const struct sroce_endpoint *ep,
						  const struct in6_addr *addr)
{
	struct sroce_own_address *address;

	hash_for_each_possible(ep->sockets->addresses, address, node, ipv6_addr_hash(addr))
		if (address->ep == ep && ipv6_addr_equal(&address->addr, addr))
			return address;
	return NULL;
}

/**
 * sroce_endpoint_add_address() - add one of our addresses
 * @ep: the endpoint
 * @addr: the address; if it is there already, its count is incremented
 *
 * May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_endpoint_add_address(struct sroce_endpoint *ep, const struct in6_addr *addr)
{
	struct sroce_own_address *address;
	int err = 0;

	/* An interface may have a group as its address, to join it (`ip address add autojoin`). */
	if (sroce_is_multicast(addr))
		return 0;
	mutex_lock(&sockets_mutex);
	address = find_own_address(ep, addr);
	if (address) {
		address->gids++;
		goto unlock;
	}
	address = kzalloc(sizeof(*address), GFP_KERNEL);
	if (!address) {
		err = -ENOMEM;
		goto unlock;
	}
	address->addr = *addr;
	address->ep = ep;
	address->gids = 1;
	hash_add_rcu(ep->sockets->addresses, &address->node, ipv6_addr_hash(addr));
unlock:
	mutex_unlock(&sockets_mutex);
	return err;
}

/**
 * sroce_endpoint_del_address() - undo one sroce_endpoint_add_address()
 * @ep: the endpoint
 * @addr: the address
 *
 * May sleep.
 */
void sroce_endpoint_del_address(struct sroce_endpoint *ep, const struct in6_addr *addr)
{
	struct sroce_own_address *address;

	mutex_lock(&sockets_mutex);
	address = find_own_address(ep, addr);
	if (address && !--address->gids)
		remove_address(address);
	mutex_unlock(&sockets_mutex);
}
