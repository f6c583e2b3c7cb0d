// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Prints the facts of userlib/rdma_core/private_abi.h for one version of rdma-core, a line each.
// Compiled with PRIVATE, it prints them as rdma-core's private headers have them. Prototypes are
// compared by the compiler, then.
#include <stdio.h>
#include <stdlib.h>

#ifdef PRIVATE
#include <infiniband/driver.h>
#define SROCE_HAVE_PRIVATE_HEADERS
#endif
#include "rdma_core/private_abi.h"

#define SAME(type, expected, name) \
  _Static_assert(__builtin_types_compatible_p(type, expected), "prototype of " #name)

struct layout {
  int abi, from, column, words, fd_array, cq_buffer;
  const char* symbol;
};
#define LAYOUT(abi, from, column, words, fd_array, cq_buffer, symbol) \
  {abi, from, column, words, fd_array, cq_buffer, #symbol},
static const struct layout layouts[] = {SROCE_LAYOUTS(LAYOUT)};

#ifdef PRIVATE
// Before version 54, ibv_cmd_reg_dmabuf_mr() has one argument less, which private_abi.h explains.
typedef int shorter_reg_dmabuf_mr(struct ibv_pd*, uint64_t, size_t, uint64_t, int, int,
                                  struct verbs_mr*);
#define CHECK_CALL(result, name, arguments)                                                   \
  _Static_assert(__builtin_types_compatible_p(__typeof__(&name), result(*) arguments) ||      \
                     __builtin_types_compatible_p(__typeof__(&name), shorter_reg_dmabuf_mr*), \
                 "prototype of " #name);
SROCE_CALLS(CHECK_CALL)
#define CHECK_VERB(name, result, arguments, ...) \
  SAME(__typeof__(((struct verbs_context_ops*)0)->name), result(*) arguments, name);
SROCE_VERBS(CHECK_VERB)
#endif

static void print(const char* name, size_t value) { printf("%s %zu\n", name, value); }

static void print_layout(const struct layout* layout) {
#ifdef PRIVATE
  (void)layout;
  print("abi", IBVERBS_PABI_VERSION);
  print("words", offsetof(struct verbs_context, context) / sizeof(void*));
  print("fd array", __builtin_types_compatible_p(__typeof__(&ibv_cmd_get_context),
                                                 sroce_get_context_with_fd_array*));
  print("cq buffer", __builtin_types_compatible_p(__typeof__(&ibv_cmd_create_cq_ex),
                                                  sroce_create_cq_ex_with_buffer*));
#define SLOT(name, ...) print(#name, offsetof(struct verbs_context_ops, name) / sizeof(void*));
#else
  printf("symbol %s\n", layout->symbol);
  print("abi", layout->abi);
  print("words", layout->words);
  print("fd array", layout->fd_array);
  print("cq buffer", layout->cq_buffer);
#define SLOT(name, result, arguments, ...) print(#name, (int[]){__VA_ARGS__}[layout->column]);
#endif
  SROCE_VERBS(SLOT)
}

// The prototypes of the two calls are one of two; and the private parts have room.
static void print_rest(void) {
#ifdef PRIVATE
  const size_t late = offsetof(struct ibv_qp_ex, wr_abort) + sizeof(void*);
  print("get_context",
        __builtin_types_compatible_p(__typeof__(&ibv_cmd_get_context),
                                     sroce_get_context_with_fd_array*) ||
            __builtin_types_compatible_p(__typeof__(&ibv_cmd_get_context), sroce_get_context*));
  print("create_cq_ex",
        __builtin_types_compatible_p(__typeof__(&ibv_cmd_create_cq_ex),
                                     sroce_create_cq_ex_with_buffer*) ||
            __builtin_types_compatible_p(__typeof__(&ibv_cmd_create_cq_ex), sroce_create_cq_ex*));
  print("device fits",
        offsetof(struct verbs_device, ops) == sizeof(struct ibv_device) &&
            sizeof(struct verbs_device) <= sizeof(struct ibv_device) + SROCE_DEVICE_ROOM);
  print("functions of a device at", offsetof(struct verbs_device, ops));
  print("qp fits", sizeof(struct verbs_qp) <= SROCE_QP_ROOM);
  print("late functions known",
        offsetof(struct verbs_qp, comp_mask) <= late + SROCE_LATE_FUNCTIONS * sizeof(void*));
  print("qp is extended", VERBS_QP_EX);
  print("verbs_cq", sizeof(struct verbs_cq));
  print("slots fit", sizeof(struct verbs_context_ops) <= SROCE_SLOTS * sizeof(void*));
  print("match driver id", VERBS_MATCH_DRIVER_ID);
#define COMMAND_SIZE(name, body) print(#name, sizeof(struct name));
#define EX_COMMAND_SIZE COMMAND_SIZE
#else
  print("get_context", 1);
  print("create_cq_ex", 1);
  print("device fits", 1);
  print("functions of a device at", 664);  // as provider_of() in tools/sroce/host_facts.cc has it
  print("qp fits", 1);
  print("late functions known", 1);
  print("qp is extended", SROCE_QP_IS_EXTENDED);
  print("verbs_cq", sizeof(struct ibv_cq_ex));
  print("slots fit", 1);
  print("match driver id", SROCE_MATCH_DRIVER_ID);
#define COMMAND_SIZE(name, body) \
  print(#name, sizeof(struct ib_uverbs_cmd_hdr) + sizeof(struct body));
#define EX_COMMAND_SIZE(name, body)                                                     \
  print(#name, sizeof(struct ib_uverbs_cmd_hdr) + sizeof(struct ib_uverbs_ex_cmd_hdr) + \
                   sizeof(struct body));
#endif
  SROCE_COMMANDS(COMMAND_SIZE)
  SROCE_EX_COMMANDS(EX_COMMAND_SIZE)
}

#define FIELD(type, member) print(#type "." #member, offsetof(struct type, member));

static void print_structures(void) {
  print("verbs_mr", sizeof(struct verbs_mr));
  FIELD(verbs_mr, ibv_mr)
  print("verbs_srq", sizeof(struct verbs_srq));
  FIELD(verbs_srq, srq)
  FIELD(verbs_srq, srq_num)
  print("verbs_xrcd", sizeof(struct verbs_xrcd));
  FIELD(verbs_xrcd, xrcd)
  print("verbs_match_ent", sizeof(struct verbs_match_ent));
  FIELD(verbs_match_ent, u.driver_id)
  FIELD(verbs_match_ent, kind)
  FIELD(verbs_sysfs_dev, match)
  FIELD(verbs_sysfs_dev, ibdev_path)
  print("verbs_device_ops", sizeof(struct verbs_device_ops));
  FIELD(verbs_device_ops, name)
  FIELD(verbs_device_ops, match_min_abi_version)
  FIELD(verbs_device_ops, match_max_abi_version)
  FIELD(verbs_device_ops, match_table)
  FIELD(verbs_device_ops, match_device)
  FIELD(verbs_device_ops, alloc_context)
  FIELD(verbs_device_ops, alloc_device)
  FIELD(verbs_device_ops, uninit_device)
}

int main(int argc, char** argv) {
  const int version = argc > 1 ? atoi(argv[1]) : 0;
  const struct layout* layout = layouts;
  for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
    if (layouts[i].from <= version) layout = &layouts[i];
  print_layout(layout);
  print_structures();
  print_rest();
}
