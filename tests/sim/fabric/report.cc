// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/fabric/report.h"

namespace fabric {
namespace {

constexpr u64 kKib = 1024;
constexpr size_t kNameWidth = 38;

std::string pad_right(std::string text, size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string pad_left(std::string text, size_t width) {
  if (text.size() < width) text.insert(0, width - text.size(), ' ');
  return text;
}

std::string thousandths(u64 value) {
  return std::to_string(value / 1000) + "." + std::to_string(1000 + value % 1000).substr(1);
}

std::string tenths(u64 value, u64 unit) {
  return std::to_string(value / unit) + "." + std::to_string(value % unit * 10 / unit);
}

std::string count(u64 value) { return std::to_string(value); }
std::string micros(Ns value) { return tenths(value, 1000); }
std::string kibibytes(u64 value) { return tenths(value, kKib); }
std::string millis(Ns value) { return value == kNever ? "never" : tenths(value, 1'000'000); }

std::string fair_after(const Scenario& scenario, const Result& result) {
  return scenario.sample_ns ? millis(result.converged_ns) : "-";
}

struct Column {
  const char* name;
  size_t width;
  std::string (*cell)(const Scenario&, const Result&);
};

// clang-format off
const Column kColumns[] = {
    {"goodput", 8, [](const Scenario&, const Result& r) { return thousandths(r.goodput); }},
    {"sent/pkt", 9, [](const Scenario&, const Result& r) { return thousandths(r.sent_per_acked); }},
    {"messages", 9, [](const Scenario&, const Result& r) { return std::to_string(r.messages); }},
    {"p50 us", 10, [](const Scenario&, const Result& r) { return micros(r.p50_ns); }},
    {"p99 us", 10, [](const Scenario&, const Result& r) { return micros(r.p99_ns); }},
    {"p99.9 us", 10, [](const Scenario&, const Result& r) { return micros(r.p999_ns); }},
    {"Jain", 6, [](const Scenario&, const Result& r) { return thousandths(r.jain); }},
    {"fair ms", 8, fair_after},
    {"qmax KiB", 9, [](const Scenario&, const Result& r) { return kibibytes(r.queue_max); }},
    {"qmean KiB", 10, [](const Scenario&, const Result& r) { return kibibytes(r.queue_mean); }},
    {"lost", 7, [](const Scenario&, const Result& r) { return std::to_string(r.lost); }},
    {"drops", 7, [](const Scenario&, const Result& r) { return std::to_string(r.dropped); }},
    {"marks", 7, [](const Scenario&, const Result& r) { return std::to_string(r.marked); }},
    {"CNPs", 6, [](const Scenario&, const Result& r) { return std::to_string(r.cnps); }},
    {"timeouts", 9, [](const Scenario&, const Result& r) { return std::to_string(r.timeouts); }},
    {"probes", 7, [](const Scenario&, const Result& r) { return std::to_string(r.probes); }},
    {"failed", 7, [](const Scenario&, const Result& r) { return std::to_string(r.failed); }},
};
// clang-format on

// A figure that can have a limit.
struct Figure {
  const char* name;
  u64 value;
  std::string (*show)(u64);
};

Figure figure(Metric metric, const Result& result) {
  switch (metric) {
    case Metric::goodput:
      return {"goodput", result.goodput, thousandths};
    case Metric::sent:
      return {"sent/pkt", result.sent_per_acked, thousandths};
    case Metric::jain:
      return {"Jain", result.jain, thousandths};
    case Metric::queue_max:
      return {"qmax KiB", result.queue_max, kibibytes};
    case Metric::drops:
      return {"drops", result.dropped, count};
    case Metric::failed:
      return {"failed", result.failed, count};
    default:
      return {"fair ms", result.converged_ns, millis};
  }
}

}  // namespace

std::string table_head() {
  std::string line = pad_right("scenario", kNameWidth);
  for (const Column& column : kColumns) line += pad_left(column.name, column.width);
  return line + "\n";
}

std::string table_row(const Scenario& scenario, const Result& result) {
  std::string line = pad_right(scenario.name, kNameWidth);
  for (const Column& column : kColumns)
    line += pad_left(column.cell(scenario, result), column.width);
  return line + "\n";
}

Verdict judge(const Scenario& scenario, const Result& result) {
  Verdict verdict;
  for (const Limit& limit : scenario.limits) {
    const auto [name, value, show] = figure(limit.metric, result);
    const bool met = limit.at_least ? value >= limit.value : value <= limit.value;
    verdict.text += pad_right(scenario.name, kNameWidth) + pad_right(name, 9);
    verdict.text += pad_left(show(value), 8) + (limit.at_least ? " >= " : " <= ");
    verdict.text += pad_left(show(limit.value), 8);
    verdict.text += met ? "  met" : limit.pending ? "  missed" : "  FAILED";
    verdict.text += limit.pending ? ", pending\n" : "\n";
    verdict.good &= met || limit.pending;
  }
  return verdict;
}

}  // namespace fabric
