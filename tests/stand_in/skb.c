/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/net.h"

/* As in the kernel, an skb also uses memory for itself. */
struct sk_buff *alloc_skb(u32 bytes, gfp_t gfp)
{
	struct sk_buff *skb = stand_in_alloc(sizeof(*skb));

	if (!skb)
		return NULL;
	skb->head = stand_in_alloc(bytes);
	if (!skb->head) {
		free(skb);
		return NULL;
	}
	skb->data = skb->head;
	skb->end = skb->head + bytes;
	skb->truesize = sizeof(*skb) + bytes;
	return skb;
}

static struct page *fragments;

void *stand_in_fragment(u32 bytes, u32 alignment)
{
	struct page *page = stand_in_alloc(sizeof(*page));

	if (!page)
		return NULL;
	page->address = aligned_alloc(alignment, round_up(bytes, alignment));
	page->bytes = bytes;
	page->next = fragments;
	fragments = page;
	return page->address;
}

struct page *virt_to_head_page(const void *address)
{
	struct page *page = fragments;

	while (page && ((u8 *)address < page->address ||
			(u8 *)address >= page->address + page->bytes))
		page = page->next;
	WARN_ON(!page);
	return page;
}

static void free_page_of(struct page *page)
{
	struct page **link = &fragments;

	while (*link && *link != page)
		link = &(*link)->next;
	if (*link)
		*link = page->next;
	free(page->address);
	free(page);
}

void skb_free_frag(void *address)
{
	free_page_of(virt_to_head_page(address));
}

void skb_add_rx_frag(struct sk_buff *skb, u32 i, struct page *page, u32 offset, u32 bytes,
		     u32 truesize)
{
	WARN_ON(i != skb->shared.nr_frags || i >= MAX_SKB_FRAGS);
	skb->shared.frags[i] = (skb_frag_t){ .page = page, .offset = offset, .size = bytes };
	skb->shared.nr_frags++;
	skb->len += bytes;
	skb->data_len += bytes;
	skb->truesize += truesize;
}

void skb_dst_drop(struct sk_buff *skb)
{
	dst_release(skb->dst);
	skb->dst = NULL;
}

int skb_unclone(struct sk_buff *skb, gfp_t gfp)
{
	void *memory = skb->shared_data ? stand_in_alloc(1) : NULL;

	if (skb->shared_data && !memory)
		return -ENOMEM;
	free(memory);
	skb->shared_data = false;
	return 0;
}

/* Cuts fragments, then linear data. */
int pskb_trim(struct sk_buff *skb, u32 bytes)
{
	struct skb_shared_info *shared = &skb->shared;

	while (skb->len > bytes && shared->nr_frags) {
		skb_frag_t *frag = &shared->frags[shared->nr_frags - 1];
		u32 cut = min(skb->len - bytes, frag->size);

		frag->size -= cut;
		skb->len -= cut;
		skb->data_len -= cut;
		if (!frag->size) {
			free_page_of(frag->page);
			shared->nr_frags--;
		}
	}
	if (skb->len > bytes)
		skb->len = bytes;
	return 0;
}

void kfree_skb(struct sk_buff *skb)
{
	struct sk_buff *member, *next;
	u32 i;

	if (!skb)
		return;
	if (skb->destructor)
		skb->destructor(skb);
	skb_dst_drop(skb);
	for (member = skb->shared.frag_list; member; member = next) {
		next = member->next;
		kfree_skb(member);
	}
	for (i = 0; i < skb->shared.nr_frags; i++) {
		if (skb->shared.frags[i].page)
			free_page_of(skb->shared.frags[i].page);
	}
	free(skb->head);
	free(skb);
}

/* Of linear data, which it copies. */
struct sk_buff *skb_clone(const struct sk_buff *skb, gfp_t gfp)
{
	struct sk_buff *copy = alloc_skb(skb->end - skb->head, gfp);

	if (!copy)
		return NULL;
	memcpy(copy->head, skb->head, skb->end - skb->head);
	copy->data += skb->data - skb->head;
	copy->network = copy->head + (skb->network - skb->head);
	copy->transport = copy->head + (skb->transport - skb->head);
	copy->len = skb->len;
	copy->protocol = skb->protocol;
	return copy;
}

void *skb_put(struct sk_buff *skb, u32 bytes)
{
	u8 *at = skb_tail_pointer(skb);

	WARN_ON(skb->data_len || bytes > (u32)(skb->end - at));
	skb->len += bytes;
	return at;
}

void skb_put_data(struct sk_buff *skb, const void *data, u32 bytes)
{
	memcpy(skb_put(skb, bytes), data, bytes);
}

void skb_reserve(struct sk_buff *skb, u32 bytes)
{
	WARN_ON(skb->len || bytes > (u32)(skb->end - skb->data));
	skb->data += bytes;
}

void *skb_push(struct sk_buff *skb, u32 bytes)
{
	WARN_ON(bytes > skb_headroom(skb));
	skb->data -= bytes;
	skb->len += bytes;
	return skb->data;
}

void __skb_pull(struct sk_buff *skb, u32 bytes)
{
	WARN_ON(bytes > skb_headlen(skb));
	skb->data += bytes;
	skb->len -= bytes;
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

struct sk_buff *__skb_dequeue_tail(struct sk_buff_head *queue)
{
	struct sk_buff **link = &queue->first, *skb;

	while (*link && (*link)->next)
		link = &(*link)->next;
	skb = *link;
	if (skb)
		queue->qlen--;
	*link = NULL;
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
