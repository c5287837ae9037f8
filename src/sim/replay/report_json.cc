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
  void string(std::string_view text) {
    comma();
    text_ += '"';
    for (char c : text) {
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

void write_counts(Writer& writer, const Counts& counts) {
  const std::pair<const char*, uint64_t> kAll[] = {{"read", counts.read},
                                                   {"submitted", counts.submitted},
                                                   {"refused", counts.refused},
                                                   {"started", counts.started},
                                                   {"ended", counts.ended},
                                                   {"completed", counts.completed},
                                                   {"failed", counts.failed},
                                                   {"cancelled_running", counts.cancelled},
                                                   {"cancelled_waiting", counts.cancelled_waiting},
                                                   {"timed_out", counts.timed_out},
                                                   {"ended_otherwise", counts.other_end},
                                                   {"still_waiting", counts.still_waiting},
                                                   {"still_running", counts.still_running}};
  writer.key("jobs");
  writer.open('{');
  for (auto [name, n] : kAll) writer.value(name, static_cast<double>(n));
  writer.close('}');
}

void write_groups(Writer& writer, const Report& report) {
  writer.key("groups");
  writer.open('{');
  for (const Grouping& grouping : report.groupings) {
    writer.key(grouping.by);
    writer.open('[');
    for (const Group& x : grouping.groups) {
      writer.open('{');
      writer.value("name", x.name);
      writer.value("gpu_hours", x.gpu_hours);
      writer.value("cpu_hours", x.cpu_hours);
      write(writer, "wait_seconds", x.wait);
      write(writer, "bounded_slowdown", x.slowdown);
      writer.close('}');
    }
    writer.close(']');
  }
  writer.close('}');
}

void write_use(Writer& writer, const Report& report) {
  writer.key("use");
  writer.open('{');
  writer.value("gpus", report.gpu_use);
  writer.value("cpus", report.cpu_use);
  writer.value("nodes", report.node_use);
  writer.value("while_jobs_waited", report.use_while_waiting);
  writer.value("jobs_waiting", report.mean_waiting);
  writer.key("over_time");
  writer.open('{');
  writer.value("begin", print_moment(report.line_begin));
  writer.value("seconds_each", static_cast<double>(report.line_width));
  const char* kNames[] = {"cpus", "gpus", "nodes", "jobs_waiting", "gpus_waiting"};
  for (size_t a = 0; a < kAmounts; ++a) {
    writer.key(kNames[a]);
    writer.open('[');
    for (const Amounts& at : report.line) writer.number(std::round(at[a] * 100) / 100);
    writer.close(']');
  }
  writer.close('}');
  writer.close('}');
}

void write_accounts(Writer& writer, const Report& report) {
  writer.value("fairness_jain", report.fairness);
  writer.key("accounts");
  writer.open('[');
  for (const AccountShare& a : report.accounts) {
    writer.open('{');
    writer.value("account", a.account);
    writer.value("share", a.share);
    writer.value("use", a.use);
    writer.value(report.gpus ? "gpu_hours" : "cpu_hours", a.hours);
    write(writer, "wait_seconds", a.wait);
    writer.close('}');
  }
  writer.close(']');
}

void write_promises(Writer& writer, const Report& report) {
  const PromiseReport& promises = report.promises;
  writer.key("promises");
  writer.open('{');
  writer.value("jobs", static_cast<double>(promises.promised));
  writer.value("early", static_cast<double>(promises.early));
  writer.value("within_a_minute", static_cast<double>(promises.kept));
  writer.value("late", static_cast<double>(promises.late));
  writer.value("put_off_jobs", static_cast<double>(promises.moved_later));
  writer.value("put_off_times", static_cast<double>(promises.moves));
  write(writer, "late_seconds", promises.lateness);
  write(writer, "put_off_seconds", promises.put_off);
  writer.close('}');
  writer.key("preempted");
  writer.open('{');
  writer.value("jobs", static_cast<double>(report.preempted_jobs));
  writer.value("requeued", static_cast<double>(report.preempted.requeued));
  writer.value("cancelled", static_cast<double>(report.preempted.cancelled));
  writer.value("suspended", static_cast<double>(report.preempted.suspended));
  writer.value("gpu_hours_lost", report.preempted.lost.gpu_seconds / 3600);
  writer.value("cpu_hours_lost", report.preempted.lost.cpu_seconds / 3600);
  writer.close('}');
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

void write(Writer& writer, const Report& report) {
  writer.open('{');
  writer.value("configuration", report.name);
  writer.key("stopped");
  writer.number(report.drive.stopped);
  writer.value("nodes", static_cast<double>(report.capacity.nodes));
  writer.value("cpus", static_cast<double>(report.capacity.cpus));
  writer.value("gpus", static_cast<double>(report.capacity.gpus));
  writer.value("simulated_seconds", report.simulated_seconds);
  writer.value("quick_passes", static_cast<double>(report.drive.quick_passes));
  writer.value("full_passes", static_cast<double>(report.drive.full_passes));
  writer.value("events", static_cast<double>(report.drive.events));
  char hash[24];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(report.hash));
  writer.value("hash", hash);
  write_counts(writer, report.counts);
  write_reasons(writer, "refusals", report.refusals);
  write_reasons(writer, "still_waiting", report.waiting);
  write(writer, "wait_seconds", report.wait);
  write(writer, "bounded_slowdown", report.slowdown);
  if (report.trace_wait.count) write(writer, "wait_seconds_in_the_trace", report.trace_wait);
  write_use(writer, report);
  write_accounts(writer, report);
  write_promises(writer, report);
  write_groups(writer, report);
  writer.close('}');
}

}  // namespace

std::string report_json(const ReportHead& head, const Reports& reports) {
  Writer writer;
  writer.open('{');
  writer.value("trace", head.trace_name);
  writer.value("format", head.trace->format);
  writer.value("wrong_lines", static_cast<double>(head.trace->wrong_lines));
  writer.value("first_submit", print_moment(head.trace->first_submit()));
  writer.value("last_submit", print_moment(head.trace->last_submit()));
  writer.value("counted_from", print_moment(reports[0]->from));
  writer.key("replays");
  writer.open('[');
  for (const Report* r : reports) write(writer, *r);
  writer.close(']');
  writer.close('}');
  return writer.take();
}

}  // namespace muster::sim::replay
