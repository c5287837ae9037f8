#include "cli/sacct/completion.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "base/text.h"
#include "cli/common/print_environment.h"
#include "cli/sacct/print.h"
#include "hostlist/hostlist.h"
#include "os/clock.h"

namespace muster::cli {
namespace {

constexpr size_t kLongestLine = size_t{1} << 20;
constexpr std::string_view kDefaultFile = "/var/log/slurm_jobcomp.log";
constexpr std::string_view kColumns = "jobid,uid,jobname,partition,nnodes,nodelist,state,end";
constexpr std::string_view kLongColumns = "jobid,uid,jobname,partition,nnodes,nodelist,state,start,end,timelimit";

// The keys of a line and what of a record they say; in a value no blank stands before one of them.
struct Reading {
  JobRecord& record;
  Time now;
};
uint32_t number(std::string_view text) { return parse_number<uint32_t>(text).value_or(0); }
Time moment(std::string_view text, Time now) { return parse_time_point(text, now, ClockRule::kThisDayOrYear).value_or(kTimeUnset); }
std::string unless_null(std::string_view text) { return text == "(null)" ? std::string() : std::string(text); }
// "3:9" as wait() gives it.
int32_t status(std::string_view text) {
  const size_t colon = std::min(text.find(':'), text.size());
  return static_cast<int32_t>((number(text.substr(0, colon)) & 0xff) << 8 | (number(text.substr(std::min(colon + 1, text.size()))) & 0x7f));
}
// "alice(1000)": the name and the number.
std::pair<std::string, uint32_t> named(std::string_view text) {
  const size_t open = text.rfind('(');
  if (open == text.npos || !text.ends_with(')')) return {std::string(text), 0};
  return {std::string(text.substr(0, open)), number(text.substr(open + 1, text.size() - open - 2))};
}
void tres(const Reading& r, std::string_view text) {
  r.record.tres_allocated = TresAmounts::from_text(text);
  r.record.tres_requested = r.record.tres_allocated;
}

struct Key {
  std::string_view name;
  void (*read)(const Reading& r, std::string_view text);
};
constexpr Key kKeys[] = {
    {"JobId", [](const Reading& r, std::string_view t) { r.record.key.id = JobId(number(t)); }},
    {"UserId",
     [](const Reading& r, std::string_view t) {
       auto [name, uid] = named(t);
       r.record.user = std::move(name);
       r.record.uid = Uid(uid);
     }},
    {"GroupId",
     [](const Reading& r, std::string_view t) {
       auto [name, gid] = named(t);
       r.record.group = std::move(name);
       r.record.gid = Gid(gid);
     }},
    {"Name", [](const Reading& r, std::string_view t) { r.record.name = t; }},
    {"JobState",
     [](const Reading& r, std::string_view t) {
       for (int i = 0; i < kJobStateCount; ++i)
         if (iequals(job_state_name(static_cast<JobState>(i)), t)) r.record.state = static_cast<JobState>(i);
     }},
    {"Partition", [](const Reading& r, std::string_view t) { r.record.partition = t; }},
    {"TimeLimit", [](const Reading& r, std::string_view t) { r.record.time_limit_min = parse_number<uint32_t>(t).value_or(kUnlimited32); }},
    {"StartTime", [](const Reading& r, std::string_view t) { r.record.started = moment(t, r.now); }},
    {"EndTime", [](const Reading& r, std::string_view t) { r.record.ended = moment(t, r.now); }},
    {"NodeList", [](const Reading& r, std::string_view t) { r.record.node_list = unless_null(t); }},
    {"NodeCnt", [](const Reading& r, std::string_view t) { r.record.nodes = number(t); }},
    {"ProcCnt", [](const Reading& r, std::string_view t) { r.record.cpus = number(t); }},
    {"WorkDir", [](const Reading& r, std::string_view t) { r.record.work_dir = t; }},
    {"ReservationName", [](const Reading& r, std::string_view t) { r.record.reservation = t; }},
    {"Tres", tres},
    {"Account", [](const Reading& r, std::string_view t) { r.record.account = t; }},
    {"QOS", [](const Reading& r, std::string_view t) { r.record.qos = t; }},
    {"WcKey", [](const Reading& r, std::string_view t) { r.record.wckey = t; }},
    {"Cluster", [](const Reading& r, std::string_view t) { r.record.cluster = t; }},
    {"SubmitTime", [](const Reading& r, std::string_view t) { r.record.key.submitted = moment(t, r.now); }},
    {"EligibleTime", [](const Reading& r, std::string_view t) { r.record.eligible = moment(t, r.now); }},
    {"ArrayJobId", [](const Reading& r, std::string_view t) { r.record.array_job_id = JobId(number(t)); }},
    {"ArrayTaskId", [](const Reading& r, std::string_view t) { r.record.array_task = parse_number<uint32_t>(t).value_or(kNoArrayTask); }},
    {"HetJobId", [](const Reading& r, std::string_view t) { r.record.het.leader = JobId(number(t)); }},
    {"HetJobOffset", [](const Reading& r, std::string_view t) { r.record.het.offset = static_cast<uint16_t>(number(t)); }},
    {"DerivedExitCode", [](const Reading& r, std::string_view t) { r.record.derived_exit_status = status(t); }},
    {"ExitCode", [](const Reading& r, std::string_view t) { r.record.exit_status = status(t); }},
};

const Key* key_at(std::string_view text) {
  for (const Key& k : kKeys)
    if (text.starts_with(k.name) && text.substr(k.name.size()).starts_with('=')) return &k;
  return nullptr;
}

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return names.empty() || std::ranges::any_of(names, [&](const std::string& n) { return iequals(n, name); });
}
bool within(uint32_t value, uint32_t low, uint32_t high) { return (!low || value >= low) && (!high || value <= high); }

bool on_one_of(const std::vector<std::string>& nodes, const JobRecord& r) {
  if (nodes.empty()) return true;
  const Result<std::vector<std::string>> hosts = expand_hosts(r.node_list);
  return hosts && std::ranges::any_of(*hosts, [&](const std::string& h) { return std::ranges::find(nodes, h) != nodes.end(); });
}

// The question to slurmdbd would be about states at a moment where states are named; here all have ended, so the window stays the usual one.
std::expected<RecordQuery, QueryMistake> question(const SacctOptions& options, const ClientConf& conf, Time now) {
  auto query = make_record_query(options, conf.cluster_name, now, Uid{getuid()});
  if (!query || options.states.empty() || !options.start.empty()) return query;
  SacctOptions of_all = options;
  of_all.states.clear();
  if (auto window = make_record_query(of_all, conf.cluster_name, now, Uid{getuid()})) {
    query->query.filter.from = window->query.filter.from;
    query->query.filter.until = window->query.filter.until;
  }
  return query;
}

std::optional<std::string> path_of(const SacctOptions& options, const ClientConf& conf, const os::CliLog& log) {
  if (!options.completion_file.empty()) return options.completion_file;
  const std::string& type = conf.job_completion_type;
  if (type.empty() || iequals(type, "jobcomp/none")) {
    put_error("Slurm job completion is disabled");
    return std::nullopt;
  }
  if (iequals(type, "jobcomp/filetxt")) return conf.job_completion_place.empty() ? std::string(kDefaultFile) : conf.job_completion_place;
  log.error("JobCompType={} writes no file that could be read", type);
  log.info("--file names a file of jobcomp/filetxt");
  return std::nullopt;
}

}  // namespace

std::optional<JobRecord> completion_record(std::string_view line, Time now) {
  JobRecord record;
  const Reading reading{record, now};
  while (!line.empty()) {
    const Key* key = key_at(line);
    if (!key) break;
    line.remove_prefix(key->name.size() + 1);
    size_t end = 0;
    while (end < line.size() && !(line[end] == ' ' && (end + 1 == line.size() || key_at(line.substr(end + 1))))) ++end;
    key->read(reading, line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  if (record.key.id == JobId()) return std::nullopt;
  return record;
}

bool meets_filter(const rpc::JobRecordFilter& f, const JobRecord& r) {
  const bool in_time = (f.from == kTimeUnset || r.ended >= f.from) && (f.until == kTimeUnset || r.ended < f.until);
  return in_time && selects_job(f.jobs, r) && (f.users.empty() || std::ranges::find(f.users, r.uid) != f.users.end()) &&
         (f.groups.empty() || std::ranges::any_of(f.groups, [&](Uid gid) { return gid.value == r.gid.value; })) &&
         (!f.states || f.states & 1u << static_cast<unsigned>(r.state)) && is_among(f.accounts, r.account) &&
         is_among(f.partitions, r.partition) && is_among(f.names, r.name) && is_among(f.qos, r.qos) && is_among(f.wckeys, r.wckey) &&
         within(r.nodes, f.min_nodes, f.max_nodes) && within(r.cpus, f.min_cpus, f.max_cpus) &&
         within(r.time_limit_min, f.min_limit_min, f.max_limit_min) && on_one_of(f.nodes, r);
}

int list_completions(const SacctOptions& options, const ClientConf& conf, const os::CliLog& log) {
  if (options.data.kind != DataOutput::Kind::kText) {
    log.error("--json and --yaml are of the accounting database: --completion prints text");
    return 1;
  }
  const std::optional<std::string> path = path_of(options, conf, log);
  if (!path) return 1;
  SacctOptions shown = options;
  if (!options.typed("format") && options.format.empty() && !options.brief) {
    shown.format = options.long_output ? kLongColumns : kColumns;
    shown.long_output = false;
  }
  Result<fields::Table<fields::RecordView>> table = record_table(shown);
  if (!table) {
    log.error("Invalid field requested: \"{}\"", table.error().message());
    return 1;
  }
  Names names;
  const fields::Environment env = print_environment(conf, options, names);
  auto query = question(options, conf, env.now);
  if (!query) {
    log.error("{}", query.error().text);
    return 1;
  }
  std::ifstream file(*path);
  if (!file) {
    put_error(*path + " is not a valid file");
    return 1;
  }
  const fields::RecordStyle style{options.units, options.truncate, query->query.filter.from, query->query.filter.until};
  Out out;
  table->header(out.buffer());
  for (std::string line; std::getline(file, line);) {
    if (line.size() > kLongestLine) continue;
    const std::optional<JobRecord> record = completion_record(line, env.now);
    if (!record || !meets_filter(query->query.filter, *record)) continue;
    table->row({*record, nullptr, env, style}, out.buffer());
    out.put("");
  }
  out.flush();
  return 0;
}

}  // namespace muster::cli
