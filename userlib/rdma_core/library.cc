// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rdma_core/library.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ranges>

#include "provider.h"

namespace sroce {

namespace {

constexpr std::array kLayouts = {
#define SROCE_ROW(abi, from, column, words, fd_array, cq_buffer, symbol) \
  Layout{abi,           from,           column,  words,                  \
         fd_array != 0, cq_buffer != 0, #symbol, "verbs_register_driver_" #abi},
    SROCE_LAYOUTS(SROCE_ROW)
#undef SROCE_ROW
};

/// Sets @p function and returns true if @p symbols have @p name.
template <typename Function>
bool find(const Symbols& symbols, const char* name, Function& function) {
  void* found = symbols.find(name);
  function = reinterpret_cast<Function>(found);
  return found != nullptr;
}

}  // namespace

std::span<const Layout> known_layouts() { return kLayouts; }

const Layout* choose_layout(const Symbols& symbols) {
  // Layouts with the same newest symbol are told apart by their ABI number.
  const auto newest = std::ranges::find_if(
      kLayouts.rbegin(), kLayouts.rend(),
      [&](const Layout& layout) { return symbols.find(layout.symbol) != nullptr; });
  for (const Layout& layout : kLayouts)
    if (newest != kLayouts.rend() && std::strcmp(layout.symbol, newest->symbol) == 0 &&
        symbols.find(layout.registration))
      return &layout;
  return nullptr;
}

const char* Library::open(const Symbols& symbols) {
  const Layout* known = choose_layout(symbols);
  if (!known) return "its private ABI is none of those of rdma-core 36 to 65";
  layout = *known;
  bool complete = find(symbols, layout.registration, register_driver);
  complete &= find(symbols, "ibv_cmd_get_context", get_context_);
  complete &= find(symbols, "ibv_cmd_create_cq_ex", create_cq_ex_);
#define SROCE_FIND(result, name, arguments) complete &= find(symbols, #name, name);
  SROCE_CALLS(SROCE_FIND)
#undef SROCE_FIND
  if (!complete) return "it lacks a function for providers";
  return find_late_functions(symbols) ? nullptr : "its QPs have an unknown layout";
}

/// Several layouts of QPs have the same number. A public function shows which one this is.
bool Library::find_late_functions(const Symbols& symbols) {
  ibv_qp_ex* (*extended)(ibv_qp*);
  if (!find(symbols, "ibv_qp_to_qp_ex", extended)) return false;
  for (late_functions = 0; late_functions <= SROCE_LATE_FUNCTIONS; late_functions++) {
    sroce_qp_object qp{};
    sroce_mark_extended(&qp, late_functions);
    if (extended(&qp.base.qp_base)) return true;
  }
  return false;
}

int Library::get_context(verbs_context* context, struct ibv_get_context* cmd, std::size_t cmd_size,
                         ib_uverbs_get_context_resp* resp, std::size_t resp_size) const {
  if (layout.has_fd_array)
    return reinterpret_cast<sroce_get_context_with_fd_array*>(get_context_)(
        context, cmd, cmd_size, nullptr, resp, resp_size);
  return reinterpret_cast<sroce_get_context*>(get_context_)(context, cmd, cmd_size, resp,
                                                            resp_size);
}

int Library::create_cq_ex(ibv_context* context, const ibv_cq_init_attr_ex* attr, verbs_cq* cq,
                          struct ibv_create_cq_ex* cmd, std::size_t cmd_size,
                          ib_uverbs_ex_create_cq_resp* resp, std::size_t resp_size) const {
  constexpr std::uint32_t no_flags = 0;
  if (layout.has_cq_buffer)
    return reinterpret_cast<sroce_create_cq_ex_with_buffer*>(create_cq_ex_)(
        context, attr, nullptr, cq, cmd, cmd_size, resp, resp_size, no_flags);
  return reinterpret_cast<sroce_create_cq_ex*>(create_cq_ex_)(context, attr, cq, cmd, cmd_size,
                                                              resp, resp_size, no_flags);
}

}  // namespace sroce
