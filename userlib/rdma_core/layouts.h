/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The layouts of the private ABI, and the slots of verbs in their tables. See private_abi.h. */
#ifndef SROCE_USERLIB_RDMA_CORE_LAYOUTS_H
#define SROCE_USERLIB_RDMA_CORE_LAYOUTS_H

/*
 * LAYOUT(abi, from, column, words, fd_array, cq_buffer, symbol), oldest first:
 *   abi        the number in the provider's file name and in verbs_register_driver_NN
 *   from       the first version of rdma-core that has this layout
 *   column     that of its slots in SROCE_VERBS
 *   words      the pointers that precede the ibv_context in a verbs_context
 *   fd_array   1 if ibv_cmd_get_context() takes an array of file descriptors
 *   cq_buffer  1 if ibv_cmd_create_cq_ex() takes a buffer for the CQ
 *   symbol     the newest public symbol of a library with this layout
 * rdma-core 34 and 35 have the number 34 too, but neither this symbol nor these slots.
 */
#define SROCE_LAYOUTS(LAYOUT)                             \
  LAYOUT(34, 36, 0, 40, 0, 0, ibv_query_qp_data_in_order) \
  LAYOUT(57, 57, 0, 40, 1, 0, ibv_query_qp_data_in_order) \
  LAYOUT(59, 59, 1, 43, 1, 1, ibv_alloc_dmah)             \
  LAYOUT(59, 62, 2, 44, 1, 1, ibv_query_port_speed)       \
  LAYOUT(64, 64, 3, 46, 1, 1, ibv_alloc_buf)              \
  LAYOUT(65, 65, 4, 46, 1, 1, ibv_create_comp_cntr)

/* VERB(name, result, arguments, slots in each column): the verbs that this provider implements. */
#define SROCE_VERBS(VERB)                                                                          \
  VERB(advise_mr, int,                                                                             \
       (struct ibv_pd*, enum ibv_advise_mr_advice, uint32_t, struct ibv_sge*, uint32_t), 0, 0, 0,  \
       0, 0)                                                                                       \
  VERB(alloc_mw, struct ibv_mw*, (struct ibv_pd*, enum ibv_mw_type), 2, 3, 3, 4, 4)                \
  VERB(alloc_parent_domain, struct ibv_pd*,                                                        \
       (struct ibv_context*, struct ibv_parent_domain_init_attr*), 4, 5, 5, 6, 6)                  \
  VERB(alloc_pd, struct ibv_pd*, (struct ibv_context*), 5, 6, 6, 7, 7)                             \
  VERB(alloc_td, struct ibv_td*, (struct ibv_context*, struct ibv_td_init_attr*), 6, 7, 7, 8, 8)   \
  VERB(attach_mcast, int, (struct ibv_qp*, const union ibv_gid*, uint16_t), 9, 10, 10, 11, 11)     \
  VERB(bind_mw, int, (struct ibv_qp*, struct ibv_mw*, struct ibv_mw_bind*), 10, 11, 11, 12, 12)    \
  VERB(close_xrcd, int, (struct ibv_xrcd*), 11, 12, 12, 13, 13)                                    \
  VERB(cq_event, void, (struct ibv_cq*), 12, 13, 13, 14, 14)                                       \
  VERB(create_ah, struct ibv_ah*, (struct ibv_pd*, struct ibv_ah_attr*), 13, 14, 14, 15, 15)       \
  VERB(create_cq, struct ibv_cq*, (struct ibv_context*, int, struct ibv_comp_channel*, int), 15,   \
       16, 16, 17, 18)                                                                             \
  VERB(create_cq_ex, struct ibv_cq_ex*, (struct ibv_context*, struct ibv_cq_init_attr_ex*), 16,    \
       17, 17, 18, 19)                                                                             \
  VERB(create_qp, struct ibv_qp*, (struct ibv_pd*, struct ibv_qp_init_attr*), 19, 20, 20, 21, 22)  \
  VERB(create_qp_ex, struct ibv_qp*, (struct ibv_context*, struct ibv_qp_init_attr_ex*), 20, 21,   \
       21, 22, 23)                                                                                 \
  VERB(create_srq, struct ibv_srq*, (struct ibv_pd*, struct ibv_srq_init_attr*), 22, 23, 23, 24,   \
       25)                                                                                         \
  VERB(create_srq_ex, struct ibv_srq*, (struct ibv_context*, struct ibv_srq_init_attr_ex*), 23,    \
       24, 24, 25, 26)                                                                             \
  VERB(dealloc_mw, int, (struct ibv_mw*), 25, 27, 27, 28, 29)                                      \
  VERB(dealloc_pd, int, (struct ibv_pd*), 26, 28, 28, 29, 30)                                      \
  VERB(dealloc_td, int, (struct ibv_td*), 27, 29, 29, 30, 31)                                      \
  VERB(dereg_mr, int, (struct verbs_mr*), 28, 30, 30, 31, 32)                                      \
  VERB(destroy_ah, int, (struct ibv_ah*), 29, 31, 31, 32, 33)                                      \
  VERB(destroy_cq, int, (struct ibv_cq*), 31, 33, 33, 34, 36)                                      \
  VERB(destroy_qp, int, (struct ibv_qp*), 34, 36, 36, 37, 39)                                      \
  VERB(destroy_srq, int, (struct ibv_srq*), 36, 38, 38, 39, 41)                                    \
  VERB(detach_mcast, int, (struct ibv_qp*, const union ibv_gid*, uint16_t), 38, 40, 40, 41, 43)    \
  VERB(free_context, void, (struct ibv_context*), 39, 41, 42, 44, 46)                              \
  VERB(get_srq_num, int, (struct ibv_srq*, uint32_t*), 41, 43, 44, 46, 48)                         \
  VERB(modify_cq, int, (struct ibv_cq*, struct ibv_modify_cq_attr*), 45, 47, 48, 50, 54)           \
  VERB(modify_qp, int, (struct ibv_qp*, struct ibv_qp_attr*, int), 47, 49, 50, 52, 56)             \
  VERB(modify_srq, int, (struct ibv_srq*, struct ibv_srq_attr*, int), 49, 51, 52, 54, 58)          \
  VERB(open_qp, struct ibv_qp*, (struct ibv_context*, struct ibv_qp_open_attr*), 51, 53, 54, 56,   \
       60)                                                                                         \
  VERB(open_xrcd, struct ibv_xrcd*, (struct ibv_context*, struct ibv_xrcd_init_attr*), 52, 54, 55, \
       57, 61)                                                                                     \
  VERB(poll_cq, int, (struct ibv_cq*, int, struct ibv_wc*), 53, 55, 56, 58, 62)                    \
  VERB(post_recv, int, (struct ibv_qp*, struct ibv_recv_wr*, struct ibv_recv_wr**), 54, 56, 57,    \
       59, 63)                                                                                     \
  VERB(post_send, int, (struct ibv_qp*, struct ibv_send_wr*, struct ibv_send_wr**), 55, 57, 58,    \
       60, 64)                                                                                     \
  VERB(post_srq_recv, int, (struct ibv_srq*, struct ibv_recv_wr*, struct ibv_recv_wr**), 57, 59,   \
       60, 62, 66)                                                                                 \
  VERB(query_device_ex, int,                                                                       \
       (struct ibv_context*, const struct ibv_query_device_ex_input*, struct ibv_device_attr_ex*,  \
        size_t),                                                                                   \
       58, 60, 61, 63, 69)                                                                         \
  VERB(query_port, int, (struct ibv_context*, uint8_t, struct ibv_port_attr*), 60, 62, 63, 65, 71) \
  VERB(query_qp, int, (struct ibv_qp*, struct ibv_qp_attr*, int, struct ibv_qp_init_attr*), 61,    \
       63, 65, 67, 73)                                                                             \
  VERB(query_rt_values, int, (struct ibv_context*, struct ibv_values_ex*), 63, 65, 67, 69, 75)     \
  VERB(query_srq, int, (struct ibv_srq*, struct ibv_srq_attr*), 64, 66, 68, 70, 76)                \
  VERB(reg_dmabuf_mr, struct ibv_mr*, (struct ibv_pd*, uint64_t, size_t, uint64_t, int, int), 67,  \
       69, 71, 73, 81)                                                                             \
  VERB(reg_mr, struct ibv_mr*, (struct ibv_pd*, void*, size_t, uint64_t, int), 68, 70, 72, 74, 82) \
  VERB(req_notify_cq, int, (struct ibv_cq*, int), 69, 72, 74, 76, 84)                              \
  VERB(rereg_mr, int, (struct verbs_mr*, int, struct ibv_pd*, void*, size_t, int), 70, 73, 75, 77, \
       85)                                                                                         \
  VERB(resize_cq, int, (struct ibv_cq*, int), 71, 74, 76, 78, 86)

#endif
