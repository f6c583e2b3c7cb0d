/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A family of generic netlink, and a process that calls its operations. */
#ifndef STAND_IN_GENETLINK_H
#define STAND_IN_GENETLINK_H

#include <linux/genetlink.h>

#include "stand_in/control.h"
#include "stand_in/netlink.h"

#ifdef __cplusplus
extern "C" {
#endif

struct net;
struct module;
#ifndef THIS_MODULE
#define THIS_MODULE		NULL
#endif

/* Only the types of attributes that are used here, with their numbers. */
enum { NLA_UNSPEC, NLA_U32 = 3, NLA_NESTED = 8, NLA_NUL_STRING = 10 };

struct nla_policy {
	u8	type;
	u16	len;
	const struct nla_policy *nested;
};

#define NLA_POLICY_NESTED(policy)	\
	{ .type = NLA_NESTED, .len = ARRAY_SIZE(policy) - 1, .nested = (policy) }

/* As long as in the kernel, which cuts off the rest. */
struct netlink_ext_ack {
	char	text[80];
	const struct nlattr *bad_attr;
	int	miss_type;
};

struct genl_info {
	u32	snd_portid, snd_seq;
	struct nlmsghdr *nlhdr;
	struct nlattr **attrs;
	struct netlink_ext_ack *extack;
	struct net *net;
};

/* @info is what genl_info_dump() returns. */
struct netlink_callback {
	struct sk_buff *skb;
	const struct nlmsghdr *nlh;
	u32	min_dump_alloc;
	long	args[6];
	const struct genl_info *info;
};

struct genl_ops {
	u8	cmd;
	u8	flags;
	unsigned int maxattr;
	const struct nla_policy *policy;
	int	(*doit)(struct sk_buff *skb, struct genl_info *info);
	int	(*start)(struct netlink_callback *cb);
	int	(*dumpit)(struct sk_buff *skb, struct netlink_callback *cb);
};

struct genl_family {
	const char *name;
	unsigned int version;
	bool	netnsok;
	const struct module *module;
	const struct genl_ops *ops;
	u32	n_ops;
};

struct sock;
struct net *sock_net(const struct sock *sk);
struct stand_in_portid {
	u32	portid;
};

#define NETLINK_CB(skb)		(*(struct stand_in_portid *)(skb)->cb)
#define genl_info_net(info)	((info)->net)
#define genl_info_dump(cb)	((cb)->info)
#define NL_SET_ERR_MSG_ATTR(extack, attr, message)	\
	((extack)->bad_attr = (attr), compat_extack_about(extack, message, ""))
#define GENL_REQ_ATTR_CHECK(info, attr)			\
	(!(info)->attrs[attr] && ((info)->extack->miss_type = (attr), true))
void compat_extack_about(struct netlink_ext_ack *extack, const char *name, const char *format, ...);

#define nla_data(attr)		((void *)((u8 *)(attr) + NLA_HDRLEN))
#define nla_payload(attr)	((attr)->nla_len - NLA_HDRLEN)
#define nla_type(attr)		((attr)->nla_type & NLA_TYPE_MASK)
#define nla_get_u32(attr)	(*(const u32 *)nla_data(attr))
int nla_strcmp(const struct nlattr *attr, const char *text);
int nla_parse_nested(struct nlattr **tb, int max, const struct nlattr *nest,
		     const struct nla_policy *policy, struct netlink_ext_ack *extack);
/* The attributes have been checked. */
#define nlmsg_for_each_attr(attr, nlh, header_bytes, left)				\
	for ((attr) = (const void *)((u8 *)(nlh) + NLMSG_HDRLEN + (header_bytes)),	\
	     (left) = (nlh)->nlmsg_len - NLMSG_HDRLEN - (header_bytes); (left) > 0;	\
	     (left) -= NLA_ALIGN((attr)->nla_len),					\
	     (attr) = (const void *)((u8 *)(attr) + NLA_ALIGN((attr)->nla_len)))

#define genlmsg_new(bytes, gfp)	alloc_skb(NLMSG_HDRLEN + GENL_HDRLEN + (bytes), gfp)
#define nlmsg_free(skb)		kfree_skb(skb)
void *genlmsg_put(struct sk_buff *skb, u32 portid, u32 seq, const struct genl_family *family,
		  int flags, u8 cmd);
#define genlmsg_put_reply(skb, info, family, flags, cmd)	\
	genlmsg_put(skb, (info)->snd_portid, (info)->snd_seq, family, flags, cmd)
void genlmsg_end(struct sk_buff *skb, void *header);
void genlmsg_cancel(struct sk_buff *skb, void *header);
int genlmsg_reply(struct sk_buff *skb, struct genl_info *info);

#define STAND_IN_PORTID		0x1234
#define STAND_IN_SEQ		77
/* Of a message, where nothing else is asked for. Less than a device takes; in the kernel a page. */
#define STAND_IN_GOODSIZE	2048

/**
 * struct stand_in_genl - what a test tells these functions, and what they tell it
 * @net: namespace of the process
 * @initial: the initial namespace
 * @is_admin: the process has CAP_NET_ADMIN
 * @reply_error: from genlmsg_reply()
 * @reply: the last reply, which the test frees
 * @extack: of the last request
 * @message: called for each message of a dump, with @argument
 * @argument: see there
 * @qps: pairs of a device's index and the number of its QP, for sroce_netlink_put_qp()
 * @qp_count: how many
 */
struct stand_in_genl {
	struct net *net, *initial;
	bool	is_admin;
	int	reply_error;
	struct sk_buff *reply;
	struct netlink_ext_ack extack;
	void	(*message)(const struct sk_buff *skb, void *argument);
	void	*argument;
	u32	qps[512][2];
	u32	qp_count;
};

extern struct stand_in_genl stand_in_genl;

/* The process sends attributes. Both return what it gets: 0 or a negative errno. */
int stand_in_genl_do(const struct genl_family *family, u8 cmd, const void *attrs, u32 bytes);
int stand_in_genl_dump(const struct genl_family *family, u8 cmd, const void *attrs, u32 bytes);

#ifdef __cplusplus
}
#endif

#endif
