/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The private ABI between libibverbs and its providers: what this provider uses of it, for
 * rdma-core 36 to 65. The layouts differ in the slots of the table of verbs, in the size of a
 * context, and in two calls. Plain C, so that tests/rdma_core/ can compare all of it with
 * rdma-core's own headers.
 */
#ifndef SROCE_USERLIB_RDMA_CORE_PRIVATE_ABI_H
#define SROCE_USERLIB_RDMA_CORE_PRIVATE_ABI_H

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>
#include <stdbool.h>
#include <sys/types.h>

#include "layouts.h"

/* Room for more than libraries use today: 93 slots; 48 and 376 bytes. */
#define SROCE_SLOTS 160
#define SROCE_DEVICE_ROOM 256
#define SROCE_QP_ROOM 512

/*
 * Functions that an ibv_qp_ex may have beyond those of rdma-core 36, which end with wr_abort:
 * wr_atomic_write since 44 and wr_flush since 45. A verbs_qp continues behind them with comp_mask.
 */
#define SROCE_LATE_FUNCTIONS 2
#define SROCE_QP_IS_EXTENDED 2

/*
 * The structures that only libibverbs and its providers know. Those of libibverbs alone stay
 * opaque.
 */
struct verbs_context_ops;
struct verbs_create_cq_prov_attr;
struct ibv_fd_arr;
struct ibv_command_buffer;

#ifndef SROCE_HAVE_PRIVATE_HEADERS
/* A CQ is an ibv_cq or an ibv_cq_ex and has no private part. */
struct verbs_cq;
/* An ibv_qp or ibv_qp_ex and a private part: see sroce_qp_object. */
struct verbs_qp;

struct verbs_mr {
  struct ibv_mr ibv_mr;
  int mr_type;
  int access;
};

struct verbs_xrcd {
  struct ibv_xrcd xrcd;
  uint32_t comp_mask;
  uint32_t handle;
};

struct verbs_srq {
  struct ibv_srq srq;
  enum ibv_srq_type srq_type;
  struct verbs_xrcd* xrcd;
  struct ibv_cq* cq;
  uint32_t srq_num;
};

/* libibverbs' own fields follow: 48 bytes up to rdma-core 65. */
struct verbs_device {
  struct ibv_device device;
  char private_part[SROCE_DEVICE_ROOM];
};

struct verbs_match_ent {
  void* driver_data;
  union {
    uint64_t driver_id;
  } u;
  uint16_t vendor;
  uint16_t device;
  uint8_t kind;
};

/* More follows. */
struct verbs_sysfs_dev {
  void* list[2];
  void* provider_data;
  const struct verbs_match_ent* match;
  unsigned int flags;
  char sysfs_name[IBV_SYSFS_NAME_MAX];
  dev_t sysfs_cdev;
  char ibdev_name[IBV_SYSFS_NAME_MAX];
  char ibdev_path[IBV_SYSFS_PATH_MAX];
};

struct verbs_device_ops {
  const char* name;
  uint32_t match_min_abi_version;
  uint32_t match_max_abi_version;
  const struct verbs_match_ent* match_table;
  void* static_providers;
  bool (*match_device)(struct verbs_sysfs_dev*);
  struct verbs_context* (*alloc_context)(struct ibv_device*, int, void*);
  void (*import_context)(void);
  struct verbs_device* (*alloc_device)(struct verbs_sysfs_dev*);
  void (*uninit_device)(struct verbs_device*);
};
#endif
#define SROCE_MATCH_DRIVER_ID 3

/* COMMAND(name, body): a command of libibverbs, which is a header and the kernel's structure. */
#define SROCE_COMMANDS(COMMAND)                   \
  COMMAND(ibv_alloc_mw, ib_uverbs_alloc_mw)       \
  COMMAND(ibv_alloc_pd, ib_uverbs_alloc_pd)       \
  COMMAND(ibv_create_cq, ib_uverbs_create_cq)     \
  COMMAND(ibv_create_qp, ib_uverbs_create_qp)     \
  COMMAND(ibv_create_srq, ib_uverbs_create_srq)   \
  COMMAND(ibv_create_xsrq, ib_uverbs_create_xsrq) \
  COMMAND(ibv_get_context, ib_uverbs_get_context) \
  COMMAND(ibv_modify_qp, ib_uverbs_modify_qp)     \
  COMMAND(ibv_modify_srq, ib_uverbs_modify_srq)   \
  COMMAND(ibv_open_qp, ib_uverbs_open_qp)         \
  COMMAND(ibv_open_xrcd, ib_uverbs_open_xrcd)     \
  COMMAND(ibv_query_port, ib_uverbs_query_port)   \
  COMMAND(ibv_query_qp, ib_uverbs_query_qp)       \
  COMMAND(ibv_query_srq, ib_uverbs_query_srq)     \
  COMMAND(ibv_reg_mr, ib_uverbs_reg_mr)           \
  COMMAND(ibv_rereg_mr, ib_uverbs_rereg_mr)       \
  COMMAND(ibv_resize_cq, ib_uverbs_resize_cq)

/* The same with the longer header. */
#define SROCE_EX_COMMANDS(COMMAND)                  \
  COMMAND(ibv_create_cq_ex, ib_uverbs_ex_create_cq) \
  COMMAND(ibv_modify_cq, ib_uverbs_ex_modify_cq)

#define SROCE_DECLARE_COMMAND(name, body) struct name;
SROCE_COMMANDS(SROCE_DECLARE_COMMAND)
SROCE_EX_COMMANDS(SROCE_DECLARE_COMMAND)
#undef SROCE_DECLARE_COMMAND

/*
 * The two functions whose arguments differ between layouts; the array and the buffer, if taken, may
 * be NULL.
 */
typedef int sroce_get_context(struct verbs_context*, struct ibv_get_context*, size_t,
                              struct ib_uverbs_get_context_resp*, size_t);
typedef int sroce_get_context_with_fd_array(struct verbs_context*, struct ibv_get_context*, size_t,
                                            struct ibv_fd_arr*, struct ib_uverbs_get_context_resp*,
                                            size_t);
typedef int sroce_create_cq_ex(struct ibv_context*, const struct ibv_cq_init_attr_ex*,
                               struct verbs_cq*, struct ibv_create_cq_ex*, size_t,
                               struct ib_uverbs_ex_create_cq_resp*, size_t, uint32_t);
typedef int sroce_create_cq_ex_with_buffer(struct ibv_context*, const struct ibv_cq_init_attr_ex*,
                                           struct verbs_create_cq_prov_attr*, struct verbs_cq*,
                                           struct ibv_create_cq_ex*, size_t,
                                           struct ib_uverbs_ex_create_cq_resp*, size_t, uint32_t);

/*
 * CALL(result, name, arguments): the other functions of libibverbs. Before rdma-core 54,
 * ibv_cmd_reg_dmabuf_mr() lacks its last argument. NULL does no harm there: the caller removes
 * arguments.
 */
#define SROCE_CALLS(CALL)                                                                          \
  CALL(void*, _verbs_init_and_alloc_context,                                                       \
       (struct ibv_device*, int, size_t, struct verbs_context*, uint32_t))                         \
  CALL(void, verbs_uninit_context, (struct verbs_context*))                                        \
  CALL(void, verbs_set_ops, (struct verbs_context*, const struct verbs_context_ops*))              \
  CALL(int, ibv_cmd_advise_mr,                                                                     \
       (struct ibv_pd*, enum ibv_advise_mr_advice, uint32_t, struct ibv_sge*, uint32_t))           \
  CALL(int, ibv_cmd_alloc_mw,                                                                      \
       (struct ibv_pd*, enum ibv_mw_type, struct ibv_mw*, struct ibv_alloc_mw*, size_t,            \
        struct ib_uverbs_alloc_mw_resp*, size_t))                                                  \
  CALL(int, ibv_cmd_alloc_pd,                                                                      \
       (struct ibv_context*, struct ibv_pd*, struct ibv_alloc_pd*, size_t,                         \
        struct ib_uverbs_alloc_pd_resp*, size_t))                                                  \
  CALL(int, ibv_cmd_attach_mcast, (struct ibv_qp*, const union ibv_gid*, uint16_t))                \
  CALL(int, ibv_cmd_close_xrcd, (struct verbs_xrcd*))                                              \
  CALL(int, ibv_cmd_create_ah,                                                                     \
       (struct ibv_pd*, struct ibv_ah*, struct ibv_ah_attr*, struct ib_uverbs_create_ah_resp*,     \
        size_t))                                                                                   \
  CALL(int, ibv_cmd_create_cq,                                                                     \
       (struct ibv_context*, int, struct ibv_comp_channel*, int, struct ibv_cq*,                   \
        struct ibv_create_cq*, size_t, struct ib_uverbs_create_cq_resp*, size_t))                  \
  CALL(int, ibv_cmd_create_qp,                                                                     \
       (struct ibv_pd*, struct ibv_qp*, struct ibv_qp_init_attr*, struct ibv_create_qp*, size_t,   \
        struct ib_uverbs_create_qp_resp*, size_t))                                                 \
  CALL(int, ibv_cmd_create_qp_ex,                                                                  \
       (struct ibv_context*, struct verbs_qp*, struct ibv_qp_init_attr_ex*, struct ibv_create_qp*, \
        size_t, struct ib_uverbs_create_qp_resp*, size_t))                                         \
  CALL(int, ibv_cmd_create_srq,                                                                    \
       (struct ibv_pd*, struct ibv_srq*, struct ibv_srq_init_attr*, struct ibv_create_srq*,        \
        size_t, struct ib_uverbs_create_srq_resp*, size_t))                                        \
  CALL(int, ibv_cmd_create_srq_ex,                                                                 \
       (struct ibv_context*, struct verbs_srq*, struct ibv_srq_init_attr_ex*,                      \
        struct ibv_create_xsrq*, size_t, struct ib_uverbs_create_srq_resp*, size_t))               \
  CALL(int, ibv_cmd_dealloc_mw, (struct ibv_mw*))                                                  \
  CALL(int, ibv_cmd_dealloc_pd, (struct ibv_pd*))                                                  \
  CALL(int, ibv_cmd_dereg_mr, (struct verbs_mr*))                                                  \
  CALL(int, ibv_cmd_destroy_ah, (struct ibv_ah*))                                                  \
  CALL(int, ibv_cmd_destroy_cq, (struct ibv_cq*))                                                  \
  CALL(int, ibv_cmd_destroy_qp, (struct ibv_qp*))                                                  \
  CALL(int, ibv_cmd_destroy_srq, (struct ibv_srq*))                                                \
  CALL(int, ibv_cmd_detach_mcast, (struct ibv_qp*, const union ibv_gid*, uint16_t))                \
  CALL(int, ibv_cmd_modify_cq,                                                                     \
       (struct ibv_cq*, struct ibv_modify_cq_attr*, struct ibv_modify_cq*, size_t))                \
  CALL(int, ibv_cmd_modify_qp,                                                                     \
       (struct ibv_qp*, struct ibv_qp_attr*, int, struct ibv_modify_qp*, size_t))                  \
  CALL(int, ibv_cmd_modify_srq,                                                                    \
       (struct ibv_srq*, struct ibv_srq_attr*, int, struct ibv_modify_srq*, size_t))               \
  CALL(int, ibv_cmd_open_qp,                                                                       \
       (struct ibv_context*, struct verbs_qp*, int, struct ibv_qp_open_attr*, struct ibv_open_qp*, \
        size_t, struct ib_uverbs_create_qp_resp*, size_t))                                         \
  CALL(int, ibv_cmd_open_xrcd,                                                                     \
       (struct ibv_context*, struct verbs_xrcd*, int, struct ibv_xrcd_init_attr*,                  \
        struct ibv_open_xrcd*, size_t, struct ib_uverbs_open_xrcd_resp*, size_t))                  \
  CALL(int, ibv_cmd_query_device_any,                                                              \
       (struct ibv_context*, const struct ibv_query_device_ex_input*, struct ibv_device_attr_ex*,  \
        size_t, struct ib_uverbs_ex_query_device_resp*, size_t*))                                  \
  CALL(int, ibv_cmd_query_port,                                                                    \
       (struct ibv_context*, uint8_t, struct ibv_port_attr*, struct ibv_query_port*, size_t))      \
  CALL(int, ibv_cmd_query_qp,                                                                      \
       (struct ibv_qp*, struct ibv_qp_attr*, int, struct ibv_qp_init_attr*, struct ibv_query_qp*,  \
        size_t))                                                                                   \
  CALL(int, ibv_cmd_query_srq,                                                                     \
       (struct ibv_srq*, struct ibv_srq_attr*, struct ibv_query_srq*, size_t))                     \
  CALL(int, ibv_cmd_reg_dmabuf_mr,                                                                 \
       (struct ibv_pd*, uint64_t, size_t, uint64_t, int, int, struct verbs_mr*,                    \
        struct ibv_command_buffer*))                                                               \
  CALL(int, ibv_cmd_reg_mr,                                                                        \
       (struct ibv_pd*, void*, size_t, uint64_t, int, struct verbs_mr*, struct ibv_reg_mr*,        \
        size_t, struct ib_uverbs_reg_mr_resp*, size_t))                                            \
  CALL(int, ibv_cmd_rereg_mr,                                                                      \
       (struct verbs_mr*, uint32_t, void*, size_t, uint64_t, int, struct ibv_pd*,                  \
        struct ibv_rereg_mr*, size_t, struct ib_uverbs_rereg_mr_resp*, size_t))                    \
  CALL(int, ibv_cmd_resize_cq,                                                                     \
       (struct ibv_cq*, int, struct ibv_resize_cq*, size_t, struct ib_uverbs_resize_cq_resp*,      \
        size_t))

#endif
