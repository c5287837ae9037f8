#include <cmath>
#include <cstdio>

#include "sim/replay/report_text.h"
#include "sim/replay/sacct.h"

namespace muster::sim::replay {
namespace {

// Writes JSON: objects and lists are opened and closed, and commas come by themselves.
class Writer {
 public:
  void open(char bracket) {
    comma();
    text_ += bracket;
    fresh_ = true;
  }
  void close(char bracket) {
    text_ += bracket;
    fresh_ = false;
  }
  void key(std::string_view name) {
    string(name);
    text_ += ':';
    fresh_ = true;
  }
  void string(std::string_view s) {
    comma();
    text_ += '"';
    for (char c : s) {
      if (c == '"' || c == '\\') text_ += '\\';
      if (static_cast<unsigned char>(c) < 0x20) {
        char out[8];
        std::snprintf(out, sizeof out, "\\u%04x", c);
        text_ += out;
      } else {
        text_ += c;
      }
    }
    text_ += '"';
  }
  void number(double x) {
    comma();
    char out[40];
    std::snprintf(out, sizeof out, std::abs(x) < 1e15 && x == std::floor(x) ? "%.0f" : "%.6g", std::isfinite(x) ? x : 0.0);
    text_ += out;
  }
  void value(std::string_view name, std::string_view s) {
    key(name);
    string(s);
  }
  void value(std::string_view name, double x) {
    key(name);
    number(x);
  }
  std::string take() { return std::move(text_) + "\n"; }

 private:
  void comma() {
    if (!fresh_) text_ += ',';
    fresh_ = false;
  }
  std::string text_;
  bool fresh_ = true;
};

void write(Writer& w, std::string_view name, const Quantiles& q) {
  w.key(name);
  w.open('{');
  w.value("count", static_cast<double>(q.count));
  w.value("mean", q.mean);
  w.value("median", q.median);
  w.value("p90", q.p90);
  w.value("p99", q.p99);
  w.value("max", q.most);
  w.close('}');
}

void write_counts(Writer& w, const Counts& c) {
  const std::pair<const char*, uint64_t> kAll[] = {{"read", c.read},
                                                   {"submitted", c.submitted},
                                                   {"refused", c.refused},
                                                   {"started", c.started},
                                                   {"ended", c.ended},
                                                   {"completed", c.completed},
                                                   {"failed", c.failed},
                                                   {"cancelled_running", c.cancelled},
                                                   {"cancelled_waiting", c.cancelled_waiting},
                                                   {"timed_out", c.timed_out},
                                                   {"ended_otherwise", c.other_end},
                                                   {"still_waiting", c.still_waiting},
                                                   {"still_running", c.still_running}};
  w.key("jobs");
  w.open('{');
  for (auto [name, n] : kAll) w.value(name, static_cast<double>(n));
  w.close('}');
}

void write_groups(Writer& w, const Report& r) {
  w.key("groups");
  w.open('{');
  for (const Grouping& g : r.groupings) {
    w.key(g.by);
    w.open('[');
    for (const Group& x : g.groups) {
      w.open('{');
      w.value("name", x.name);
      w.value("gpu_hours", x.gpu_hours);
      w.value("cpu_hours", x.cpu_hours);
      write(w, "wait_seconds", x.wait);
      write(w, "bounded_slowdown", x.slowdown);
      w.close('}');
    }
    w.close(']');
  }
  w.close('}');
}

void write_use(Writer& w, const Report& r) {
  w.key("use");
  w.open('{');
  w.value("gpus", r.gpu_use);
  w.value("cpus", r.cpu_use);
  w.value("nodes", r.node_use);
  w.value("while_jobs_waited", r.use_while_waiting);
  w.value("jobs_waiting", r.mean_waiting);
  w.key("over_time");
  w.open('{');
  w.value("begin", print_moment(r.line_begin));
  w.value("seconds_each", static_cast<double>(r.line_width));
  const char* kNames[] = {"cpus", "gpus", "nodes", "jobs_waiting", "gpus_waiting"};
  for (size_t a = 0; a < kAmounts; ++a) {
    w.key(kNames[a]);
    w.open('[');
    for (const Amounts& at : r.line) w.number(std::round(at[a] * 100) / 100);
    w.close(']');
  }
  w.close('}');
  w.close('}');
}

void write_accounts(Writer& w, const Report& r) {
  w.value("fairness_jain", r.fairness);
  w.key("accounts");
  w.open('[');
  for (const AccountShare& a : r.accounts) {
    w.open('{');
    w.value("account", a.account);
    w.value("share", a.share);
    w.value("use", a.use);
    w.value(r.gpus ? "gpu_hours" : "cpu_hours", a.hours);
    write(w, "wait_seconds", a.wait);
    w.close('}');
  }
  w.close(']');
}

void write_promises(Writer& w, const Report& r) {
  const PromiseReport& p = r.promises;
  w.key("promises");
  w.open('{');
  w.value("jobs", static_cast<double>(p.promised));
  w.value("early", static_cast<double>(p.early));
  w.value("within_a_minute", static_cast<double>(p.kept));
  w.value("late", static_cast<double>(p.late));
  w.value("put_off_jobs", static_cast<double>(p.moved_later));
  w.value("put_off_times", static_cast<double>(p.moves));
  write(w, "late_seconds", p.lateness);
  write(w, "put_off_seconds", p.put_off);
  w.close('}');
  w.key("preempted");
  w.open('{');
  w.value("jobs", static_cast<double>(r.preempted_jobs));
  w.value("requeued", static_cast<double>(r.preempted.requeued));
  w.value("cancelled", static_cast<double>(r.preempted.cancelled));
  w.value("suspended", static_cast<double>(r.preempted.suspended));
  w.value("gpu_hours_lost", r.preempted.lost.gpu_seconds / 3600);
  w.value("cpu_hours_lost", r.preempted.lost.cpu_seconds / 3600);
  w.close('}');
}

void write_reasons(Writer& w, std::string_view name, const std::vector<std::pair<std::string, uint64_t>>& reasons) {
  w.key(name);
  w.open('[');
  for (const auto& [why, n] : reasons) {
    w.open('{');
    w.value("why", why);
    w.value("jobs", static_cast<double>(n));
    w.close('}');
  }
  w.close(']');
}

void write(Writer& w, const Report& r) {
  w.open('{');
  w.value("configuration", r.name);
  w.key("stopped");
  w.number(r.drive.stopped);
  w.value("nodes", static_cast<double>(r.capacity.nodes));
  w.value("cpus", static_cast<double>(r.capacity.cpus));
  w.value("gpus", static_cast<double>(r.capacity.gpus));
  w.value("simulated_seconds", r.simulated_seconds);
  w.value("quick_passes", static_cast<double>(r.drive.quick_passes));
  w.value("full_passes", static_cast<double>(r.drive.full_passes));
  w.value("events", static_cast<double>(r.drive.events));
  char hash[24];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(r.hash));
  w.value("hash", hash);
  write_counts(w, r.counts);
  write_reasons(w, "refusals", r.refusals);
  write_reasons(w, "still_waiting", r.waiting);
  write(w, "wait_seconds", r.wait);
  write(w, "bounded_slowdown", r.slowdown);
  if (r.trace_wait.count) write(w, "wait_seconds_in_the_trace", r.trace_wait);
  write_use(w, r);
  write_accounts(w, r);
  write_promises(w, r);
  write_groups(w, r);
  w.close('}');
}

}  // namespace

std::string report_json(const ReportHead& head, const Reports& reports) {
  Writer w;
  w.open('{');
  w.value("trace", head.trace_name);
  w.value("format", head.trace->format);
  w.value("wrong_lines", static_cast<double>(head.trace->wrong_lines));
  w.value("first_submit", print_moment(head.trace->first_submit()));
  w.value("last_submit", print_moment(head.trace->last_submit()));
  w.value("counted_from", print_moment(reports[0]->from));
  w.key("replays");
  w.open('[');
  for (const Report* r : reports) write(w, *r);
  w.close(']');
  w.close('}');
  return w.take();
}

}  // namespace muster::sim::replay
