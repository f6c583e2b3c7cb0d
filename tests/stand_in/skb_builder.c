/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of net/skb_builder.c. */
#include "stand_in/datapath.h"

#include "net/skb_builder.h"

void sroce_builder_mark(const struct sroce_builder *builder, struct sroce_builder_mark *mark)
{
}

void sroce_builder_rewind(struct sroce_builder *builder, const struct sroce_builder_mark *mark)
{
	stand_in_datapath.rewinds++;
}

u32 sroce_builder_repeat_begin(struct sroce_builder *builder, u32 count, u32 psn, u16 ip_id)
{
	return 0;
}

void sroce_builder_repeat_end(struct sroce_builder *builder, u16 *ip_id)
{
}

int sroce_skb_xmit(const struct sroce_endpoint *ep, struct sk_buff *skb)
{
	stand_in_datapath.skbs++;
	stand_in_datapath.priority = skb->priority;
	kfree_skb(skb);
	return 0;
}
