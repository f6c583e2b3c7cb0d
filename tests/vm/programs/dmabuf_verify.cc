// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// dmabuf_verify: regions over DMA-BUFs, as the memory of the initiator and of the target. Buffers
// come from the module of ../ulp/exporter.c or from the kernel's udmabuf. Both ends are in this
// process.
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "exporter.h"
#include "harness/args.h"
#include "harness/failure.h"
#include "harness/image.h"
#include "harness/random.h"
#include "verbs/devices.h"
#include "verbs/dmabuf.h"
#include "verbs/endpoint.h"
#include "verbs/rereg.h"

namespace {

using harness::Deadline;
using harness::expect;
using verbs::Devices;
using verbs::DmabufMr;
using verbs::DmabufRange;

constexpr const char* usage =
    R"(usage: dmabuf_verify --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--rounds N]
                     [--in-flight] [--forever]

With --in-flight, packets must have been in flight while regions were deregistered. With --forever,
it moves data until it is killed.)";

constexpr auto timeout = std::chrono::seconds(60);
constexpr std::size_t page = 4096, pages = 64, buffer_bytes = pages * page;
// Of a region, unless the test says otherwise: from the middle of a page to that of another.
constexpr std::size_t offset = 3 * page + 1000, region_bytes = 50 * page + 8;
constexpr std::uint64_t address = 0x123456000 + offset % page;
constexpr unsigned all_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

class File {
 public:
  File(int fd, const char* what) : fd_(fd) {
    if (fd < 0) harness::fail_errno(errno, what);
  }
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  ~File() { close(); }
  int get() const { return fd_; }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
};

File export_buffer(unsigned flags) {
  const File exporter(open(EXPORTER_PATH, O_RDWR | O_CLOEXEC), EXPORTER_PATH);
  const exporter_request request{pages, flags};
  return File(ioctl(exporter.get(), EXPORTER_EXPORT, &request), "EXPORTER_EXPORT");
}

// The memory of a memfd, with a mapping that the exporter does not know.
File export_memfd(File& memfd) {
  const File exporter(open("/dev/udmabuf", O_RDWR | O_CLOEXEC), "/dev/udmabuf");
  udmabuf_create request{};
  request.memfd = static_cast<__u32>(memfd.get());
  request.flags = UDMABUF_FLAGS_CLOEXEC;
  request.size = buffer_bytes;
  return File(ioctl(exporter.get(), UDMABUF_CREATE, &request), "UDMABUF_CREATE");
}

File sealed_memfd() {
  File file(memfd_create("dmabuf_verify", MFD_ALLOW_SEALING | MFD_CLOEXEC), "memfd_create");
  if (ftruncate(file.get(), buffer_bytes) || fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK))
    harness::fail_errno(errno, "memfd");
  return file;
}

// A buffer and what this process sees of it.
class Buffer {
 public:
  explicit Buffer(unsigned flags)
      : file_(export_buffer(flags)),
        bytes_(map(file_, PROT_READ | (flags & EXPORTER_READ_ONLY ? 0 : PROT_WRITE))) {}
  explicit Buffer(File&& memfd)
      : file_(export_memfd(memfd)), bytes_(map(memfd, PROT_READ | PROT_WRITE)) {}
  Buffer(const Buffer&) = delete;
  ~Buffer() { munmap(bytes_.data(), bytes_.size()); }

  int fd() const { return file_.get(); }
  void close() { file_.close(); }
  std::span<std::byte> bytes() const { return bytes_; }
  std::span<std::byte> region() const { return bytes_.subspan(offset, region_bytes); }

 private:
  static std::span<std::byte> map(const File& file, int protection) {
    void* at = mmap(nullptr, buffer_bytes, protection, MAP_SHARED, file.get(), 0);
    if (at == MAP_FAILED) harness::fail_errno(errno, "mmap");
    return {static_cast<std::byte*>(at), buffer_bytes};
  }

  File file_;
  std::span<std::byte> bytes_;
};

using MakeBuffer = std::function<std::unique_ptr<Buffer>()>;

MakeBuffer exporter(unsigned flags) {
  return [flags] { return std::make_unique<Buffer>(flags); };
}

DmabufRange range_of(const Buffer& buffer, unsigned access = all_access) {
  return {buffer.fd(), offset, region_bytes, address, access};
}

// A connection whose ends have a region over a buffer each.
class Pair {
 public:
  Pair(const Devices& devices, const Buffer& near, const Buffer& far,
       unsigned far_access = all_access)
      : near_(devices.near, devices.near_gid, options(), 1),
        far_(devices.far, devices.far_gid, options(), 2),
        near_mr_(near_.pd(), range_of(near)),
        far_mr_(far_.pd(), range_of(far, far_access)),
        rkey_(far_mr_->rkey) {
    verbs::LinkOptions link;
    link.mtu = IBV_MTU_4096;
    connect_both(near_, far_, link);
  }

  const verbs::Pd& far_pd() { return far_.pd(); }
  const verbs::Context& far_context() { return far_.context(); }
  DmabufMr& near_mr() { return near_mr_; }
  DmabufMr& far_mr() { return far_mr_; }
  void use_rkey(std::uint32_t rkey) { rkey_ = rkey; }

  void post(ibv_wr_opcode opcode, std::size_t at = 0, std::size_t length = region_bytes) {
    ibv_sge sge{address + at, static_cast<std::uint32_t>(length), near_mr_->lkey};
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
      sge.length = 8;
      wr.wr.atomic.remote_addr = address + at;
      wr.wr.atomic.rkey = rkey_;
      wr.wr.atomic.compare_add = 5;
      wr.wr.atomic.swap = 9;
    } else {
      wr.wr.rdma.remote_addr = address + at;
      wr.wr.rdma.rkey = rkey_;
    }
    near_.qp().post_send(&wr);
  }
  // Reads or writes one byte of the target that the source need not have.
  void post_byte(ibv_wr_opcode opcode, std::uint64_t remote) {
    ibv_sge sge{address, 1, near_mr_->lkey};
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = rkey_;
    near_.qp().post_send(&wr);
  }
  void post_receive() {
    ibv_sge sge{address, region_bytes, far_mr_->lkey};
    ibv_recv_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    far_.qp().post_recv(&wr);
  }
  ibv_wc_status next(const char* what) {
    return near_.send_cq().next(Deadline::after(timeout), what).status;
  }
  void wait(const char* what, ibv_wc_status status = IBV_WC_SUCCESS) {
    const auto wc = near_.send_cq().next(Deadline::after(timeout), what);
    expect(wc.status == status, what, ": ", verbs::describe(wc));
  }
  void write(const char* what, ibv_wc_status status = IBV_WC_SUCCESS) {
    post(IBV_WR_RDMA_WRITE);
    wait(what, status);
  }
  void read(const char* what, ibv_wc_status status = IBV_WC_SUCCESS) {
    post(IBV_WR_RDMA_READ);
    wait(what, status);
  }
  void send(const char* what) {
    post_receive();
    post(IBV_WR_SEND);
    wait(what);
    const auto wc = far_.recv_cq().next(Deadline::after(timeout), what);
    expect(wc.status == IBV_WC_SUCCESS, what, ": ", verbs::describe(wc));
  }

 private:
  static verbs::EndpointOptions options() {
    verbs::EndpointOptions options;
    options.arena_bytes = page;
    return options;
  }

  verbs::Endpoint near_, far_;
  DmabufMr near_mr_, far_mr_;
  std::uint32_t rkey_;
};

void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  harness::fill_pattern(bytes, harness::mix(seed), 0);
}

void expect_equal(std::span<std::byte> a, std::span<std::byte> b, const char* what) {
  const auto [at, other] = std::ranges::mismatch(a, b);
  expect(at == a.end(), what, ": byte ", at - a.begin(), " differs");
}

// Bytes beside the region must stay as they are.
void expect_margins(const Buffer& buffer) {
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  expect(std::ranges::all_of(buffer.bytes().first(offset), is_zero) &&
             std::ranges::all_of(buffer.bytes().subspan(offset + region_bytes), is_zero),
         "bytes beside the region are written");
}

std::uint64_t word(std::span<std::byte> bytes) {
  std::uint64_t value;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

void data(const Devices& devices, const MakeBuffer& make) {
  const auto near = make(), far = make();
  Pair pair(devices, *near, *far);
  fill(near->region(), 1);
  pair.write("WRITE");
  expect_equal(near->region(), far->region(), "WRITE");
  fill(near->region(), 2);
  pair.send("SEND");
  expect_equal(near->region(), far->region(), "SEND");
  fill(far->region(), 3);
  pair.read("READ");
  expect_equal(near->region(), far->region(), "READ");
  std::ranges::fill(far->region(), std::byte{0});
  pair.post(IBV_WR_ATOMIC_FETCH_AND_ADD);
  pair.wait("FETCH_ADD");
  expect(word(near->region()) == 0 && word(far->region()) == 5, "FETCH_ADD");
  pair.post(IBV_WR_ATOMIC_CMP_AND_SWP);
  pair.wait("COMPARE_SWAP");
  expect(word(near->region()) == 5 && word(far->region()) == 9, "COMPARE_SWAP");
  expect_margins(*near);
  expect_margins(*far);
}

void last_byte(const Devices& devices) {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    for (const std::uint64_t outside : {address - 1, address + region_bytes}) {
      Buffer near(0), far(0);
      Pair pair(devices, near, far);
      pair.post_byte(opcode, address);
      pair.wait("the first byte");
      pair.post_byte(opcode, address + region_bytes - 1);
      pair.wait("the last byte");
      pair.post_byte(opcode, outside);
      pair.wait("a byte outside", IBV_WC_REM_ACCESS_ERR);
    }
  }
}

// Registration fails with this errno, and leaves nothing behind.
void expect_error(const verbs::Pd& pd, const DmabufRange& range, int wanted, const char* what) {
  ibv_mr mr;
  const int error = DmabufMr::try_register(pd, range, &mr);
  if (!error) DmabufMr::deregister(mr);
  expect(error == wanted, what, ": errno ", error, ", not ", wanted);
}

void wrong_files(const Devices& devices) {
  const verbs::Pd pd = verbs::make_pd(devices.near);
  DmabufRange range{-1, offset, region_bytes, address, all_access};
  expect_error(pd, range, EBADF, "no file");
  const File memfd = sealed_memfd();
  range.fd = memfd.get();
  expect_error(pd, range, EINVAL, "a file that is no dma-buf");
}

void wrong_ranges(const Devices& devices) {
  const verbs::Pd pd = verbs::make_pd(devices.near);
  const Buffer buffer(0);
  DmabufRange range{buffer.fd(), 0, buffer_bytes, 0, all_access};
  DmabufMr(pd, range).close();
  for (const auto& [from, length] :
       std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, buffer_bytes + 1},
                                                            {page, buffer_bytes - page + 1},
                                                            {buffer_bytes, 1},
                                                            {buffer_bytes + page, 0},
                                                            {page, UINT64_MAX - page + 1},
                                                            {UINT64_MAX - page + 1, 2 * page}}) {
    range.offset = from;
    range.length = length;
    expect_error(pd, range, EINVAL, "a range outside");
  }
  range = {buffer.fd(), 1, page, 0, all_access};
  expect_error(pd, range, EINVAL, "an address at another place of its page");
  range = {buffer.fd(), 0, 2 * page, UINT64_MAX - page + 1, all_access};
  expect_error(pd, range, EINVAL, "addresses that wrap");
  range = {buffer.fd(), buffer_bytes, 0, 0, all_access};
  DmabufMr(pd, range).close();
}

void wrong_access(const Devices& devices) {
  const verbs::Pd pd = verbs::make_pd(devices.near);
  const Buffer buffer(0);
  for (const unsigned access : {0u + IBV_ACCESS_REMOTE_WRITE, 0u + IBV_ACCESS_ON_DEMAND,
                                0u + IBV_ACCESS_LOCAL_WRITE + IBV_ACCESS_MW_BIND})
    expect_error(pd, range_of(buffer, access), EINVAL, "access");
}

void wrong_memory(const Devices& devices) {
  const verbs::Pd pd = verbs::make_pd(devices.near);
  const std::vector<std::tuple<unsigned, int, const char*>> rows = {
      {EXPORTER_NO_VMAP, EOPNOTSUPP, "a buffer that the kernel cannot map"},
      {EXPORTER_IOMEM, EOPNOTSUPP, "memory of a device"},
      {EXPORTER_MOVES | EXPORTER_IOMEM, EOPNOTSUPP, "memory of a device that moves"},
      {EXPORTER_SKEWED, EOPNOTSUPP, "a mapping that is not aligned"},
      {EXPORTER_BUSY, EBUSY, "a buffer that the CPU gets no access to"},
      {EXPORTER_MOVES | EXPORTER_IS_FULL, ENOSPC, "a buffer that cannot be pinned"},
      {EXPORTER_ATTACH_PINS | EXPORTER_IS_FULL, ENOSPC, "a buffer that cannot be attached"},
      {EXPORTER_ATTACH_PINS | EXPORTER_BUSY, EBUSY, "an attached buffer without access"},
  };
  for (const auto& [flags, error, what] : rows)
    expect_error(pd, range_of(Buffer(flags)), error, what);
}

void read_only(const Devices& devices) {
  const Buffer near(0), far(EXPORTER_READ_ONLY);
  {
    const verbs::Pd pd = verbs::make_pd(devices.far);
    for (const unsigned access :
         {0u + IBV_ACCESS_LOCAL_WRITE, 0u + IBV_ACCESS_LOCAL_WRITE + IBV_ACCESS_REMOTE_WRITE,
          0u + IBV_ACCESS_LOCAL_WRITE + IBV_ACCESS_REMOTE_ATOMIC})
      expect_error(pd, range_of(far, access), EACCES, "writing to a file opened for reading");
  }
  Pair pair(devices, near, far, IBV_ACCESS_REMOTE_READ);
  fill(near.region(), 4);
  pair.read("READ");
  expect_equal(near.region(), far.region(), "READ");
  pair.write("WRITE to a file opened for reading", IBV_WC_REM_ACCESS_ERR);
}

void closed_file(const Devices& devices) {
  Buffer near(0), far(EXPORTER_MOVES);
  Pair pair(devices, near, far);
  near.close();
  far.close();
  fill(near.region(), 5);
  pair.write("WRITE");
  expect_equal(near.region(), far.region(), "WRITE");
}

// Nobody but the regions has the buffers.
void unmapped_file(const Devices& devices) {
  auto near = std::make_unique<Buffer>(0u),
       far = std::make_unique<Buffer>(unsigned{EXPORTER_MOVES});
  Pair pair(devices, *near, *far);
  near.reset();
  far.reset();
  pair.write("WRITE");
  pair.read("READ");
}

void two_regions(const Devices& devices, const MakeBuffer& make) {
  const auto near = make(), far = make();
  Pair pair(devices, *near, *far);
  {
    const DmabufMr other(pair.far_pd(), range_of(*far));
    pair.use_rkey(other->rkey);
    fill(near->region(), 6);
    pair.write("WRITE to the second region");
    expect_equal(near->region(), far->region(), "WRITE to the second region");
  }
  pair.use_rkey(pair.far_mr()->rkey);
  fill(near->region(), 7);
  pair.write("WRITE to the first region");
  expect_equal(near->region(), far->region(), "WRITE to the first region");
}

void other_domain(const Devices& devices) {
  const Buffer near(0), far(0);
  Pair pair(devices, near, far);
  const verbs::Pd pd = verbs::make_pd(devices.far);
  const DmabufMr other(pd, range_of(far));
  pair.use_rkey(other->rkey);
  pair.write("WRITE to a region of another domain", IBV_WC_REM_ACCESS_ERR);
}

void provider_call(const Devices& devices) {
  const Buffer near(0), far(0);
  Pair pair(devices, near, far);
  const auto reg = [&](int fd) {
    return ibv_reg_dmabuf_mr(pair.far_pd().get(), offset, region_bytes, address, fd,
                             int{all_access});
  };
  verbs::Mr mr(reg(far.fd()));
  if (!mr && errno == EOPNOTSUPP) throw harness::Skip("the provider has no ibv_reg_dmabuf_mr()");
  if (!mr) harness::fail_errno(errno, "ibv_reg_dmabuf_mr");
  pair.use_rkey(mr->rkey);
  fill(near.region(), 8);
  pair.write("WRITE");
  expect_equal(near.region(), far.region(), "WRITE");
  const int error = verbs::rereg_mr(mr, {.flags = IBV_REREG_MR_CHANGE_ACCESS});
  expect(error == EOPNOTSUPP, "rereg_mr: errno ", error);
  pair.write("WRITE after rereg_mr");
  expect(!verbs::Mr(reg(-1)) && errno == EBADF, "ibv_reg_dmabuf_mr: errno ", errno);
  mr = verbs::Mr();
  pair.write("WRITE after ibv_dereg_mr()", IBV_WC_REM_ACCESS_ERR);
}

// Nothing is written any more once deregistration has returned.
void deregistered(const Devices& devices, std::uint64_t rounds, bool in_flight) {
  std::uint64_t cut = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    Buffer near(EXPORTER_ATTACH_PINS), far(round % 2 ? 0u : unsigned{EXPORTER_MOVES});
    Pair pair(devices, near, far);
    const bool is_target = round % 3;
    fill(near.region(), round + 9);
    for (int i = 0; i < 4; ++i) pair.post(i % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE);
    usleep(static_cast<useconds_t>(round % 16 * 40));
    const int error = (is_target ? pair.far_mr() : pair.near_mr()).close();
    expect(!error, "deregistration: errno ", error);
    auto& buffer = is_target ? far : near;
    std::ranges::fill(buffer.bytes(), std::byte{0x77});
    bool failed = false;
    for (int i = 0; i < 4; ++i) failed |= pair.next("after deregistration") != IBV_WC_SUCCESS;
    cut += failed;
    expect(std::ranges::all_of(buffer.bytes(), [](auto byte) { return byte == std::byte{0x77}; }),
           "memory is written after deregistration");
  }
  harness::note(harness::text(cut, " of ", rounds, " deregistrations came before the end"));
  expect(cut || !in_flight, "no deregistration came before the end");
}

[[noreturn]] void move_forever(const Devices& devices) {
  Buffer near(EXPORTER_ATTACH_PINS), far(EXPORTER_MOVES);
  Pair pair(devices, near, far);
  for (int i = 0; i < 4; ++i) pair.post(IBV_WR_RDMA_WRITE);
  for (std::uint64_t round = 0;; ++round) {
    pair.wait("WRITE or READ");
    pair.post(round % 2 ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE);
    if (round == 64) harness::note("moving data");
  }
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, usage);
  const Devices devices(args);
  const std::uint64_t rounds = args.number("--rounds", 200);
  const bool in_flight = args.flag("--in-flight");
  const bool forever = args.flag("--forever");
  args.finish();
  harness::Tap tap;
  if (forever) return tap.completes([&] { move_forever(devices); }) ? 0 : 1;
  const MakeBuffer memfd = [] { return std::make_unique<Buffer>(sealed_memfd()); };
  const bool has_udmabuf = access("/dev/udmabuf", R_OK) == 0;
  const auto with_udmabuf = [&](const char* name, auto&& body) {
    if (has_udmabuf)
      tap.run(name, body);
    else
      tap.skip(name, "this kernel has no udmabuf");
  };
  tap.run("data", [&] { data(devices, exporter(0)); });
  tap.run("data in a buffer that moves", [&] { data(devices, exporter(EXPORTER_MOVES)); });
  tap.run("data in a buffer that moves unless a device is attached",
          [&] { data(devices, exporter(EXPORTER_ATTACH_PINS)); });
  with_udmabuf("data in a udmabuf", [&] { data(devices, memfd); });
  tap.run("the last byte", [&] { last_byte(devices); });
  tap.run("wrong files", [&] { wrong_files(devices); });
  tap.run("wrong ranges", [&] { wrong_ranges(devices); });
  tap.run("wrong access", [&] { wrong_access(devices); });
  tap.run("wrong memory", [&] { wrong_memory(devices); });
  tap.run("a file opened for reading", [&] { read_only(devices); });
  tap.run("the file is closed", [&] { closed_file(devices); });
  tap.run("only the regions have the buffers", [&] { unmapped_file(devices); });
  tap.run("two regions", [&] { two_regions(devices, exporter(EXPORTER_MOVES)); });
  tap.run("two regions of a buffer that moves unless a device is attached",
          [&] { two_regions(devices, exporter(EXPORTER_ATTACH_PINS)); });
  with_udmabuf("two regions of a udmabuf", [&] { two_regions(devices, memfd); });
  tap.run("another protection domain", [&] { other_domain(devices); });
  tap.run("ibv_reg_dmabuf_mr()", [&] { provider_call(devices); });
  tap.run("deregistration under traffic", [&] { deregistered(devices, rounds, in_flight); });
  verbs::check_closes(tap);
  return tap.finish();
}
