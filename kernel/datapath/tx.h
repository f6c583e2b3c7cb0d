/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Building skbs from plans, departure times, and back-pressure. See tx.c. */
#ifndef SROCE_DATAPATH_TX_H
#define SROCE_DATAPATH_TX_H

#include "compat/compat.h"
#include "datapath/wq.h"
#include "memory/copy.h"
#include "net/skb_builder.h"
#include "transport/cc.h"
#include "transport/packet.h"
#include "transport/psn.h"

/* How much payload is copied between two looks at whether another CPU waits for the lock. */
#define SROCE_TX_PIECE_BYTES	(32 * 1024)
/* DSCP and ECN are those of the path. */
#define SROCE_PATH_DSCP		0xff

/**
 * struct sroce_tx - skbs of one round of a work queue
 * @qp: the QP
 * @wq: the work queue
 * @dscp: of all packets; SROCE_PATH_DSCP for that of their paths
 * @now_ns: when the round began; the clock is read once
 * @edt_ns: departure time of the next packets: @now_ns, or later if the qdisc keeps it
 * @builder: the skb being built
 * @pad_bytes: of the packet begun
 * @bytes: payload built
 * @mr_ref: the region that payload comes from
 * @section: vector registers are taken, see sroce_crc_vector_begin()
 */
struct sroce_tx {
	struct sroce_qp *qp;
	struct sroce_wq *wq;
	u8	dscp;
	u64	now_ns;
	u64	edt_ns;
	struct sroce_builder builder;
	u32	pad_bytes;
	u32	bytes;
	struct sroce_mr_ref mr_ref;
	bool	section;
};

/**
 * struct sroce_tx_span - the packets of a send plan or a response plan
 * @path: where they go
 * @first_psn: PSN of the first
 * @packet_count: how many
 * @payload_bytes: of all of them
 * @mtu_bytes: payload of each packet but the last
 * @has_payload: packets in the middle have payload
 */
struct sroce_tx_span {
	const struct sroce_path *path;
	u32	first_psn;
	u32	packet_count;
	u32	payload_bytes;
	u32	mtu_bytes;
	bool	has_payload;
};

/**
 * struct sroce_tx_source - where headers and payload of planned packets come from
 * @write_headers: fill in the headers of packet @i
 * @expected: number of consecutive packets of one size from packet @i on, with it; a hint
 * @copy_payload: write @bytes of payload from packet @i on; returns enum sroce_mem_status
 */
struct sroce_tx_source {
	void (*write_headers)(const struct sroce_tx *tx, const void *plan, u32 i,
			      struct sroce_packet *pkt);
	u32 (*expected)(const struct sroce_tx *tx, const void *plan, u32 i,
			const struct sroce_packet *pkt);
	enum sroce_mem_status (*copy_payload)(struct sroce_tx *tx, const void *plan, u32 i,
					      struct sroce_crc_writer *writer, u32 bytes);
};

void sroce_tx_init(struct sroce_tx *tx, struct sroce_qp *qp, struct sroce_wq *wq);
u32 sroce_tx_allowance(const struct sroce_tx *tx, const struct sroce_cc *cc, u64 *edt_ns);
void sroce_tx_set_edt(struct sroce_tx *tx, struct sroce_cc *cc, u64 edt_ns);
int sroce_tx_begin(struct sroce_tx *tx, const struct sroce_path *path,
		   const struct sroce_packet *pkt, u32 expected, struct sroce_crc_writer **writer);
void sroce_tx_end(struct sroce_tx *tx);
bool sroce_tx_throttle(struct sroce_tx *tx, u32 next);
void sroce_tx_charge(struct sroce_qp *qp, struct sroce_wq *wq);
void sroce_tx_relock(struct sroce_tx *tx);
void sroce_tx_finish(struct sroce_tx *tx);

/* Why a packet cannot be built; see sroce_paging_begin() for -EAGAIN. */
static inline int sroce_tx_payload_error(enum sroce_mem_status status)
{
	return status == SROCE_MEM_NOT_PRESENT ? -EAGAIN : -EFAULT;
}

/*
 * Build packet @i. Returns 0, also for a packet that is lost at once; -EFAULT if its payload cannot
 * be read, -EAGAIN if pages of it must be faulted in first; -ENOMEM.
 */
static __always_inline int sroce_tx_build_one(struct sroce_tx *tx, const struct sroce_tx_span *span,
					      const struct sroce_tx_source *source,
					      const void *plan, u32 i, struct sroce_packet *pkt)
{
	enum sroce_mem_status status = SROCE_MEM_OK;
	struct sroce_crc_writer *writer;
	int err;

	if (sroce_packet_repeats(i, span->packet_count))
		pkt->psn = psn_add(span->first_psn, i);
	else
		source->write_headers(tx, plan, i, pkt);
	err = sroce_tx_begin(tx, span->path, pkt, source->expected(tx, plan, i, pkt), &writer);
	if (err)
		return err == -ENOMEM ? -ENOMEM : 0;
	if (pkt->payload_bytes)
		status = source->copy_payload(tx, plan, i, writer, pkt->payload_bytes);
	if (status != SROCE_MEM_OK)
		return sroce_tx_payload_error(status);
	sroce_tx_end(tx);
	return 0;
}

/* Build the packets behind @i that differ by PSN only. Returns how many, -EFAULT or -EAGAIN. */
static __always_inline int sroce_tx_build_equal(struct sroce_tx *tx,
						const struct sroce_tx_span *span,
						const struct sroce_tx_source *source,
						const void *plan, u32 i)
{
	u32 left = span->has_payload ? sroce_packet_repetitions(i, span->packet_count) : 0;
	u16 *ip_id = &tx->wq->path.ip_id;
	enum sroce_mem_status status;
	u32 done = 0, count;

	for (; left; left -= count, done += count) {
		if (done && spin_is_contended(&tx->wq->lock))
			break;
		count = min(left, SROCE_TX_PIECE_BYTES / span->mtu_bytes);
		count = sroce_builder_repeat_begin(&tx->builder, count,
						   psn_add(span->first_psn, i + 1 + done), *ip_id);
		if (!count)
			break;
		status = source->copy_payload(tx, plan, i + 1 + done, &tx->builder.writer,
					      count * span->mtu_bytes);
		if (status != SROCE_MEM_OK)
			return sroce_tx_payload_error(status);
		sroce_builder_repeat_end(&tx->builder, ip_id);
	}
	return done;
}

/*
 * Build the packets of a plan; or only a first part, if another CPU waits for the lock; or none.
 * @source is a constant, so that its functions are inlined into the two callers, sq_work.c and
 * rq_work.c. Returns the number built, -EFAULT, -EAGAIN or -ENOMEM.
 */
static __always_inline int sroce_tx_build(struct sroce_tx *tx, const struct sroce_tx_span *span,
					  const struct sroce_tx_source *source, const void *plan)
{
	struct sroce_packet pkt __sroce_uninit;
	struct sroce_builder_mark mark;
	int err = 0;
	u32 i;

	sroce_builder_mark(&tx->builder, &mark);
	if (!tx->section)
		tx->section = sroce_crc_vector_begin(span->payload_bytes +
						     span->packet_count * SROCE_CRC_BLOCK_BYTES);
	for (i = 0; i < span->packet_count; i += 1 + err) {
		if (i * span->mtu_bytes >= SROCE_TX_PIECE_BYTES &&
		    spin_is_contended(&tx->wq->lock))
			break;
		err = sroce_tx_build_one(tx, span, source, plan, i, &pkt);
		if (!err)
			err = sroce_tx_build_equal(tx, span, source, plan, i);
		if (err < 0)
			break;
	}
	sroce_mr_ref_end_plan(&tx->mr_ref);
	if (err < 0)
		sroce_builder_rewind(&tx->builder, &mark);
	return err < 0 ? err : i;
}

#endif
