/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/netlink.h"

/* NULL if the skb has too few bytes left. */
static struct nlattr *append(struct sk_buff *skb, int type, int bytes)
{
	struct nlattr *attr;

	if (skb->truesize - sizeof(*skb) - skb->len < NLA_HDRLEN + NLA_ALIGN(bytes))
		return NULL;
	attr = skb_put(skb, NLA_HDRLEN + NLA_ALIGN(bytes));
	attr->nla_type = type;
	attr->nla_len = NLA_HDRLEN + bytes;
	return attr;
}

int nla_put(struct sk_buff *skb, int type, int bytes, const void *value)
{
	struct nlattr *attr = append(skb, type, bytes);

	stand_in_process();
	if (!attr)
		return -EMSGSIZE;
	memcpy((u8 *)attr + NLA_HDRLEN, value, bytes);
	return 0;
}

struct nlattr *nla_nest_start(struct sk_buff *skb, int type)
{
	return append(skb, type | NLA_F_NESTED, 0);
}

void nla_nest_end(struct sk_buff *skb, struct nlattr *nest)
{
	nest->nla_len = skb->data + skb->len - (u8 *)nest;
}
