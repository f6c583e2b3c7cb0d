// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copying the payload of received packets into regions, receives, and the buffers of READs and
 * atomics.
 *
 * Of coalesced packets only the first one's ICRC has been checked. The headers of the others differ
 * from it in PSN only, so the place of their payload is known, and the CRC is computed while the
 * payload is copied. If a packet turns out to be wrong, its bytes have been written, but only into
 * a message that is not complete. It is dropped, the rest are handled again, and the sender
 * retransmits it. On UC it does not, so a UC WRITE is checked before the copy. Packets from the
 * reorder queue were checked before they were queued.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/ip.h>

#include "datapath/qp.h"
#include "datapath/reorder_queue.h"
#include "datapath/rx_copy.h"
#include "datapath/xrc.h"
#include "memory/copy.h"
#include "net/rx_cursor.h"
#include "transport/completer.h"
#include "transport/psn.h"
#include "transport/wire.h"

/**
 * struct placement - payload being copied
 * @from: the payload
 * @rx: its packets
 * @pos: of the packet being copied, unless it was queued
 * @prefix: its CRC prefix
 * @queue: the reorder queue, which has the packets that were queued
 * @section: the copy is in a section for vector registers
 */
struct placement {
	struct sroce_payload from;
	struct sroce_rx *rx;
	struct sroce_rx_pos pos;
	struct sroce_crc_prefix prefix;
	const struct sroce_reorder_queue *queue;
	bool	section;
};

static struct sroce_payload bytes_at(const void *at, u32 bytes)
{
	return (struct sroce_payload) { .at = at, .piece_bytes = bytes, .left_bytes = bytes };
}

static bool segment_written(struct sroce_payload *from)
{
	struct placement *placement = container_of(from, struct placement, from);
	struct sroce_rx *rx = placement->rx;

	if (from->pieces &&
	    !sroce_rx_crc_matches(rx, placement->pos.at, sroce_crc_finish(&from->writer)))
		return false;
	if (from->pieces + 1 < rx->pkt.count) {
		sroce_rx_pos_next(&placement->pos, rx->bytes);
		sroce_rx_crc_prefix(rx, from->pieces + 1, placement->pos.at, &placement->prefix);
		from->at = placement->pos.at + sizeof(struct sroce_bth);
		from->writer.prefix = &placement->prefix;
	}
	return true;
}

/* The next packet has an skb of its own, and was checked before it was queued. */
static bool queued_segment_written(struct sroce_payload *from)
{
	struct placement *placement = container_of(from, struct placement, from);
	struct sroce_rx *rx = placement->rx;

	if (from->pieces + 1 < rx->pkt.count)
		from->at = sroce_reorder_queue_bth(placement->queue,
						   psn_add(rx->pkt.psn, from->pieces + 1)) +
			   sizeof(struct sroce_bth);
	return true;
}

static void placement_begin(struct placement *placement, const struct sroce_qp *qp,
			    struct sroce_rx *rx, u32 bytes)
{
	struct sroce_payload *from = &placement->from;

	placement->rx = rx;
	placement->queue = qp->reorder_queue;
	placement->section = rx->pkt.count > 1 && !rx->pkt.was_queued &&
			     sroce_crc_vector_begin(bytes);
	if (!rx->pos.at) {
		*from = (struct sroce_payload) {
			.skb = rx->skb,
			.offset = rx->pos.offset + rx->pkt.header_bytes,
		};
		return;
	}
	placement->pos = rx->pos;
	*from = bytes_at(rx->pos.at + rx->pkt.header_bytes,
			 rx->pkt.payload_bytes / rx->pkt.count);
	if (rx->pkt.count > 1)
		from->segment_written = rx->pkt.was_queued ? queued_segment_written :
							     segment_written;
	from->checked = rx->pkt.was_queued;
}

/*
 * After the copy: cut off the packets from the first error on; those before it succeeded. The error
 * may come from a packet with a wrong ICRC, so the packets cut off are handled again.
 *
 * Returns whether the copy must be repeated, with the first packet only, which has @bytes.
 */
static bool placement_end(struct placement *placement, enum sroce_mem_status *status, u32 *bytes)
{
	u32 right = placement->from.pieces;

	sroce_crc_vector_end(placement->section);
	/* Of coalesced packets only payload is placed. */
	*bytes = placement->rx->pkt.payload_bytes / placement->rx->pkt.count;
	if (*status == SROCE_MEM_OK || placement->rx->pkt.count == 1)
		return false;
	sroce_rx_set_count(placement->rx, max(right, 1u));
	if (right)
		*status = SROCE_MEM_OK;
	return !right;
}

static enum sroce_mem_status scatter_payload(struct sroce_qp *qp, struct sroce_wq *wq,
					     const struct ib_pd *pd, const struct sroce_sge *sge,
					     u32 num_sge, u32 offset, struct sroce_payload *from,
					     u32 bytes)
{
	enum sroce_mem_status status;

	from->wait = &wq->paging.wait;
	status = sroce_memory_scatter(&qp->dev->memory, pd, sge, num_sge, offset, from, bytes);
	if (status != SROCE_MEM_OK)
		wq->fault = from->fault;
	return status;
}

/* The 40 bytes before a datagram: its IPv6 header or GRH, or its IPv4 header in the last 20. */
struct grh {
	union {
		struct ipv6hdr ipv6;
		struct {
			u8	unused[sizeof(struct ipv6hdr) - sizeof(struct iphdr)];
			struct iphdr ipv4;
		};
	};
};

/* The skb has the header of all its packets. A datagram gets that of its own packet. */
static void write_grh(const struct sroce_rx *rx, struct grh *grh)
{
	u32 udp_bytes = (rx->is_v1 ? 0 : sizeof(struct udphdr)) + rx->bytes;

	if (!rx->is_ipv4) {
		grh->ipv6 = *ipv6_hdr(rx->skb);
		grh->ipv6.payload_len = htons(udp_bytes);
		return;
	}
	grh->ipv4 = *ip_hdr(rx->skb);
	grh->ipv4.tot_len = htons(sizeof(struct iphdr) + udp_bytes);
	if (!rx->ip_id_stays)
		grh->ipv4.id = htons(ntohs(grh->ipv4.id) + rx->number);
	ip_send_check(&grh->ipv4);
}

/* The buffers of a receive belong to the protection domain of its queue. */
static enum sroce_mem_status scatter_recv(struct sroce_qp *qp, const struct sroce_rx *rx,
					  u32 offset, struct sroce_payload *from, u32 bytes)
{
	const struct sroce_recv_queue *queue = rx->srq ? &rx->srq->queue : qp->recv_queue;
	const struct sroce_recv_wqe *wqe = qp->resp.recv;

	return scatter_payload(qp, &qp->rq, queue->pd, wqe->sge, wqe->num_sge, offset, from, bytes);
}

static enum sroce_mem_status place_grh(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct grh grh = { };
	struct sroce_payload from = bytes_at(&grh, sizeof(grh));

	BUILD_BUG_ON(sizeof(grh) != SROCE_GRH_BYTES);
	write_grh(rx, &grh);
	return scatter_recv(qp, rx, 0, &from, sizeof(grh));
}

static enum sroce_mem_status place_in_recv(struct sroce_qp *qp, const struct sroce_rx *rx,
					   const struct sroce_recv_plan *plan,
					   struct sroce_payload *from, u32 bytes)
{
	if (!sroce_qp_is_connected(qp)) {
		enum sroce_mem_status status = place_grh(qp, rx);

		if (status != SROCE_MEM_OK || !plan->place_bytes)
			return status;
	}
	return scatter_recv(qp, rx, plan->offset, from, bytes);
}

/* Copy the first @bytes of the plan. */
static enum sroce_mem_status copy_request(struct sroce_qp *qp, struct sroce_rx *rx,
					  const struct sroce_recv_plan *plan,
					  struct sroce_payload *from, u32 bytes)
{
	const struct sroce_mr_range range = {
		.mem = &qp->dev->memory,
		.pd = sroce_rx_pd(qp, rx),
		.qp_serial = qp->serial,
		.key = plan->rkey,
		.va = plan->va,
		.bytes = plan->check_bytes - (plan->place_bytes - bytes),
		.access = plan->access,
		.wait = &qp->rq.paging.wait,
	};

	if (plan->target == SROCE_TARGET_RECV)
		return place_in_recv(qp, rx, plan, from, bytes);
	if (plan->target == SROCE_TARGET_REGION)
		return sroce_memory_place(&range, from, bytes);
	return SROCE_MEM_OK;
}

/**
 * sroce_rx_copy_request() - copy the payload of requests as planned
 * @qp: the QP, its receive lock held
 * @rx: the packets; truncated at the first whose ICRC is wrong, or that could not be written
 * @plan: the plan for all of them, with SROCE_RECV_PLACE
 *
 * Return: enum sroce_mem_status of the packets that are left.
 */
enum sroce_mem_status sroce_rx_copy_request(struct sroce_qp *qp, struct sroce_rx *rx,
					    const struct sroce_recv_plan *plan)
{
	enum sroce_mem_status status;
	u32 bytes = plan->place_bytes;
	struct placement placement;

	do {
		placement_begin(&placement, qp, rx, bytes);
		status = copy_request(qp, rx, plan, &placement.from, bytes);
	} while (placement_end(&placement, &status, &bytes));
	return status;
}

/**
 * sroce_rx_execute_atomic() - execute an atomic or ATOMIC WRITE as planned
 * @rx: the packet, whose ICRC is right
 * @range: the 8 bytes
 * @plan: the plan, with SROCE_RECV_ATOMIC
 * @original: set to the value before
 *
 * The payload of an ATOMIC WRITE is the 8 bytes in the order of memory (IBTA annex A19).
 *
 * Return: enum sroce_mem_status.
 */
enum sroce_mem_status sroce_rx_execute_atomic(const struct sroce_rx *rx,
					      const struct sroce_mr_range *range,
					      const struct sroce_recv_plan *plan, u64 *original)
{
	u64 operand = plan->swap_add;

	if (plan->atomic_op == SROCE_OP_ATOMIC_WRITE) {
		if (rx->pos.at)
			memcpy(&operand, rx->pos.at + rx->pkt.header_bytes, sizeof(operand));
		else if (skb_copy_bits(rx->skb, rx->pos.offset + rx->pkt.header_bytes, &operand,
				       sizeof(operand)))
			return SROCE_MEM_BAD_PAYLOAD;
	}
	return sroce_memory_atomic(range, plan->atomic_op, plan->compare, operand, original);
}

/**
 * sroce_rx_copy_response() - copy payload or atomic result to the buffer of a request
 * @qp: the QP, its send lock held
 * @rx: the packets; truncated at the first whose ICRC is wrong
 * @plan: the plan for all of them, which accepts them and places bytes
 *
 * Return: enum sroce_mem_status of the packets that are left.
 */
enum sroce_mem_status sroce_rx_copy_response(struct sroce_qp *qp, struct sroce_rx *rx,
					     const struct sroce_ack_plan *plan)
{
	const struct sroce_send_wqe *wqe = sroce_requester_wqe(&qp->req, plan->index);
	enum sroce_mem_status status;
	u32 bytes = plan->place_bytes;
	struct placement placement;

	do {
		placement_begin(&placement, qp, rx, bytes);
		if (plan->place_atomic)
			placement.from = bytes_at(&rx->pkt.atomic_original, sizeof(u64));
		status = scatter_payload(qp, &qp->sq, qp->ibqp.pd, wqe->sge, wqe->num_sge,
					 plan->place_offset, &placement.from, bytes);
	} while (placement_end(&placement, &status, &bytes));
	return status;
}
