// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Commands and responses of libibverbs' ibv_cmd_*() functions.
#pragma once

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "private_abi.h"
#include "rxe_abi.h"

#define SROCE_DEFINE_COMMAND(name, body) \
  struct name {                          \
    ib_uverbs_cmd_hdr header;            \
    body core;                           \
  };
SROCE_COMMANDS(SROCE_DEFINE_COMMAND)
#undef SROCE_DEFINE_COMMAND

#define SROCE_DEFINE_EX_COMMAND(name, body) \
  struct name {                             \
    ib_uverbs_cmd_hdr header;               \
    ib_uverbs_ex_cmd_hdr ex_header;         \
    body core;                              \
  };
SROCE_EX_COMMANDS(SROCE_DEFINE_EX_COMMAND)
#undef SROCE_DEFINE_EX_COMMAND

namespace sroce {

/// A command or response of libibverbs, followed by the part of our driver. Bytes, because @p Core
/// ends in a flexible array.
template <typename Core, typename Ours>
class WithDriverPart {
 public:
  Core* core() { return reinterpret_cast<Core*>(bytes_.data()); }
  Ours* ours() { return reinterpret_cast<Ours*>(bytes_.data() + sizeof(Core)); }

  static constexpr std::size_t size = sizeof(Core) + sizeof(Ours);

 private:
  static_assert(sizeof(Core) % alignof(Ours) == 0);
  alignas(8) std::array<std::byte, size> bytes_{};
};

/// A zeroed object of libibverbs, which the provider frees; or nullptr.
template <typename Object>
Object* allocate_object() {
  return static_cast<Object*>(std::calloc(1, sizeof(Object)));
}

/// The end of a verb that has created @p object: return @p result, or, if the kernel returned
/// @p err, clean up.
template <typename Object, typename Result>
Result* finish_object(int err, Object* object, Result* result) {
  if (!err) return result;
  std::free(object);
  errno = err;
  return nullptr;
}

}  // namespace sroce
