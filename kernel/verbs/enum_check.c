// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * transport/ compiles without kernel headers, so it has its own enums. Their values equal those of
 * the verbs, so that the datapath casts instead of translating. This file compiles to nothing.
 */
#include <linux/build_bug.h>
#include <rdma/ib_verbs.h>

#include "transport/access.h"
#include "transport/qp_state.h"
#include "transport/wqe.h"

static_assert((int)SROCE_WR_WRITE == IB_WR_RDMA_WRITE);
static_assert((int)SROCE_WR_WRITE_IMM == IB_WR_RDMA_WRITE_WITH_IMM);
static_assert((int)SROCE_WR_SEND == IB_WR_SEND);
static_assert((int)SROCE_WR_SEND_IMM == IB_WR_SEND_WITH_IMM);
static_assert((int)SROCE_WR_READ == IB_WR_RDMA_READ);
static_assert((int)SROCE_WR_COMPARE_SWAP == IB_WR_ATOMIC_CMP_AND_SWP);
static_assert((int)SROCE_WR_FETCH_ADD == IB_WR_ATOMIC_FETCH_AND_ADD);
static_assert((int)SROCE_WR_LOCAL_INV == IB_WR_LOCAL_INV);
static_assert((int)SROCE_WR_SEND_INV == IB_WR_SEND_WITH_INV);

static_assert(SROCE_SEND_FENCE == IB_SEND_FENCE);
static_assert(SROCE_SEND_SIGNALED == IB_SEND_SIGNALED);
static_assert(SROCE_SEND_SOLICITED == IB_SEND_SOLICITED);
static_assert(SROCE_SEND_INLINE == IB_SEND_INLINE);

static_assert((int)SROCE_WC_SUCCESS == IB_WC_SUCCESS);
static_assert((int)SROCE_WC_LOC_LEN_ERR == IB_WC_LOC_LEN_ERR);
static_assert((int)SROCE_WC_LOC_QP_OP_ERR == IB_WC_LOC_QP_OP_ERR);
static_assert((int)SROCE_WC_LOC_PROT_ERR == IB_WC_LOC_PROT_ERR);
static_assert((int)SROCE_WC_WR_FLUSH_ERR == IB_WC_WR_FLUSH_ERR);
static_assert((int)SROCE_WC_BAD_RESP_ERR == IB_WC_BAD_RESP_ERR);
static_assert((int)SROCE_WC_REM_INV_REQ_ERR == IB_WC_REM_INV_REQ_ERR);
static_assert((int)SROCE_WC_REM_ACCESS_ERR == IB_WC_REM_ACCESS_ERR);
static_assert((int)SROCE_WC_REM_OP_ERR == IB_WC_REM_OP_ERR);
static_assert((int)SROCE_WC_RETRY_EXC_ERR == IB_WC_RETRY_EXC_ERR);
static_assert((int)SROCE_WC_RNR_RETRY_EXC_ERR == IB_WC_RNR_RETRY_EXC_ERR);
static_assert((int)SROCE_WC_GENERAL_ERR == IB_WC_GENERAL_ERR);
static_assert((int)SROCE_WC_SEND == IB_WC_SEND);
static_assert((int)SROCE_WC_WRITE == IB_WC_RDMA_WRITE);
static_assert((int)SROCE_WC_READ == IB_WC_RDMA_READ);
static_assert((int)SROCE_WC_COMPARE_SWAP == IB_WC_COMP_SWAP);
static_assert((int)SROCE_WC_FETCH_ADD == IB_WC_FETCH_ADD);
static_assert((int)SROCE_WC_LOCAL_INV == IB_WC_LOCAL_INV);
static_assert((int)SROCE_WC_RECV == IB_WC_RECV);
static_assert((int)SROCE_WC_RECV_WRITE_IMM == IB_WC_RECV_RDMA_WITH_IMM);
static_assert((int)SROCE_WC_GRH == IB_WC_GRH);
static_assert((int)SROCE_WC_WITH_IMM == IB_WC_WITH_IMM);
static_assert((int)SROCE_WC_WITH_INVALIDATE == IB_WC_WITH_INVALIDATE);

static_assert((int)SROCE_QPS_RESET == IB_QPS_RESET);
static_assert((int)SROCE_QPS_INIT == IB_QPS_INIT);
static_assert((int)SROCE_QPS_RTR == IB_QPS_RTR);
static_assert((int)SROCE_QPS_RTS == IB_QPS_RTS);
static_assert((int)SROCE_QPS_SQD == IB_QPS_SQD);
static_assert((int)SROCE_QPS_SQE == IB_QPS_SQE);
static_assert((int)SROCE_QPS_ERR == IB_QPS_ERR);

static_assert(SROCE_QP_STATE == IB_QP_STATE);
static_assert(SROCE_QP_CUR_STATE == IB_QP_CUR_STATE);
static_assert(SROCE_QP_EN_SQD_ASYNC_NOTIFY == IB_QP_EN_SQD_ASYNC_NOTIFY);
static_assert(SROCE_QP_ACCESS_FLAGS == IB_QP_ACCESS_FLAGS);
static_assert(SROCE_QP_PKEY_INDEX == IB_QP_PKEY_INDEX);
static_assert(SROCE_QP_PORT == IB_QP_PORT);
static_assert(SROCE_QP_QKEY == IB_QP_QKEY);
static_assert(SROCE_QP_AV == IB_QP_AV);
static_assert(SROCE_QP_PATH_MTU == IB_QP_PATH_MTU);
static_assert(SROCE_QP_TIMEOUT == IB_QP_TIMEOUT);
static_assert(SROCE_QP_RETRY_CNT == IB_QP_RETRY_CNT);
static_assert(SROCE_QP_RNR_RETRY == IB_QP_RNR_RETRY);
static_assert(SROCE_QP_RQ_PSN == IB_QP_RQ_PSN);
static_assert(SROCE_QP_MAX_QP_RD_ATOMIC == IB_QP_MAX_QP_RD_ATOMIC);
static_assert(SROCE_QP_ALT_PATH == IB_QP_ALT_PATH);
static_assert(SROCE_QP_MIN_RNR_TIMER == IB_QP_MIN_RNR_TIMER);
static_assert(SROCE_QP_SQ_PSN == IB_QP_SQ_PSN);
static_assert(SROCE_QP_MAX_DEST_RD_ATOMIC == IB_QP_MAX_DEST_RD_ATOMIC);
static_assert(SROCE_QP_PATH_MIG_STATE == IB_QP_PATH_MIG_STATE);
static_assert(SROCE_QP_CAP == IB_QP_CAP);
static_assert(SROCE_QP_DEST_QPN == IB_QP_DEST_QPN);

static_assert(SROCE_ACCESS_LOCAL_WRITE == IB_ACCESS_LOCAL_WRITE);
static_assert(SROCE_ACCESS_REMOTE_WRITE == IB_ACCESS_REMOTE_WRITE);
static_assert(SROCE_ACCESS_REMOTE_READ == IB_ACCESS_REMOTE_READ);
static_assert(SROCE_ACCESS_REMOTE_ATOMIC == IB_ACCESS_REMOTE_ATOMIC);
static_assert(SROCE_ACCESS_MW_BIND == IB_ACCESS_MW_BIND);
