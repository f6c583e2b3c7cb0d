// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Objects that cannot be created or resized, or cannot be destroyed yet. Case pyverbs has more such
// rows. Wrong calls for one kind of object are in the program for it: groups in mcast_verify, SRQs
// in srq_verify, moderation in cq_verify, advice in odp_verify, windows in mw_verify, FLUSH and
// ATOMIC WRITE in placement_verify.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <vector>

#include "bad_input/bench.h"
#include "harness/failure.h"
#include "verbs/dmabuf.h"
#include "verbs/rereg.h"

namespace bad_input {
namespace {

using harness::expect;
using harness::text;

struct Tools {
  explicit Tools(const verbs::Context& at) : context(at), pd(verbs::make_pd(at)), cq(at, 16) {}

  const verbs::Context& context;
  verbs::Pd pd;
  verbs::Cq cq;
};

// The errno of a call, or 0 if it created an object, which is closed at once.
template <auto CloseFunction, class T>
int outcome(T* object) {
  const int error = errno;
  if (!object) return error ? error : EIO;
  CloseFunction(object);
  return 0;
}

int try_cq(Tools& tools, int depth, int vector) {
  return outcome<ibv_destroy_cq>(
      ibv_create_cq(tools.context.get(), depth, nullptr, nullptr, vector));
}

int try_qp(Tools& tools, ibv_qp_type type, ibv_qp_cap cap) {
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = tools.cq.get();
  init.qp_type = type;
  init.cap = cap;
  return outcome<ibv_destroy_qp>(ibv_create_qp(tools.pd.get(), &init));
}

int try_mr(Tools& tools, void* address, std::size_t length, int access) {
  return outcome<ibv_dereg_mr>(ibv_reg_mr(tools.pd.get(), address, length, access));
}

int try_ah(Tools& tools, std::uint8_t port, int gid_index, const ibv_gid& destination,
           std::uint8_t sl = 0) {
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = port;
  attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
  attr.grh.dgid = destination;
  attr.sl = sl;
  return outcome<ibv_destroy_ah>(ibv_create_ah(tools.pd.get(), &attr));
}

bool is_ipv4(const ibv_gid& gid) {
  constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, mapped, sizeof mapped) == 0;
}

// Creates an AH from our first address of that family to the same address with some bytes changed.
int try_ah_to(Tools& tools, bool ipv4, const std::function<void(std::uint8_t (&raw)[16])>& change,
              std::uint8_t sl = 0) {
  int index = 0;
  while (is_ipv4(tools.context.gid(index)) != ipv4) ++index;
  ibv_gid destination = tools.context.gid(index);
  change(destination.raw);
  return try_ah(tools, 1, index, destination, sl);
}

int largest_cq(Tools& tools) {
  const verbs::Cq cq(tools.context, tools.context.device().max_cqe);
  expect(cq.get()->cqe <= tools.context.device().max_cqe, "the CQ has ", cq.get()->cqe, " entries");
  return 0;
}

int largest_qp(Tools& tools) {
  const auto limit = static_cast<std::uint32_t>(tools.context.device().max_qp_wr);
  verbs::QpOptions options;
  options.send_depth = options.recv_depth = limit;
  options.send_sge = options.recv_sge = 1;
  const verbs::Qp qp(tools.pd, tools.cq, tools.cq, options);
  expect(qp.cap().max_send_wr <= limit && qp.cap().max_recv_wr <= limit, "the QP holds ",
         qp.cap().max_send_wr, " sends and ", qp.cap().max_recv_wr, " receives");
  return 0;
}

int try_srq(Tools& tools, std::uint32_t wrs, std::uint32_t sges) {
  if (tools.context.device().max_srq == 0) throw harness::Skip("no SRQ");
  ibv_srq_init_attr init{};
  init.attr = {wrs, sges, 0};
  return outcome<ibv_destroy_srq>(ibv_create_srq(tools.pd.get(), &init));
}

int mr_of_unmapped_memory(Tools& tools) {
  void* hole = ::mmap(nullptr, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ::munmap(hole, 8192);
  return try_mr(tools, hole, 8192, IBV_ACCESS_LOCAL_WRITE);
}

int mr_of_read_only_memory(Tools& tools) {
  void* page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const int error = try_mr(tools, page, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  ::munmap(page, 4096);
  return error;
}

int mr_with_flag(Tools& tools, int flag) {
  const verbs::Pages pages(4096);
  return try_mr(tools, pages.data(), pages.size(), IBV_ACCESS_LOCAL_WRITE | flag);
}

int mr_that_ends_in_a_hole(Tools& tools) {
  const verbs::Pages pages(4096);  // followed by an inaccessible page
  return try_mr(tools, pages.data(), 4097, IBV_ACCESS_LOCAL_WRITE);
}

int try_dmabuf(Tools& tools, int fd, unsigned access) {
  ibv_mr mr;
  const int error = verbs::DmabufMr::try_register(
      tools.pd, {.fd = fd, .length = 4096, .address = 4096, .access = access}, &mr);
  if (!error) verbs::DmabufMr::deregister(mr);
  return error;
}

int dmabuf_of_another_file(Tools& tools) {
  const int fd = ::memfd_create("bad_input", MFD_CLOEXEC);
  const int error = try_dmabuf(tools, fd, IBV_ACCESS_LOCAL_WRITE);
  ::close(fd);
  return error;
}

// The errno of the reregistration of a region.
int try_rereg(Tools& tools, const verbs::Rereg& change) {
  const verbs::Pages pages(4096);
  const verbs::Mr mr = verbs::make_mr(tools.pd, pages.data(), pages.size(), IBV_ACCESS_REMOTE_READ);
  return verbs::rereg_mr(mr, change);
}

int rereg_to_foreign_pd(Tools& tools) {
  const verbs::Context other(tools.context.name());
  std::vector<verbs::Pd> pds;
  // One that this process's first file does not have.
  while (pds.size() < 40) pds.push_back(verbs::make_pd(other));
  return try_rereg(tools, {.flags = IBV_REREG_MR_CHANGE_PD, .pd_handle = pds.back()->handle});
}

int rereg_to_unmapped_memory(Tools& tools) {
  return try_rereg(tools, {.flags = IBV_REREG_MR_CHANGE_TRANSLATION,
                           .address = reinterpret_cast<void*>(4096),
                           .length = 4096,
                           .remote_address = 4096});
}

int rereg_to_write_read_only_memory(Tools& tools) {
  void* page = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int error = 0;
  {
    const verbs::Mr mr = verbs::make_mr(tools.pd, page, 4096, IBV_ACCESS_REMOTE_READ);
    error = verbs::rereg_mr(mr, {.flags = IBV_REREG_MR_CHANGE_ACCESS,
                                 .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE});
  }
  ::munmap(page, 4096);
  return error;
}

int busy_cq(Tools& tools) {
  const verbs::Qp qp(tools.pd, tools.cq, tools.cq, {});
  return ibv_destroy_cq(tools.cq.get());
}

int close_xrcd(ibv_xrcd* xrcd) { return ibv_close_xrcd(xrcd); }

int try_xrcd(Tools& tools, int fd, int flags) {
  ibv_xrcd_init_attr attr{};
  attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  attr.fd = fd;
  attr.oflags = flags;
  return outcome<close_xrcd>(ibv_open_xrcd(tools.context.get(), &attr));
}

int xrcd_that_is_not_there(Tools& tools) {
  const int file = ::memfd_create("domain", 0);
  const int error = try_xrcd(tools, file, 0);
  ::close(file);
  return error;
}

int xrc_target_of_no_domain(Tools& tools) {
  ibv_qp_init_attr_ex init{};
  init.qp_type = IBV_QPT_XRC_RECV;
  return outcome<ibv_destroy_qp>(ibv_create_qp_ex(tools.context.get(), &init));
}

int xrc_srq_of_no_domain(Tools& tools) {
  ibv_srq_init_attr_ex init{};
  init.attr = {4, 1, 0};
  init.srq_type = IBV_SRQT_XRC;
  init.pd = tools.pd.get();
  init.cq = tools.cq.get();
  init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
  return outcome<ibv_destroy_srq>(ibv_create_srq_ex(tools.context.get(), &init));
}

struct Row {
  Layer layer;
  const char* name;
  std::set<int> errors;
  int (*call)(Tools& tools);
};

ibv_qp_cap cap(std::uint32_t send_wr, std::uint32_t recv_wr, std::uint32_t send_sge,
               std::uint32_t recv_sge, std::uint32_t inline_bytes) {
  return {send_wr, recv_wr, send_sge, recv_sge, inline_bytes};
}

const ibv_device_attr& device(const Tools& tools) { return tools.context.device(); }

std::uint32_t one_more(int limit) { return static_cast<std::uint32_t>(limit) + 1; }

const Row rows[] = {
    {Layer::driver, "a CQ of depth 0", {EINVAL}, [](Tools& t) { return try_cq(t, 0, 0); }},
    {Layer::core,
     "a CQ with a completion vector that does not exist",
     {EINVAL},
     [](Tools& t) { return try_cq(t, 16, t.context.get()->num_comp_vectors); }},
    {Layer::driver,
     "resizing a CQ to no entries",
     {EINVAL},
     [](Tools& t) { return ibv_resize_cq(t.cq.get(), 0); }},
    {Layer::driver,
     "resizing a CQ to more entries than max_cqe",
     {EINVAL},
     [](Tools& t) { return ibv_resize_cq(t.cq.get(), device(t).max_cqe + 1); }},
    {Layer::driver,
     "a QP with more send requests than max_qp_wr",
     {EINVAL, ENOMEM},
     [](Tools& t) {
       return try_qp(t, IBV_QPT_RC, cap(one_more(device(t).max_qp_wr), 1, 1, 1, 0));
     }},
    {Layer::driver,
     "a QP with more receives than max_qp_wr",
     {EINVAL, ENOMEM},
     [](Tools& t) {
       return try_qp(t, IBV_QPT_RC, cap(1, one_more(device(t).max_qp_wr), 1, 1, 0));
     }},
    {Layer::driver,
     "a QP with more send SGEs than max_sge",
     {EINVAL},
     [](Tools& t) { return try_qp(t, IBV_QPT_RC, cap(1, 1, one_more(device(t).max_sge), 1, 0)); }},
    {Layer::driver,
     "a QP with more receive SGEs than max_sge",
     {EINVAL},
     [](Tools& t) { return try_qp(t, IBV_QPT_RC, cap(1, 1, 1, one_more(device(t).max_sge), 0)); }},
    {Layer::driver,
     "a QP with 1 MiB of inline data",
     {EINVAL},
     [](Tools& t) { return try_qp(t, IBV_QPT_RC, cap(1, 1, 1, 1, 1 << 20)); }},
    {Layer::driver,
     "a QP with sizes that overflow 32 bits",
     {EINVAL, ENOMEM},
     [](Tools& t) { return try_qp(t, IBV_QPT_RC, cap(~0U, ~0U, ~0U, ~0U, ~0U)); }},
    {Layer::core,
     "a QP of a type that does not exist",
     {EINVAL, EOPNOTSUPP},
     [](Tools& t) { return try_qp(t, static_cast<ibv_qp_type>(0x77), cap(1, 1, 1, 1, 0)); }},
    {Layer::driver,
     "a raw packet QP",
     {EINVAL, EOPNOTSUPP},
     [](Tools& t) { return try_qp(t, IBV_QPT_RAW_PACKET, cap(1, 1, 1, 1, 0)); }},
    // EOPNOTSUPP: in rxe mode there is no XRC.
    {Layer::core,
     "an XRC domain of a file that is not open",
     {EBADF, EOPNOTSUPP},
     [](Tools& t) { return try_xrcd(t, 9999, O_CREAT); }},
    {Layer::core,
     "an XRC domain that nobody has created",
     {EAGAIN, EOPNOTSUPP},
     xrcd_that_is_not_there},
    {Layer::core, "an XRC target of no domain", {EINVAL, EOPNOTSUPP}, xrc_target_of_no_domain},
    {Layer::core, "an XRC SRQ of no domain", {EINVAL, EOPNOTSUPP}, xrc_srq_of_no_domain},
    {Layer::driver,
     "an XRC initiator with more send requests than max_qp_wr",
     {EINVAL, ENOMEM, EOPNOTSUPP},
     [](Tools& t) {
       return try_qp(t, IBV_QPT_XRC_SEND, cap(one_more(device(t).max_qp_wr), 0, 1, 0, 0));
     }},
    {Layer::core,
     "an MR with an access flag that does not exist",
     {EINVAL, EOPNOTSUPP},
     [](Tools& t) {
       const verbs::Pages p(4096);
       return try_mr(t, p.data(), 4096, 1 << 18);
     }},
    {Layer::driver,
     "an MR on demand to which windows may be bound",
     {EOPNOTSUPP},
     [](Tools& t) { return mr_with_flag(t, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_MW_BIND); }},
    {Layer::driver,
     "a DMA-BUF of a file that is not open",
     {EBADF},
     [](Tools& t) { return try_dmabuf(t, 9999, IBV_ACCESS_LOCAL_WRITE); }},
    {Layer::driver, "a DMA-BUF of another file", {EINVAL}, dmabuf_of_another_file},
    {Layer::core,
     "a DMA-BUF to which windows may be bound",
     {EINVAL},
     [](Tools& t) { return try_dmabuf(t, 9999, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND); }},
    {Layer::driver,
     "all memory on demand",
     {EOPNOTSUPP},
     [](Tools& t) { return try_mr(t, nullptr, SIZE_MAX, IBV_ACCESS_ON_DEMAND); }},
    {Layer::driver,
     "a zero-based MR",
     {EOPNOTSUPP},
     [](Tools& t) { return mr_with_flag(t, IBV_ACCESS_ZERO_BASED); }},
    {Layer::driver,
     "an MR of huge pages",
     {EOPNOTSUPP},
     [](Tools& t) { return mr_with_flag(t, IBV_ACCESS_HUGETLB); }},
    {Layer::driver,
     "an MR to which windows may be bound",
     {0},
     [](Tools& t) { return mr_with_flag(t, IBV_ACCESS_MW_BIND); }},
    {Layer::core,
     "an MR whose end overflows",
     {EINVAL, EFAULT, ENOMEM},
     [](Tools& t) { return try_mr(t, reinterpret_cast<void*>(4096), ~std::size_t{0} - 8192, 0); }},
    {Layer::core, "an MR of unmapped memory", {EFAULT}, mr_of_unmapped_memory},
    {Layer::core, "an MR that ends one byte inside a hole", {EFAULT}, mr_that_ends_in_a_hole},
    {Layer::core, "a writable MR of read-only memory", {EFAULT}, mr_of_read_only_memory},
    {Layer::core, "reregistration of nothing", {EINVAL}, [](Tools& t) { return try_rereg(t, {}); }},
    {Layer::core,
     "reregistration with a flag that does not exist",
     {EOPNOTSUPP, EINVAL},
     [](Tools& t) { return try_rereg(t, {.flags = 8}); }},
    {Layer::core,
     "reregistration to the PD of another file",
     {EINVAL, ENOENT},
     rereg_to_foreign_pd},
    {Layer::core,
     "reregistration with remote but without local write access",
     {EINVAL},
     [](Tools& t) {
       return try_rereg(t,
                        {.flags = IBV_REREG_MR_CHANGE_ACCESS, .access = IBV_ACCESS_REMOTE_WRITE});
     }},
    {Layer::driver,
     "reregistration as a zero-based MR",
     {EOPNOTSUPP},
     [](Tools& t) {
       return try_rereg(t, {.flags = IBV_REREG_MR_CHANGE_ACCESS, .access = IBV_ACCESS_ZERO_BASED});
     }},
    {Layer::driver,
     "reregistration as an MR on demand",
     {EOPNOTSUPP},
     [](Tools& t) {
       return try_rereg(t, {.flags = IBV_REREG_MR_CHANGE_ACCESS, .access = IBV_ACCESS_ON_DEMAND});
     }},
    {Layer::driver, "reregistration to unmapped memory", {EFAULT}, rereg_to_unmapped_memory},
    {Layer::driver,
     "reregistration of read-only memory for writing",
     {EFAULT},
     rereg_to_write_read_only_memory},
    {Layer::driver,
     "reregistration whose end overflows",
     {EINVAL},
     [](Tools& t) {
       return try_rereg(t, {.flags = IBV_REREG_MR_CHANGE_TRANSLATION,
                            .length = 8192,
                            .remote_address = ~std::uint64_t{4095}});
     }},
    {Layer::core,
     "an AH on port 2",
     {EINVAL},
     [](Tools& t) { return try_ah(t, 2, 0, t.context.gid(0)); }},
    {Layer::core,
     "an AH with an empty GID index",
     {EINVAL, ENOENT, ENODATA},
     [](Tools& t) {
       return try_ah(t, 1, std::min(t.context.port().gid_tbl_len - 1, 255), t.context.gid(0));
     }},
    {Layer::driver,
     "an AH of service level 8",
     {EINVAL},
     [](Tools& t) {
       return try_ah_to(
           t, true, [](auto&) {}, 8);
     }},
    {Layer::driver,
     "an AH of an IPv4 neighbour",
     {0},
     [](Tools& t) { return try_ah_to(t, true, [](auto&) {}); }},
    {Layer::driver,
     "an AH of an IPv4 multicast group",
     {0},
     [](Tools& t) { return try_ah_to(t, true, [](auto& raw) { raw[12] = 224; }); }},
    {Layer::driver,
     "an AH of an IPv6 multicast group",
     {0},
     [](Tools& t) { return try_ah_to(t, false, [](auto& raw) { raw[0] = 0xff, raw[1] = 0x02; }); }},
    {Layer::driver,
     "an AH of a group of the other family",
     {EINVAL},
     [](Tools& t) {
       return try_ah_to(t, true, [](auto& raw) { std::fill_n(raw, 16, 0), raw[0] = 0xff; });
     }},
    {Layer::driver,
     "an AH of the broadcast address",
     {EINVAL},
     [](Tools& t) { return try_ah_to(t, true, [](auto& raw) { std::fill_n(raw + 12, 4, 255); }); }},
    {Layer::driver,
     "an AH of the broadcast address of a /24",
     {EINVAL},
     [](Tools& t) { return try_ah_to(t, true, [](auto& raw) { raw[15] = 255; }); }},
    {Layer::driver, "a CQ of max_cqe entries is not larger", {0}, largest_cq},
    {Layer::driver, "a QP of max_qp_wr requests is not larger", {0}, largest_qp},
    {Layer::driver,
     "an SRQ deeper than max_srq_wr",
     {EINVAL, ENOMEM},
     [](Tools& t) { return try_srq(t, one_more(device(t).max_srq_wr), 1); }},
    {Layer::driver,
     "an SRQ with more SGEs than max_srq_sge",
     {EINVAL},
     [](Tools& t) { return try_srq(t, 16, one_more(device(t).max_srq_sge)); }},
    {Layer::core, "destroying a CQ in use", {EBUSY}, busy_cq},
    {Layer::core,
     "deallocating a PD in use",
     {EBUSY},
     [](Tools& t) {
       const verbs::Qp qp(t.pd, t.cq, t.cq, {});
       return ibv_dealloc_pd(t.pd.get());
     }},
};

}  // namespace

void run_object_rows(Bench& bench, harness::Tap& tap) {
  for (const Row& row : rows) {
    bench.run(tap, row.layer, row.name, [&] {
      Tools tools(bench.near());
      errno = 0;
      const int error = row.call(tools);
      expect(row.errors.contains(error), "the call gave ",
             error ? std::strerror(error) : "success");
    });
  }
}

}  // namespace bad_input
