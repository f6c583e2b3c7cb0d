// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// uverbs_fuzz: random calls on /dev/infiniband/uverbsN. The caller checks the kernel log.
#include <dirent.h>
#include <fcntl.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>

#include "fuzz/fuzz.h"
#include "fuzz/message.h"
#include "harness/args.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "sroce_abi.h"
#include "sroce_netlink.h"
#include "uverbs_fuzz/actor.h"

namespace {

using fuzz::Message;
using fuzz::tally;
using harness::Deadline;
using harness::Random;
using harness::text;
using std::chrono::seconds;
using uverbs_fuzz::Actor;
using uverbs_fuzz::File;
using uverbs_fuzz::Life;

constexpr const char* usage =
    R"(usage: uverbs_fuzz --dev A --unplug B --interface I [--native] [--seed N] [--seconds S | --count N]

Processes open A and make random calls, for S seconds (default 10) or N times: alone, two at once, or
while one of them closes the file. Others open B, which is deleted meanwhile, and added again on the
interface I.)";

struct Setup {
  std::string dev;
  std::string unplug;
  std::string interface;
  bool native;
  std::uint64_t seed;
  std::uint64_t count;
  seconds span;
};

enum class Way { alone, threads, processes, closing, unplugged };
constexpr const char* way_names[] = {"alone", "two threads", "two processes", "closed",
                                     "unplugged"};
constexpr std::uint64_t steps_of_life = 300;

std::string read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string node_of(const std::string& dev) {
  const std::string root = "/sys/class/infiniband_verbs/";
  std::string node;
  if (DIR* folder = opendir(root.c_str())) {
    while (const dirent* entry = readdir(folder))
      if (read_line(root + entry->d_name + "/ibdev") == dev) node = entry->d_name;
    closedir(folder);
  }
  return node.empty() ? node : "/dev/infiniband/" + node;
}

// The first address that IPv4 can have.
bool find_gid(const std::string& dev, Life& life) {
  for (int index = 0; index < 32; ++index) {
    unsigned words[8];
    const std::string line =
        read_line(text("/sys/class/infiniband/", dev, "/ports/1/gids/", index));
    if (std::sscanf(line.c_str(), "%x:%x:%x:%x:%x:%x:%x:%x", &words[0], &words[1], &words[2],
                    &words[3], &words[4], &words[5], &words[6], &words[7]) != 8 ||
        words[5] != 0xffff)
      continue;
    for (std::size_t i = 0; i < 8; ++i) {
      life.gid[2 * i] = static_cast<std::uint8_t>(words[i] >> 8);
      life.gid[2 * i + 1] = static_cast<std::uint8_t>(words[i]);
    }
    life.gid_index = static_cast<std::uint8_t>(index);
    return true;
  }
  return false;
}

// --- the device that comes and goes ------------------------------------------

int link_error(const Message& message) { return fuzz::ask(NETLINK_RDMA, message.finish(1)).error; }

void plug(const Setup& setup) {
  Message message(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_NEWLINK),
                  NLM_F_REQUEST | NLM_F_ACK);
  message.put_string(RDMA_NLDEV_ATTR_DEV_NAME, setup.unplug);
  message.put_string(RDMA_NLDEV_ATTR_LINK_TYPE, "sroce");
  message.put_string(RDMA_NLDEV_ATTR_NDEV_NAME, setup.interface);
  const int error = link_error(message);
  harness::expect(error == 0 || error == EEXIST, "cannot add ", setup.unplug, ": ", error);
}

void unplug(const Setup& setup) {
  Message get =
      Message::genl(fuzz::family_id(SROCE_GENL_NAME), SROCE_CMD_DEV_GET, NLM_F_REQUEST | NLM_F_ACK);
  get.put_string(SROCE_A_DEV_NAME, setup.unplug);
  Message remove(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_DELLINK),
                 NLM_F_REQUEST | NLM_F_ACK);
  for (const fuzz::Bytes& reply : fuzz::ask(NETLINK_GENERIC, get.finish(1)).replies)
    fuzz::each_attr(reply.data(), reply.size(),
                    [&](int type, const std::uint8_t* data, std::size_t bytes) {
                      if (type == SROCE_A_DEV_INDEX)
                        remove.put(RDMA_NLDEV_ATTR_DEV_INDEX, data, bytes);
                    });
  const int error = link_error(remove);
  harness::expect(error == 0, "cannot delete ", setup.unplug, ": ", error);
}

// --- lives -------------------------------------------------------------------

void run_actor(Life& life, File& file, std::uint64_t seed) {
  Actor actor(life, file, seed);
  for (std::uint64_t step = 0; step < steps_of_life && !tally().failed; ++step) actor.step();
}

void live(const Setup& setup, Way way, std::uint64_t seed) {
  const std::string& dev = way == Way::unplugged ? setup.unplug : setup.dev;
  Life life{};
  life.native = setup.native;
  life.has_xrc = setup.native && seed % 4 == 0;
  life.name = text("seed ", seed, ", ", way_names[static_cast<int>(way)]);
  life.alone = way == Way::alone;
  void* shared = mmap(nullptr, uverbs_fuzz::shared_handles * 4, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  life.shared = static_cast<std::atomic<std::uint32_t>*>(shared);
  const Deadline limit = Deadline::after(seconds(10));
  for (harness::Backoff backoff; !find_gid(dev, life); backoff.pause())
    harness::expect(!limit.expired(), dev, " has no address");
  const int fd = open(node_of(dev).c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) harness::fail_errno(errno, "open ", node_of(dev));
  File file(fd, !life.has_xrc);
  Random random(seed);
  if (random.one_in(4)) {
    // Before there is a context.
    Life early = life;
    early.alone = false;
    Actor actor(early, file, seed + 2);
    for (int i = 0; i < 5; ++i) actor.step();
    if (random.one_in(4)) return;
    close(fd);
    const int again = open(node_of(dev).c_str(), O_RDWR | O_CLOEXEC);
    harness::expect(again == fd, "cannot open ", dev, " again");
  }
  Actor(life, file, seed + 3).open();
  if (life.alone) return run_actor(life, file, seed);
  if (way == Way::processes) {
    const pid_t other = fuzz::start([&] {
      life.may_write = false;
      run_actor(life, file, seed + 1);
    });
    run_actor(life, file, seed);
    return fuzz::finish(other, Deadline::after(seconds(60)), life.name);
  }
  File second(fd, !life.has_xrc);
  std::thread other([&] { run_actor(life, second, seed + 1); });
  std::thread enemy([&] {
    if (way == Way::threads) return;
    std::this_thread::sleep_for(std::chrono::microseconds(random.below(60000)));
    if (way == Way::closing) close(fd);
    try {
      if (way == Way::unplugged) unplug(setup);
    } catch (const std::exception& error) {
      fuzz::complain(error.what());
    }
  });
  run_actor(life, file, seed);
  enemy.join();
  other.join();
}

void run_lives(const Setup& setup) {
  const fuzz::Budget budget(setup.count, setup.span);
  for (std::uint64_t life = 0; !budget.spent(tally().calls); ++life) {
    const std::uint64_t seed = harness::mix(setup.seed + life);
    // Half of them alone.
    const Way way = life % 2 ? static_cast<Way>(1 + life / 2 % 4) : Way::alone;
    if (way == Way::unplugged) plug(setup);
    const pid_t pid = fuzz::start([&] { live(setup, way, seed); });
    fuzz::finish(pid, Deadline::after(seconds(60)),
                 text("life ", life, ", ", way_names[static_cast<int>(way)]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, usage);
  Setup setup;
  setup.dev = args.required("--dev");
  setup.unplug = args.required("--unplug");
  setup.interface = args.required("--interface");
  setup.native = args.flag("--native");
  setup.seed = args.number("--seed", 1);
  setup.count = args.number("--count", 0);
  setup.span = seconds(args.number("--seconds", 10));
  args.finish();

  harness::Tap tap;
  harness::note(text("seed ", setup.seed));
  tap.run("every call is answered as it must be", [&] {
    run_lives(setup);
    harness::note(fuzz::summary());
    harness::expect(!tally().failed, tally().why);
  });
  tap.run("enough calls are accepted and refused", [&] {
    harness::expect(tally().errors[0] * 5 > tally().calls && tally().errors[EINVAL] &&
                        tally().errors[EFAULT] && tally().errors[EBUSY],
                    fuzz::summary());
  });
  return tap.finish();
}
