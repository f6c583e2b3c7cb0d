// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// odp_verify: memory that is paged on demand, as that of the initiator and of the target. Pages
// have never been touched, or are lost, moved, unmapped and shared with a child under traffic. Both
// ends are in this process.
#include <rdma/ib_user_ioctl_verbs.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "harness/args.h"
#include "harness/failure.h"
#include "harness/image.h"
#include "harness/random.h"
#include "sroce_abi.h"
#include "verbs/advise.h"
#include "verbs/devices.h"
#include "verbs/endpoint.h"
#include "verbs/rereg.h"

namespace {

using harness::Deadline;
using harness::expect;
using verbs::Devices;

constexpr const char* usage =
    R"(usage: odp_verify --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--rounds N] [--pause US]
                  [--data]

With --data, no request fails: the NAK may be lost.)";

constexpr auto timeout = std::chrono::seconds(60);
constexpr std::size_t page = 4096;
constexpr std::size_t memory_bytes = 256 << 10;
constexpr int all_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                           IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

// Addresses of this process. The mapping there can be replaced.
class Memory {
 public:
  Memory() : Memory(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1) {}
  Memory(int protection, int flags, int fd) {
    void* at = mmap(nullptr, memory_bytes, protection, flags, fd, 0);
    if (at == MAP_FAILED) harness::fail_errno(errno, "mmap");
    bytes_ = {static_cast<std::byte*>(at), memory_bytes};
    madvise(at, memory_bytes, MADV_NOHUGEPAGE);
  }
  ~Memory() { munmap(bytes_.data(), memory_bytes); }
  Memory(const Memory&) = delete;

  std::span<std::byte> bytes() const { return bytes_; }
  void unmap() { munmap(bytes_.data(), memory_bytes); }
  void map_again(int protection, int flags, int fd) {
    void* at = mmap(bytes_.data(), memory_bytes, protection, flags | MAP_FIXED, fd, 0);
    if (at == MAP_FAILED) harness::fail_errno(errno, "mmap");
  }
  void lose(std::size_t offset, std::size_t length) {
    madvise(bytes_.data() + offset, length, MADV_DONTNEED);
  }

 private:
  std::span<std::byte> bytes_;
};

class File {
 public:
  File() : fd_(memfd_create("odp_verify", 0)) {
    if (fd_ < 0 || ftruncate(fd_, memory_bytes)) harness::fail_errno(errno, "memfd");
  }
  ~File() { close(fd_); }
  File(const File&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

// ib_core shows a value until it is older than its lifespan, counted in jiffies.
std::uint64_t counter(const Devices& devices, const char* name) {
  const std::string counters =
      "/sys/class/infiniband/" + devices.far.name() + "/ports/1/hw_counters/";
  expect(bool(std::ofstream(counters + "lifespan") << 0 << std::flush), "lifespan");
  usleep(50000);
  std::ifstream file(counters + name);
  std::uint64_t value = 0;
  expect(bool(file >> value), "no counter ", name);
  return value;
}

// A connection, each end with a region over memory of the test.
class Pair {
 public:
  Pair(const Devices& devices, const Memory& near, const Memory& far, int near_access = all_access,
       int far_access = all_access, ibv_qp_type type = IBV_QPT_RC)
      : near_memory_(near.bytes()),
        far_memory_(far.bytes()),
        near_(devices.near, devices.near_gid, options(type), 1),
        far_(devices.far, devices.far_gid, options(type), 2),
        near_mr_(make(near_, near_memory_, near_access)),
        far_mr_(make(far_, far_memory_, far_access)) {
    verbs::LinkOptions link;
    link.mtu = IBV_MTU_4096;
    connect_both(near_, far_, link);
  }

  std::span<std::byte> near_bytes() { return near_memory_; }
  std::span<std::byte> far_bytes() { return far_memory_; }
  const verbs::Pd& far_pd() { return far_.pd(); }
  const verbs::Mr& far_mr() { return far_mr_; }

  void post(ibv_wr_opcode opcode, std::size_t offset = 0, std::size_t length = memory_bytes) {
    ibv_sge sge{address(near_memory_, offset), static_cast<std::uint32_t>(length), near_mr_->lkey};
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
      sge.length = 8;
      wr.wr.atomic.remote_addr = address(far_memory_, offset);
      wr.wr.atomic.rkey = far_mr_->rkey;
      wr.wr.atomic.compare_add = 5;
      wr.wr.atomic.swap = 9;
    } else {
      wr.wr.rdma.remote_addr = address(far_memory_, offset);
      wr.wr.rdma.rkey = far_mr_->rkey;
    }
    near_.qp().post_send(&wr);
  }
  void post_receive(std::size_t offset = 0, std::size_t length = memory_bytes) {
    ibv_sge sge{address(far_memory_, offset), static_cast<std::uint32_t>(length), far_mr_->lkey};
    ibv_recv_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    far_.qp().post_recv(&wr);
  }
  void wait(const char* what, ibv_wc_status status = IBV_WC_SUCCESS) {
    const auto wc = near_.send_cq().next(Deadline::after(timeout), what);
    expect(wc.status == status, what, ": ", verbs::describe(wc));
  }
  void wait_receive(const char* what, ibv_wc_status status = IBV_WC_SUCCESS) {
    const auto wc = far_.recv_cq().next(Deadline::after(timeout), what);
    expect(wc.status == status, what, ": ", verbs::describe(wc));
  }
  void send(const char* what) {
    post_receive();
    post(IBV_WR_SEND);
    wait(what);
    wait_receive(what);
  }
  void write(const char* what, ibv_wc_status status = IBV_WC_SUCCESS) {
    post(IBV_WR_RDMA_WRITE);
    wait(what, status);
  }
  void read(const char* what, ibv_wc_status status = IBV_WC_SUCCESS) {
    post(IBV_WR_RDMA_READ);
    wait(what, status);
  }

 private:
  static verbs::EndpointOptions options(ibv_qp_type type) {
    verbs::EndpointOptions options;
    options.qp.type = type;
    options.arena_bytes = page;
    return options;
  }
  static verbs::Mr make(const verbs::Endpoint& end, std::span<std::byte> memory, int access) {
    return verbs::make_mr(end.pd(), memory.data(), memory.size(), access | IBV_ACCESS_ON_DEMAND);
  }
  static std::uint64_t address(std::span<std::byte> memory, std::size_t offset) {
    return reinterpret_cast<std::uint64_t>(memory.data()) + offset;
  }

  std::span<std::byte> near_memory_, far_memory_;
  verbs::Endpoint near_, far_;
  verbs::Mr near_mr_, far_mr_;
};

void fill(std::span<std::byte> bytes, std::uint64_t seed) {
  harness::fill_pattern(bytes, harness::mix(seed), 0);
}

void expect_equal(std::span<std::byte> a, std::span<std::byte> b, const char* what) {
  const auto [at, other] = std::ranges::mismatch(a, b);
  expect(at == a.end(), what, ": byte ", at - a.begin(), " is ", other == b.end() ? 0 : int(*at));
}

bool is_zero(std::span<std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

std::uint64_t& word(std::span<std::byte> bytes) {
  return *reinterpret_cast<std::uint64_t*>(bytes.data());
}

void untouched(const Devices& devices) {
  {
    Memory near, far;
    Pair pair(devices, near, far);
    fill(near.bytes(), 1);
    pair.write("WRITE to untouched memory");
    expect_equal(near.bytes(), far.bytes(), "WRITE");
  }
  {
    Memory near, far;
    Pair pair(devices, near, far);
    fill(near.bytes(), 2);
    pair.send("SEND to untouched memory");
    expect_equal(near.bytes(), far.bytes(), "SEND");
  }
  {
    Memory near, far;
    Pair pair(devices, near, far);
    fill(far.bytes(), 3);
    pair.read("READ to untouched memory");
    expect_equal(near.bytes(), far.bytes(), "READ");
  }
  {
    Memory near, far;
    Pair pair(devices, near, far);
    pair.write("WRITE from untouched memory");
    pair.read("READ from untouched memory");
    expect(is_zero(near.bytes()) && is_zero(far.bytes()), "untouched memory is not zero");
  }
}

void atomics(const Devices& devices) {
  Memory near, far;
  Pair pair(devices, near, far);
  pair.post(IBV_WR_ATOMIC_FETCH_AND_ADD);
  pair.wait("FETCH_ADD");
  expect(word(near.bytes()) == 0 && word(far.bytes()) == 5, "FETCH_ADD");
  near.lose(0, memory_bytes);
  pair.post(IBV_WR_ATOMIC_CMP_AND_SWP);
  pair.wait("COMPARE_SWAP");
  expect(word(near.bytes()) == 5 && word(far.bytes()) == 9, "COMPARE_SWAP");
}

// Datagrams of UC: none may be lost while pages are faulted in.
void unacknowledged(const Devices& devices) {
  Memory near, far;
  constexpr int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  Pair pair(devices, near, far, access, access, IBV_QPT_UC);
  fill(near.bytes(), 4);
  constexpr std::size_t piece = 16 << 10, count = memory_bytes / piece;
  for (std::size_t i = 0; i < count; ++i) pair.post_receive(i * piece, piece);
  for (std::size_t i = 0; i < count; ++i) pair.post(IBV_WR_SEND, i * piece, piece);
  for (std::size_t i = 0; i < count; ++i) pair.wait("SEND of UC");
  for (std::size_t i = 0; i < count; ++i) pair.wait_receive("SEND of UC");
  expect_equal(near.bytes(), far.bytes(), "SEND of UC");
  far.lose(0, memory_bytes);
  pair.write("WRITE of UC");
  pair.post_receive(0, 0);
  pair.post(IBV_WR_SEND, 0, 0);
  pair.wait("SEND behind a WRITE of UC");
  pair.wait_receive("SEND behind a WRITE of UC");
  expect_equal(near.bytes(), far.bytes(), "WRITE of UC");
}

// Both memories are mappings of files, whose content stays when pages are lost or mapped again. In
// between, up to @pause_us pass. A READ fails if its pages are always lost before the response.
void lost_under_traffic(const Devices& devices, std::uint64_t rounds, std::uint64_t pause_us,
                        bool map_again) {
  constexpr int protection = PROT_READ | PROT_WRITE;
  File near_file, far_file;
  Memory near(protection, MAP_SHARED, near_file.fd()), far(protection, MAP_SHARED, far_file.fd());
  Pair pair(devices, near, far);
  std::atomic<bool> done = false;
  std::uint64_t losses = 0;
  std::thread thief([&] {
    harness::Random random(7);
    for (; !done; ++losses) {
      Memory& memory = random.below(2) ? near : far;
      const std::size_t at = random.below(memory_bytes / page) * page;
      if (map_again)
        memory.map_again(protection, MAP_SHARED, (&memory == &near ? near_file : far_file).fd());
      else
        memory.lose(at, std::min(memory_bytes - at, (1 + random.below(32)) * page));
      std::this_thread::sleep_for(std::chrono::microseconds(random.below(pause_us)));
    }
  });
  try {
    for (std::uint64_t round = 0; round < rounds; ++round) {
      fill(near.bytes(), round);
      round % 2 ? pair.write("WRITE") : pair.send("SEND");
      expect_equal(near.bytes(), far.bytes(), "WRITE or SEND");
      fill(far.bytes(), ~round);
      pair.read("READ");
      expect_equal(near.bytes(), far.bytes(), "READ");
    }
  } catch (...) {
    done = true;
    thief.join();
    throw;
  }
  done = true;
  thief.join();
  harness::note(harness::text("pages were taken away ", losses, " times"));
  expect(losses, "no page was taken away");
}

// Something that happens once in this process, for which a child waits.
class Signal {
 public:
  Signal() {
    if (pipe(ends_.data())) harness::fail_errno(errno, "pipe");
  }
  ~Signal() {
    close(ends_[0]);
    close(ends_[1]);
  }
  Signal(const Signal&) = delete;
  void give() { expect(write(ends_[1], "", 1) == 1, "write to a pipe"); }
  // In the child; false if this process has failed.
  bool wait() {
    char byte;
    close(ends_[1]);
    return read(ends_[0], &byte, 1) == 1;
  }

 private:
  std::array<int, 2> ends_;
};

// A child shares the pages until one side writes: what the peer writes is the parent's alone. The
// child may have bytes of the WRITE that was halfway when it began, but none of the next.
void fork_under_traffic(const Devices& devices, std::uint64_t rounds) {
  Memory near, far;
  Pair pair(devices, near, far);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const std::vector<std::byte> before(far.bytes().begin(), far.bytes().end());
    Signal written;
    fill(near.bytes(), round);
    pair.post(IBV_WR_RDMA_WRITE);
    const pid_t child = fork();
    if (child < 0) harness::fail_errno(errno, "fork");
    if (!child) {
      bool same = written.wait();
      for (std::size_t i = 0; i < memory_bytes; ++i)
        same &= far.bytes()[i] == before[i] || far.bytes()[i] == near.bytes()[i];
      _exit(same ? 0 : 1);
    }
    pair.wait("WRITE during fork");
    expect_equal(near.bytes(), far.bytes(), "WRITE during fork");
    fill(near.bytes(), round + (1u << 20));
    pair.write("WRITE after fork");
    expect_equal(near.bytes(), far.bytes(), "WRITE after fork");
    written.give();
    int status = 0;
    waitpid(child, &status, 0);
    expect(!status, "the child sees bytes that were written for its parent");
  }
}

void unmapped(const Devices& devices) {
  for (const ibv_wr_opcode opcode :
       {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    Memory near, far;
    Pair pair(devices, near, far);
    pair.write("WRITE");
    far.unmap();
    pair.post(opcode);
    pair.wait("access to unmapped memory of the target", IBV_WC_REM_ACCESS_ERR);
  }
  for (const ibv_wr_opcode opcode :
       {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_SEND}) {
    Memory near, far;
    Pair pair(devices, near, far);
    pair.write("WRITE");
    near.unmap();
    pair.post(opcode);
    pair.wait("access to unmapped memory of the initiator", IBV_WC_LOC_PROT_ERR);
  }
  Memory near, far;
  Pair pair(devices, near, far);
  far.unmap();
  pair.post_receive();
  pair.post(IBV_WR_SEND);
  pair.wait("SEND to unmapped memory", IBV_WC_REM_OP_ERR);
  pair.wait_receive("receive in unmapped memory", IBV_WC_LOC_PROT_ERR);
}

// A hole behind the part that is used does not matter.
void partly_mapped(const Devices& devices) {
  Memory near, far;
  Pair pair(devices, near, far);
  munmap(far.bytes().data() + page, page);
  fill(near.bytes(), 5);
  pair.post(IBV_WR_RDMA_WRITE, 0, page);
  pair.wait("WRITE before a hole");
  expect_equal(near.bytes().first(page), far.bytes().first(page), "WRITE before a hole");
  pair.post(IBV_WR_RDMA_WRITE, 0, page + 1);
  pair.wait("WRITE into a hole", IBV_WC_REM_ACCESS_ERR);
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ}) {
    Memory source, target;
    Pair other(devices, source, target);
    munmap(target.bytes().data() + memory_bytes / 2, page);
    other.post(opcode);
    other.wait("a hole in the middle", IBV_WC_REM_ACCESS_ERR);
  }
}

void read_only(const Devices& devices) {
  File file;
  {
    Memory writer(PROT_READ | PROT_WRITE, MAP_SHARED, file.fd());
    fill(writer.bytes(), 6);
  }
  {
    Memory near, far(PROT_READ, MAP_SHARED, file.fd());
    Pair pair(devices, near, far, all_access, IBV_ACCESS_REMOTE_READ);
    pair.read("READ of a read-only mapping");
    expect_equal(near.bytes(), far.bytes(), "READ of a read-only mapping");
  }
  Memory near, far(PROT_READ, MAP_SHARED, file.fd());
  Pair pair(devices, near, far);
  pair.write("WRITE to a read-only mapping", IBV_WC_REM_ACCESS_ERR);
}

// The kernel itself has no access to memory of memfd_secret(). Linux 6.5 has it by default.
void secret(const Devices& devices) {
  const int fd = int(syscall(SYS_memfd_secret, 0));
  if (fd < 0) throw harness::Skip(harness::text("memfd_secret: errno ", errno));
  if (ftruncate(fd, memory_bytes)) harness::fail_errno(errno, "ftruncate");
  for (const ibv_wr_opcode opcode :
       {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    Memory near, far(PROT_READ | PROT_WRITE, MAP_SHARED, fd);
    Pair pair(devices, near, far);
    pair.post(opcode);
    pair.wait("access to secret memory", IBV_WC_REM_ACCESS_ERR);
  }
  close(fd);
}

void mapped_later(const Devices& devices) {
  Memory near, far(PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  Pair pair(devices, near, far);
  far.map_again(PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  fill(near.bytes(), 7);
  pair.write("WRITE to memory that was mapped later");
  expect_equal(near.bytes(), far.bytes(), "WRITE to memory that was mapped later");
}

int advise(Pair& pair, unsigned advice, ibv_sge sge,
           unsigned flags = IB_UVERBS_ADVISE_MR_FLAG_FLUSH) {
  return verbs::advise_mr(pair.far_pd(), advice, flags, sge);
}

void prefetch(const Devices& devices) {
  for (const unsigned flags : {0u, unsigned{IB_UVERBS_ADVISE_MR_FLAG_FLUSH}}) {
    Memory near, far;
    Pair pair(devices, near, far);
    const ibv_sge all{reinterpret_cast<std::uint64_t>(far.bytes().data()), memory_bytes,
                      pair.far_mr()->lkey};
    fill(near.bytes(), 8);
    expect(!advise(pair, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, all, flags), "prefetch");
    const std::uint64_t before = counter(devices, "page_faults");
    pair.write("WRITE to prefetched memory");
    expect(counter(devices, "page_faults") == before, "a page was not prefetched");
    expect_equal(near.bytes(), far.bytes(), "WRITE to prefetched memory");
    far.lose(0, memory_bytes);
    expect(!advise(pair, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH, all, flags), "prefetch to read");
    expect(!advise(pair, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, all, flags), "no fault");
    pair.write("WRITE to memory that was prefetched to be read");
    expect(counter(devices, "page_faults") > before, "no page was faulted in");
    expect_equal(near.bytes(), far.bytes(), "WRITE");
  }
}

void bad_advice(const Devices& devices) {
  constexpr unsigned read = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH;
  Memory near, far;
  Pair pair(devices, near, far, all_access, IBV_ACCESS_REMOTE_READ);
  const verbs::Mr pinned =
      verbs::make_mr(pair.far_pd(), near.bytes().data(), page, IBV_ACCESS_REMOTE_READ);
  const ibv_sge good{reinterpret_cast<std::uint64_t>(far.bytes().data()), page,
                     pair.far_mr()->lkey};
  const auto expect_errno = [&](int error, unsigned advice, const ibv_sge& sge, const char* what) {
    const int got = advise(pair, advice, sge);
    expect(got == error, what, ": ", got, " instead of ", error);
  };
  expect_errno(0, read, good, "good advice");
  expect_errno(EOPNOTSUPP, 99, good, "unknown advice");
  expect_errno(EINVAL, read, {good.addr, page, good.lkey ^ 1}, "another variant of the key");
  expect_errno(EINVAL, read, {good.addr, page, good.lkey + 0x5500}, "no key");
  expect_errno(EINVAL, read, {good.addr, page, pinned->lkey}, "the key of pinned memory");
  expect_errno(EFAULT, read, {good.addr - 1, page, good.lkey}, "before the region");
  expect_errno(EFAULT, read, {good.addr, memory_bytes + 1, good.lkey}, "behind the region");
  expect_errno(EPERM, IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE, good, "no permission to write");
  far.unmap();
  expect_errno(EFAULT, read, good, "unmapped memory");
  expect(!advise(pair, read, good, 0), "advice without FLUSH does not fail");
}

void registration(const Devices& devices) {
  ibv_device_attr_ex attr{};
  expect(!ibv_query_device_ex(devices.far.get(), nullptr, &attr), "query_device_ex");
  expect(attr.odp_caps.general_caps == IBV_ODP_SUPPORT, "capabilities ",
         attr.odp_caps.general_caps);
  Memory near, far;
  Pair pair(devices, near, far);
  const auto rejected = [&](void* at, std::size_t length, int access, const char* what) {
    ibv_mr* mr = ibv_reg_mr(pair.far_pd().get(), at, length, access);
    const int error = errno;
    if (mr) ibv_dereg_mr(mr);
    expect(!mr && error == EOPNOTSUPP, what, ": ", mr ? 0 : error);
  };
  rejected(far.bytes().data(), page,
           IBV_ACCESS_ON_DEMAND | IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
           "a region for windows");
  rejected(nullptr, SIZE_MAX, IBV_ACCESS_ON_DEMAND, "all memory");
  rejected(far.bytes().data(), page, IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB, "huge pages");
  const int error = verbs::rereg_mr(
      pair.far_mr(), {.flags = IBV_REREG_MR_CHANGE_ACCESS, .access = IBV_ACCESS_REMOTE_READ});
  expect(error == EOPNOTSUPP, "rereg: ", error);
  fill(near.bytes(), 9);
  pair.write("WRITE after all that");
  expect_equal(near.bytes(), far.bytes(), "WRITE after all that");
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, usage);
  const Devices devices(args);
  const std::uint64_t rounds = args.number("--rounds", 200);
  const std::uint64_t pause_us = args.number("--pause", 300);
  const bool data = args.flag("--data");
  args.finish();
  harness::Tap tap;
  tap.run("never touched", [&] { untouched(devices); });
  tap.run("atomics", [&] { atomics(devices); });
  if (!data) tap.run("UC", [&] { unacknowledged(devices); });
  tap.run("pages are lost under traffic",
          [&] { lost_under_traffic(devices, rounds, pause_us, false); });
  tap.run("memory is mapped again under traffic",
          [&] { lost_under_traffic(devices, rounds, pause_us, true); });
  tap.run("fork under traffic", [&] { fork_under_traffic(devices, rounds / 4); });
  if (!data) {
    tap.run("unmapped", [&] { unmapped(devices); });
    tap.run("partly mapped", [&] { partly_mapped(devices); });
    tap.run("secret memory", [&] { secret(devices); });
    tap.run("read-only mappings", [&] { read_only(devices); });
  }
  tap.run("mapped later", [&] { mapped_later(devices); });
  tap.run("prefetch", [&] { prefetch(devices); });
  tap.run("bad advice", [&] { bad_advice(devices); });
  tap.run("registration", [&] { registration(devices); });
  verbs::check_closes(tap);
  return tap.finish();
}
