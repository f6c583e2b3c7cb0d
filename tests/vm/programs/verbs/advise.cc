// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/advise.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "verbs/ioctl.h"

namespace verbs {

int advise_mr(const Pd& pd, unsigned advice, unsigned flags, ibv_sge sge) {
  const ib_uverbs_attr attrs[] = {
      attribute(UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0, pd->handle),
      attribute(UVERBS_ATTR_ADVISE_MR_ADVICE, sizeof(std::uint64_t), advice),
      attribute(UVERBS_ATTR_ADVISE_MR_FLAGS, sizeof(std::uint32_t), flags),
      attribute(UVERBS_ATTR_ADVISE_MR_SGE_LIST, sizeof(sge), reinterpret_cast<std::uint64_t>(&sge)),
  };
  alignas(std::uint64_t) std::byte call[sizeof(ib_uverbs_ioctl_hdr) + sizeof(attrs)];
  ib_uverbs_ioctl_hdr header{};
  header.length = sizeof(call);
  header.object_id = UVERBS_OBJECT_MR;
  header.method_id = UVERBS_METHOD_ADVISE_MR;
  header.driver_id = RDMA_DRIVER_RXE;
  header.num_attrs = std::size(attrs);
  std::memcpy(call, &header, sizeof(header));
  std::memcpy(call + sizeof(header), attrs, sizeof(attrs));
  return ioctl(pd->context->cmd_fd, RDMA_VERBS_IOCTL, call) ? errno : 0;
}

}  // namespace verbs
