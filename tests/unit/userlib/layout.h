/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sizes and offsets of the ABI's structures in C, the kernel's language, to compare with C++. */
#ifndef SROCE_TESTS_USERLIB_LAYOUT_H
#define SROCE_TESTS_USERLIB_LAYOUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct c_layout {
  size_t queue_buf_data;
  size_t queue_head_bytes;
  size_t cq_line_bytes;
  size_t cq_line_solicited;
  size_t send_slot_bytes;
  size_t send_slot_swap;
  size_t recv_slot_bytes;
  size_t create_qp_resp_bytes;
  size_t create_srq_resp_bytes;
};

extern const struct c_layout c_layout;

#ifdef __cplusplus
}
#endif

#endif
