/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Queue pair states and the attributes that each transition needs and allows
 * (IBTA 10.3.1 and the modify-QP tables of chapter 11). Numbers equal
 * enum ib_qp_state and enum ib_qp_attr_mask; the kernel side asserts that.
 */
#ifndef SROCE_TRANSPORT_QP_STATE_H
#define SROCE_TRANSPORT_QP_STATE_H

#include <linux/types.h>
#include <linux/bits.h>

#include "transport/opcode.h"

enum sroce_qp_state {
	SROCE_QPS_RESET,
	SROCE_QPS_INIT,
	SROCE_QPS_RTR,
	SROCE_QPS_RTS,
	SROCE_QPS_SQD,
	SROCE_QPS_SQE,
	SROCE_QPS_ERR,
	SROCE_QPS_COUNT,
};

#define SROCE_QP_STATE			BIT(0)
#define SROCE_QP_CUR_STATE		BIT(1)
#define SROCE_QP_EN_SQD_ASYNC_NOTIFY	BIT(2)
#define SROCE_QP_ACCESS_FLAGS		BIT(3)
#define SROCE_QP_PKEY_INDEX		BIT(4)
#define SROCE_QP_PORT			BIT(5)
#define SROCE_QP_QKEY			BIT(6)
#define SROCE_QP_AV			BIT(7)
#define SROCE_QP_PATH_MTU		BIT(8)
#define SROCE_QP_TIMEOUT		BIT(9)
#define SROCE_QP_RETRY_CNT		BIT(10)
#define SROCE_QP_RNR_RETRY		BIT(11)
#define SROCE_QP_RQ_PSN			BIT(12)
#define SROCE_QP_MAX_QP_RD_ATOMIC	BIT(13)
#define SROCE_QP_ALT_PATH		BIT(14)
#define SROCE_QP_MIN_RNR_TIMER		BIT(15)
#define SROCE_QP_SQ_PSN			BIT(16)
#define SROCE_QP_MAX_DEST_RD_ATOMIC	BIT(17)
#define SROCE_QP_PATH_MIG_STATE		BIT(18)
#define SROCE_QP_CAP			BIT(19)
#define SROCE_QP_DEST_QPN		BIT(20)

enum sroce_qp_transition {
	SROCE_TRANSITION_OK,
	SROCE_TRANSITION_ILLEGAL,	/* there is no such transition */
	SROCE_TRANSITION_MISSING,	/* a required attribute is not in the mask */
	SROCE_TRANSITION_EXTRA,		/* the mask has an attribute not allowed here */
};

enum sroce_qp_transition sroce_qp_state_check(enum sroce_qp_state from, enum sroce_qp_state to,
					      enum sroce_service service, u32 mask);

#endif
