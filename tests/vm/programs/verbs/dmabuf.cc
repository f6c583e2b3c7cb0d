// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/dmabuf.h"

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "harness/failure.h"
#include "verbs/ioctl.h"

namespace verbs {

int DmabufMr::try_register(const Pd& pd, const DmabufRange& range, ibv_mr* mr) {
  *mr = {};
  mr->context = pd->context;
  ib_uverbs_attr attrs[] = {
      attribute(UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0),
      attribute(UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, pd->handle),
      attribute(UVERBS_ATTR_REG_DMABUF_MR_OFFSET, sizeof(std::uint64_t), range.offset),
      attribute(UVERBS_ATTR_REG_DMABUF_MR_LENGTH, sizeof(std::uint64_t), range.length),
      attribute(UVERBS_ATTR_REG_DMABUF_MR_IOVA, sizeof(std::uint64_t), range.address),
      attribute(UVERBS_ATTR_REG_DMABUF_MR_FD, sizeof(std::uint32_t),
                static_cast<std::uint32_t>(range.fd)),
      attribute(UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, sizeof(std::uint32_t), range.access),
      attribute(UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, sizeof(mr->lkey),
                reinterpret_cast<std::uint64_t>(&mr->lkey)),
      attribute(UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, sizeof(mr->rkey),
                reinterpret_cast<std::uint64_t>(&mr->rkey)),
  };
  alignas(std::uint64_t) std::byte call[sizeof(ib_uverbs_ioctl_hdr) + sizeof(attrs)];
  ib_uverbs_ioctl_hdr header{};
  header.length = sizeof(call);
  header.object_id = UVERBS_OBJECT_MR;
  header.method_id = UVERBS_METHOD_REG_DMABUF_MR;
  header.driver_id = RDMA_DRIVER_RXE;
  header.num_attrs = std::size(attrs);
  std::memcpy(call, &header, sizeof(header));
  std::memcpy(call + sizeof(header), attrs, sizeof(attrs));
  if (ioctl(pd->context->cmd_fd, RDMA_VERBS_IOCTL, call)) return errno;
  std::memcpy(attrs, call + sizeof(header), sizeof(attrs[0]));
  mr->handle = static_cast<std::uint32_t>(attrs[0].data);
  return 0;
}

int DmabufMr::deregister(const ibv_mr& mr) {
  struct {
    ib_uverbs_cmd_hdr header;
    ib_uverbs_dereg_mr command;
  } call{};
  call.header.command = IB_USER_VERBS_CMD_DEREG_MR;
  call.header.in_words = sizeof(call) / 4;
  call.command.mr_handle = mr.handle;
  return ::write(mr.context->cmd_fd, &call, sizeof(call)) < 0 ? errno : 0;
}

DmabufMr::DmabufMr(const Pd& pd, const DmabufRange& range) {
  if (const int error = try_register(pd, range, &mr_))
    harness::fail_errno(error, "registration of a dma-buf");
  open_ = true;
}

DmabufMr::~DmabufMr() { close(); }

int DmabufMr::close() {
  if (!open_) return 0;
  open_ = false;
  return deregister(mr_);
}

}  // namespace verbs
