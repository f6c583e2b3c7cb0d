// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Protection domains, thread domains, and parent domains, which combine one of each. */
#include <errno.h>
#include <infiniband/driver.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "rdmav34/objects.h"

/* The kernel has protection domains only. */
struct td {
  struct ibv_td base;
  atomic_int parents;
};

struct pd {
  struct ibv_pd base;
  atomic_int parents;
  /* Set in a parent domain. */
  struct pd* protection;
  struct td* td;
};

static struct td* to_td(struct ibv_td* td) { return container_of(td, struct td, base); }
static struct pd* to_pd(struct ibv_pd* pd) { return container_of(pd, struct pd, base); }

struct ibv_pd* sroce_abi34_alloc_pd(struct ibv_context* context) {
  struct ib_uverbs_alloc_pd_resp resp = {};
  struct ibv_alloc_pd cmd;
  struct pd* pd = calloc(1, sizeof(*pd));
  int err;

  if (!pd) return NULL;
  err = ibv_cmd_alloc_pd(context, &pd->base, &cmd, sizeof(cmd), &resp, sizeof(resp));
  if (!err) return &pd->base;
  free(pd);
  errno = err;
  return NULL;
}

static void free_parent(struct pd* parent) {
  atomic_fetch_sub(&parent->protection->parents, 1);
  if (parent->td) atomic_fetch_sub(&parent->td->parents, 1);
  free(parent);
}

int sroce_abi34_dealloc_pd(struct ibv_pd* ibv_pd) {
  struct pd* pd = to_pd(ibv_pd);
  int err;

  if (pd->protection) {
    free_parent(pd);
    return 0;
  }
  if (atomic_load(&pd->parents)) return EBUSY;
  err = ibv_cmd_dealloc_pd(ibv_pd);
  if (!err) free(pd);
  return err;
}

struct ibv_td* sroce_abi34_alloc_td(struct ibv_context* context, struct ibv_td_init_attr* attr) {
  struct td* td;

  if (attr->comp_mask) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  td = calloc(1, sizeof(*td));
  if (!td) return NULL;
  td->base.context = context;
  return &td->base;
}

int sroce_abi34_dealloc_td(struct ibv_td* ibv_td) {
  struct td* td = to_td(ibv_td);

  if (atomic_load(&td->parents)) return EBUSY;
  free(td);
  return 0;
}

struct ibv_pd* sroce_abi34_alloc_parent_domain(struct ibv_context* context,
                                               struct ibv_parent_domain_init_attr* attr) {
  struct pd* parent;

  if (attr->comp_mask) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  if (!attr->pd || to_pd(attr->pd)->protection) {
    errno = EINVAL;
    return NULL;
  }
  parent = calloc(1, sizeof(*parent));
  if (!parent) return NULL;
  parent->base.context = context;
  parent->base.handle = attr->pd->handle;
  parent->protection = to_pd(attr->pd);
  atomic_fetch_add(&parent->protection->parents, 1);
  if (attr->td) {
    parent->td = to_td(attr->td);
    atomic_fetch_add(&parent->td->parents, 1);
  }
  return &parent->base;
}

int sroce_abi34_is_parent_domain(struct ibv_pd* pd) { return to_pd(pd)->protection != NULL; }

int sroce_abi34_is_single_threaded(struct ibv_pd* pd) {
  const char* everywhere = getenv("SROCE_SINGLE_THREADED");

  return (pd && to_pd(pd)->td) || (everywhere && atoi(everywhere));
}
