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
    regions[i] = make_regions(rng_, scenario_, *memory_[i]);
  }
  std::unique_ptr<Workload> workloads[2];
  for (int i = 0; i < 2; i++) {
    conversations_[i] =
        std::make_unique<Conversation>(scenario_, i, *memory_[i], *memory_[1 - i], totals_);
    workloads[i] = std::make_unique<Workload>(rng_, scenario_, i, *memory_[i], *memory_[1 - i],
                                              regions[i], regions[1 - i]);
    workloads[i]->plan(*conversations_[i]);
  }
  for (auto& memory : memory_) memory->seal(rng_);
  const u32 qpn[2] = {next_qpn_, next_qpn_ + 1};
  next_qpn_ += 2;
  for (int i = 0; i < 2; i++) {
    workloads[i]->compute_contents(*conversations_[i]);
    conversations_[i]->start(scenario_.side[i].start_psn, qpn[1 - i]);
  }
  for (int i = 0; i < 2; i++)
    hosts_[i].connect(qpn[i], qpn[1 - i], scenario_.side[i].start_psn,
                      scenario_.side[1 - i].start_psn, *memory_[i], *conversations_[i],
                      *conversations_[1 - i]);
  // The next epoch starts with another PSN, so that packets of this one are not valid in it.
  for (Side& side : scenario_.side)
    side.start_psn = (side.start_psn + static_cast<u32>(rng_.next())) & SROCE_PSN_MASK;
}

void Simulation::plan_failures() {
  for (Application& app : apps_) app = Application{.next_ns = now_ns_};
  const u64 span_ns = std::max<u64>(scenario_.fault_ns, 1000);
  const u64 victim = rng_.below(2);
  if (rng_.chance(scenario_.kill)) apps_[victim].failure_ns = now_ns_ + rng_.below(span_ns);
  if (rng_.chance(scenario_.restart)) {
    apps_[1 - victim].failure_ns = now_ns_ + rng_.below(span_ns);
    apps_[1 - victim].restarts = true;
  }
}

void Simulation::run_epoch() {
  begin_epoch();
  plan_failures();
  faulty_ = true;
  network_.start_faults();
  for (Host& host : hosts_) host.set_faulty(true, now_ns_);
  faults_end_ns_ = now_ns_ + scenario_.fault_ns;
  bound_ns_ = notice_ns_ = SROCE_NEVER;
  while (!finished()) {
    const u64 when_ns = next_event_ns();
    require(when_ns != SROCE_NEVER, "deadlock: no further event", [&] { return describe_state(); });
    step(when_ns);
    enforce_progress();
  }
  end_epoch();
}

u64 Simulation::next_event_ns() const {
  u64 next_ns = network_.next_arrival_ns();
  for (int i = 0; i < 2; i++)
    next_ns = std::min(
        {next_ns, hosts_[i].wake_ns(), apps_[i].next_ns, apps_[i].resume_ns, apps_[i].failure_ns});
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
    if (apps_[i].failure_ns <= now_ns_) inject_failure(i);
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
  const Conversation& conversation = *conversations_[number];
  u64 batch = rng_.between(1, scenario_.side[number].post_batch);
  while (batch && conversation.posted_count() < conversation.sends.size() && host.post_send())
    batch--;
  const bool all_posted = conversation.posted_count() == conversation.sends.size();
  const bool receives_left =
      hosts_[number].posted_receives() < conversations_[1 - number]->recvs.size();
  app.waits_for_room = !all_posted && !host.has_room();
  if (app.waits_for_room && !receives_left) return;
  if (!all_posted || receives_left) app.next_ns = now_ns_ + 1 + pick_gap_ns(number);
}

void Simulation::post_receives(int number) {
  const Side& side = scenario_.side[number];
  const size_t planned = conversations_[1 - number]->recvs.size();
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

void Simulation::inject_failure(int number) {
  apps_[number].failure_ns = SROCE_NEVER;
  if (!hosts_[number].connected() || hosts_[number].in_error()) return;
  if (!apps_[number].restarts) {
    hosts_[number].move_to_error();
    return;
  }
  if (log_.on()) log_.line(format("%c: restarts and loses its QP", 'A' + number));
  hosts_[number].disconnect();
  apps_[number] = Application{.next_ns = SROCE_NEVER};
  conversations_[1 - number]->requester_stopped();
}

// When one QP has failed, the other application learns of it, after a short or long delay.
void Simulation::notice_failure() {
  const auto lost = [](const Host& host) { return !host.connected() || host.in_error(); };
  if (!lost(hosts_[0]) && !lost(hosts_[1])) return;
  bound_ns_ = SROCE_NEVER;  // no recovery is possible
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
  if (log_.on()) log_.line("-- faults end --");
  for (int i = 0; i < 2; i++) {
    hosts_[i].set_faulty(false, now_ns_);
    if (!hosts_[i].connected()) continue;
    apps_[i].next_ns = std::min(apps_[i].next_ns, now_ns_);
  }
  bound_ns_ = now_ns_ + static_cast<u64>(round_trips_ns()) + timeouts_ns();
}

// Returns how long all planned work may take once faults have stopped, without timeouts.
double Simulation::round_trips_ns() const {
  double total_ns = 1e6;
  const double jitter_ns =
      static_cast<double>(scenario_.path[0].jitter_ns + scenario_.path[1].jitter_ns);
  const double round_trip_ns = 2.0 * static_cast<double>(scenario_.latency_ns) + jitter_ns +
                               4.0 * (scenario_.mtu_bytes + 120) * scenario_.ns_per_byte + 4000;
  for (int i = 0; i < 2; i++) {
    const Side& side = scenario_.side[i];
    double bytes = 0, packets = 0;
    for (const SendWork& work : conversations_[i]->sends) {
      bytes += work.length;
      packets += work.length / scenario_.mtu_bytes + 1.0;
    }
    // One window per round trip, plus two round trips for each request. If round trips seem longer
    // than the ACK timeout, the window is as small as can be.
    const double timeout_ns = static_cast<double>(sroce_ack_timeout_ns(side.timeout_exponent));
    const u32 window = timeout_ns > 0 && timeout_ns < round_trip_ns
                           ? std::min(side.window_packets, SROCE_WINDOW_MIN)
                           : side.window_packets;
    const double rounds =
        packets / window + 2.0 * static_cast<double>(conversations_[i]->sends.size());
    total_ns += 2 * rounds * round_trip_ns + packets * 1000 +
                3 * (bytes + packets * 120) * scenario_.ns_per_byte;
    total_ns += 3.0 * static_cast<double>(sroce_rnr_wait_ns(side.min_rnr_timer));
  }
  return total_ns;
}

// Returns the time after which a run counts as one without end.
u64 Simulation::timeouts_ns() const {
  u64 total_ns = 0;
  for (const Side& side : scenario_.side)
    total_ns += 10 * (sroce_ack_timeout_ns(side.timeout_exponent) + side.timer_slack_ns);
  return total_ns;
}

// An ACK timeout that is shorter than round trips expires without a loss, too. Of the other hosts
// 9,542 needed no ACK timeout, 847 one, 29 two, 4 three and none four: sim_plain --seeds 8000
// --first 2090000001.
void Simulation::check_late_timeouts() {
  for (int i = 0; i < 2; i++) {
    const u64 timeout_ns = sroce_ack_timeout_ns(scenario_.side[i].timeout_exponent);
    const double round_trip_ns = longest_round_trip_ns(scenario_, scenario_.side[i]);
    if (static_cast<double>(timeout_ns) < round_trip_ns) continue;
    const u32 count = hosts_[i].late_timeouts();
    require(count <= kMaxLateTimeouts, "too many ACK timeouts after the last fault", "%c: %u",
            'A' + i, count);
    totals_.late_timeouts[count]++;
  }
}

// Returns how long at least one host waited for a timer.
u64 Simulation::waited_ns() const {
  std::vector<Interval> all = hosts_[0].timer_waits();
  all.insert(all.end(), hosts_[1].timer_waits().begin(), hosts_[1].timer_waits().end());
  std::sort(all.begin(), all.end(),
            [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  u64 total_ns = 0, end_ns = 0;
  for (const Interval& interval : all) {
    const u64 begin_ns = std::max(interval.begin_ns, end_ns);
    if (interval.end_ns > begin_ns) total_ns += interval.end_ns - begin_ns;
    end_ns = std::max(end_ns, interval.end_ns);
  }
  return total_ns;
}

// Recovery takes round trips, apart from the few timeouts that have expired.
void Simulation::check_recovery_time() {
  if (faulty_ || bound_ns_ == SROCE_NEVER || scenario_.hostile) return;
  const u64 in_timers_ns = waited_ns();
  const u64 elapsed_ns = now_ns_ - faults_end_ns_;
  const double needed = static_cast<double>(elapsed_ns - std::min(elapsed_ns, in_timers_ns));
  slowest_recovery_ = std::max(slowest_recovery_, needed / round_trips_ns());
  require(slowest_recovery_ <= 1, "recovery takes more round trips than it may",
          "%lluus, %lluus of them in timeouts", (unsigned long long)elapsed_ns / 1000,
          (unsigned long long)in_timers_ns / 1000);
  check_late_timeouts();
}

void Simulation::enforce_bound() {
  if (bound_ns_ > now_ns_) return;
  require(scenario_.hostile, "not recovered within the bound", "%lluus after the faults\n%s",
          (unsigned long long)(now_ns_ - faults_end_ns_) / 1000, describe_state().c_str());
  // Forged RNR NAKs may make a sender wait forever; its application then gives up.
  bound_ns_ = SROCE_NEVER;
  for (Host& host : hosts_) host.move_to_error();
}

void Simulation::enforce_progress() {
  const u64 progress = totals_.progress + totals_.completions;
  idle_events_ = progress == last_progress_ ? idle_events_ + 1 : 0;
  last_progress_ = progress;
  require(idle_events_ < kMaxIdleEvents, "livelock", [&] { return describe_state(); });
}

bool Simulation::finished() const {
  if (!network_.empty()) return false;
  for (int i = 0; i < 2; i++) {
    if (!hosts_[i].connected()) continue;
    if (conversations_[i]->posted_count() < conversations_[i]->sends.size() || !hosts_[i].idle() ||
        hosts_[i].draining())
      return false;
  }
  return notice_ns_ == SROCE_NEVER;
}

void Simulation::end_epoch() {
  check_recovery_time();
  const bool lost = !hosts_[0].connected() || !hosts_[1].connected();
  const bool failed = lost || hosts_[0].in_error() || hosts_[1].in_error();
  for (int i = 0; i < 2; i++) {
    if (hosts_[i].connected()) {
      hosts_[i].check_idle();
      conversations_[i]->check_all_completed();
    }
    memory_[i]->verify();
    require(failed || scenario_.hostile || conversations_[i]->all_executed(),
            "request never executed", "%c", 'A' + i);
  }
  for (Host& host : hosts_) host.disconnect();
}

std::string Simulation::describe_state() const {
  return hosts_[0].describe_state() + "\n" + hosts_[1].describe_state();
}

}  // namespace sim
