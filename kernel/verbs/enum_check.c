// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * transport/ compiles without kernel headers, so it has its own enums. Their values equal those of
 * the verbs, so that the datapath casts instead of translating. This file compiles to nothing.
 */
#include <linux/build_bug.h>
#include <rdma/ib_verbs.h>

#include "compat/compat.h"
#include "transport/access.h"
#include "transport/wqe.h"

static_assert((int)SROCE_WR_WRITE == IB_WR_RDMA_WRITE);
static_assert((int)SROCE_WR_WRITE_IMM == IB_WR_RDMA_WRITE_WITH_IMM);
static_assert((int)SROCE_WR_SEND == IB_WR_SEND);
static_assert((int)SROCE_WR_SEND_IMM == IB_WR_SEND_WITH_IMM);
static_assert((int)SROCE_WR_READ == IB_WR_RDMA_READ);
static_assert((int)SROCE_WR_COMPARE_SWAP == IB_WR_ATOMIC_CMP_AND_SWP);
static_assert((int)SROCE_WR_FETCH_ADD == IB_WR_ATOMIC_FETCH_AND_ADD);
static_assert((int)SROCE_WR_LOCAL_INV == IB_WR_LOCAL_INV);
static_assert((int)SROCE_WR_BIND_MW == IB_UVERBS_WR_BIND_MW);
static_assert((int)SROCE_WR_SEND_INV == IB_WR_SEND_WITH_INV);
static_assert((int)SROCE_WR_FLUSH == IB_WR_FLUSH);
static_assert((int)SROCE_WR_ATOMIC_WRITE == IB_WR_ATOMIC_WRITE);

static_assert(SROCE_SEND_FENCE == IB_SEND_FENCE);
static_assert(SROCE_SEND_SIGNALED == IB_SEND_SIGNALED);
static_assert(SROCE_SEND_SOLICITED == IB_SEND_SOLICITED);
static_assert(SROCE_SEND_INLINE == IB_SEND_INLINE);

static_assert((int)SROCE_WC_SUCCESS == IB_WC_SUCCESS);
static_assert((int)SROCE_WC_LOC_LEN_ERR == IB_WC_LOC_LEN_ERR);
static_assert((int)SROCE_WC_LOC_QP_OP_ERR == IB_WC_LOC_QP_OP_ERR);
static_assert((int)SROCE_WC_LOC_PROT_ERR == IB_WC_LOC_PROT_ERR);
static_assert((int)SROCE_WC_WR_FLUSH_ERR == IB_WC_WR_FLUSH_ERR);
static_assert((int)SROCE_WC_MW_BIND_ERR == IB_WC_MW_BIND_ERR);
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
static_assert((int)SROCE_WC_BIND_MW == IB_UVERBS_WC_BIND_MW);
static_assert((int)SROCE_WC_LOCAL_INV == IB_WC_LOCAL_INV);
static_assert((int)SROCE_WC_FLUSH == IB_WC_FLUSH);
static_assert((int)SROCE_WC_ATOMIC_WRITE == IB_WC_ATOMIC_WRITE);
static_assert((int)SROCE_WC_RECV == IB_WC_RECV);
static_assert((int)SROCE_WC_RECV_WRITE_IMM == IB_WC_RECV_RDMA_WITH_IMM);
static_assert((int)SROCE_WC_GRH == IB_WC_GRH);
static_assert((int)SROCE_WC_WITH_IMM == IB_WC_WITH_IMM);
static_assert((int)SROCE_WC_WITH_INVALIDATE == IB_WC_WITH_INVALIDATE);

static_assert(SROCE_ACCESS_LOCAL_WRITE == IB_ACCESS_LOCAL_WRITE);
static_assert(SROCE_ACCESS_REMOTE_WRITE == IB_ACCESS_REMOTE_WRITE);
static_assert(SROCE_ACCESS_REMOTE_READ == IB_ACCESS_REMOTE_READ);
static_assert(SROCE_ACCESS_REMOTE_ATOMIC == IB_ACCESS_REMOTE_ATOMIC);
static_assert(SROCE_ACCESS_MW_BIND == IB_ACCESS_MW_BIND);
static_assert(SROCE_ACCESS_ZERO_BASED == IB_ZERO_BASED);
static_assert(SROCE_ACCESS_FLUSH_GLOBAL == IB_ACCESS_FLUSH_GLOBAL);
static_assert(SROCE_ACCESS_FLUSH_PERSISTENT == IB_ACCESS_FLUSH_PERSISTENT);
static_assert(SROCE_ACCESS_OPTIONAL == IB_ACCESS_OPTIONAL);
