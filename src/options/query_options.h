// What squeue, sinfo, scancel, scontrol, sattach, sbcast, sacct, sacctmgr, swait, sshare, sprio, scrontab, strigger, sreport,
// sstat and sh5util were told. Lists are kept as the texts between commas;
// the code that looks up what they name (states, users, fields) checks them: fields/, the command, the controller. Manual pages: squeue(1)
// sinfo(1) scancel(1) scontrol(1) sattach(1) sbcast(1) sacct(1) sacctmgr(1) swait(1) sshare(1) sprio(1) scrontab(1) strigger(1) sreport(1) sstat(1)
// sh5util(1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "options/parser.h"

namespace muster {

using TextList = std::vector<std::string>;
enum class Visibility : uint8_t { kDefault, kAll, kHide };

// The data printer: --json[=list|parser], --yaml[=...].
struct DataOutput {
  enum class Kind : uint8_t { kText, kJson, kYaml } kind = Kind::kText;
  std::string parser;  // "list", "v0.0.44", "" = the newest
};

// The options that every query command has.
struct QueryCommon {
  bool help = false, usage = false, version = false;
  uint32_t verbose = 0;
  std::string clusters;
  std::string debug_flags;             // SLURM_DEBUG_FLAGS
  std::string time_format;             // SLURM_TIME_FORMAT
  std::string json_style, yaml_style;  // SLURM_JSON, SLURM_YAML: "compact", "pretty"
  std::vector<Seen> seen;
  bool given(std::string_view name) const;
  bool typed(std::string_view name) const;  // on the command line, not in the environment
};

struct SqueueOptions : QueryCommon {
  bool filters_jobs = false, filters_steps = false;  // -j, -s were given, with or without a list
  TextList jobs, steps, users, states, partitions, accounts, qos, names, licenses;
  std::string nodes, reservation;
  bool me = false, notme = false;
  std::optional<uint32_t> running_over_seconds, running_under_seconds;
  std::string format, long_format, sort;
  bool noheader = false, array = false, array_unique = false, start = false, long_output = false, priority = false, noconvert = false,
       only_job_state = false, expand_patterns = false;
  bool federation = false, local = false, sibling = false;
  Visibility visibility = Visibility::kDefault;
  std::optional<uint32_t> iterate_seconds;
  std::optional<uint32_t> array_text_length;  // SLURM_BITSTR_LEN
  bool watch = false;
  std::optional<uint32_t> watch_per_second;
  DataOutput data;
};

struct SinfoOptions : QueryCommon {
  TextList states, partitions;
  std::string nodes;
  std::string format, long_format, sort;
  bool noheader = false, dead = false, responding = false, exact = false, future = false, long_output = false, node_centric = false,
       list_reasons = false, summarize = false, reservations = false, noconvert = false;
  bool federation = false, local = false;
  Visibility visibility = Visibility::kDefault;
  std::optional<uint32_t> iterate_seconds;
  DataOutput data;
};

struct ScancelOptions : QueryCommon {
  std::string account, name, partition, qos, reservation, user, wckey, nodes, sibling, admin_comment;
  TextList states;
  std::optional<uint8_t> signal;
  bool batch = false, full = false, hurry = false, interactive = false, cron = false, ctld = false, me = false, quiet = false;
};

struct ScontrolOptions : QueryCommon {
  bool details = false, future = false, oneliner = false, quiet = false;
  bool federation = false, local = false, sibling = false;
  Visibility visibility = Visibility::kDefault;
  std::string uid_text;
  std::string conf_out;                       // SLURM_CONF_OUT
  std::optional<uint32_t> array_text_length;  // SLURM_BITSTR_LEN
  std::optional<uint32_t> topology_length;    // SLURM_TOPO_LEN
  DataOutput data;
};

struct SattachOptions : QueryCommon {
  std::optional<uint32_t> input_filter, output_filter, error_filter;
  std::optional<uint32_t> exit_error;  // SLURM_EXIT_ERROR
  bool label = false, layout = false, pty = false, quiet = false;
};

struct SbcastOptions : QueryCommon {
  std::string job;  // "123", "123.4", as typed
  std::string compress, exclude, nodes;
  bool force = false, preserve = false, send_libs = false, no_allocation = false;
  std::optional<uint64_t> size_bytes;
  std::optional<uint32_t> timeout_seconds, fanout;
};

struct SacctOptions : QueryCommon {
  TextList accounts, jobs, names, partitions, qos, reasons, states, users, groups, wckeys, features, flags;
  std::string nodes, start, end;        // a host list; times as typed
  std::string node_counts, cpu_counts;  // "2", "2-4"
  std::string limit_min, limit_max;     // time limits as typed
  std::string format, delimiter = "|";
  char units = 0;  // K, M, G, T or P
  TriState whole_hetjob = TriState::kDefault;
  enum class Form : uint8_t { kAligned, kParsable, kParsable2 } form = Form::kAligned;
  bool all_clusters = false, all_users = false, allocations = false, array = false, brief = false, duplicates = false, helpformat = false,
       long_output = false, noconvert = false, noheader = false, truncate = false, expand_patterns = false, local_uid = false;
  bool batch_script = false, environment = false;
  bool completion = false;
  std::string completion_file;
  bool federation = false, local = false;
  std::optional<uint32_t> array_text_length;  // SLURM_BITSTR_LEN
  DataOutput data;
};

struct SacctmgrOptions : QueryCommon {
  SacctOptions::Form form = SacctOptions::Form::kAligned;
  bool associations = false, immediate = false, noheader = false, quiet = false, readonly = false;
  std::string format;
  DataOutput data;
};

struct SreportOptions : QueryCommon {
  SacctOptions::Form form = SacctOptions::Form::kAligned;
  bool all_clusters = false, federation = false, local = false, noheader = false, quiet = false;
  std::string tres, report_time;  // as typed
  DataOutput data;
};

struct SwaitOptions : QueryCommon {
  bool quiet = false;
  uint32_t timeout_seconds = 0;  // 0: as long as it takes
  std::string job_in_environment;
};

struct SshareOptions : QueryCommon {
  TextList accounts, users;
  std::string format;
  SacctOptions::Form form = SacctOptions::Form::kAligned;
  bool all_users = false, only_users = false;  // -a, -U
  bool helpformat = false, long_output = false, noheader = false, partitions = false;
  DataOutput data;
};

struct SprioOptions : QueryCommon {
  TextList jobs, partitions, users;
  std::string format, sort;
  bool long_output = false, noheader = false, normalized = false, weights = false;
  bool federation = false, local = false, sibling = false;
};

struct SstatOptions : QueryCommon {
  TextList jobs;
  std::string format;
  SacctOptions::Form form = SacctOptions::Form::kAligned;
  bool all_steps = false, helpformat = false, noconvert = false, noheader = false, pids = false;
};

struct Sh5utilOptions : QueryCommon {
  enum class Action : uint8_t { kMerge, kExtract, kItemExtract, kList } action = Action::kMerge;
  std::string jobs;                                          // "12", "12.0,12.batch", as typed
  std::string input, output, profile_directory, user, node;  // "": the default
  std::string series, data;                                  // as typed
  bool time_series = false;                                  // --level=Node:TimeSeries
  bool save_files = false;
};

struct ScrontabOptions : QueryCommon {
  enum class Action : uint8_t { kInstall, kEdit, kList, kRemove } action = Action::kInstall;
  std::string user;
};

struct StriggerOptions : QueryCommon {
  bool set = false, get = false, clear = false;
  uint32_t on = 0;                   // bits of TriggerOn
  std::optional<std::string> nodes;  // "": all
  std::string job, program, user;
  std::optional<uint32_t> id;
  int32_t offset_seconds = 0;
  bool permanent = false, noheader = false, quiet = false;
};

template <class Options>
struct QueryParse {
  Outcome outcome = Outcome::kFailed;
  Options options;
  std::vector<std::string> operands;
  std::vector<Message> messages;
};

// Each applies the environment first, then the command line over it. Operands may stand before options.
QueryParse<SqueueOptions> parse_squeue(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SinfoOptions> parse_sinfo(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<ScancelOptions> parse_scancel(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<ScontrolOptions> parse_scontrol(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SattachOptions> parse_sattach(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SbcastOptions> parse_sbcast(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SacctOptions> parse_sacct(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SacctmgrOptions> parse_sacctmgr(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SwaitOptions> parse_swait(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SshareOptions> parse_sshare(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SstatOptions> parse_sstat(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SprioOptions> parse_sprio(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<ScrontabOptions> parse_scrontab(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<StriggerOptions> parse_strigger(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<SreportOptions> parse_sreport(std::span<const std::string> arguments, const EnvLookup& env);
QueryParse<Sh5utilOptions> parse_sh5util(std::span<const std::string> arguments, const EnvLookup& env);

std::span<const OptionRow<SqueueOptions>> squeue_rows();
std::span<const OptionRow<SinfoOptions>> sinfo_rows();
std::span<const OptionRow<ScancelOptions>> scancel_rows();
std::span<const OptionRow<ScontrolOptions>> scontrol_rows();
std::span<const OptionRow<SattachOptions>> sattach_rows();
std::span<const OptionRow<SbcastOptions>> sbcast_rows();
std::span<const OptionRow<SacctOptions>> sacct_rows();
std::span<const OptionRow<SacctmgrOptions>> sacctmgr_rows();
std::span<const OptionRow<SwaitOptions>> swait_rows();
std::span<const OptionRow<SshareOptions>> sshare_rows();
std::span<const OptionRow<SstatOptions>> sstat_rows();
std::span<const OptionRow<SprioOptions>> sprio_rows();
std::span<const OptionRow<ScrontabOptions>> scrontab_rows();
std::span<const OptionRow<StriggerOptions>> strigger_rows();
std::span<const OptionRow<SreportOptions>> sreport_rows();
std::span<const OptionRow<Sh5utilOptions>> sh5util_rows();

// The rows of any command, without their setters: for help, manual pages, completion and tests.
std::vector<const OptionInfo*> option_infos(Command command);

}  // namespace muster
