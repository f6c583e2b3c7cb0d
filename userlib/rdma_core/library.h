// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The libibverbs of this process. The provider is not linked to it, because its private symbols
// have rdma-core's version in their names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "private_abi.h"

namespace sroce {

/// A layout of the private ABI: see SROCE_LAYOUTS.
struct Layout {
  unsigned abi;
  unsigned from;
  unsigned column;
  std::size_t context_words;
  bool has_fd_array;
  bool has_cq_buffer;
  const char* symbol;
  const char* registration;

  /// The offset of the ibv_context in a verbs_context, and the size of the latter.
  std::size_t context_offset() const { return context_words * sizeof(void*); }
  std::size_t context_size() const { return context_offset() + sizeof(ibv_context); }
};

std::span<const Layout> known_layouts();

/// Finds symbols of a libibverbs.
class Symbols {
 public:
  virtual void* find(const char* name) const = 0;

 protected:
  ~Symbols() = default;
};

/// The layout of the library with @p symbols, or nullptr if it is unknown.
const Layout* choose_layout(const Symbols& symbols);

struct Library {
  Layout layout;
  /// Functions that an ibv_qp_ex has beyond those of rdma-core 36.
  unsigned late_functions;
  void (*register_driver)(const verbs_device_ops*);
#define SROCE_MEMBER(result, name, arguments) result(*name) arguments;
  SROCE_CALLS(SROCE_MEMBER)
#undef SROCE_MEMBER

  /// Fill this. Returns nullptr, or why this library cannot be used.
  const char* open(const Symbols& symbols);

  int get_context(verbs_context* context, struct ibv_get_context* cmd, std::size_t cmd_size,
                  ib_uverbs_get_context_resp* resp, std::size_t resp_size) const;
  int create_cq_ex(ibv_context* context, const ibv_cq_init_attr_ex* attr, verbs_cq* cq,
                   struct ibv_create_cq_ex* cmd, std::size_t cmd_size,
                   ib_uverbs_ex_create_cq_resp* resp, std::size_t resp_size) const;

 private:
  bool find_late_functions(const Symbols& symbols);

  void* get_context_;
  void* create_cq_ex_;
};

/// The library that has loaded this provider.
const Library& library();

}  // namespace sroce
