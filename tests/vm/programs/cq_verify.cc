// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// cq_verify: completion queues of a million entries, whose memory grows by use, and moderation of
// their events. Both ends are in this process.
#include <rdma/ib_user_verbs.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <thread>
#include <vector>

#include "harness/args.h"
#include "harness/failure.h"
#include "verbs/devices.h"
#include "verbs/endpoint.h"

namespace {

using harness::Deadline;
using harness::expect;
using harness::fail_errno;

constexpr const char* usage =
    R"(usage: cq_verify --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--entries N] [--fill]

Check a CQ of N entries (default 2^20 - 1). With --fill, only fill it and sleep.)";

constexpr auto timeout = std::chrono::seconds(60);
constexpr std::uint32_t chain = 256;

struct Devices : verbs::Devices {
  explicit Devices(harness::Args& args)
      : verbs::Devices(args), entries(static_cast<int>(args.number("--entries", (1 << 20) - 1))) {}

  int entries;
};

std::size_t kib_of(const std::string& field) {
  std::ifstream info("/proc/meminfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with(field + ":")) return std::stoul(line.substr(field.size() + 1));
  harness::fail("no ", field, " in /proc/meminfo");
}

std::size_t free_kib() { return kib_of("MemFree") + kib_of("Cached") + kib_of("Buffers"); }

// The mappings of rings that grow.
std::vector<std::span<volatile std::byte>> growing_rings() {
  std::vector<std::span<volatile std::byte>> rings;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("[sroce]") == std::string::npos) continue;
    const auto from = std::stoull(line, nullptr, 16);
    const auto to = std::stoull(line.substr(line.find('-') + 1), nullptr, 16);
    rings.emplace_back(reinterpret_cast<volatile std::byte*>(from), to - from);
  }
  return rings;
}

// WRITEs of no bytes, whose completions go to a CQ of any size. They are numbered from 0.
class Writes {
 public:
  Writes(const Devices& devices, std::shared_ptr<verbs::Cq> cq)
      : cq_(std::move(cq)),
        near_(devices.near, devices.near_gid, options(cq_), 1),
        far_(devices.far, devices.far_gid, options(nullptr), 2) {
    connect_both(near_, far_, {});
  }

  // Posts that many, as the send queue has room.
  void post(std::uint32_t count) {
    const auto deadline = Deadline::after(timeout);
    std::vector<ibv_send_wr> wrs(chain);
    harness::Backoff backoff;
    while (count) {
      const std::uint32_t wanted = std::min(count, chain);
      for (std::uint32_t i = 0; i < wanted; ++i) {
        wrs[i] = {};
        wrs[i].wr_id = posted_ + i;
        wrs[i].next = i + 1 < wanted ? &wrs[i + 1] : nullptr;
        wrs[i].opcode = IBV_WR_RDMA_WRITE;
        wrs[i].send_flags = IBV_SEND_SIGNALED;
      }
      ibv_send_wr* bad = nullptr;
      const int error = ibv_post_send(near_.qp().get(), wrs.data(), &bad);
      expect(!error || error == ENOMEM || error == ENOSPC, "ibv_post_send: ", std::strerror(error));
      const auto done = error ? static_cast<std::uint32_t>(bad - wrs.data()) : wanted;
      posted_ += done;
      count -= done;
      if (!error) continue;
      expect(!deadline.expired(), "the send queue stays full, ", count, " to post");
      backoff.pause();
    }
  }
  // Takes the next ones, which must be in order.
  void take(std::uint32_t count) {
    const auto deadline = Deadline::after(timeout);
    std::vector<ibv_wc> wcs(chain);
    harness::Backoff backoff;
    while (count) {
      const int polled =
          ibv_poll_cq(cq_->get(), static_cast<int>(std::min(count, chain)), wcs.data());
      expect(polled >= 0, "ibv_poll_cq returned ", polled);
      for (int i = 0; i < polled; ++i)
        verbs::expect_wc(wcs[i], taken_++, IBV_WC_SUCCESS, "in order");
      count -= static_cast<std::uint32_t>(polled);
      if (polled) continue;
      expect(!deadline.expired(), "no completion ", taken_);
      backoff.pause();
    }
  }
  // Waits until the CQ has all completions, by draining the send queue instead of polling.
  void settle() {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    attr.qp_state = IBV_QPS_SQD;
    if (const int error = ibv_modify_qp(near_.qp().get(), &attr, IBV_QP_STATE))
      fail_errno(error, "SQD");
    const auto deadline = Deadline::after(timeout);
    do {
      expect(!deadline.expired(), "the send queue does not drain");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (const int error = ibv_query_qp(near_.qp().get(), &attr, IBV_QP_STATE, &init))
        fail_errno(error, "ibv_query_qp");
    } while (attr.sq_draining);
    attr.qp_state = IBV_QPS_RTS;
    if (const int error = ibv_modify_qp(near_.qp().get(), &attr, IBV_QP_STATE))
      fail_errno(error, "RTS");
  }

 private:
  static verbs::EndpointOptions options(std::shared_ptr<verbs::Cq> send_cq) {
    verbs::EndpointOptions options;
    options.qp.send_depth = send_cq ? 8192 : 1;
    options.qp.send_sge = 1;
    options.qp.recv_depth = 1;
    options.arena_bytes = 4096;
    options.send_cq = std::move(send_cq);
    return options;
  }

  std::shared_ptr<verbs::Cq> cq_;
  verbs::Endpoint near_, far_;
  std::uint64_t posted_ = 0, taken_ = 0;
};

std::shared_ptr<verbs::Cq> make_cq(const Devices& devices, int entries) {
  return std::make_shared<verbs::Cq>(devices.near, entries);
}

void resize(verbs::Cq& cq, int entries) {
  if (const int error = ibv_resize_cq(cq.get(), entries))
    fail_errno(error, "ibv_resize_cq to ", entries);
  expect(cq.get()->cqe >= entries, "the CQ has ", cq.get()->cqe, " entries");
}

void many(const Devices& devices) {
  constexpr std::size_t count = 100;
  constexpr int entries = 1'000'000;
  const auto before = free_kib();
  std::vector<std::shared_ptr<verbs::Cq>> cqs;
  for (std::size_t i = 0; i < count; ++i) cqs.push_back(make_cq(devices, entries));
  Writes writes(devices, cqs[count / 2]);
  writes.post(1000);
  writes.take(1000);
  for (auto& cq : cqs) expect(!cq->poll(), "a new CQ is not empty");
  const auto after = free_kib(), used = before > after ? before - after : 0;
  harness::note(harness::text(count, " CQs of ", entries, " entries use ", used, " KiB"));
  // Entries alone would be 64 MB for each.
  expect(used < count * 512, used, " KiB are used");
}

void filled(const Devices& devices) {
  const auto entries = static_cast<std::uint32_t>(devices.entries);
  const auto cq = make_cq(devices, devices.entries);
  expect(cq->get()->cqe == devices.entries, "the CQ has ", cq->get()->cqe, " entries");
  Writes writes(devices, cq);
  const auto before = free_kib();
  writes.post(entries);
  writes.settle();
  const auto after = free_kib();
  harness::note(
      harness::text(entries, " entries use ", before > after ? before - after : 0, " KiB"));
  writes.take(entries);
  // Across the end of the ring, and full again.
  writes.post(entries);
  writes.settle();
  expect(!devices.near.wait_async(Deadline::after(std::chrono::milliseconds(10))),
         "an event of a CQ that is only full");
  writes.post(1);
  const auto event = devices.near.wait_async(Deadline::after(timeout));
  expect(event && event->event_type == IBV_EVENT_CQ_ERR && event->element.cq == cq->get(),
         "no IBV_EVENT_CQ_ERR");
  writes.take(entries);
  expect(!cq->poll(), "there is an entry more than fit");
}

void resized(const Devices& devices) {
  const auto cq = make_cq(devices, 1000);
  Writes writes(devices, cq);
  writes.post(900);
  writes.settle();
  writes.take(100);
  resize(*cq, devices.entries);
  writes.post(30'000);
  writes.settle();
  writes.take(20'000);
  resize(*cq, 300'000);
  writes.take(5'000);
  writes.post(100'000);
  writes.settle();
  expect(ibv_resize_cq(cq->get(), 50'000) == EINVAL, "the CQ becomes smaller than what is in it");
  writes.take(100'000);
  resize(*cq, 6'000);
  writes.take(5'800);
  expect(!cq->poll(), "there are completions of nothing");
  resize(*cq, devices.entries);
  writes.post(1000);
  writes.take(1000);
}

// The process looks at pages that the kernel has not needed yet, while it adds them.
void looked_at(const Devices& devices) {
  const auto cq = make_cq(devices, devices.entries);
  const auto rings = growing_rings();
  expect(!rings.empty(), "no mapping grows");
  Writes writes(devices, cq);
  std::atomic<bool> stop{false};
  const auto look = [&](std::size_t stride, std::size_t from) {
    std::size_t sum = 0;
    for (const auto& ring : rings)
      for (std::size_t at = from; at < ring.size() && !stop; at += stride)
        sum += static_cast<std::size_t>(ring[at]);
    return sum;
  };
  std::thread reader([&] {
    look(4096, 0);
    look(64, 8);
  });
  for (std::uint32_t done = 0; done < 200'000; done += 4000) {
    writes.post(4000);
    writes.take(4000);
  }
  stop = true;
  reader.join();
  // In a child, too, and after the parent has forgotten the pages.
  stop = false;
  ::madvise(const_cast<std::byte*>(rings[0].data()), rings[0].size(), MADV_DONTNEED);
  const pid_t child = ::fork();
  if (child == 0) {
    look(4096, 0);
    ::_exit(0);
  }
  writes.post(4000);
  writes.take(4000);
  int status = 0;
  ::waitpid(child, &status, 0);
  expect(status == 0, "the child ended with ", status);
}

// Sets moderation by a system call, because not every provider offers ibv_modify_cq().
int try_moderate(const verbs::Cq& cq, unsigned count, unsigned period_us, unsigned mask = 1) {
  struct {
    ib_uverbs_cmd_hdr header;
    ib_uverbs_ex_cmd_hdr extended;
    ib_uverbs_ex_modify_cq command;
  } call{};
  call.header.command = IB_USER_VERBS_EX_CMD_MODIFY_CQ | IB_USER_VERBS_CMD_FLAG_EXTENDED;
  call.header.in_words = sizeof(call.command) / 8;
  call.command.cq_handle = cq.get()->handle;
  call.command.attr_mask = mask;
  call.command.attr.cq_count = static_cast<std::uint16_t>(count);
  call.command.attr.cq_period = static_cast<std::uint16_t>(period_us);
  return ::write(cq.get()->context->cmd_fd, &call, sizeof(call)) < 0 ? errno : 0;
}

void moderate(const verbs::Cq& cq, unsigned count, unsigned period_us) {
  if (const int error = try_moderate(cq, count, period_us)) fail_errno(error, "modify_cq");
}

constexpr auto quiet = std::chrono::milliseconds(30);

void moderated(const Devices& devices) {
  ibv_device_attr_ex attr{};
  if (const int error = ibv_query_device_ex(devices.near.get(), nullptr, &attr))
    fail_errno(error, "ibv_query_device_ex");
  expect(attr.cq_mod_caps.max_cq_count == 65535 && attr.cq_mod_caps.max_cq_period == 65535,
         "the limits are ", attr.cq_mod_caps.max_cq_count, " and ", attr.cq_mod_caps.max_cq_period);
  const auto channel = verbs::make_channel(devices.near);
  const auto cq = std::make_shared<verbs::Cq>(devices.near, 4000, &channel);
  Writes writes(devices, cq);
  const auto has_event = [&](Deadline::Clock::duration limit) {
    return cq->wait_event(channel, Deadline::after(limit));
  };
  // The longest period, so that only the count matters.
  moderate(*cq, 16, 65535);
  int events = 0;
  for (int i = 0; i < 160; ++i) {
    if (i % 16 == 0) cq->arm(false);
    writes.post(1);
    writes.take(1);
    const bool last = i % 16 == 15;
    if (last) expect(has_event(timeout), "no event of completion ", i);
    events += last;
  }
  expect(!has_event(quiet), "an event too many");
  harness::note(harness::text(events, " events of 160 completions"));

  // Fewer than the count wait for the period.
  moderate(*cq, 16, 20'000);
  cq->arm(false);
  const auto start = Deadline::Clock::now();
  writes.post(5);
  writes.take(5);
  expect(has_event(timeout), "no event after the period");
  const auto passed = Deadline::Clock::now() - start;
  expect(passed >= std::chrono::milliseconds(20), "the event comes after ",
         std::chrono::duration_cast<std::chrono::microseconds>(passed).count(), " us");
  expect(!has_event(quiet), "a second event");

  // A change reports what waits, and 0 switches moderation off.
  moderate(*cq, 100, 65535);
  cq->arm(false);
  writes.post(1);
  writes.take(1);
  moderate(*cq, 0, 0);
  expect(has_event(timeout), "a change does not report what waits");
  for (int i = 0; i < 3; ++i) {
    cq->arm(false);
    writes.post(1);
    writes.take(1);
    expect(has_event(timeout), "no event without moderation");
  }

  // Completions that are not solicited do not count.
  moderate(*cq, 4, 10'000);
  cq->arm(true);
  writes.post(10);
  writes.take(10);
  expect(!has_event(quiet), "an event of completions that are not solicited");
  expect(try_moderate(*cq, 1, 1, 0) == EINVAL, "a change of nothing is accepted");
  expect(try_moderate(*cq, 1, 1, 2) == EOPNOTSUPP, "a change of what does not exist is accepted");
  // Destroyed while the period runs.
  cq->arm(false);
  writes.post(1);
  writes.take(1);
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, usage);
  const Devices devices(args);
  const bool fill = args.flag("--fill");
  args.finish();
  if (fill) {
    Writes writes(devices, make_cq(devices, devices.entries));
    writes.post(static_cast<std::uint32_t>(devices.entries));
    ::pause();
  }
  harness::Tap tap;
  tap.run("100 CQs of 1,000,000 entries use little memory", [&] { many(devices); });
  tap.run("a CQ can be filled, polled in order and overflow", [&] { filled(devices); });
  tap.run("resize keeps the entries", [&] { resized(devices); });
  tap.run("the process may look at any page at any time", [&] { looked_at(devices); });
  tap.run("moderation: events by number and by period", [&] { moderated(devices); });
  verbs::check_closes(tap);
  return tap.finish();
}
