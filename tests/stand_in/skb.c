/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/skb.h"

/* As in the kernel, an skb also uses memory for itself. */
struct sk_buff *alloc_skb(u32 bytes, gfp_t gfp)
{
	struct sk_buff *skb = stand_in_alloc(sizeof(*skb));

	if (!skb)
		return NULL;
	skb->data = stand_in_alloc(bytes);
	if (!skb->data) {
		free(skb);
		return NULL;
	}
	skb->truesize = sizeof(*skb) + bytes;
	return skb;
}

void kfree_skb(struct sk_buff *skb)
{
	struct sk_buff *member, *next;
	u32 i;

	if (!skb)
		return;
	for (member = skb->shared.frag_list; member; member = next) {
		next = member->next;
		kfree_skb(member);
	}
	for (i = 0; i < skb->shared.nr_frags; i++) {
		if (skb->shared.frags[i].page)
			free(skb->shared.frags[i].page->address);
		free(skb->shared.frags[i].page);
	}
	free(skb->network);
	free(skb->data);
	free(skb);
}

void *skb_put(struct sk_buff *skb, u32 bytes)
{
	WARN_ON(skb->data_len);
	skb->len += bytes;
	return skb->data + skb->len - bytes;
}

void skb_put_data(struct sk_buff *skb, const void *data, u32 bytes)
{
	memcpy(skb_put(skb, bytes), data, bytes);
}

/* The header is a copy: see kfree_skb(). */
void skb_reset_network_header(struct sk_buff *skb)
{
	skb->network = malloc(skb->len);
	skb->network_bytes = skb->len;
	memcpy(skb->network, skb->data, skb->len);
}

void __skb_pull(struct sk_buff *skb, u32 bytes)
{
	skb->len -= bytes;
	memmove(skb->data, skb->data + bytes, skb->len);
}

/* The piece with this offset, and how long it is from there on; NULL for device memory. */
static const u8 *piece_at(const struct sk_buff *skb, u32 offset, u32 *bytes)
{
	const struct sk_buff *member;
	u32 i;

	if (offset < skb_headlen(skb)) {
		*bytes = skb_headlen(skb) - offset;
		return skb->data + offset;
	}
	offset -= skb_headlen(skb);
	for (i = 0; i < skb->shared.nr_frags; i++) {
		const skb_frag_t *frag = &skb->shared.frags[i];

		if (offset < frag->size) {
			*bytes = frag->size - offset;
			return frag->page ? frag->page->address + frag->offset + offset : NULL;
		}
		offset -= frag->size;
	}
	for (member = skb->shared.frag_list; member; member = member->next) {
		if (offset < member->len)
			return piece_at(member, offset, bytes);
		offset -= member->len;
	}
	*bytes = 0;
	return NULL;
}

int skb_copy_bits(const struct sk_buff *skb, int offset, void *to, int bytes)
{
	u32 piece;

	if (offset > (int)skb->len - bytes)
		return -EFAULT;
	while (bytes) {
		const u8 *from = piece_at(skb, offset, &piece);

		if (!from)
			return -EFAULT;
		piece = min(piece, (u32)bytes);
		memcpy(to, from, piece);
		to += piece;
		offset += piece;
		bytes -= piece;
	}
	return 0;
}

const void *skb_header_pointer(const struct sk_buff *skb, int offset, int bytes, void *copy)
{
	if (offset + bytes <= (int)skb_headlen(skb))
		return skb->data + offset;
	return skb_copy_bits(skb, offset, copy, bytes) ? NULL : copy;
}

void skb_prepare_seq_read(struct sk_buff *skb, u32 from, u32 to, struct skb_seq_state *state)
{
	*state = (struct skb_seq_state){ .skb = skb, .from = from, .to = to };
}

/* As in the kernel, a piece may extend beyond the end of the range. */
u32 skb_seq_read(u32 consumed, const u8 **data, struct skb_seq_state *state)
{
	u32 bytes;

	if (state->from + consumed >= state->to)
		return 0;
	*data = piece_at(state->skb, state->from + consumed, &bytes);
	return *data ? bytes : 0;
}

void ip_send_check(struct iphdr *iph)
{
	u16 words[sizeof(*iph) / sizeof(u16)];
	u32 sum = 0, i;

	iph->check = 0;
	memcpy(words, iph, sizeof(words));
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	iph->check = ~(sum + (sum >> 16));
}

void __skb_queue_head_init(struct sk_buff_head *queue)
{
	*queue = (struct sk_buff_head){ };
}

void __skb_queue_tail(struct sk_buff_head *queue, struct sk_buff *skb)
{
	struct sk_buff **link = &queue->first;

	while (*link)
		link = &(*link)->next;
	*link = skb;
	queue->qlen++;
}

struct sk_buff *__skb_dequeue(struct sk_buff_head *queue)
{
	struct sk_buff *skb = queue->first;

	if (skb) {
		queue->first = skb->next;
		queue->qlen--;
		skb->next = NULL;
	}
	return skb;
}

struct sk_buff *skb_peek_tail(const struct sk_buff_head *queue)
{
	struct sk_buff *skb = queue->first;

	while (skb && skb->next)
		skb = skb->next;
	return skb;
}

void skb_queue_splice_init(struct sk_buff_head *from, struct sk_buff_head *to)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(from)))
		__skb_queue_tail(to, skb);
}

void __skb_queue_purge(struct sk_buff_head *queue)
{
	struct sk_buff *skb;

	while ((skb = __skb_dequeue(queue)))
		kfree_skb(skb);
}
