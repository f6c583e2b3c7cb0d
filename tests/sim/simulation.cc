// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/simulation.h"

#include <algorithm>

namespace sim {
namespace {

constexpr u64 kMaxIdleEvents = 300'000;

}  // namespace

Simulation::Simulation(u64 seed, Style style, Log::Mode log_mode)
    : rng_(seed),
      scenario_(make_scenario(rng_, style)),
      log_(log_mode),
      network_(rng_, scenario_, log_, totals_),
      hosts_{{0, rng_, scenario_, network_, log_, totals_},
             {1, rng_, scenario_, network_, log_, totals_}} {}

void Simulation::run() {
  for (u32 epoch = 0; epoch < scenario_.epochs; epoch++) run_epoch();
}

void Simulation::begin_epoch() {
  Regions regions[2];
  for (int i = 0; i < 2; i++) {
    memory_[i] = std::make_unique<Memory>();
    regions[i] = make_regions(rng_, *memory_[i]);
  }
  std::unique_ptr<Workload> workloads[2];
  for (int i = 0; i < 2; i++) {
    talks_[i] = std::make_unique<Conversation>(scenario_, i, *memory_[i], *memory_[1 - i], totals_);
    workloads[i] = std::make_unique<Workload>(rng_, scenario_, i, *memory_[i], *memory_[1 - i],
                                              regions[i], regions[1 - i]);
    workloads[i]->plan(*talks_[i]);
  }
  for (auto& memory : memory_) memory->seal(rng_);
  const u32 qpn[2] = {next_qpn_, next_qpn_ + 1};
  next_qpn_ += 2;
  for (int i = 0; i < 2; i++) {
    workloads[i]->settle(*talks_[i]);
    talks_[i]->start(scenario_.side[i].start_psn, qpn[1 - i]);
  }
  for (int i = 0; i < 2; i++)
    hosts_[i].connect(qpn[i], qpn[1 - i], scenario_.side[i].start_psn,
                      scenario_.side[1 - i].start_psn, *memory_[i], *talks_[i], *talks_[1 - i]);
  // The next epoch starts elsewhere in the circle, so that stragglers mean nothing.
  for (Side& side : scenario_.side)
    side.start_psn = (side.start_psn + static_cast<u32>(rng_.next())) & SROCE_PSN_MASK;
}

void Simulation::plan_accidents() {
  for (Application& app : apps_) app = Application{.next_ns = now_ns_};
  const u64 span_ns = std::max<u64>(scenario_.fault_ns, 1000);
  const u64 victim = rng_.below(2);
  if (rng_.chance(scenario_.kill)) apps_[victim].accident_ns = now_ns_ + rng_.below(span_ns);
  if (rng_.chance(scenario_.restart)) {
    apps_[1 - victim].accident_ns = now_ns_ + rng_.below(span_ns);
    apps_[1 - victim].restarts = true;
  }
}

void Simulation::run_epoch() {
  begin_epoch();
  plan_accidents();
  faulty_ = true;
  network_.start_faults();
  for (Host& host : hosts_) host.set_faulty(true);
  faults_end_ns_ = now_ns_ + scenario_.fault_ns;
  bound_ns_ = notice_ns_ = SROCE_NEVER;
  while (!finished()) {
    const u64 when_ns = next_event_ns();
    require(when_ns != SROCE_NEVER, "stuck: nothing will ever happen", "%s",
            describe_state().c_str());
    step(when_ns);
    enforce_progress();
  }
  end_epoch();
}

u64 Simulation::next_event_ns() const {
  u64 next_ns = network_.next_arrival_ns();
  for (int i = 0; i < 2; i++)
    next_ns = std::min(
        {next_ns, hosts_[i].wake_ns(), apps_[i].next_ns, apps_[i].resume_ns, apps_[i].accident_ns});
  return std::min({next_ns, faulty_ ? faults_end_ns_ : SROCE_NEVER, bound_ns_, notice_ns_});
}

void Simulation::step(u64 when_ns) {
  now_ns_ = std::max(now_ns_, when_ns);
  log_.set_time(now_ns_);
  if (faulty_ && faults_end_ns_ <= now_ns_) stop_faults();
  if (network_.next_arrival_ns() <= now_ns_) {
    const Datagram datagram = network_.take();
    hosts_[datagram.to].receive(datagram, now_ns_);
  }
  for (int i = 0; i < 2; i++) {
    if (apps_[i].accident_ns <= now_ns_) have_accident(i);
    if (apps_[i].next_ns <= now_ns_ || apps_[i].resume_ns <= now_ns_) run_application(i);
    if (hosts_[i].wake_ns() <= now_ns_) hosts_[i].run(now_ns_);
    if (hosts_[i].draining() && hosts_[i].is_drained() && apps_[i].resume_ns == SROCE_NEVER)
      apps_[i].resume_ns = now_ns_ + rng_.below(100000);
  }
  notice_failure();
  enforce_bound();
  for (int i = 0; i < 2; i++) {
    if (!apps_[i].waits_for_room || !hosts_[i].has_room()) continue;
    apps_[i].waits_for_room = false;
    apps_[i].next_ns = now_ns_ + pick_gap_ns(i);
  }
}

u64 Simulation::pick_gap_ns(int number) {
  const u64 gap_ns = scenario_.side[number].post_gap_ns;
  return faulty_ ? rng_.below(2 * gap_ns + 1) : 0;
}

void Simulation::run_application(int number) {
  Application& app = apps_[number];
  Host& host = hosts_[number];
  app.next_ns = SROCE_NEVER;
  if (app.resume_ns <= now_ns_) {
    app.resume_ns = SROCE_NEVER;
    if (host.draining()) host.resume();
  }
  if (!host.connected()) return;
  post_receives(number);
  post_work(number);
  use_drain(number);
  host.run(now_ns_);
}

void Simulation::post_work(int number) {
  Application& app = apps_[number];
  Host& host = hosts_[number];
  const Conversation& talk = *talks_[number];
  u64 batch = rng_.between(1, scenario_.side[number].post_batch);
  while (batch && talk.posted_count() < talk.sends.size() && host.post_send()) batch--;
  const bool all_posted = talk.posted_count() == talk.sends.size();
  const bool receives_left = hosts_[number].posted_receives() < talks_[1 - number]->recvs.size();
  app.waits_for_room = !all_posted && !host.has_room();
  if (app.waits_for_room && !receives_left) return;
  if (!all_posted || receives_left) app.next_ns = now_ns_ + 1 + pick_gap_ns(number);
}

void Simulation::post_receives(int number) {
  const Side& side = scenario_.side[number];
  const size_t planned = talks_[1 - number]->recvs.size();
  const bool all_at_once = !faulty_ || side.late_receives == 0;
  u64 count = all_at_once ? planned : rng_.below(4);
  if (!all_at_once && rng_.chance(side.late_receives)) count = 0;
  for (; count && hosts_[number].posted_receives() < planned; count--)
    hosts_[number].post_receive();
}

void Simulation::use_drain(int number) {
  Host& host = hosts_[number];
  if (!faulty_ || host.in_error() || host.draining() || !rng_.chance(scenario_.side[number].sqd))
    return;
  host.drain();
}

void Simulation::have_accident(int number) {
  apps_[number].accident_ns = SROCE_NEVER;
  if (!hosts_[number].connected() || hosts_[number].in_error()) return;
  if (!apps_[number].restarts) {
    hosts_[number].move_to_error();
    return;
  }
  if (log_.on()) log_.line(format("%c: restarts, its QP is gone", 'A' + number));
  hosts_[number].disconnect();
  apps_[number] = Application{.next_ns = SROCE_NEVER};
  talks_[1 - number]->requester_stopped();
}

// When one side has failed, the other is told by its application, soon or after a long while.
void Simulation::notice_failure() {
  const auto lost = [](const Host& host) { return !host.connected() || host.in_error(); };
  if (!lost(hosts_[0]) && !lost(hosts_[1])) return;
  bound_ns_ = SROCE_NEVER;  // there is nothing to recover to
  if (lost(hosts_[0]) && lost(hosts_[1])) {
    notice_ns_ = SROCE_NEVER;
    return;
  }
  if (notice_ns_ == SROCE_NEVER)
    notice_ns_ = now_ns_ + rng_.below(rng_.chance(0.5) ? 100'000 : 400'000'000);
  if (notice_ns_ > now_ns_) return;
  for (Host& host : hosts_) host.move_to_error();
}

void Simulation::stop_faults() {
  faulty_ = false;
  network_.stop_faults();
  if (log_.on()) log_.line("-- the faults stop --");
  for (int i = 0; i < 2; i++) {
    hosts_[i].set_faulty(false);
    if (!hosts_[i].connected()) continue;
    apps_[i].next_ns = std::min(apps_[i].next_ns, now_ns_);
  }
  bound_ns_ = now_ns_ + recovery_bound_ns();
}

// How long everything that was planned may take once nothing disturbs it any more.
u64 Simulation::recovery_bound_ns() const {
  double total_ns = 1e6;
  const double jitter_ns =
      static_cast<double>(scenario_.path[0].jitter_ns + scenario_.path[1].jitter_ns);
  const double round_trip_ns = 2.0 * static_cast<double>(scenario_.latency_ns) + jitter_ns +
                               4.0 * (scenario_.mtu_bytes + 120) * scenario_.ns_per_byte + 4000;
  for (int i = 0; i < 2; i++) {
    const Side& side = scenario_.side[i];
    double bytes = 0, packets = 0;
    for (const SendWork& work : talks_[i]->sends) {
      bytes += work.length;
      packets += work.length / scenario_.mtu_bytes + 1.0;
    }
    // A window without answer per round trip at worst, each request on its own at best.
    const double rounds =
        packets / side.window_packets + 2.0 * static_cast<double>(talks_[i]->sends.size());
    total_ns += 2 * rounds * round_trip_ns + packets * 1000 +
                3 * (bytes + packets * 120) * scenario_.ns_per_byte;
    total_ns += 10.0 * static_cast<double>(sroce_ack_timeout_ns(side.timeout_exponent) +
                                           side.timer_slack_ns);
    total_ns += 3.0 * static_cast<double>(sroce_rnr_wait_ns(side.min_rnr_timer));
  }
  return static_cast<u64>(total_ns);
}

void Simulation::enforce_bound() {
  if (bound_ns_ > now_ns_) return;
  require(scenario_.hostile, "not recovered within the bound", "%lluus after the faults\n%s",
          (unsigned long long)(now_ns_ - faults_end_ns_) / 1000, describe_state().c_str());
  // A lie may make a sender wait for ever (RNR without limit): its application gives up.
  bound_ns_ = SROCE_NEVER;
  for (Host& host : hosts_) host.move_to_error();
}

void Simulation::enforce_progress() {
  const u64 progress = totals_.progress + totals_.completions;
  idle_events_ = progress == last_progress_ ? idle_events_ + 1 : 0;
  last_progress_ = progress;
  require(idle_events_ < kMaxIdleEvents, "livelock", "%s", describe_state().c_str());
}

bool Simulation::finished() const {
  if (!network_.empty()) return false;
  for (int i = 0; i < 2; i++) {
    if (!hosts_[i].connected()) continue;
    if (talks_[i]->posted_count() < talks_[i]->sends.size() || !hosts_[i].idle() ||
        hosts_[i].draining())
      return false;
  }
  return notice_ns_ == SROCE_NEVER;
}

void Simulation::end_epoch() {
  if (!faulty_ && bound_ns_ != SROCE_NEVER)
    slowest_recovery_ =
        std::max(slowest_recovery_, static_cast<double>(now_ns_ - faults_end_ns_) /
                                        static_cast<double>(bound_ns_ - faults_end_ns_));
  const bool lost = !hosts_[0].connected() || !hosts_[1].connected();
  const bool failed = lost || hosts_[0].in_error() || hosts_[1].in_error();
  for (int i = 0; i < 2; i++) {
    if (hosts_[i].connected()) {
      hosts_[i].check_idle();
      talks_[i]->sends_must_be_complete();
    }
    memory_[i]->verify();
    require(failed || scenario_.hostile || talks_[i]->all_executed(),
            "something was never executed", "%c", 'A' + i);
  }
  for (Host& host : hosts_) host.disconnect();
}

std::string Simulation::describe_state() const {
  return hosts_[0].describe_state() + "\n" + hosts_[1].describe_state();
}

}  // namespace sim
