// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// placement_verify: FLUSH and ATOMIC WRITE. Both ends are in this process. libibverbs may be too
// old for them, so the requests are written to the ring that it has mapped, in either ABI.
#include <fcntl.h>
#include <rdma/rdma_user_rxe.h>
#include <sroce_abi.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>

#include "harness/deadline.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "ring_scribble/rings.h"
#include "verbs/devices.h"

namespace {

using harness::Deadline;
using harness::expect;
using verbs::Devices;

constexpr auto timeout = std::chrono::seconds(30);

// <infiniband/verbs.h> has these from rdma-core 45 on.
constexpr unsigned access_flush_global = 1 << 8, access_flush_persistent = 1 << 9;
constexpr unsigned op_flush = 14, op_atomic_write = 15;
constexpr unsigned wc_flush = 8, wc_atomic_write = 9;
constexpr std::uint8_t global = 1, persistent = 2;
constexpr std::uint8_t range = 0, whole_mr = 1;

constexpr int default_access =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | access_flush_global;

// struct rxe_send_wr, wr.flush
struct RxeFlush {
  std::uint64_t remote_addr;
  std::uint32_t length, rkey;
  std::uint8_t type, level;
};

// Where a request has its list or data. In C++, the macro of the header would move it.
constexpr std::size_t rxe_payload =
    offsetof(rxe_send_wqe, dma) + offsetof(rxe_dma_info, reserved) + sizeof(rxe_dma_info::reserved);

struct Request {
  unsigned opcode;
  std::uint64_t remote = 0;  // an offset in the far arena
  std::uint64_t value = 0;   // ATOMIC WRITE
  std::uint32_t bytes = 8;   // WRITE, READ: of the near arena, from `local` on; FLUSH: of the range
  std::uint64_t local = 0;
  std::uint8_t type = global, level = range;
  std::uint32_t rkey_change = 0;
  bool fenced = false;

  bool has_list() const { return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_READ; }
};

Request atomic_write(std::uint64_t remote, std::uint64_t value) {
  return {.opcode = op_atomic_write, .remote = remote, .value = value};
}
Request flush(std::uint64_t remote, std::uint32_t bytes, std::uint8_t level = range) {
  return {.opcode = op_flush, .remote = remote, .bytes = bytes, .level = level};
}
Request write(std::uint64_t remote, std::uint64_t local, std::uint32_t bytes = 8) {
  return {.opcode = IBV_WR_RDMA_WRITE, .remote = remote, .bytes = bytes, .local = local};
}
Request read(std::uint64_t remote, std::uint64_t local, std::uint32_t bytes = 8) {
  return {.opcode = IBV_WR_RDMA_READ, .remote = remote, .bytes = bytes, .local = local};
}

// A connection whose requests are written to its ring.
class Connection {
 public:
  explicit Connection(const Devices& devices, int far_access = default_access,
                      unsigned qp_access = default_access, std::uint8_t rd_atomic = 16)
      : near_(devices.near, devices.near_gid, ++seed_) {
    verbs::EndpointOptions options;
    options.access = far_access;
    far_ = std::make_unique<verbs::Endpoint>(devices.far, devices.far_gid, options, ++seed_);
    verbs::LinkOptions link;
    link.rd_atomic = link.dest_rd_atomic = rd_atomic;
    link.access = qp_access;
    connect_both(near_.end(), *far_, link);
    target_ = near_.end().peer().address;
    rkey_ = near_.end().peer().rkey;
  }

  template <typename T = std::uint64_t>
  T& near_at(std::uint64_t offset) {
    return *reinterpret_cast<T*>(near_.end().arena().data() + offset);
  }
  std::uint64_t far_value(std::uint64_t offset) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(far_->arena().data() + offset)).load();
  }
  std::span<std::byte> far_arena() { return far_->arena(); }
  const verbs::Pd& far_pd() const { return far_->pd(); }

  // Requests name other memory than the arena from then on.
  void aim_at(const ibv_mr& mr) {
    target_ = reinterpret_cast<std::uint64_t>(mr.addr);
    rkey_ = mr.rkey;
  }

  // Adds a request; ring_doorbell() posts it.
  void add(const Request& request) {
    const std::uint64_t id = next_id_++;
    ring_scribble::Ring& ring = near_.ring(ring_scribble::RingKind::send);
    const std::span<std::byte> slot = ring.slot(ring.producer());
    if (ring.native)
      write_native(request, id, slot);
    else
      write_rxe(request, id, slot);
    ring.advance_producer();
  }
  void ring_doorbell() { near_.ring_doorbell(); }
  void post(const Request& request) {
    add(request);
    ring_doorbell();
  }
  // The completion of the oldest request that was posted.
  ibv_wc wait(const std::string& what) {
    const ibv_wc wc = near_.end().send_cq().next(Deadline::after(timeout), what);
    expect(wc.wr_id == completed_++, what, ": completion of request ", wc.wr_id);
    return wc;
  }
  void execute(const Request& request, const std::string& what) {
    post(request);
    const ibv_wc wc = wait(what);
    expect(wc.status == IBV_WC_SUCCESS, what, ": ", verbs::describe(wc));
    if (request.opcode == op_flush) expect(wc.opcode == wc_flush, what, ": opcode ", wc.opcode);
    if (request.opcode == op_atomic_write)
      expect(wc.opcode == wc_atomic_write, what, ": opcode ", wc.opcode);
  }
  void expect_status(const Request& request, ibv_wc_status status, const std::string& what) {
    post(request);
    const ibv_wc wc = wait(what);
    expect(wc.status == status, what, ": ", verbs::describe(wc), ", not ",
           ibv_wc_status_str(status));
  }

 private:
  std::uint64_t remote_address(const Request& request) { return target_ + request.remote; }

  void write_native(const Request& request, std::uint64_t id, std::span<std::byte> slot);
  void write_rxe(const Request& request, std::uint64_t id, std::span<std::byte> slot);

  static inline std::uint64_t seed_ = 0;
  ring_scribble::ExposedEndpoint near_;
  std::unique_ptr<verbs::Endpoint> far_;
  std::uint64_t next_id_ = 0, completed_ = 0;
  std::uint64_t target_ = 0;
  std::uint32_t rkey_ = 0;
};

void Connection::write_native(const Request& request, std::uint64_t id, std::span<std::byte> slot) {
  sroce_send_slot wqe{};
  wqe.wr_id = id;
  wqe.opcode = static_cast<std::uint8_t>(request.opcode);
  wqe.flags = IBV_SEND_SIGNALED | (request.fenced ? IBV_SEND_FENCE : 0);
  wqe.remote_addr = remote_address(request);
  wqe.rkey = rkey_ ^ request.rkey_change;
  std::byte* payload = slot.data() + sizeof(wqe);
  if (request.opcode == op_flush) {
    wqe.flush.length = request.bytes;
    wqe.flush.type = request.type;
    wqe.flush.level = request.level;
  } else if (request.has_list()) {
    const ibv_sge sge = near_.end().sge(request.local, request.bytes);
    wqe.length = request.bytes;
    wqe.num_sge = 1;
    std::memcpy(payload, &sge, sizeof(sge));
  } else {
    wqe.length = request.bytes;
    wqe.flags |= IBV_SEND_INLINE;
    std::memcpy(payload, &request.value, sizeof(request.value));
  }
  std::memcpy(slot.data(), &wqe, sizeof(wqe));
}

// As librxe does it.
void Connection::write_rxe(const Request& request, std::uint64_t id, std::span<std::byte> slot) {
  rxe_send_wqe wqe{};
  const std::uint32_t rkey = rkey_ ^ request.rkey_change;
  wqe.wr.wr_id = id;
  wqe.wr.opcode = request.opcode;
  wqe.wr.send_flags = IBV_SEND_SIGNALED | (request.fenced ? IBV_SEND_FENCE : 0);
  wqe.iova = remote_address(request);
  wqe.dma.length = wqe.dma.resid = request.bytes;
  std::byte* payload = slot.data() + rxe_payload;
  if (request.opcode == op_flush) {
    const RxeFlush operands = {remote_address(request), 0, rkey, request.type, request.level};
    static_assert(sizeof(operands) <= sizeof(wqe.wr.wr));
    std::memcpy(&wqe.wr.wr, &operands, sizeof(operands));
  } else {
    wqe.wr.wr.rdma.remote_addr = remote_address(request);
    wqe.wr.wr.rdma.rkey = rkey;
  }
  std::memcpy(slot.data(), &wqe, rxe_payload);
  if (request.has_list()) {
    const ibv_sge sge = near_.end().sge(request.local, request.bytes);
    reinterpret_cast<rxe_send_wqe*>(slot.data())->dma.num_sge = 1;
    std::memcpy(payload, &sge, sizeof(sge));
  } else if (request.opcode == op_atomic_write) {
    std::memcpy(payload, &request.value, sizeof(request.value));
  }
}

// ---------------------------------------------------------------- traffic

void values_arrive(const Devices& devices) {
  Connection connection(devices);
  for (std::uint64_t i = 1; i <= 200; i++) {
    const std::uint64_t value = 0x0101010101010101 * (i % 255), at = 64 + i % 7 * 8;
    connection.execute(atomic_write(at, value), "ATOMIC WRITE");
    expect(connection.far_value(at) == value, "value ", i, " is ", connection.far_value(at));
  }
  expect(connection.far_value(64 + 7 * 8) == 0, "bytes beyond were written");
}

// A process that sees the flag sees the data that was written before, and a flag is never torn.
// Both are posted at once, so nothing but the rules of the transport keeps their order.
void flag_follows_its_data(const Devices& devices) {
  constexpr std::uint32_t bytes = 64 * 1024, rounds = 50;
  Connection connection(devices);
  std::atomic<bool> ends{false};
  std::string fault;
  std::thread reader([&] {
    std::uint64_t last = 0;
    while (last < rounds && !ends && fault.empty()) {
      const std::uint64_t flag = connection.far_value(bytes);
      const std::uint64_t number = flag & 0xffffffff;
      if (flag >> 32 != number || number < last) fault = harness::text("flag ", flag);
      last = number;
      // The next round may be writing already, but never an older one.
      for (std::uint64_t at = 0; at < bytes && fault.empty(); at += 4096)
        if (connection.far_value(at) < number)
          fault = harness::text("flag ", number, ", data ", connection.far_value(at));
      sched_yield();
    }
  });
  try {
    for (std::uint64_t i = 1; i <= rounds; i++) {
      for (std::uint64_t at = 0; at < bytes; at += 8) connection.near_at(at) = i;
      connection.add(write(0, 0, bytes));
      connection.add(atomic_write(bytes, i << 32 | i));
      connection.ring_doorbell();
      for (const char* what : {"WRITE", "ATOMIC WRITE"})
        expect(connection.wait(what).status == IBV_WC_SUCCESS, what, " ", i);
    }
  } catch (...) {
    ends = true;
    reader.join();
    throw;
  }
  ends = true;
  reader.join();
  expect(fault.empty(), fault);
}

// False with rdma_rxe, which computes the ICRC of a FLUSH over its headers twice.
bool has_flush = true;

void add_flush(Connection& connection, const Request& request) {
  connection.add(has_flush ? request : read(request.remote, 64));
}

void flushes_complete(const Devices& devices) {
  Connection connection(devices);
  for (std::uint64_t i = 1; i <= 100; i++) {
    connection.near_at(0) = i;
    connection.post(write(4096, 0));
    connection.post(flush(4096, 8));
    expect(connection.wait("WRITE").status == IBV_WC_SUCCESS, "WRITE ", i);
    expect(connection.wait("FLUSH").status == IBV_WC_SUCCESS, "FLUSH ", i);
    expect(connection.far_value(4096) == i, "WRITE ", i, " is not visible");
  }
  connection.execute(flush(0, 1 << 20), "FLUSH of the arena");
  connection.execute(flush(0, 0), "FLUSH of nothing");
  connection.execute(flush(0x123456789, 0xffffffff, whole_mr), "FLUSH of the region");
}

// Later requests wait for a READ, ATOMIC WRITE or FLUSH only if they are fenced.
void order_is_kept(const Devices& devices) {
  Connection connection(devices);
  for (std::uint64_t i = 1; i <= 100; i++) {
    connection.near_at(0) = ~i;
    connection.add(atomic_write(128, i));
    connection.add(read(128, 8));
    connection.add(write(128, 0));
    add_flush(connection, flush(128, 8));
    Request last = read(128, 16);
    last.fenced = i % 2;
    connection.add(last);
    connection.ring_doorbell();
    for (int wc = 0; wc < 5; wc++)
      expect(connection.wait("a request").status == IBV_WC_SUCCESS, "request ", wc);
    expect(connection.near_at(8) == i, "the first READ gave ", connection.near_at(8));
    expect(connection.near_at(16) == ~i, "the second READ gave ", connection.near_at(16));
  }
}

// More at a time than the peer has resources for.
void many_at_a_time(const Devices& devices, std::uint8_t rd_atomic) {
  Connection connection(devices, default_access, default_access, rd_atomic);
  constexpr std::uint64_t count = 40;
  for (std::uint64_t i = 0; i < count; i++)
    i % 2 ? add_flush(connection, flush(0, 8)) : connection.add(atomic_write(8 * i, i));
  connection.ring_doorbell();
  for (std::uint64_t i = 0; i < count; i++)
    expect(connection.wait("a request").status == IBV_WC_SUCCESS, "request ", i);
  for (std::uint64_t i = 0; i < count; i += 2)
    expect(connection.far_value(8 * i) == i, "value ", i, " is ", connection.far_value(8 * i));
}

// On a path that loses and duplicates packets: a repeated ATOMIC WRITE must not undo the WRITE that
// followed the first.
void survives_faults(const Devices& devices) {
  Connection connection(devices);
  for (std::uint64_t i = 1; i <= 1000; i++) {
    connection.near_at(0) = ~i;
    const Request requests[] = {atomic_write(256, i), write(256, 0),         flush(0, 4096),
                                atomic_write(264, i), flush(0, 0, whole_mr), read(256, 8, 16)};
    for (const Request& request : requests) connection.add(request);
    connection.ring_doorbell();
    for (std::size_t wc = 0; wc < std::size(requests); wc++) {
      const ibv_wc done = connection.wait("a request");
      expect(done.status == IBV_WC_SUCCESS, "round ", i, ": ", verbs::describe(done));
    }
    expect(connection.near_at(8) == ~i && connection.near_at(16) == i, "round ", i, " read ",
           connection.near_at(8), " and ", connection.near_at(16));
    expect(connection.far_value(256) == ~i, "round ", i, " left ", connection.far_value(256));
  }
}

// ---------------------------------------------------------------- errors

struct Error {
  const char* name;
  Request request;
  ibv_wc_status status;
  int far_access = default_access;
  unsigned qp_access = default_access;
};

Request with_type(Request request, std::uint8_t type, std::uint8_t level = range) {
  request.type = type;
  request.level = level;
  return request;
}
Request with_bytes(Request request, std::uint32_t bytes) {
  request.bytes = bytes;
  return request;
}
Request with_bad_key(Request request) {
  request.rkey_change = 1;  // not the index: another region may have the next one
  return request;
}

constexpr int without(int access, unsigned flag) { return access & ~static_cast<int>(flag); }

void run_error(const Devices& devices, const Error& error) {
  Connection connection(devices, error.far_access, error.qp_access);
  connection.expect_status(error.request, error.status, error.name);
  for (std::uint64_t at = 0; at < 64; at += 8)
    expect(connection.far_value(at) == 0, "something was written at ", at);
}

void run_error_cases(harness::Tap& tap, const Devices& devices) {
  const Error remote[] = {
      {"ATOMIC WRITE to an address that is not aligned", atomic_write(4, 1),
       IBV_WC_REM_INV_REQ_ERR},
      {"ATOMIC WRITE with a bad key", with_bad_key(atomic_write(0, 1)), IBV_WC_REM_ACCESS_ERR},
      {"ATOMIC WRITE beyond the region", atomic_write(1 << 20, 1), IBV_WC_REM_ACCESS_ERR},
      {"ATOMIC WRITE to a region without the permission", atomic_write(0, 1), IBV_WC_REM_ACCESS_ERR,
       without(default_access, IBV_ACCESS_REMOTE_WRITE)},
      {"ATOMIC WRITE to a QP without the permission", atomic_write(0, 1), IBV_WC_REM_INV_REQ_ERR,
       default_access, static_cast<unsigned>(without(default_access, IBV_ACCESS_REMOTE_WRITE))},
      {"FLUSH with a bad key", with_bad_key(flush(0, 8)), IBV_WC_REM_ACCESS_ERR},
      {"FLUSH of a region with a bad key", with_bad_key(flush(0, 0, whole_mr)),
       IBV_WC_REM_ACCESS_ERR},
      {"FLUSH beyond the region", flush(8, 1 << 20), IBV_WC_REM_ACCESS_ERR},
      {"FLUSH of a region without the permission", flush(0, 8), IBV_WC_REM_ACCESS_ERR,
       without(default_access, access_flush_global)},
      {"FLUSH of a whole region without the permission", flush(0, 0, whole_mr),
       IBV_WC_REM_ACCESS_ERR, without(default_access, access_flush_global)},
      {"FLUSH to a QP without the permission", flush(0, 8), IBV_WC_REM_INV_REQ_ERR, default_access,
       static_cast<unsigned>(without(default_access, access_flush_global))},
      {"FLUSH for persistence to a QP without the permission", with_type(flush(0, 8), persistent),
       IBV_WC_REM_INV_REQ_ERR},
      {"FLUSH for both to a QP with the permission for one",
       with_type(flush(0, 8), global | persistent), IBV_WC_REM_INV_REQ_ERR},
      {"FLUSH for persistence of memory that is not", with_type(flush(0, 8), persistent),
       IBV_WC_REM_ACCESS_ERR, default_access, default_access | access_flush_persistent},
  };
  for (const Error& error : remote)
    if (has_flush || error.request.opcode != op_flush)
      tap.run(error.name, [&] { run_error(devices, error); });
  if (devices.near.name().starts_with("rxe")) return;
  const Error local[] = {
      {"ATOMIC WRITE of 4 bytes", with_bytes(atomic_write(0, 1), 4), IBV_WC_LOC_LEN_ERR},
      {"ATOMIC WRITE of 16 bytes", with_bytes(atomic_write(0, 1), 16), IBV_WC_LOC_LEN_ERR},
      {"FLUSH of no type", with_type(flush(0, 8), 0), IBV_WC_LOC_QP_OP_ERR},
      {"FLUSH of an unknown type", with_type(flush(0, 8), 4), IBV_WC_LOC_QP_OP_ERR},
      {"FLUSH of an unknown level", with_type(flush(0, 8), global, 2), IBV_WC_LOC_QP_OP_ERR},
  };
  for (const Error& error : local) tap.run(error.name, [&] { run_error(devices, error); });
}

void capabilities_are_told(const Devices& devices, bool persistence) {
  ibv_device_attr_ex attr{};
  expect(ibv_query_device_ex(devices.far.get(), nullptr, &attr) == 0, "ibv_query_device_ex");
  const auto has = [&](int bit) { return attr.device_cap_flags_ex >> bit & 1; };
  expect(has(38), "no FLUSH for global visibility");
  expect(has(39) == persistence, "FLUSH for persistence: ", has(39), ", wanted ", persistence);
  expect(has(40), "no ATOMIC WRITE");
  const verbs::Pd pd = verbs::make_pd(devices.far);
  verbs::Pages pages(4096);
  errno = 0;
  const verbs::Mr mr(
      ibv_reg_mr(pd.get(), pages.data(), pages.size(),
                 IBV_ACCESS_LOCAL_WRITE | static_cast<int>(access_flush_persistent)));
  expect(!mr && errno == (persistence ? EINVAL : EOPNOTSUPP),
         "persistence of ordinary memory: errno ", errno);
}

// ---------------------------------------------------------------- persistence

// Mapped from a device that the kernel knows as persistent memory.
class PersistentMemory {
 public:
  explicit PersistentMemory(const std::string& file) {
    const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
    expect(fd >= 0, file, ": errno ", errno);
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    expect(at != MAP_FAILED, "mmap of ", file, ": errno ", errno);
    close(fd);
    at_ = static_cast<std::byte*>(at);
  }
  PersistentMemory(const PersistentMemory&) = delete;
  PersistentMemory& operator=(const PersistentMemory&) = delete;
  ~PersistentMemory() { munmap(at_, bytes); }

  std::uint64_t value(std::uint64_t offset) const {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(at_ + offset)).load();
  }
  verbs::Mr make_mr(const verbs::Pd& pd, int access) const {
    return verbs::make_mr(pd, at_, bytes, access);
  }

  static constexpr std::size_t bytes = 4 << 20;

 private:
  std::byte* at_;
};

constexpr int persistent_access = default_access | static_cast<int>(access_flush_persistent);

void persistence_is_flushed(const Devices& devices, const PersistentMemory& memory) {
  constexpr std::uint32_t length = 100'000;
  Connection connection(devices, default_access, persistent_access);
  const verbs::Mr mr = memory.make_mr(connection.far_pd(), persistent_access);
  connection.aim_at(*mr);
  for (std::uint64_t i = 1; i <= 20; i++) {
    const std::uint64_t at = i * 4097 * 8;
    for (std::uint64_t offset = 0; offset < length; offset += 8) connection.near_at(offset) = i;
    connection.add(write(at, 0, length));
    connection.add(atomic_write(at + length, ~i));
    connection.add(i % 2 ? with_type(flush(at, length + 8), persistent)
                         : with_type(flush(0, 0), global | persistent, whole_mr));
    connection.ring_doorbell();
    for (const char* what : {"WRITE", "ATOMIC WRITE", "FLUSH"})
      expect(connection.wait(what).status == IBV_WC_SUCCESS, what, " ", i);
    expect(memory.value(at) == i && memory.value(at + length - 8) == i &&
               memory.value(at + length) == ~i,
           "round ", i, " is not visible");
  }
}

void persistence_needs_permission(const Devices& devices, const PersistentMemory& memory) {
  Connection connection(devices, default_access, persistent_access);
  const verbs::Mr mr = memory.make_mr(connection.far_pd(), default_access);
  connection.aim_at(*mr);
  connection.execute(flush(0, 8), "FLUSH for visibility");
  connection.expect_status(with_type(flush(0, 8), persistent), IBV_WC_REM_ACCESS_ERR,
                           "FLUSH for persistence");
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv,
                     std::string("placement_verify ") + verbs::devices_usage +
                         " [--persistence] [--faults | --no-flush | --pmem FILE]");
  const Devices devices(args);
  const bool faults = args.flag("--faults");
  has_flush = !args.flag("--no-flush");
  const bool persistence = args.flag("--persistence");  // a device and kernel that know it
  const std::string pmem = args.text("--pmem", "");
  args.finish();
  harness::Tap tap;
  if (!pmem.empty()) {
    const PersistentMemory memory(pmem);
    tap.run("FLUSH for persistence", [&] { persistence_is_flushed(devices, memory); });
    tap.run("FLUSH of persistent memory without permission",
            [&] { persistence_needs_permission(devices, memory); });
    return tap.finish();
  }
  if (faults) {
    tap.run("values survive faults", [&] { survives_faults(devices); });
    tap.run("a flag follows its data", [&] { flag_follows_its_data(devices); });
    return tap.finish();
  }
  tap.run("ATOMIC WRITE: values arrive", [&] { values_arrive(devices); });
  tap.run("ATOMIC WRITE: a flag follows its data", [&] { flag_follows_its_data(devices); });
  if (has_flush) tap.run("FLUSH: complete", [&] { flushes_complete(devices); });
  tap.run("order is kept", [&] { order_is_kept(devices); });
  tap.run("many at a time", [&] { many_at_a_time(devices, 16); });
  tap.run("many at a time, one resource", [&] { many_at_a_time(devices, 1); });
  run_error_cases(tap, devices);
  if (!devices.far.name().starts_with("rxe"))
    tap.run("capabilities", [&] { capabilities_are_told(devices, persistence); });
  return tap.finish();
}
