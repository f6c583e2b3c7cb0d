// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Attributes of uverbs' ioctl, for calls that libibverbs or the provider does not make.
#ifndef TESTS_VM_PROGRAMS_VERBS_IOCTL_H
#define TESTS_VM_PROGRAMS_VERBS_IOCTL_H

#include <rdma/rdma_user_ioctl_cmds.h>

#include <cstddef>
#include <cstdint>

namespace verbs {

// @data is the value if @length is at most 8, else its address.
inline ib_uverbs_attr attribute(unsigned id, std::size_t length, std::uint64_t data) {
  ib_uverbs_attr attr{};
  attr.attr_id = static_cast<__u16>(id);
  attr.len = static_cast<__u16>(length);
  attr.flags = UVERBS_ATTR_F_MANDATORY;
  attr.data = data;
  return attr;
}

}  // namespace verbs

#endif
