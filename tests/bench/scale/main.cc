// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Costs that grow with the number of objects: memory per queue pair, time per message among many
// queue pairs or memory regions, time of a registration. Prints one number per line: see `usage`.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>

#include "harness/args.h"
#include "harness/failure.h"
#include "harness/random.h"
#include "scale/kernel_memory.h"
#include "scale/pairs.h"
#include "scale/receivers.h"
#include "verbs/memory.h"

namespace {

using scale::kernel_memory;
using scale::Pairs;

constexpr const char* usage =
    "scale --what memory --count N [--used]: KiB of kernel memory per queue pair, with N connected "
    "pairs of them; --used: after every slot of their queues has been used\n"
    "scale --what receivers --count N [--srq]: the same per queue pair that only receives; --srq: "
    "all "
    "from one shared receive queue\n"
    "scale --what create --count N: ms to create and connect N pairs\n"
    "scale --what message --count N [--idle]: ns per 64 B WRITE, on N pairs in turn; "
    "--idle: on one of N\n"
    "scale --what flag --count N: ns until a flag is seen in memory that follows data, mean of N\n"
    "scale --what regions --count N: ns per 64 B WRITE to random ones of N regions\n"
    "scale --what timers --count N: high-resolution timers that sroce has armed for N idle pairs\n"
    "scale --what register --mib N: ms to register N MiB, and ms to deregister them\n"
    "always: --dev-a D --gid-a G --dev-b D --gid-b G";

constexpr std::size_t message_bytes = 64;
constexpr unsigned chain_length = 32;
constexpr unsigned chains_in_flight = 4;
constexpr unsigned chains_total = 16000;
// Chains on each pair before the measurement, enough for the slots of the largest ring.
constexpr unsigned warm_up_chains = 8;

constexpr int remote = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;

using Clock = std::chrono::steady_clock;

double ns_since(Clock::time_point start) {
  return std::chrono::duration<double, std::nano>(Clock::now() - start).count();
}

// Uses every slot of the first end's send queue and fills the second end's receive queue.
void use_all_slots(Pairs& pairs, std::size_t which, const verbs::Mr& source,
                   const verbs::Mr& target) {
  ibv_sge sge = {reinterpret_cast<std::uint64_t>(source->addr), message_bytes, source->lkey};
  ibv_send_wr chain[scale::depth] = {};
  for (unsigned i = 0; i < scale::depth; i++) {
    chain[i].next = i + 1 < scale::depth ? &chain[i + 1] : nullptr;
    chain[i].sg_list = &sge;
    chain[i].num_sge = 1;
    chain[i].opcode = IBV_WR_RDMA_WRITE;
    chain[i].send_flags = i + 1 < scale::depth ? 0 : IBV_SEND_SIGNALED;
    chain[i].wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(target->addr);
    chain[i].wr.rdma.rkey = target->rkey;
  }
  // Twice, because some rings have more slots than requested.
  for (int turn = 0; turn < 2; turn++) {
    pairs.post(which, chain);
    pairs.wait();
  }
  ibv_recv_wr receive{};
  for (unsigned i = 0; i < scale::depth; i++) pairs.post_recv(which, &receive);
}

void memory(Pairs& pairs, std::size_t count, bool used) {
  verbs::Pages buffer(4096);
  const verbs::Mr source = verbs::make_mr(pairs.first_pd(), buffer.data(), buffer.size(), 0);
  const verbs::Mr target = verbs::make_mr(pairs.second_pd(), buffer.data(), buffer.size(), remote);
  const auto use = [&](std::size_t which) {
    if (used) use_all_slots(pairs, which, source, target);
  };
  pairs.connect(1);  // memory that only the first pair needs
  use(0);
  const double before = kernel_memory();
  pairs.connect(count + 1);
  for (std::size_t i = 1; i <= count; i++) use(i);
  std::printf("%.2f\n", (kernel_memory() - before) / static_cast<double>(2 * count));
}

void create(Pairs& pairs, std::size_t count) {
  pairs.connect(1);  // what only the first pair needs
  const auto start = Clock::now();
  pairs.connect(count + 1);
  std::printf("%.2f\n", ns_since(start) / 1e6);
}

// Counts timers a second after one message on each pair, when none should be armed any more.
void timers(Pairs& pairs, std::size_t count) {
  pairs.connect(count);
  verbs::Pages buffer(4096);
  const verbs::Mr source = verbs::make_mr(pairs.first_pd(), buffer.data(), buffer.size(), 0);
  const verbs::Mr target = verbs::make_mr(pairs.second_pd(), buffer.data(), buffer.size(), remote);
  ibv_sge sge = {reinterpret_cast<std::uint64_t>(source->addr), message_bytes, source->lkey};
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = reinterpret_cast<std::uint64_t>(target->addr);
  wr.wr.rdma.rkey = target->rkey;
  for (std::size_t i = 0; i < count; i++) {
    pairs.post(i, &wr);
    pairs.wait();
  }
  std::this_thread::sleep_for(std::chrono::seconds(1));
  std::ifstream file("/proc/timer_list");
  unsigned armed = 0;
  for (std::string line; std::getline(file, line);)
    armed += line.starts_with(" #") && line.find("sroce") != std::string::npos;
  std::printf("%u\n", armed);
}

struct Target {
  std::uint64_t address;
  std::uint32_t rkey;
};

// Posts chains of WRITEs, only the last of each signaled. `pick_pair` is called for every chain,
// `pick_target` for every WRITE. Returns ns per WRITE.
double message_ns(Pairs& pairs, const verbs::Mr& source, unsigned chains,
                  const std::function<std::size_t()>& pick_pair,
                  const std::function<Target()>& pick_target) {
  ibv_sge sge = {reinterpret_cast<std::uint64_t>(source->addr), message_bytes, source->lkey};
  ibv_send_wr chain[chain_length] = {};
  for (unsigned i = 0; i < chain_length; i++) {
    chain[i].next = i + 1 < chain_length ? &chain[i + 1] : nullptr;
    chain[i].sg_list = &sge;
    chain[i].num_sge = 1;
    chain[i].opcode = IBV_WR_RDMA_WRITE;
    chain[i].send_flags = i + 1 < chain_length ? 0 : IBV_SEND_SIGNALED;
  }
  const auto start = Clock::now();
  for (unsigned posted = 0; posted < chains + chains_in_flight; posted++) {
    if (posted >= chains_in_flight) pairs.wait();
    if (posted >= chains) continue;
    for (auto& wr : chain) {
      const Target target = pick_target();
      wr.wr.rdma.remote_addr = target.address;
      wr.wr.rdma.rkey = target.rkey;
    }
    pairs.post(pick_pair(), chain);
  }
  return ns_since(start) / (chains * chain_length);
}

// Uses every slot of every ring before the measurement, because the first access costs more.
void message(Pairs& pairs, std::size_t count, bool others_idle) {
  verbs::Pages buffer(4096);
  const verbs::Mr source = verbs::make_mr(pairs.first_pd(), buffer.data(), buffer.size(), 0);
  const verbs::Mr target = verbs::make_mr(pairs.second_pd(), buffer.data(), buffer.size(), remote);
  pairs.connect(count);
  std::size_t turn = 0;
  const auto all_in_turn = [&] { return turn++ % count; };
  const auto the_target = [&] {
    return Target{reinterpret_cast<std::uint64_t>(target->addr), target->rkey};
  };
  message_ns(pairs, source, warm_up_chains * static_cast<unsigned>(count), all_in_turn, the_target);
  std::printf("%.1f\n", message_ns(
                            pairs, source, chains_total,
                            [&] { return others_idle ? 0 : all_in_turn(); }, the_target));
}

void regions(Pairs& pairs, std::size_t count) {
  verbs::Pages buffer(4096);
  const verbs::Mr source = verbs::make_mr(pairs.first_pd(), buffer.data(), buffer.size(), 0);
  std::vector<verbs::Mr> targets;
  for (std::size_t i = 0; i < count; i++)
    targets.push_back(verbs::make_mr(pairs.second_pd(), buffer.data(), buffer.size(), remote));
  pairs.connect(1);
  harness::Random random(1);
  std::printf("%.1f\n", message_ns(
                            pairs, source, chains_total, [] { return std::size_t{0}; },
                            [&] {
                              const auto& mr = targets[random.below(count)];
                              return Target{reinterpret_cast<std::uint64_t>(mr->addr), mr->rkey};
                            }));
}

// Posts data and a flag in one chain and polls memory, not the CQ, for the flag.
void flag(Pairs& pairs, std::size_t count) {
  verbs::Pages buffer(4096);
  const verbs::Mr source = verbs::make_mr(pairs.first_pd(), buffer.data(), buffer.size(), 0);
  const verbs::Mr target = verbs::make_mr(pairs.second_pd(), buffer.data(), buffer.size(), remote);
  pairs.connect(1);
  const auto address = reinterpret_cast<std::uint64_t>(buffer.data());
  const std::atomic_ref sent(*reinterpret_cast<std::uint64_t*>(address + 1024));
  const std::atomic_ref seen(*reinterpret_cast<std::uint64_t*>(address + 3072));
  ibv_sge sges[] = {{address, message_bytes, source->lkey}, {address + 1024, 8, source->lkey}};
  ibv_send_wr chain[2] = {};
  for (unsigned i = 0; i < 2; i++) {
    chain[i].sg_list = &sges[i];
    chain[i].num_sge = 1;
    chain[i].opcode = IBV_WR_RDMA_WRITE;
    chain[i].wr.rdma.remote_addr = address + 2048 + 1024 * i;
    chain[i].wr.rdma.rkey = target->rkey;
  }
  chain[0].next = &chain[1];
  const auto start = Clock::now();
  for (std::uint64_t turn = 1; turn <= count; turn++) {
    const bool signaled = turn % (scale::depth / 4) == 0;
    chain[1].send_flags = signaled ? IBV_SEND_SIGNALED : 0;
    sent = turn;
    pairs.post(0, chain);
    while (seen != turn) {
    }
    if (signaled) pairs.wait();
  }
  std::printf("%.1f\n", ns_since(start) / static_cast<double>(count));
}

// The memory is populated first, so that only the registration is measured.
void registration(Pairs& pairs, std::size_t mib) {
  const std::size_t bytes = mib << 20;
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  harness::expect(memory != MAP_FAILED, "no memory");
  auto start = Clock::now();
  verbs::Mr mr = verbs::make_mr(pairs.first_pd(), memory, bytes, remote);
  std::printf("%.2f\n", ns_since(start) / 1e6);
  start = Clock::now();
  mr.reset();
  std::printf("%.2f\n", ns_since(start) / 1e6);
  munmap(memory, bytes);
}

int run(int argc, char** argv) {
  harness::Args args(argc, argv, usage);
  const std::string what = args.required("--what");
  const auto count = args.number("--count", 1);
  const auto mib = args.number("--mib", 1024);
  const bool others_idle = args.flag("--idle");
  const bool used = args.flag("--used");
  const bool shared = args.flag("--srq");
  const scale::DeviceName a = {args.required("--dev-a"),
                               static_cast<int>(args.number("--gid-a", 0))};
  const scale::DeviceName b = {args.required("--dev-b"),
                               static_cast<int>(args.number("--gid-b", 0))};
  args.finish();
  Pairs pairs(a, b);
  if (what == "memory")
    memory(pairs, count, used);
  else if (what == "receivers")
    std::printf("%.2f\n", scale::receiver_kib(b, count, shared));
  else if (what == "create")
    create(pairs, count);
  else if (what == "message")
    message(pairs, count, others_idle);
  else if (what == "flag")
    flag(pairs, count);
  else if (what == "regions")
    regions(pairs, count);
  else if (what == "timers")
    timers(pairs, count);
  else if (what == "register")
    registration(pairs, mib);
  else
    harness::fail("no --what ", what);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
