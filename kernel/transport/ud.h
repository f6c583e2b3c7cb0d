/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The responder of UD queue pairs (GSI included). See ud.c.
 */
#ifndef SROCE_TRANSPORT_UD_H
#define SROCE_TRANSPORT_UD_H

#include "transport/packet.h"
#include "transport/responder.h"
#include "transport/wire.h"

/* Bytes that the receive WQE must have room for, or the datagram is dropped. */
static inline u32 sroce_ud_needs_bytes(const struct sroce_packet *pkt)
{
	return SROCE_GRH_BYTES + pkt->payload_bytes;
}

void sroce_ud_plan(const struct sroce_responder *resp, const struct sroce_packet *pkt,
		   struct sroce_recv_plan *plan);
void sroce_ud_commit(struct sroce_responder *resp, const struct sroce_packet *pkt,
		     const struct sroce_recv_plan *plan,
		     const struct sroce_recv_result *result);

#endif
