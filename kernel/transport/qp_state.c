// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The modify-QP tables of IBTA chapter 11, for RC and UD.
 *
 *            +-------- any state: RESET, ERR ---------+
 *            v                                        v
 *   RESET -> INIT -> RTR -> RTS <-> SQD             ERR
 *                            ^
 *                            +--- SQE (UD: a send failed)
 */
#include "transport/qp_state.h"

/* Allowed with every transition: the new state, and the state the caller assumes. */
#define ALWAYS		(SROCE_QP_STATE | SROCE_QP_CUR_STATE)

/**
 * struct transition - one arrow of the diagram
 * @legal: there is such an arrow
 * @required: attributes that must come with it
 * @optional: attributes that may come with it
 */
struct transition {
	bool	legal;
	u32	required;
	u32	optional;
};

static struct transition rc_transition(enum sroce_qp_state from, enum sroce_qp_state to)
{
	const u32 path = SROCE_QP_ALT_PATH | SROCE_QP_PATH_MIG_STATE;

	if (from == SROCE_QPS_RESET && to == SROCE_QPS_INIT)
		return (struct transition){ true, SROCE_QP_PKEY_INDEX | SROCE_QP_PORT |
					    SROCE_QP_ACCESS_FLAGS, 0 };
	if (from == SROCE_QPS_INIT && to == SROCE_QPS_INIT)
		return (struct transition){ true, 0, SROCE_QP_PKEY_INDEX | SROCE_QP_PORT |
					    SROCE_QP_ACCESS_FLAGS };
	if (from == SROCE_QPS_INIT && to == SROCE_QPS_RTR)
		return (struct transition){ true,
			SROCE_QP_AV | SROCE_QP_PATH_MTU | SROCE_QP_DEST_QPN | SROCE_QP_RQ_PSN |
			SROCE_QP_MAX_DEST_RD_ATOMIC | SROCE_QP_MIN_RNR_TIMER,
			path | SROCE_QP_ACCESS_FLAGS | SROCE_QP_PKEY_INDEX };
	if (from == SROCE_QPS_RTR && to == SROCE_QPS_RTS)
		return (struct transition){ true,
			SROCE_QP_TIMEOUT | SROCE_QP_RETRY_CNT | SROCE_QP_RNR_RETRY |
			SROCE_QP_SQ_PSN | SROCE_QP_MAX_QP_RD_ATOMIC,
			path | SROCE_QP_ACCESS_FLAGS | SROCE_QP_MIN_RNR_TIMER };
	if (from == SROCE_QPS_RTS && to == SROCE_QPS_RTS)
		return (struct transition){ true, 0, path | SROCE_QP_ACCESS_FLAGS |
					    SROCE_QP_MIN_RNR_TIMER };
	if (from == SROCE_QPS_RTS && to == SROCE_QPS_SQD)
		return (struct transition){ true, 0, SROCE_QP_EN_SQD_ASYNC_NOTIFY };
	if (from == SROCE_QPS_SQD && to == SROCE_QPS_RTS)
		return (struct transition){ true, 0, path | SROCE_QP_ACCESS_FLAGS |
					    SROCE_QP_MIN_RNR_TIMER };
	if (from == SROCE_QPS_SQD && to == SROCE_QPS_SQD)
		return (struct transition){ true, 0,
			path | SROCE_QP_PORT | SROCE_QP_AV | SROCE_QP_TIMEOUT |
			SROCE_QP_RETRY_CNT | SROCE_QP_RNR_RETRY | SROCE_QP_MAX_QP_RD_ATOMIC |
			SROCE_QP_MAX_DEST_RD_ATOMIC | SROCE_QP_ACCESS_FLAGS |
			SROCE_QP_PKEY_INDEX | SROCE_QP_MIN_RNR_TIMER };
	return (struct transition){ false, 0, 0 };
}

static struct transition ud_transition(enum sroce_qp_state from, enum sroce_qp_state to)
{
	const u32 keys = SROCE_QP_PKEY_INDEX | SROCE_QP_QKEY;

	if (from == SROCE_QPS_RESET && to == SROCE_QPS_INIT)
		return (struct transition){ true, keys | SROCE_QP_PORT, 0 };
	if (from == SROCE_QPS_INIT && to == SROCE_QPS_INIT)
		return (struct transition){ true, 0, keys | SROCE_QP_PORT };
	if (from == SROCE_QPS_INIT && to == SROCE_QPS_RTR)
		return (struct transition){ true, 0, keys };
	if (from == SROCE_QPS_RTR && to == SROCE_QPS_RTS)
		return (struct transition){ true, SROCE_QP_SQ_PSN, SROCE_QP_QKEY };
	if (from == SROCE_QPS_RTS && to == SROCE_QPS_RTS)
		return (struct transition){ true, 0, SROCE_QP_QKEY };
	if (from == SROCE_QPS_RTS && to == SROCE_QPS_SQD)
		return (struct transition){ true, 0, SROCE_QP_EN_SQD_ASYNC_NOTIFY };
	if (from == SROCE_QPS_SQD && to == SROCE_QPS_RTS)
		return (struct transition){ true, 0, SROCE_QP_QKEY };
	if (from == SROCE_QPS_SQD && to == SROCE_QPS_SQD)
		return (struct transition){ true, 0, keys };
	if (from == SROCE_QPS_SQE && to == SROCE_QPS_RTS)
		return (struct transition){ true, 0, SROCE_QP_QKEY };
	return (struct transition){ false, 0, 0 };
}

static struct transition find_transition(enum sroce_qp_state from, enum sroce_qp_state to,
					 enum sroce_service service)
{
	if (to == SROCE_QPS_RESET || to == SROCE_QPS_ERR)
		return (struct transition){ true, 0, 0 };
	if (service == SROCE_SERVICE_RC)
		return rc_transition(from, to);
	if (service == SROCE_SERVICE_UD)
		return ud_transition(from, to);
	return (struct transition){ false, 0, 0 };
}

/**
 * sroce_qp_state_check() - may a QP change its state in this way?
 * @from: present state
 * @to: new state; @from if only attributes change
 * @service: of the QP
 * @mask: SROCE_QP_* attributes that come with it
 *
 * Return: SROCE_TRANSITION_OK or what is wrong.
 */
enum sroce_qp_transition sroce_qp_state_check(enum sroce_qp_state from, enum sroce_qp_state to,
					      enum sroce_service service, u32 mask)
{
	struct transition t;

	if (from >= SROCE_QPS_COUNT || to >= SROCE_QPS_COUNT)
		return SROCE_TRANSITION_ILLEGAL;
	t = find_transition(from, to, service);
	if (!t.legal)
		return SROCE_TRANSITION_ILLEGAL;
	if ((mask & t.required) != t.required)
		return SROCE_TRANSITION_MISSING;
	if (mask & ~(t.required | t.optional | ALWAYS))
		return SROCE_TRANSITION_EXTRA;
	return SROCE_TRANSITION_OK;
}
