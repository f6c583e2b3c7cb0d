// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A libibverbs with one layout of the private ABI, for load_provider. Macros choose the layout:
//   FAKE_ABI     number of the private ABI
//   FAKE_COLUMN  column of the slots in SROCE_VERBS
//   FAKE_SHIFT   by how much a slot from poll_cq on differs from that
//   FAKE_WORDS   pointers that precede the ibv_context in a verbs_context
//   FAKE_LATE    late functions of an ibv_qp_ex
//   FAKE_SYMBOL  its newest public symbol
#include "fake_libibverbs.h"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "provider.h"
#include "rdma_core/private_abi.h"

namespace {

const verbs_device_ops* registered;
void* uninitialized;
bool is_native;

/// The slot of each verb in this library.
struct Slots {
#define FAKE_SLOT(name, result, arguments, ...) \
  int name =                                    \
      std::array{__VA_ARGS__}[FAKE_COLUMN] + (std::array{__VA_ARGS__}[0] >= 53 ? FAKE_SHIFT : 0);
  SROCE_VERBS(FAKE_SLOT)
#undef FAKE_SLOT
};
constexpr Slots slots;

void (*const* table)();

template <typename Function>
void set(Function& function, int slot) {
  function = reinterpret_cast<Function>(table[slot]);
}

verbs_context& public_part(void* context) {
  auto* ours = static_cast<std::byte*>(context) + FAKE_WORDS * sizeof(void*);
  return *reinterpret_cast<verbs_context*>(ours - offsetof(verbs_context, context));
}

}  // namespace

#define FAKE_JOIN(name, number) name##number
#define FAKE_REGISTER(number) FAKE_JOIN(verbs_register_driver_, number)

extern "C" {

// Not by its C name, because the headers may declare it.
void newest_symbol() __asm__(FAKE_SYMBOL);
void newest_symbol() {}

void FAKE_REGISTER(FAKE_ABI)(const verbs_device_ops* ops) { registered = ops; }

void* _verbs_init_and_alloc_context(ibv_device* device, int, std::size_t size, verbs_context*,
                                    std::uint32_t) {
  void* context = std::calloc(1, size);
  public_part(context).sz = FAKE_WORDS * sizeof(void*) + sizeof(ibv_context);
  public_part(context).context.device = device;
  return context;
}

void verbs_uninit_context(verbs_context* context) { uninitialized = context; }

void verbs_set_ops(verbs_context* whole, const verbs_context_ops* ops) {
  verbs_context& context = public_part(whole);
  table = reinterpret_cast<void (*const*)()>(ops);
  set(context.context.ops.bind_mw, slots.bind_mw);
  set(context.context.ops.poll_cq, slots.poll_cq);
  set(context.context.ops.post_recv, slots.post_recv);
  set(context.context.ops.post_send, slots.post_send);
  set(context.context.ops.post_srq_recv, slots.post_srq_recv);
  set(context.context.ops.req_notify_cq, slots.req_notify_cq);
  set(context.alloc_td, slots.alloc_td);
  set(context.create_qp_ex, slots.create_qp_ex);
  set(context.modify_cq, slots.modify_cq);
  set(context.query_rt_values, slots.query_rt_values);
}

// No member of the headers' ibv_qp_ex: they may have more late functions than this library.
ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  const auto* late =
      reinterpret_cast<std::byte*>(qp) + offsetof(ibv_qp_ex, wr_abort) + sizeof(void*);
  const auto* comp_mask = reinterpret_cast<const std::uint32_t*>(late + FAKE_LATE * sizeof(void*));
  return *comp_mask & 2 ? reinterpret_cast<ibv_qp_ex*>(qp) : nullptr;
}

// Between command and response some layouts have an array, which may be NULL.
int ibv_cmd_get_context(verbs_context*, void* cmd, std::size_t cmd_size, void* array_or_response,
                        void* response_or_size) {
  constexpr std::size_t header = sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_get_context);
  if (!is_native || cmd_size != header + sizeof(sroce_alloc_ucontext_cmd)) return 0;
  auto* response =
      static_cast<std::byte*>(array_or_response ? array_or_response : response_or_size);
  std::memcpy(response + sizeof(ib_uverbs_get_context_resp), static_cast<std::byte*>(cmd) + header,
              sizeof(std::uint32_t));
  return 0;
}

FakeResult fake_open(const char* path, bool native) {
  is_native = native;
  FakeResult result{};
  result.registered = registered ? registered->name : nullptr;
  if (!registered) return result;
  verbs_sysfs_dev sysfs{};
  std::snprintf(sysfs.ibdev_path, sizeof(sysfs.ibdev_path), "%s", path);
  result.matches_any = registered->match_device(&sysfs);
  sysfs.match = registered->match_table;
  result.matched = registered->match_device(&sysfs);
  verbs_device* device = registered->alloc_device(nullptr);
  void* context = registered->alloc_context(&device->device, -1, nullptr);
  result.opened = context != nullptr;
  if (context) {
    void (*free_context)(ibv_context*);
    set(free_context, slots.free_context);
    free_context(&public_part(context).context);
    result.closed = uninitialized == context;
  }
  registered->uninit_device(device);
  return result;
}

}  // extern "C"
