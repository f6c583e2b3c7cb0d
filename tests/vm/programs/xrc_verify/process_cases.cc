// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Two processes share a domain. Each has queues in it; one connection serves both.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "harness/failure.h"
#include "xrc_verify/cases.h"

namespace xrc {
namespace {

using harness::expect;

// A pipe of numbers.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_, O_CLOEXEC)) harness::fail_errno(errno, "pipe2");
  }
  Pipe(const Pipe&) = delete;
  ~Pipe() {
    be_reader();
    be_writer();
  }
  // Closes the other end, so that a reader notices when the writer dies.
  void be_reader() { close_end(1); }
  void be_writer() { close_end(0); }
  void write(std::uint64_t number) const {
    expect(::write(ends_[1], &number, sizeof(number)) == sizeof(number), "a pipe is full");
  }
  std::uint64_t read() const {
    std::uint64_t number = 0;
    expect(::read(ends_[0], &number, sizeof(number)) == sizeof(number), "a pipe is closed");
    return number;
  }

 private:
  void close_end(int which) {
    if (ends_[which] >= 0) close(ends_[which]);
    ends_[which] = -1;
  }

  int ends_[2];
};

// Another process with a context of its own.
class Child {
 public:
  Child(const std::string& device, const std::function<void(const verbs::Context&, Child&)>& work) {
    pid_ = fork();
    if (pid_ < 0) harness::fail_errno(errno, "fork");
    if (pid_) {
      to.be_writer();
      from.be_reader();
      return;
    }
    to.be_reader();
    from.be_writer();
    alarm(30);
    int status = 0;
    try {
      const verbs::Context context(device);
      work(context, *this);
    } catch (const std::exception& failure) {
      harness::note(failure.what());
      status = 1;
    }
    // The objects of the parent are not this process's to destroy.
    _exit(status);
  }
  Child(const Child&) = delete;
  ~Child() {
    if (pid_ > 0) kill();
  }
  void kill() {
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  void wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    pid_ = 0;
    expect(status == 0, "the other process ends with ", status);
  }

  Pipe to, from;

 private:
  pid_t pid_ = 0;
};

// Receives as many messages as it is told to.
void receive_messages(const verbs::Context& context, Child& pipes, int fd) {
  const Domain domain = open_domain(context, fd, 0);
  Queue queue(context, domain, 8);
  queue.post_all();
  const auto qpn = static_cast<std::uint32_t>(pipes.to.read());
  const QpHandle target = open_target(context, domain, qpn);
  pipes.from.write(queue.number());
  const std::uint64_t count = pipes.to.read();
  for (std::uint64_t i = 0; i < count; ++i) queue.receive(2 * i + 1, 5000, qpn);
  pipes.from.write(0);
}

void shared_domain(const verbs::Devices& devices) {
  constexpr std::uint64_t count = 50;
  Stage stage(devices);
  Child other(devices.far.name(), [&](const verbs::Context& context, Child& pipes) {
    receive_messages(context, pipes, stage.fd);
  });
  Queue own(devices.far, stage.domain, 8);
  own.post_all();
  other.to.write(stage.target->qp_num);
  const auto others = static_cast<std::uint32_t>(other.from.read());
  expect(others != own.number(), "both queues have the number ", others);
  other.to.write(count);
  for (std::uint64_t number = 0; number < 2 * count; ++number) {
    stage.initiator.send(number % 2 ? others : own.number(), number, 5000);
    if (number % 2 == 0) own.receive(number, 5000, stage.target->qp_num);
    stage.initiator.expect(IBV_WC_SUCCESS, "a SEND");
  }
  other.from.read();
  other.wait();
}

// The target lives as long as a process has it open.
void creator_leaves(const verbs::Devices& devices) {
  Stage stage(devices);
  Child creator(devices.far.name(), [&](const verbs::Context& context, Child& pipes) {
    const Domain domain = open_domain(context, stage.fd, 0);
    const QpHandle target = create_target(context, domain);
    pipes.from.write(target->qp_num);
    pipes.to.read();
  });
  const QpHandle target =
      open_target(devices.far, stage.domain, static_cast<std::uint32_t>(creator.from.read()));
  Queue queue(devices.far, stage.domain, 8);
  queue.post_all();
  Initiator initiator(devices.near);
  connect(devices, initiator.get(), target.get());
  creator.kill();
  for (std::uint64_t number = 0; number < 5; ++number) {
    initiator.send(queue.number(), number, 2000);
    queue.receive(number, 2000, target->qp_num);
    initiator.expect(IBV_WC_SUCCESS, "a SEND after the creator has gone");
  }
}

// The process with the queue dies while messages arrive: the peer gets a NAK.
void receiver_dies(const verbs::Devices& devices) {
  for (int round = 0; round < 8; ++round) {
    Stage stage(devices);
    Child other(devices.far.name(), [&](const verbs::Context& context, Child& pipes) {
      const Domain domain = open_domain(context, stage.fd, 0);
      Queue queue(context, domain, 8);
      queue.post_all();
      pipes.from.write(queue.number());
      for (;;) {
        const auto wc = queue.cq().poll();
        if (wc && wc->status == IBV_WC_SUCCESS) queue.post(static_cast<std::uint32_t>(wc->wr_id));
        if (!wc) sched_yield();
      }
    });
    const auto srqn = static_cast<std::uint32_t>(other.from.read());
    ibv_wc_status status = IBV_WC_SUCCESS;
    for (int sent = 0; status == IBV_WC_SUCCESS; ++sent) {
      expect(sent < 100000, "SENDs to a process that has gone succeed");
      if (sent == 10 + round) other.kill();
      stage.initiator.send(srqn, 0, slot_bytes);
      if (sent % 2) stage.initiator.send(srqn, 0, slot_bytes);
      status = stage.initiator.reap();
      if (status == IBV_WC_SUCCESS && sent % 2) status = stage.initiator.reap();
    }
    expect(status == IBV_WC_REM_INV_REQ_ERR, "the SEND fails with ", ibv_wc_status_str(status));
  }
}

}  // namespace

void run_process_cases(harness::Tap& tap, const verbs::Devices& devices) {
  tap.run("two processes share a domain", [&] { shared_domain(devices); });
  tap.run("a target outlives the process that created it", [&] { creator_leaves(devices); });
  tap.run("a process dies while it receives", [&] { receiver_dies(devices); });
}

}  // namespace xrc
