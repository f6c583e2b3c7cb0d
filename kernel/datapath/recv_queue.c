// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive work requests: from the ring (mapped or not) into the responder's
 * storage, copied once.
 */
#include <linux/build_bug.h>
#include <linux/string.h>

#include "datapath/qp.h"
#include "uapi/sroce_abi.h"

/* Sum of a scatter list, at most what fits the field. */
static u32 list_bytes(const struct sroce_recv_wqe *wqe)
{
	u64 sum = 0;
	u32 i;

	for (i = 0; i < wqe->num_sge; i++)
		sum += wqe->sge[i].length;
	return min_t(u64, sum, U32_MAX);
}

static void copy_rxe_recv(const struct sroce_qp *qp, struct sroce_recv_wqe *wqe)
{
	const struct rxe_recv_wqe *slot = sroce_ring_peek(&qp->rq_ring);
	u32 num_sge = READ_ONCE(slot->dma.num_sge);

	wqe->wr_id = READ_ONCE(slot->wr_id);
	if (num_sge > qp->attr.cap.max_recv_sge) {
		wqe->status = SROCE_WC_LOC_QP_OP_ERR;
		num_sge = 0;
	}
	memcpy(wqe->sge, slot->dma.sge, num_sge * sizeof(struct sroce_sge));
	wqe->num_sge = num_sge;
}

/* The list ends with an element without length, or where the slot does. */
static void copy_native_recv(const struct sroce_qp *qp, struct sroce_recv_wqe *wqe)
{
	const struct sroce_recv_slot *slot = sroce_ring_peek(&qp->rq_ring);
	const struct rxe_sge *from = (const void *)(slot + 1);
	u32 i;

	wqe->wr_id = READ_ONCE(slot->wr_id);
	for (i = 0; i < qp->attr.cap.max_recv_sge; i++) {
		memcpy(&wqe->sge[i], &from[i], sizeof(struct sroce_sge));
		/* The copy counts. */
		barrier();
		if (!wqe->sge[i].length)
			break;
	}
	wqe->num_sge = i;
}

/**
 * sroce_recv_queue_fetch() - take the next receive work request, if there is one
 * @qp: the QP, its receive lock held
 *
 * It is copied to @qp->resp.recv and its slot given back at once. One that
 * claims more elements than the QP may have is refused: it fails in its turn.
 *
 * Return: whether there was one.
 */
bool sroce_recv_queue_fetch(struct sroce_qp *qp)
{
	struct sroce_recv_wqe *wqe = qp->resp.recv;

	if (!sroce_ring_pending(&qp->rq_ring))
		return false;
	wqe->status = SROCE_WC_SUCCESS;
	if (qp->rq_ring.head)
		copy_native_recv(qp, wqe);
	else
		copy_rxe_recv(qp, wqe);
	/* The sum is that of the copy. */
	barrier();
	wqe->length = list_bytes(wqe);
	sroce_ring_fetched(&qp->rq_ring);
	sroce_ring_release(&qp->rq_ring, 1);
	return true;
}
