/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Generic netlink with strict validation, and, in place of control/netlink_qp.c, QPs by number. */
#include "stand_in/genetlink.h"

#include <stdarg.h>
#include <stdio.h>

#include "control/netlink.h"

#define MAX_ATTRS	16

struct stand_in_genl stand_in_genl;

struct net *sock_net(const struct sock *sk)
{
	return (struct net *)sk;
}

/* A text that does not fit is a bug of the caller. */
void compat_extack_about(struct netlink_ext_ack *extack, const char *name, const char *format, ...)
{
	u32 bytes = snprintf(extack->text, sizeof(extack->text), "%s", name);
	va_list args;

	va_start(args, format);
	if (bytes < sizeof(extack->text))
		bytes += vsnprintf(extack->text + bytes, sizeof(extack->text) - bytes, format,
				   args);
	va_end(args);
	WARN_ON(bytes >= sizeof(extack->text));
}

int nla_strcmp(const struct nlattr *attr, const char *text)
{
	u32 bytes = nla_payload(attr);

	while (bytes && !((const char *)nla_data(attr))[bytes - 1])
		bytes--;
	return bytes != strlen(text) || memcmp(nla_data(attr), text, bytes);
}

static int parse(struct nlattr **tb, int max, const void *attrs, u32 bytes,
		 const struct nla_policy *policy);

static int validate(const struct nlattr *attr, const struct nla_policy *policy)
{
	struct nlattr *tb[MAX_ATTRS];
	u32 bytes = nla_payload(attr);

	switch (policy->type) {
	case NLA_U32:
		return bytes == sizeof(u32) ? 0 : -EINVAL;
	case NLA_NUL_STRING:
		if (!memchr(nla_data(attr), 0, policy->len ? min(bytes, policy->len + 1u) : bytes))
			return -EINVAL;
		bytes -= !((const char *)nla_data(attr))[bytes - 1];
		return !policy->len || bytes <= policy->len ? 0 : -ERANGE;
	case NLA_NESTED:
		if (!(attr->nla_type & NLA_F_NESTED))
			return -EINVAL;
		return parse(tb, policy->len, nla_data(attr), bytes, policy->nested);
	default:
		return -EINVAL;
	}
}

static int parse(struct nlattr **tb, int max, const void *attrs, u32 bytes,
		 const struct nla_policy *policy)
{
	struct nlattr *attr = (void *)attrs;
	int err;

	WARN_ON(max >= MAX_ATTRS);
	memset(tb, 0, sizeof(*tb) * (max + 1));
	while (bytes >= NLA_HDRLEN) {
		if (attr->nla_len < NLA_HDRLEN || attr->nla_len > bytes || nla_type(attr) > max)
			return -EINVAL;
		err = validate(attr, &policy[nla_type(attr)]);
		if (err)
			return err;
		tb[nla_type(attr)] = attr;
		bytes -= min(bytes, (u32)NLA_ALIGN(attr->nla_len));
		attr = (void *)((u8 *)attr + NLA_ALIGN(attr->nla_len));
	}
	return bytes ? -EINVAL : 0;
}

int nla_parse_nested(struct nlattr **tb, int max, const struct nlattr *nest,
		     const struct nla_policy *policy, struct netlink_ext_ack *extack)
{
	return parse(tb, max, nla_data(nest), nla_payload(nest), policy);
}

void *genlmsg_put(struct sk_buff *skb, u32 portid, u32 seq, const struct genl_family *family,
		  int flags, u8 cmd)
{
	struct nlmsghdr *nlh;
	struct genlmsghdr *header;

	if (skb->truesize - sizeof(*skb) - skb->len < NLMSG_HDRLEN + GENL_HDRLEN)
		return NULL;
	nlh = skb_put(skb, NLMSG_HDRLEN + GENL_HDRLEN);
	*nlh = (struct nlmsghdr){
		.nlmsg_flags = flags, .nlmsg_pid = portid, .nlmsg_seq = seq,
	};
	header = (void *)((u8 *)nlh + NLMSG_HDRLEN);
	*header = (struct genlmsghdr){ .cmd = cmd, .version = family->version };
	return (u8 *)header + GENL_HDRLEN;
}

void genlmsg_end(struct sk_buff *skb, void *header)
{
	struct nlmsghdr *nlh = (void *)((u8 *)header - GENL_HDRLEN - NLMSG_HDRLEN);

	nlh->nlmsg_len = skb->data + skb->len - (u8 *)nlh;
}

void genlmsg_cancel(struct sk_buff *skb, void *header)
{
	skb->len = (u8 *)header - GENL_HDRLEN - NLMSG_HDRLEN - skb->data;
}

int genlmsg_reply(struct sk_buff *skb, struct genl_info *info)
{
	kfree_skb(stand_in_genl.reply);
	stand_in_genl.reply = NULL;
	if (stand_in_genl.reply_error)
		kfree_skb(skb);
	else
		stand_in_genl.reply = skb;
	return stand_in_genl.reply_error;
}

/* The checks of genetlink before it calls the family. */
static int begin(const struct genl_family *family, u8 cmd, struct genl_info *info,
		 const struct genl_ops **op)
{
	const void *attrs = (u8 *)info->nlhdr + NLMSG_HDRLEN + GENL_HDRLEN;
	u32 bytes = info->nlhdr->nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN, i = 0;

	if (!family->netnsok && stand_in_genl.net != stand_in_genl.initial)
		return -ENOENT;
	while (i < family->n_ops && family->ops[i].cmd != cmd)
		i++;
	if (i == family->n_ops)
		return -EOPNOTSUPP;
	*op = &family->ops[i];
	if ((*op)->flags & GENL_ADMIN_PERM && !stand_in_genl.is_admin)
		return -EPERM;
	return parse(info->attrs, (*op)->maxattr, attrs, bytes, (*op)->policy);
}

/* A message of exactly its size, to be freed. */
static struct nlmsghdr *request_of(const void *attrs, u32 bytes)
{
	struct nlmsghdr *nlh = calloc(1, NLMSG_HDRLEN + GENL_HDRLEN + bytes);

	nlh->nlmsg_seq = STAND_IN_SEQ;
	nlh->nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN + bytes;
	if (bytes)
		memcpy((u8 *)nlh + NLMSG_HDRLEN + GENL_HDRLEN, attrs, bytes);
	stand_in_genl.extack = (struct netlink_ext_ack){ .miss_type = -1 };
	return nlh;
}

int stand_in_genl_do(const struct genl_family *family, u8 cmd, const void *attrs, u32 bytes)
{
	struct nlattr *tb[MAX_ATTRS];
	struct genl_info info = {
		.snd_portid = STAND_IN_PORTID, .snd_seq = STAND_IN_SEQ,
		.nlhdr = request_of(attrs, bytes), .attrs = tb,
		.extack = &stand_in_genl.extack, .net = stand_in_genl.net,
	};
	const struct genl_ops *op;
	int err = begin(family, cmd, &info, &op);

	if (!err)
		err = op->doit ? op->doit(NULL, &info) : -EOPNOTSUPP;
	free(info.nlhdr);
	return err;
}

/* As netlink_dump(): until a call has written nothing. A dump that does not end is a bug. */
int stand_in_genl_dump(const struct genl_family *family, u8 cmd, const void *attrs, u32 bytes)
{
	struct sk_buff request = { .sk = (struct sock *)stand_in_genl.net }, *skb;
	struct nlattr *tb[MAX_ATTRS];
	struct genl_info info = { .nlhdr = request_of(attrs, bytes), .attrs = tb };
	struct netlink_callback cb = { .skb = &request, .nlh = info.nlhdr, .info = &info };
	const struct genl_ops *op;
	int err = begin(family, cmd, &info, &op), skbs = 0;

	NETLINK_CB(&request).portid = STAND_IN_PORTID;
	if (!err)
		err = op->start(&cb);
	while (!err) {
		WARN_ON(++skbs > 50);
		skb = alloc_skb(max(cb.min_dump_alloc, (u32)STAND_IN_GOODSIZE), GFP_KERNEL);
		skb->sk = request.sk;
		err = op->dumpit(skb, &cb);
		if (err > 0)
			stand_in_genl.message(skb, stand_in_genl.argument);
		kfree_skb(skb);
		if (!err)
			break;
		err = min(err, 0);
	}
	free(info.nlhdr);
	return err;
}

int sroce_netlink_put_qp(struct sk_buff *skb, struct sroce_device *dev, u32 *qpn)
{
	u32 i, next = U32_MAX;

	for (i = 0; i < stand_in_genl.qp_count; i++)
		if (stand_in_genl.qps[i][0] == dev->ibdev.index && stand_in_genl.qps[i][1] >= *qpn)
			next = min(next, stand_in_genl.qps[i][1]);
	if (next == U32_MAX)
		return -ENOENT;
	*qpn = next;
	return sroce_netlink_put_device(skb, dev) ?: nla_put_u32(skb, SROCE_A_QPN, next);
}
