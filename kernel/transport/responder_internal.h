/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the files of the responder: see responder.c.
 */
#ifndef SROCE_TRANSPORT_RESPONDER_INTERNAL_H
#define SROCE_TRANSPORT_RESPONDER_INTERNAL_H

#include "transport/responder.h"

static inline void plan_request_drop(struct sroce_recv_plan *plan, enum sroce_drop_reason reason)
{
	plan->verdict = SROCE_RECV_DROP;
	plan->reason = reason;
}

struct sroce_completion *sroce_responder_complete(struct sroce_responder *resp, u8 status);
void sroce_responder_schedule_ack(struct sroce_responder *resp, u32 psn);
void sroce_responder_schedule_nak(struct sroce_responder *resp, u8 syndrome, u32 psn);
void sroce_responder_schedule_rnr_nak(struct sroce_responder *resp);
void sroce_responder_establish(struct sroce_responder *resp);
bool sroce_responder_is_addressed(const struct sroce_responder *resp,
				  const struct sroce_packet *pkt);
void sroce_responder_plan_expected(const struct sroce_responder *resp,
				   const struct sroce_packet *pkt, struct sroce_recv_plan *plan);
void sroce_responder_placed(struct sroce_responder *resp, const struct sroce_packet *pkt,
			    const struct sroce_recv_plan *plan);

/* responder_rd_atomic.c */
u32 sroce_rd_atomic_flush_access(const struct sroce_packet *pkt);
bool sroce_rd_atomic_length_is_valid(const struct sroce_packet *pkt);
void sroce_rd_atomic_plan(const struct sroce_packet *pkt, struct sroce_recv_plan *plan);
void sroce_rd_atomic_plan_again(const struct sroce_responder *resp,
				const struct sroce_packet *pkt, struct sroce_recv_plan *plan);
u32 sroce_rd_atomic_remember(struct sroce_responder *resp, const struct sroce_packet *pkt,
			     const struct sroce_recv_result *result);
void sroce_rd_atomic_replay(struct sroce_responder *resp, const struct sroce_packet *pkt,
			    const struct sroce_recv_plan *plan,
			    const struct sroce_recv_result *result);

/**
 * sroce_responder_needed_access() - access that a request needs, of the QP and of the region
 * @pkt: any request
 *
 * Return: SROCE_ACCESS_*.
 */
static inline u32 sroce_responder_needed_access(const struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags;

	if (flags & (SROCE_OPF_WRITE | SROCE_OPF_ATOMIC_WRITE))
		return SROCE_ACCESS_REMOTE_WRITE;
	if (flags & SROCE_OPF_READ)
		return SROCE_ACCESS_REMOTE_READ;
	if (flags & SROCE_OPF_ATOMIC)
		return SROCE_ACCESS_REMOTE_ATOMIC;
	return flags & SROCE_OPF_FLUSH ? sroce_rd_atomic_flush_access(pkt) : 0;
}

#endif
