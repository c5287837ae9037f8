#include "cli/sdiag/report.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace muster::cli {
namespace {

uint64_t mean(uint64_t total, uint64_t count) { return count ? total / count : 0; }

// A time such as "Sat Nov 21 12:27:18 2026", in the reader's time zone.
std::string date_text(Time t) {
  if (t == kTimeUnset) return "N/A";
  time_t seconds = static_cast<time_t>(unix_seconds(t));
  tm parts{};
  localtime_r(&seconds, &parts);
  char text[64];
  return {text, strftime(text, sizeof text, "%a %b %d %H:%M:%S %Y", &parts)};
}

std::string stamped(Time t) { return date_text(t) + " (" + std::to_string(unix_seconds(t)) + ")"; }

class Text {
 public:
  void line(std::string_view text) { (out_ += text) += '\n'; }
  template <class T>
  void field(std::string_view key, T value) {
    line(std::string(key) + std::to_string(value));
  }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void main_cycles(const rpc::Statistics& s, Text& t) {
  const rpc::CycleCounts& c = s.main_cycles;
  t.line("\nMain schedule statistics (microseconds):");
  t.field("\tLast cycle:   ", c.last_us);
  t.field("\tMax cycle:    ", c.max_us);
  t.field("\tTotal cycles: ", c.cycles);
  if (c.cycles) {
    t.field("\tMean cycle:   ", mean(c.total_us, c.cycles));
    t.field("\tMean depth cycle:  ", mean(c.depth_total, c.cycles));
    int64_t minutes_gone = to_seconds(s.now - s.since) / 60;
    if (minutes_gone > 0) t.field("\tCycles per minute: ", c.cycles / static_cast<uint64_t>(minutes_gone));
  }
  t.field("\tLast queue length: ", c.queue_length);
}

void backfill_cycles(const rpc::Statistics& s, Text& t) {
  const rpc::CycleCounts& c = s.backfill_cycles;
  t.line("\nBackfilling stats");
  t.field("\tTotal backfilled jobs (since last slurm start): ", s.backfilled);
  t.field("\tTotal backfilled jobs (since last stats cycle start): ", s.backfilled_since);
  t.field("\tTotal backfilled heterogeneous job components: ", 0);
  t.field("\tTotal cycles: ", c.cycles);
  t.line("\tLast cycle when: " + (c.when == kTimeUnset ? std::string("N/A") : stamped(c.when)));
  t.field("\tLast cycle: ", c.last_us);
  t.field("\tMax cycle:  ", c.max_us);
  if (c.cycles) t.field("\tMean cycle: ", mean(c.total_us, c.cycles));
  t.field("\tLast depth cycle: ", c.last_depth);
  t.field("\tLast depth cycle (try sched): ", c.last_classes);
  if (c.cycles) {
    t.field("\tDepth Mean: ", mean(c.depth_total, c.cycles));
    t.field("\tDepth Mean (try depth): ", mean(c.classes_total, c.cycles));
  }
  t.field("\tLast queue length: ", c.queue_length);
  if (c.cycles) t.field("\tQueue length mean: ", mean(c.queue_total, c.cycles));
  t.field("\tLast table size: ", c.table_size);
  if (c.cycles) t.field("\tMean table size: ", mean(c.table_total, c.cycles));
}

void sort(std::vector<rpc::CallCount>& calls, CallOrder order) {
  auto rank = [order](const rpc::CallCount& c) -> uint64_t {
    switch (order) {
      case CallOrder::kByCount: return c.count;
      case CallOrder::kById: return ~uint64_t{c.id};
      case CallOrder::kByTotalTime: return c.total_us;
      case CallOrder::kByMeanTime: return mean(c.total_us, c.count);
    }
    return 0;
  };
  std::ranges::stable_sort(calls, [&](const auto& a, const auto& b) { return rank(a) > rank(b); });
}

void calls(std::string_view title, std::vector<rpc::CallCount> list, CallOrder order, int name_width, int id_width, Text& t) {
  sort(list, order);
  t.line("\n" + std::string(title));
  for (const rpc::CallCount& c : list) {
    char text[256];
    snprintf(text, sizeof text, "\t%-*s(%*u) count:%-6llu ave_time:%-6llu total_time:%llu", name_width, c.name.substr(0, 100).c_str(),
             id_width, c.id, static_cast<unsigned long long>(c.count), static_cast<unsigned long long>(mean(c.total_us, c.count)),
             static_cast<unsigned long long>(c.total_us));
    t.line(text);
  }
}

void pending(const rpc::Statistics& s, Text& t) {
  t.line("\nPending RPC statistics");
  if (s.orders_waiting.empty()) return t.line("\tNo pending RPCs");
  char text[256];
  for (const rpc::CallCount& c : s.orders_waiting) {
    snprintf(text, sizeof text, "\t%-40s(%5u) count:%llu", c.name.substr(0, 100).c_str(), c.id, static_cast<unsigned long long>(c.count));
    t.line(text);
  }
  t.line("\nPending RPCs");
  for (size_t i = 0; i < s.pending_orders.size(); ++i)
    t.line("\t" + std::to_string(i + 1) + ":\t" + s.pending_orders[i].name + " " + s.pending_orders[i].nodes);
}

}  // namespace

std::string statistics_text(const rpc::Statistics& s, CallOrder order, const std::function<std::string(Uid)>& user_name) {
  Text t;
  std::string bar(55, '*');
  t.line(bar);
  t.line("sdiag output at " + stamped(s.now));
  t.line("Data since      " + stamped(s.since));
  t.line(bar);
  t.field("Server thread count:  ", s.threads);
  t.field("Agent queue size:     ", s.commands_waiting);
  t.field("Agent count:          ", s.programs_running);
  t.field("Agent thread count:   ", s.nodes_connected);
  t.field("DBD Agent queue size: ", s.records_waiting);
  t.field("\nJobs submitted: ", s.submitted);
  t.field("Jobs started:   ", s.started);
  t.field("Jobs completed: ", s.completed);
  t.field("Jobs canceled:  ", s.canceled);
  t.field("Jobs failed:    ", s.failed);
  t.line("\nJob states ts:  " + stamped(s.now));
  t.field("Jobs pending:   ", s.pending);
  t.field("Jobs running:   ", s.running);
  main_cycles(s, t);
  backfill_cycles(s, t);
  t.line("\nLatency for 1000 calls to gettimeofday(): " + std::to_string(s.clock_us) + " microseconds");
  calls("Remote Procedure Call statistics by message type", s.by_message, order, 40, 5, t);
  std::vector<rpc::CallCount> users = s.by_user;
  for (rpc::CallCount& u : users) u.name = user_name(Uid{u.id});
  calls("Remote Procedure Call statistics by user", std::move(users), order, 16, 8, t);
  pending(s, t);
  return t.take();
}

}  // namespace muster::cli
