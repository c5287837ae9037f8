// sdiag --json, in the shape of the description's `stats_msg`. Counts of things that Muster does not have are 0: calls that
// wait or are dropped by a limit on their rate, and the reasons to end a pass that do not exist here (time, the number of calls).
#include "fields/json_statistics.h"

#include <algorithm>

#include "fields/json_values.h"

namespace muster::fields {
namespace {

int64_t signed_of(uint64_t n) { return static_cast<int64_t>(n); }
uint64_t mean(uint64_t total, uint64_t count) { return count ? total / count : 0; }

uint64_t count_of(const std::vector<rpc::CallCount>& ends, std::string_view why) {
  for (const rpc::CallCount& c : ends)
    if (c.name == why) return c.count;
  return 0;
}

int64_t id_of(const rpc::Statistics& s, const std::string& kind) {
  for (const rpc::CallCount& c : s.orders_waiting)
    if (c.name == kind) return c.id;
  return 0;
}

struct Number {
  std::string_view key;
  uint64_t value;
};
void numbers(Members& m, std::initializer_list<Number> list) {
  for (const Number& n : list) m.number(n.key, signed_of(n.value));
}

void controller(Members& m, const rpc::Statistics& s) {
  m.number("parts_packed", 1).time("req_time", s.now).time("req_time_start", s.since);
  numbers(m, {{"server_thread_count", s.threads},
              {"agent_queue_size", s.commands_waiting},
              {"agent_count", s.programs_running},
              {"agent_thread_count", s.nodes_connected},
              {"dbd_agent_queue_size", s.records_waiting},
              {"gettimeofday_latency", s.clock_us}});
}

void main_cycles(Members& members, const rpc::Statistics& statistics) {
  const rpc::CycleCounts& cycles = statistics.main_cycles;
  int64_t minutes_gone = std::max<int64_t>(1, to_seconds(statistics.now - statistics.since) / 60);
  numbers(members, {{"schedule_cycle_max", cycles.max_us},
                    {"schedule_cycle_last", cycles.last_us},
                    {"schedule_cycle_sum", cycles.total_us},
                    {"schedule_cycle_total", cycles.cycles},
                    {"schedule_cycle_mean", mean(cycles.total_us, cycles.cycles)},
                    {"schedule_cycle_mean_depth", mean(cycles.depth_total, cycles.cycles)},
                    {"schedule_cycle_per_minute", cycles.cycles / static_cast<uint64_t>(minutes_gone)},
                    {"schedule_cycle_depth", cycles.depth_total}});
  members.begin("schedule_exit");
  for (std::string_view key : {"end_job_queue", "default_queue_depth", "max_job_start", "max_rpc_cnt", "max_sched_time", "licenses"})
    members.number(key, signed_of(count_of(statistics.main_ends, key)));
  members.end().number("schedule_queue_length", signed_of(cycles.queue_length));
}

void jobs(Members& m, const rpc::Statistics& s) {
  numbers(m, {{"jobs_submitted", s.submitted},
              {"jobs_started", s.started},
              {"jobs_completed", s.completed},
              {"jobs_canceled", s.canceled},
              {"jobs_failed", s.failed},
              {"jobs_pending", s.pending},
              {"jobs_running", s.running}});
  m.time("job_states_ts", s.now);
}

void backfill_cycles(Members& members, const rpc::Statistics& statistics) {
  const rpc::CycleCounts& cycles = statistics.backfill_cycles;
  numbers(members, {{"bf_backfilled_jobs", statistics.backfilled},
                    {"bf_last_backfilled_jobs", statistics.backfilled_since},
                    {"bf_backfilled_het_jobs", statistics.backfilled_components},
                    {"bf_cycle_counter", cycles.cycles},
                    {"bf_cycle_mean", mean(cycles.total_us, cycles.cycles)},
                    {"bf_depth_mean", mean(cycles.depth_total, cycles.cycles)},
                    {"bf_depth_mean_try", mean(cycles.classes_total, cycles.cycles)},
                    {"bf_cycle_sum", cycles.total_us},
                    {"bf_cycle_last", cycles.last_us},
                    {"bf_cycle_max", cycles.max_us}});
  members.begin("bf_exit");
  for (std::string_view key :
       {"end_job_queue", "bf_max_job_start", "bf_max_job_test", "bf_max_time", "bf_node_space_size", "state_changed"})
    members.number(key, signed_of(count_of(statistics.backfill_ends, key)));
  members.end();
  numbers(members, {{"bf_last_depth", cycles.last_depth},
                    {"bf_last_depth_try", cycles.last_classes},
                    {"bf_depth_sum", cycles.depth_total},
                    {"bf_depth_try_sum", cycles.classes_total},
                    {"bf_queue_len", cycles.queue_length},
                    {"bf_queue_len_mean", mean(cycles.queue_total, cycles.cycles)},
                    {"bf_queue_len_sum", cycles.queue_total},
                    {"bf_table_size", cycles.table_size},
                    {"bf_table_size_sum", cycles.table_total},
                    {"bf_table_size_mean", mean(cycles.table_total, cycles.cycles)}});
  members.time("bf_when_last_cycle", cycles.when).flag("bf_active", statistics.passing);
}

void calls(Members& members, const rpc::Statistics& statistics, const std::function<std::string(Uid)>& user_name) {
  TreeSink& sink = members.sink();
  sink.key("rpcs_by_message_type");
  sink.begin_list();
  for (const rpc::CallCount& c : statistics.by_message) {
    sink.begin_object();
    members.number("type_id", c.id).text("message_type", c.name);
    numbers(members, {{"count", c.count}, {"queued", 0}, {"dropped", 0}, {"cycle_last", 0}, {"cycle_max", 0}, {"total_time", c.total_us}});
    members.maybe("average_time", true, mean(c.total_us, c.count));
    sink.end_object();
  }
  sink.end_list();
  sink.key("rpcs_by_user");
  sink.begin_list();
  for (const rpc::CallCount& c : statistics.by_user) {
    sink.begin_object();
    members.number("user_id", c.id).text("user", user_name(Uid{c.id}));
    numbers(members, {{"count", c.count}, {"total_time", c.total_us}});
    members.maybe("average_time", true, mean(c.total_us, c.count));
    sink.end_object();
  }
  sink.end_list();
  sink.key("pending_rpcs");
  sink.begin_list();
  for (const rpc::CallCount& c : statistics.orders_waiting) {
    sink.begin_object();
    members.number("type_id", c.id).text("message_type", c.name).number("count", signed_of(c.count));
    sink.end_object();
  }
  sink.end_list();
  sink.key("pending_rpcs_by_hostlist");
  sink.begin_list();
  for (const rpc::PendingOrder& o : statistics.pending_orders) {
    sink.begin_object();
    members.number("type_id", id_of(statistics, o.name)).text("message_type", o.name).list("count", std::span(&o.nodes, 1));
    sink.end_object();
  }
  sink.end_list();
}

}  // namespace

void json_statistics(const rpc::Statistics& s, const std::function<std::string(Uid)>& user_name, TreeSink& sink) {
  Members m(sink);
  sink.begin_object();
  controller(m, s);
  main_cycles(m, s);
  jobs(m, s);
  backfill_cycles(m, s);
  calls(m, s, user_name);
  sink.end_object();
}

}  // namespace muster::fields
