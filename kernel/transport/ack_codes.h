/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tables of the acknowledgement protocol: RNR timer codes, the local ACK timeout, and the
 * completion status of each NAK code.
 */
#ifndef SROCE_TRANSPORT_ACK_CODES_H
#define SROCE_TRANSPORT_ACK_CODES_H

#include <linux/types.h>

#include "transport/wqe.h"

u64 sroce_rnr_wait_ns(u8 code);
u64 sroce_ack_timeout_ns(u8 exponent);
enum sroce_wc_status sroce_nak_wc_status(u8 syndrome);

#endif
