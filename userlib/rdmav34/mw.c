// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory windows. One of type 2 is bound by ibv_post_send(), one of type 1 by ibv_bind_mw(). */
#include <errno.h>
#include <infiniband/driver.h>
#include <stdlib.h>

#include "rdmav34/objects.h"

struct ibv_mw* sroce_abi34_alloc_mw(struct ibv_pd* pd, enum ibv_mw_type type) {
  struct ib_uverbs_alloc_mw_resp resp = {};
  struct ibv_mw* mw = calloc(1, sizeof(*mw));
  struct ibv_alloc_mw cmd;
  int err;

  if (!mw) return NULL;
  err = ibv_cmd_alloc_mw(pd, type, mw, &cmd, sizeof(cmd), &resp, sizeof(resp));
  if (!err) return mw;
  free(mw);
  errno = err;
  return NULL;
}

int sroce_abi34_dealloc_mw(struct ibv_mw* mw) {
  int err = ibv_cmd_dealloc_mw(mw);

  if (!err) free(mw);
  return err;
}

int sroce_abi34_bind_mw(struct ibv_qp* qp, struct ibv_mw* mw, struct ibv_mw_bind* bind) {
  struct ibv_send_wr wr = {
      .wr_id = bind->wr_id,
      .opcode = IBV_WR_BIND_MW,
      .send_flags = bind->send_flags,
      .bind_mw = {.mw = mw, .rkey = ibv_inc_rkey(mw->rkey), .bind_info = bind->bind_info},
  };
  struct ibv_send_wr* bad_wr;
  int err = sroce_abi34_post_send(qp, &wr, &bad_wr);

  if (!err) mw->rkey = wr.bind_mw.rkey;
  return err;
}
