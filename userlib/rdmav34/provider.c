// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The provider for libibverbs' private ABI 34 (rdma-core 17 to 56). This folder creates objects
 * through rdma-core's calls; provider.h posts and polls. libibverbs returns EOPNOTSUPP for verbs
 * that the table below lacks.
 */
#include <errno.h>
#include <infiniband/driver.h>
#include <stddef.h>
#include <stdlib.h>

#include "rdmav34/objects.h"
#include "sroce_abi.h"

/* The headers may be newer than the library, so check that the table has the layout of ABI 34. */
static_assert(sizeof(struct verbs_context_ops) == 76 * sizeof(void*), "not ABI 34");

static int query_device(struct ibv_context* context, const struct ibv_query_device_ex_input* input,
                        struct ibv_device_attr_ex* attr, size_t attr_size) {
  return ibv_cmd_query_device_any(context, input, attr, attr_size, NULL, NULL);
}

static int query_port(struct ibv_context* context, uint8_t port_num, struct ibv_port_attr* attr) {
  struct ibv_query_port cmd;

  return ibv_cmd_query_port(context, port_num, attr, &cmd, sizeof(cmd));
}

static struct ibv_mr* reg_mr(struct ibv_pd* pd, void* addr, size_t length, uint64_t hca_va,
                             int access) {
  struct ib_uverbs_reg_mr_resp resp = {};
  struct ibv_reg_mr cmd;
  struct verbs_mr* mr = calloc(1, sizeof(*mr));
  int err;

  if (!mr) return NULL;
  err =
      ibv_cmd_reg_mr(pd, addr, length, hca_va, access, mr, &cmd, sizeof(cmd), &resp, sizeof(resp));
  if (!err) return &mr->ibv_mr;
  free(mr);
  errno = err;
  return NULL;
}

/* libibverbs sets the fields of the region that are not the kernel's. */
static int rereg_mr(struct verbs_mr* mr, int flags, struct ibv_pd* pd, void* addr, size_t length,
                    int access) {
  struct ib_uverbs_rereg_mr_resp resp = {};
  struct ibv_rereg_mr cmd;

  return ibv_cmd_rereg_mr(mr, (uint32_t)flags, addr, length, (uintptr_t)addr, access, pd, &cmd,
                          sizeof(cmd), &resp, sizeof(resp));
}

static int dereg_mr(struct verbs_mr* mr) {
  int err = ibv_cmd_dereg_mr(mr);

  if (!err) free(mr);
  return err;
}

static struct ibv_ah* create_ah(struct ibv_pd* pd, struct ibv_ah_attr* attr) {
  struct {
    struct ib_uverbs_create_ah_resp core;
    struct rxe_create_ah_resp ours;
  } resp = {};
  struct sroce_ah* ah = calloc(1, sizeof(*ah));
  int err;

  static_assert(offsetof(typeof(resp), ours) == sizeof(resp.core), "padding");
  if (!ah) return NULL;
  err = ibv_cmd_create_ah(pd, &ah->base, attr, &resp.core, sizeof(resp));
  if (!err) {
    ah->number = resp.ours.ah_num;
    return &ah->base;
  }
  free(ah);
  errno = err;
  return NULL;
}

static int destroy_ah(struct ibv_ah* ah) {
  int err = ibv_cmd_destroy_ah(ah);

  if (!err) free(ah);
  return err;
}

/* As other providers do: ticks of the clock in tv_nsec alone. */
static int query_rt_values(struct ibv_context* context, struct ibv_values_ex* values) {
  const uint32_t wanted = values->comp_mask;

  values->comp_mask = wanted & IBV_VALUES_MASK_RAW_CLOCK;
  if (values->comp_mask) {
    values->raw_clock.tv_sec = 0;
    values->raw_clock.tv_nsec = (long)sroce_clock_ns(CLOCK_MONOTONIC);
  }
  return 0;
}

static int modify_cq(struct ibv_cq* cq, struct ibv_modify_cq_attr* attr) {
  struct ibv_modify_cq cmd;

  return ibv_cmd_modify_cq(cq, attr, &cmd, sizeof(cmd));
}

static void free_context(struct ibv_context* ibv_context) {
  struct verbs_context* context = verbs_get_ctx(ibv_context);

  verbs_uninit_context(context);
  free(context);
}

static const struct verbs_context_ops verbs = {
    .query_device_ex = query_device,
    .query_rt_values = query_rt_values,
    .query_port = query_port,
    .alloc_pd = sroce_abi34_alloc_pd,
    .dealloc_pd = sroce_abi34_dealloc_pd,
    .alloc_td = sroce_abi34_alloc_td,
    .dealloc_td = sroce_abi34_dealloc_td,
    .alloc_parent_domain = sroce_abi34_alloc_parent_domain,
    .reg_mr = reg_mr,
    .rereg_mr = rereg_mr,
    .dereg_mr = dereg_mr,
    .alloc_mw = sroce_abi34_alloc_mw,
    .bind_mw = sroce_abi34_bind_mw,
    .dealloc_mw = sroce_abi34_dealloc_mw,
    .create_ah = create_ah,
    .destroy_ah = destroy_ah,
    .create_cq = sroce_abi34_create_cq,
    .create_cq_ex = sroce_abi34_create_cq_ex,
    .modify_cq = modify_cq,
    .resize_cq = sroce_abi34_resize_cq,
    .destroy_cq = sroce_abi34_destroy_cq,
    .poll_cq = sroce_abi34_poll_cq,
    .req_notify_cq = sroce_abi34_req_notify_cq,
    .cq_event = sroce_abi34_cq_event,
    .create_qp = sroce_abi34_create_qp,
    .create_qp_ex = sroce_abi34_create_qp_ex,
    .query_qp = sroce_abi34_query_qp,
    .modify_qp = sroce_abi34_modify_qp,
    .destroy_qp = sroce_abi34_destroy_qp,
    .post_send = sroce_abi34_post_send,
    .post_recv = sroce_abi34_post_recv,
    .attach_mcast = ibv_cmd_attach_mcast,
    .detach_mcast = ibv_cmd_detach_mcast,
    .create_srq = sroce_abi34_create_srq,
    .modify_srq = sroce_abi34_modify_srq,
    .query_srq = sroce_abi34_query_srq,
    .destroy_srq = sroce_abi34_destroy_srq,
    .post_srq_recv = sroce_abi34_post_srq_recv,
    .free_context = free_context,
};

static struct verbs_context* alloc_context(struct ibv_device* device, int cmd_fd,
                                           void* private_data) {
  struct ib_uverbs_get_context_resp resp = {};
  struct sroce_context {
    struct verbs_context base;
  } * context;
  struct ibv_get_context cmd;

  (void)private_data;
  context = verbs_init_and_alloc_context(device, cmd_fd, context, base, SROCE_DRIVER_ID);
  if (!context) return NULL;
  if (ibv_cmd_get_context(&context->base, &cmd, sizeof(cmd), &resp, sizeof(resp))) {
    verbs_uninit_context(&context->base);
    free(context);
    return NULL;
  }
  verbs_set_ops(&context->base, &verbs);
  return &context->base;
}

static struct verbs_device* alloc_device(struct verbs_sysfs_dev* sysfs_dev) {
  (void)sysfs_dev;
  return calloc(1, sizeof(struct verbs_device));
}

static void uninit_device(struct verbs_device* device) { free(device); }

static const struct verbs_match_ent match_table[] = {
    VERBS_DRIVER_ID(SROCE_DRIVER_ID),
    {},
};

static const struct verbs_device_ops device_ops = {
    .name = "sroce",
    .match_min_abi_version = SROCE_ABI_VERSION,
    .match_max_abi_version = SROCE_ABI_VERSION,
    .match_table = match_table,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
    .alloc_context = alloc_context,
};
PROVIDER_DRIVER(sroce, device_ops);
