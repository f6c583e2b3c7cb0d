// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Registers the provider, and opens devices. libibverbs returns EOPNOTSUPP for verbs that
// SROCE_VERBS lacks.
#include <dlfcn.h>
#include <rdma/ib_user_ioctl_verbs.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "rdma_core/commands.h"
#include "rdma_core/library.h"
#include "rdma_core/verbs.h"
#include "sroce_abi.h"

namespace sroce {

namespace {

Library process_library;

/// More slots than any known library has, so that none reads beyond them.
std::array<void (*)(), SROCE_SLOTS> slots;

void fill_slots(unsigned column) {
#define SROCE_FILL(name, result, arguments, ...)                                                  \
  {                                                                                               \
    constexpr std::array columns = {__VA_ARGS__};                                                 \
    slots[static_cast<std::size_t>(columns[column])] = reinterpret_cast<void (*)()>(verbs::name); \
  }
  SROCE_VERBS(SROCE_FILL)
#undef SROCE_FILL
}

void complain(const char* why) {
  std::fprintf(stderr, "libsroce: cannot work with this libibverbs: %s\n", why);
}

class ProcessSymbols final : public Symbols {
 public:
  /// The library may have been loaded with RTLD_LOCAL.
  ProcessSymbols() : library_(dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD)) {}
  void* find(const char* name) const override {
    return dlsym(library_ ? library_ : RTLD_DEFAULT, name);
  }

 private:
  void* library_;
};

/// True if the public fields show that libibverbs has read our table as we have written it. This
/// finds most libraries whose layout changed without a new number.
bool has_expected_layout(const verbs_context& context) {
  const ibv_context_ops& ops = context.context.ops;
  return ops.bind_mw == verbs::bind_mw && ops.poll_cq == verbs::poll_cq &&
         ops.post_recv == verbs::post_recv && ops.post_send == verbs::post_send &&
         ops.post_srq_recv == verbs::post_srq_recv && ops.req_notify_cq == verbs::req_notify_cq &&
         context.alloc_td == verbs::alloc_td && context.create_qp_ex == verbs::create_qp_ex &&
         context.modify_cq == verbs::modify_cq && context.query_rt_values == verbs::query_rt_values;
}

/// The end of a verbs_context, which <infiniband/verbs.h> describes; its start differs.
verbs_context& public_part(void* context) {
  auto* end = static_cast<std::byte*>(context) + library().layout.context_size();
  return *reinterpret_cast<verbs_context*>(end - sizeof(verbs_context));
}

bool start(void* context) {
  auto* whole = static_cast<verbs_context*>(context);
  verbs_context& known = public_part(context);
  if (known.sz != library().layout.context_size()) {
    complain("its contexts have another size");
    errno = EOPNOTSUPP;
    return false;
  }
  WithDriverPart<struct ibv_get_context, sroce_alloc_ucontext_cmd> cmd;
  WithDriverPart<ib_uverbs_get_context_resp, sroce_alloc_ucontext_resp> resp;
  cmd.ours()->abi_version = SROCE_ABI_VERSION;
  if (library().get_context(whole, cmd.core(), cmd.size, resp.core(), resp.size)) return false;
  // Another device may have got the name since it was matched.
  if (resp.ours()->abi_version != SROCE_ABI_VERSION) {
    errno = EOPNOTSUPP;
    return false;
  }
  library().verbs_set_ops(whole, reinterpret_cast<const verbs_context_ops*>(slots.data()));
  if (has_expected_layout(known)) return true;
  complain("its table of verbs has another order");
  errno = EOPNOTSUPP;
  return false;
}

verbs_context* alloc_context(ibv_device* device, int cmd_fd, void*) {
  // Room for a larger context than the expected one, which start() rejects.
  constexpr std::size_t room = 1024;
  void* context = library()._verbs_init_and_alloc_context(
      device, cmd_fd, library().layout.context_size() + room, nullptr, RDMA_DRIVER_RXE);
  if (!context) return nullptr;
  if (start(context)) return static_cast<verbs_context*>(context);
  library().verbs_uninit_context(static_cast<verbs_context*>(context));
  std::free(context);
  return nullptr;
}

/// Devices of rdma_rxe, and those of a module with another version of our ABI, are for librxe.
bool match_device(verbs_sysfs_dev* device) {
  std::array<char, sizeof(device->ibdev_path) + 32> path;
  std::snprintf(path.data(), path.size(), "%s/sroce/abi_version", device->ibdev_path);
  std::FILE* file = std::fopen(path.data(), "re");
  if (!file) return false;
  unsigned version = 0;
  const bool is_known = std::fscanf(file, "%u", &version) == 1 && version == SROCE_ABI_VERSION;
  std::fclose(file);
  return device->match && is_known;
}

verbs_device* alloc_device(verbs_sysfs_dev*) {
  return static_cast<verbs_device*>(std::calloc(1, sizeof(verbs_device)));
}

void uninit_device(verbs_device* device) { std::free(device); }

constexpr std::array<verbs_match_ent, 2> match_table = {{
    {.driver_data = nullptr,
     .u = {.driver_id = RDMA_DRIVER_RXE},
     .vendor = 0,
     .device = 0,
     .kind = SROCE_MATCH_DRIVER_ID},
    {},
}};

constexpr verbs_device_ops device_ops = {
    .name = "sroce",
    .match_min_abi_version = SROCE_ABI_VERSION_RXE,
    .match_max_abi_version = SROCE_ABI_VERSION_RXE,
    .match_table = match_table.data(),
    .static_providers = nullptr,
    .match_device = match_device,
    .alloc_context = alloc_context,
    .import_context = nullptr,
    .alloc_device = alloc_device,
    .uninit_device = uninit_device,
};

__attribute__((constructor)) void register_provider() {
  const ProcessSymbols symbols;
  if (const char* why = process_library.open(symbols)) {
    complain(why);
    return;
  }
  fill_slots(process_library.layout.column);
  process_library.register_driver(&device_ops);
}

}  // namespace

const Library& library() { return process_library; }

namespace verbs {

namespace {

/// The kernel does not report capabilities that librxe lacks.
void add_capabilities(ibv_device_attr_ex* attr, std::size_t attr_size) {
  attr->orig_attr.device_cap_flags |= IBV_DEVICE_XRC;
  // Callers pass the attributes that they know.
  if (attr_size < offsetof(ibv_device_attr_ex, device_cap_flags_ex) + sizeof(std::uint64_t)) return;
  attr->completion_timestamp_mask = UINT64_MAX;
  attr->hca_core_clock = SROCE_CLOCK_KHZ;
  attr->device_cap_flags_ex |= IBV_DEVICE_XRC;
}

}  // namespace

int query_device_ex(ibv_context* context, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* attr, std::size_t attr_size) {
  const int err =
      library().ibv_cmd_query_device_any(context, input, attr, attr_size, nullptr, nullptr);
  if (!err) add_capabilities(attr, attr_size);
  return err;
}

int query_port(ibv_context* context, std::uint8_t port_num, ibv_port_attr* attr) {
  struct ibv_query_port cmd {};

  return library().ibv_cmd_query_port(context, port_num, attr, &cmd, sizeof(cmd));
}

// As other providers do: ticks of the clock in tv_nsec alone.
int query_rt_values(ibv_context*, ibv_values_ex* values) {
  const std::uint32_t wanted = values->comp_mask;

  values->comp_mask = wanted & IBV_VALUES_MASK_RAW_CLOCK;
  if (values->comp_mask) {
    values->raw_clock.tv_sec = 0;
    values->raw_clock.tv_nsec = static_cast<long>(sroce_clock_ns(CLOCK_MONOTONIC));
  }
  return 0;
}

void free_context(ibv_context* context) {
  void* start = reinterpret_cast<std::byte*>(context) - library().layout.context_offset();

  library().verbs_uninit_context(static_cast<verbs_context*>(start));
  std::free(start);
}

}  // namespace verbs

}  // namespace sroce
