/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* GRO: skbs that it keeps, and how far it has parsed an skb. */
#ifndef STAND_IN_GRO_H
#define STAND_IN_GRO_H

#include "stand_in/list.h"
#include "stand_in/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SKBFL_SHARED_FRAG	2

/* In skb->cb. @offset: of the first byte that is not parsed. */
struct napi_gro_cb {
	struct sk_buff *last;
	u32	offset;
	u16	flush;
	u16	count;
	u8	same_flow;
	u8	encap_mark;
	u8	is_flist;
};

#define NAPI_GRO_CB(skb)	((struct napi_gro_cb *)(skb)->cb)
#define skb_gro_offset(skb)	(NAPI_GRO_CB(skb)->offset)
#define skb_gro_len(skb)	((skb)->len - NAPI_GRO_CB(skb)->offset)
#define skb_set_network_header(skb, offset)	((skb)->network = (skb)->data + (offset))

/* No page is pulled into linear data here, as when memory is short. */

static inline void *skb_gro_header(struct sk_buff *skb, unsigned int end, unsigned int offset)
{
	return pskb_may_pull(skb, end) ? skb->data + offset : NULL;
}

#ifdef __cplusplus
}
#endif

#endif
