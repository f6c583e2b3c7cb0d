// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/stats.h"

#include <algorithm>
#include <map>
#include <vector>

#include "sroce/counter_meanings.h"
#include "sroce/explain.h"
#include "sroce/interval.h"

namespace sroce {
namespace {

constexpr char no_devices[] = "no sroce devices; to add one: sroce add IF\n";

using Counters = std::map<std::string, uint64_t>;

struct Sample {
  std::string device;
  Counters counters;
};

/// How a counter has changed. A device that was added again starts at zero.
struct Change {
  uint64_t value = 0;
  uint64_t difference = 0;
};

std::vector<Sample> take_samples(System& system, const StatsOptions& options) {
  std::vector<Sample> samples;
  for (const DeviceIdentity& device : chosen_devices(system, options.device))
    samples.push_back({device.name, read_counters(system, device)});
  return samples;
}

/// The names in the order of the module, then those of other drivers.
std::vector<std::string> ordered_names(const Counters& counters) {
  std::vector<std::string> names;
  for (const auto& [name, meaning] : counter_meanings()) {
    if (counters.contains(name)) names.push_back(name);
  }
  for (const auto& [name, value] : counters) {
    if (meaning_of(name).empty()) names.push_back(name);
  }
  return names;
}

void print_meanings(Format format, std::ostream& out) {
  if (format == Format::json) {
    Json meanings = Json::object();
    for (const auto& [name, meaning] : counter_meanings()) meanings[name] = meaning;
    out << json_text(meanings);
    return;
  }
  std::vector<Row> rows{{"COUNTER", "MEANING"}};
  for (const auto& [name, meaning] : counter_meanings()) rows.push_back({name, meaning});
  out << align_text(std::move(rows));
}

bool has_counters(const std::vector<Sample>& samples) {
  return std::any_of(samples.begin(), samples.end(),
                     [](const Sample& sample) { return !sample.counters.empty(); });
}

void print_table(const std::vector<Sample>& samples, const StatsOptions& options,
                 std::ostream& out) {
  Row heading{"DEVICE", "COUNTER", "VALUE"};
  if (options.explain) heading.push_back("MEANING");
  std::vector<Row> rows{heading};
  for (const auto& [device, counters] : samples) {
    for (const std::string& name : ordered_names(counters)) {
      const uint64_t value = counters.at(name);
      if (value == 0 && !options.all) continue;
      rows.push_back({device, name, std::to_string(value)});
      if (options.explain) rows.back().push_back(meaning_of(name));
    }
  }
  if (samples.empty())
    out << no_devices;
  else if (rows.size() == 1)
    out << (has_counters(samples) ? "all counters are zero\n" : "no counters\n");
  else
    out << align_text(std::move(rows));
}

Json to_json(const Counters& counters) {
  Json object = Json::object();
  for (const std::string& name : ordered_names(counters)) object[name] = counters.at(name);
  return object;
}

void print_json(const std::vector<Sample>& samples, const StatsOptions& options,
                std::ostream& out) {
  Json list = Json::array();
  for (const auto& [device, counters] : samples) {
    Json object{{"device", device}, {"counters", to_json(counters)}};
    if (options.explain) {
      Json meanings = Json::object();
      for (const std::string& name : ordered_names(counters)) meanings[name] = meaning_of(name);
      object["meanings"] = std::move(meanings);
    }
    list.push_back(std::move(object));
  }
  out << json_text(list);
}

/// Prints how counters change from one sample to the next.
class Changes {
 public:
  Changes(System& system, const StatsOptions& options, std::ostream& out)
      : system_(system), options_(options), out_(out) {}

  void sample(double seconds) {
    auto samples = take_samples(system_, options_);
    if (seconds > 0) {
      if (options_.format == Format::json)
        print_json(samples, seconds);
      else
        print_table(samples, seconds);
      out_.flush();
    }
    before_.clear();
    for (Sample& sample : samples) before_[sample.device] = std::move(sample.counters);
  }

 private:
  std::map<std::string, Change> changes_of(const Sample& sample) const {
    std::map<std::string, Change> changes;
    const auto before = before_.find(sample.device);
    for (const auto& [name, value] : sample.counters) {
      uint64_t last = 0;
      if (before != before_.end()) {
        const auto found = before->second.find(name);
        if (found != before->second.end()) last = found->second;
      }
      changes[name] = {value, value >= last ? value - last : is_gauge(name) ? 0 : value};
    }
    return changes;
  }

  static double rate(const Change& change, double seconds) {
    return static_cast<double>(change.difference) / seconds;
  }

  void print_table(const std::vector<Sample>& samples, double seconds) {
    std::vector<Row> rows{{"DEVICE", "COUNTER", "PER SECOND", "CHANGE", "VALUE"}};
    for (const Sample& sample : samples) {
      const auto changes = changes_of(sample);
      for (const std::string& name : ordered_names(sample.counters)) {
        const Change& change = changes.at(name);
        if (is_gauge(name)) {
          if (change.value || options_.all)
            rows.push_back({sample.device, name, "-", "-", std::to_string(change.value)});
        } else if (change.difference || options_.all) {
          rows.push_back({sample.device, name, decimal_text(rate(change, seconds), 1),
                          std::to_string(change.difference), std::to_string(change.value)});
        }
      }
    }
    if (samples.empty())
      out_ << no_devices << '\n';
    else
      out_ << (rows.size() == 1 ? "no change\n" : align_text(std::move(rows))) << '\n';
  }

  /// One object a line.
  void print_json(const std::vector<Sample>& samples, double seconds) {
    Json devices = Json::array();
    for (const Sample& sample : samples) {
      Json counters = Json::object();
      const auto changes = changes_of(sample);
      for (const std::string& name : ordered_names(sample.counters)) {
        const Change& change = changes.at(name);
        if (is_gauge(name))
          counters[name] = {{"value", change.value}};
        else
          counters[name] = {{"value", change.value},
                            {"change", change.difference},
                            {"per_second", rate(change, seconds)}};
      }
      devices.push_back({{"device", sample.device}, {"counters", std::move(counters)}});
    }
    const Json object{{"seconds", seconds}, {"devices", std::move(devices)}};
    out_ << object.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }

  System& system_;
  const StatsOptions& options_;
  std::ostream& out_;
  std::map<std::string, Counters> before_{};
};

}  // namespace

void run_stats(System& system, const StatsOptions& options, std::ostream& out) {
  if (options.interval_seconds) {
    Changes state(system, options, out);
    call_at_interval(system, *options.interval_seconds, out,
                     [&](double seconds) { state.sample(seconds); });
    return;
  }
  if (options.explain && !options.device) {
    print_meanings(options.format, out);
    return;
  }
  const auto samples = take_samples(system, options);
  if (options.format == Format::json)
    print_json(samples, options, out);
  else
    print_table(samples, options, out);
}

}  // namespace sroce
