// Which records slurmdbd purges, from which age on, and which of them it archives: the Purge…After and Archive… keys of slurmdbd.conf(5),
// and what sacctmgr archive dump says instead. Pure, but for the process's time zone (TZ): hours, days and months are those of its clock.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "config/cgroup_conf.h"
#include "config/purge_age.h"
#include "model/archive.h"

namespace muster::slurmdbd {

struct PurgeRules {  // of what has no age nothing is purged
  std::optional<config::PurgeAge> events, jobs, reservations, steps, transactions, usage, scripts, environments;
  size_t most_rows = 50'000;  // MaxPurgeLimit: of one transaction and of one archive file
};
// The loader has left out ages that cannot be read, with a notice each.
PurgeRules purge_rules(const config::SimpleConf& conf);

struct ArchiveRules {
  std::string directory = "/tmp";  // ArchiveDir
  std::string script;              // ArchiveScript: runs instead of our writing files
  std::optional<bool> events, jobs, reservations, steps, transactions, usage, scripts, environments;
  bool commands = true;  // not DisableArchiveCommands
};
ArchiveRules archive_rules(const config::SimpleConf& conf);

// A kind of record by its names.
struct RecordKindRow {
  RecordKind kind;
  const char* purge_key;  // of slurmdbd.conf
  std::optional<config::PurgeAge> PurgeRules::*age;
  const char* archive_key;
  std::optional<bool> ArchiveRules::*archived;
  bool of_usage;         // roll-ups are made of them, or they are roll-ups
  bool as_jobs;          // where the keys do not say anything, those of jobs do
  const char* named;     // in the log
  const char* object;    // in names of archive files
  const char* variable;  // SLURM_ARCHIVE_…: whether they are archived; "": there is none
  const char* last;      // SLURM_ARCHIVE_LAST_…: until when
};
std::span<const RecordKindRow> record_kinds();
const RecordKindRow& row_of(RecordKind kind);

// Records purge when the hour, day or month begins, depending on the unit. So this is the begin of the one that `now` is in, less the age.
// An age that reaches back beyond 1970 gives 1970. Cost: a few calls of localtime, one for each month.
Time purge_before(config::PurgeAge age, Time now);

// From which age on a kind is purged, and whether it is archived by its own key, or by that of jobs.
std::optional<config::PurgeAge> age_of(const PurgeRules& rules, const RecordKindRow& row);
bool archived(const ArchiveRules& rules, const RecordKindRow& row);
// Whether deleting this kind deletes rows that are archived. The steps of a job go with it: they are archived with it, or alone where steps
// are archived and jobs are not.
bool archives(const ArchiveRules& rules, RecordKind kind);

// What ArchiveScript gets: SLURM_ARCHIVE_JOBS=1, SLURM_ARCHIVE_LAST_JOB=seconds since 1970 … For a kind that is not archived 0. `before` says
// from when on nothing is purged, in the order of record_kinds(); kTimeUnset: nothing of that kind is.
std::vector<std::string> script_variables(const ArchiveRules& rules, std::span<const Time> before);

// The rules for one sacctmgr archive dump: those of slurmdbd.conf, but for what the request says. kInvalidArgument names kind, value and
// rule.
Result<> apply_dump(const rpc::ArchiveDump& request, PurgeRules& purge, ArchiveRules& archive);

// A place that a client named, as the directory that is trusted and the names to walk down from there, each of which may be no link.
struct NamedPlace {
  std::string from;
  std::vector<std::string> names;  // the last one is meant; empty: `from` itself
};
// `named` is a file or directory of ArchiveDir, relative to it or absolute; "": ArchiveDir. `anywhere`: any absolute path will do. Errors:
// kInvalidArgument (".." in it), kAccessDenied (it is elsewhere). `what` is the word of sacctmgr that named it.
Result<NamedPlace> named_place(const ArchiveRules& rules, std::string_view what, const std::string& named, bool anywhere);

// Whether records out of a file can be believed so far that nothing which reads the database trips over them: they belong to a cluster, have
// ended, and their times and states exist. kInvalidArgument names the record.
Result<> check_archived(const ArchivePart& part);

}  // namespace muster::slurmdbd
