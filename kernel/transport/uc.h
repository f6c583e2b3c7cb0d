/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder of UC queue pairs. See uc.c.
 */
#ifndef SROCE_TRANSPORT_UC_H
#define SROCE_TRANSPORT_UC_H

#include "transport/packet.h"
#include "transport/responder.h"

/*
 * Is nothing of this packet's message missing? The first packet of a message may have any PSN: the
 * packets before it may be lost (IBTA 9.8.2).
 */
static inline bool sroce_uc_is_in_order(const struct sroce_responder *resp,
					const struct sroce_packet *pkt)
{
	return pkt->info->flags & SROCE_OPF_FIRST ||
	       (pkt->psn == resp->epsn && pkt->info->flags & resp->message);
}

void sroce_uc_plan(const struct sroce_responder *resp, const struct sroce_packet *pkt,
		   struct sroce_recv_plan *plan);
void sroce_uc_plan_loss(struct sroce_recv_plan *plan);
bool sroce_uc_commit(struct sroce_responder *resp, const struct sroce_packet *pkt,
		     const struct sroce_recv_plan *plan, const struct sroce_recv_result *result);

#endif
