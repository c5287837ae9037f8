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

void main_cycles(const rpc::Statistics& statistics, Text& text) {
  const rpc::CycleCounts& cycles = statistics.main_cycles;
  text.line("\nMain schedule statistics (microseconds):");
  text.field("\tLast cycle:   ", cycles.last_us);
  text.field("\tMax cycle:    ", cycles.max_us);
  text.field("\tTotal cycles: ", cycles.cycles);
  if (cycles.cycles) {
    text.field("\tMean cycle:   ", mean(cycles.total_us, cycles.cycles));
    text.field("\tMean depth cycle:  ", mean(cycles.depth_total, cycles.cycles));
    int64_t minutes_gone = to_seconds(statistics.now - statistics.since) / 60;
    if (minutes_gone > 0) text.field("\tCycles per minute: ", cycles.cycles / static_cast<uint64_t>(minutes_gone));
  }
  text.field("\tLast queue length: ", cycles.queue_length);
}

void backfill_cycles(const rpc::Statistics& statistics, Text& text) {
  const rpc::CycleCounts& cycles = statistics.backfill_cycles;
  text.line("\nBackfilling stats");
  text.field("\tTotal backfilled jobs (since last slurm start): ", statistics.backfilled);
  text.field("\tTotal backfilled jobs (since last stats cycle start): ", statistics.backfilled_since);
  text.field("\tTotal backfilled heterogeneous job components: ", statistics.backfilled_components);
  text.field("\tTotal cycles: ", cycles.cycles);
  text.line("\tLast cycle when: " + (cycles.when == kTimeUnset ? std::string("N/A") : stamped(cycles.when)));
  text.field("\tLast cycle: ", cycles.last_us);
  text.field("\tMax cycle:  ", cycles.max_us);
  if (cycles.cycles) text.field("\tMean cycle: ", mean(cycles.total_us, cycles.cycles));
  text.field("\tLast depth cycle: ", cycles.last_depth);
  text.field("\tLast depth cycle (try sched): ", cycles.last_classes);
  if (cycles.cycles) {
    text.field("\tDepth Mean: ", mean(cycles.depth_total, cycles.cycles));
    text.field("\tDepth Mean (try depth): ", mean(cycles.classes_total, cycles.cycles));
  }
  text.field("\tLast queue length: ", cycles.queue_length);
  if (cycles.cycles) text.field("\tQueue length mean: ", mean(cycles.queue_total, cycles.cycles));
  text.field("\tLast table size: ", cycles.table_size);
  if (cycles.cycles) text.field("\tMean table size: ", mean(cycles.table_total, cycles.cycles));
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

std::string statistics_text(const rpc::Statistics& statistics, CallOrder order, const std::function<std::string(Uid)>& user_name) {
  Text text;
  std::string bar(55, '*');
  text.line(bar);
  text.line("sdiag output at " + stamped(statistics.now));
  text.line("Data since      " + stamped(statistics.since));
  text.line(bar);
  text.field("Server thread count:  ", statistics.threads);
  text.field("Agent queue size:     ", statistics.commands_waiting);
  text.field("Agent count:          ", statistics.programs_running);
  text.field("Agent thread count:   ", statistics.nodes_connected);
  text.field("DBD Agent queue size: ", statistics.records_waiting);
  text.field("\nJobs submitted: ", statistics.submitted);
  text.field("Jobs started:   ", statistics.started);
  text.field("Jobs completed: ", statistics.completed);
  text.field("Jobs canceled:  ", statistics.canceled);
  text.field("Jobs failed:    ", statistics.failed);
  text.line("\nJob states ts:  " + stamped(statistics.now));
  text.field("Jobs pending:   ", statistics.pending);
  text.field("Jobs running:   ", statistics.running);
  main_cycles(statistics, text);
  backfill_cycles(statistics, text);
  text.line("\nLatency for 1000 calls to gettimeofday(): " + std::to_string(statistics.clock_us) + " microseconds");
  calls("Remote Procedure Call statistics by message type", statistics.by_message, order, 40, 5, text);
  std::vector<rpc::CallCount> users = statistics.by_user;
  for (rpc::CallCount& u : users) u.name = user_name(Uid{u.id});
  calls("Remote Procedure Call statistics by user", std::move(users), order, 16, 8, text);
  pending(statistics, text);
  return text.take();
}

}  // namespace muster::cli
