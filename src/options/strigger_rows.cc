// strigger's options. strigger(1).
#include "model/trigger.h"
#include "options/query_rows.h"

namespace muster {
namespace {
using namespace options_detail;
using O = StriggerOptions;

template <TriggerOn On>
Result<> set_on(O& o, const Given&) {
  o.on |= bit_of(On);
  return {};
}

Result<> set_node(O& o, const Given& g) {
  o.nodes = std::string(g.value);
  return {};
}

Result<> set_id(O& o, const Given& g) {
  auto id = parse_number<uint32_t>(g.value, 1, 0xffffffff);
  if (!id) return fail(Errc::kInvalidReq, "Invalid id " + std::string(g.value));
  o.id = *id;
  return {};
}

Result<> set_offset(O& o, const Given& g) {
  auto seconds = parse_number<int32_t>(g.value, -1000000, 1000000);
  if (!seconds) return fail(Errc::kInvalidReq, "Invalid numeric value \"" + std::string(g.value) + "\" for --offset.", "expected seconds");
  if (*seconds < -TriggerSpec::kMostOffset || *seconds > TriggerSpec::kMostOffset)
    return fail(Errc::kInvalidReq, "The --offset parameter must be between +/-" + std::to_string(TriggerSpec::kMostOffset));
  o.offset_seconds = *seconds;
  return {};
}

Result<> set_flags(O& o, const Given& g) {
  for (std::string_view word : split(g.value, ',')) {
    if (!iequals(trim(word), "perm")) return fail(Errc::kInvalidReq, "Invalid flags " + std::string(g.value));
    o.permanent = true;
  }
  return {};
}

template <TriggerOn On>
constexpr OptionRow<O> on_row(const char* name, char letter, const char* summary, const char* doc, const char* refusal = nullptr) {
  return {{.name = name,
           .letter = letter,
           .commands = kStrigger,
           .section = refusal ? Section::kUnavailable : Section::kFilter,
           .summary = summary,
           .doc = doc,
           .status = refusal ? Status::kRefused : Status::kWorks,
           .note = refusal},
          set_on<On>};
}

constexpr const char* kNoBackup = "there is no backup slurmctld";
constexpr const char* kNoDatabase = "slurmdbd does not tell slurmctld of its database: use the option of slurmdbd";

constexpr OptionRow<O> kRows[] = {
    {{.name = "set", .commands = kStrigger, .section = Section::kJob, .summary = "set a trigger", .doc = "Sets a trigger."},
     q_flag<O, &O::set>},
    {{.name = "get",
      .commands = kStrigger,
      .section = Section::kJob,
      .summary = "show triggers",
      .doc = "Shows triggers, those that --id, --jobid, --node and --user choose."},
     q_flag<O, &O::get>},
    {{.name = "clear",
      .commands = kStrigger,
      .section = Section::kJob,
      .summary = "clear triggers",
      .doc = "Clears the triggers that --id, --jobid or --user choose. Those of others are root's to clear."},
     q_flag<O, &O::clear>},

    on_row<TriggerOn::kFini>("fini", 'f', "the job ends", "When the job is over, however it ended."),
    on_row<TriggerOn::kTime>("time", 't', "the job's time limit",
                             "When the job reaches its time limit; with a negative --offset so long before."),
    on_row<TriggerOn::kDown>("down", 'd', "a node goes down", "When a node goes into state DOWN."),
    on_row<TriggerOn::kUp>("up", 'u', "a node is back", "When a node that was DOWN is in service again."),
    on_row<TriggerOn::kDrained>("drained", 'D', "a node is drained", "When a node takes no jobs any more and the last one has left it."),
    on_row<TriggerOn::kDraining>("draining", 0, "a node is draining", "When a node takes no jobs any more while some are still there."),
    on_row<TriggerOn::kFail>("fail", 'F', "a node is failing", "When a node goes into state FAIL or FAILING."),
    on_row<TriggerOn::kIdle>("idle", 'I', "a node is idle", "When a node has been idle for the time that --offset says."),
    on_row<TriggerOn::kResume>("resume", 'R', "a node is resumed", "When a node that was down, drained or failing is in service again."),
    on_row<TriggerOn::kReconfig>("reconfig", 'r', "the configuration changes",
                                 "When slurmctld reads its files again, and when a node's state changes."),
    on_row<TriggerOn::kControllerOperates>("primary_slurmctld_resumed_operation", 'A', "slurmctld starts", "When slurmctld has started."),
    on_row<TriggerOn::kRecordsFull>("primary_slurmctld_acct_buffer_full", 'e', "accounting records are lost",
                                    "When slurmctld had to drop accounting records because slurmdbd was away for too long (MaxDBDMsgs)."),
    on_row<TriggerOn::kSlurmdbdFailure>("primary_slurmdbd_failure", 'g', "slurmdbd is away", "When slurmctld loses slurmdbd."),
    on_row<TriggerOn::kSlurmdbdOperates>("primary_slurmdbd_resumed_operation", 'G', "slurmdbd is back",
                                         "When slurmctld reaches slurmdbd, also for the first time."),
    on_row<TriggerOn::kControllerFailure>("primary_slurmctld_failure", 'a', "slurmctld fails", "When the primary slurmctld fails.",
                                          kNoBackup),
    on_row<TriggerOn::kControllerControls>("primary_slurmctld_resumed_control", 'b', "slurmctld takes over again",
                                           "When the primary slurmctld takes over from the backup.", kNoBackup),
    on_row<TriggerOn::kBackupFailure>("backup_slurmctld_failure", 'B', "the backup fails", "When the backup slurmctld fails.", kNoBackup),
    on_row<TriggerOn::kBackupOperates>("backup_slurmctld_resumed_operation", 'c', "the backup is back",
                                       "When the backup slurmctld is there again.", kNoBackup),
    on_row<TriggerOn::kBackupControls>("backup_slurmctld_assumed_control", 'C', "the backup takes over",
                                       "When the backup slurmctld takes over.", kNoBackup),
    on_row<TriggerOn::kDatabaseFailure>("primary_database_failure", 'h', "the database is away", "When the database is away.", kNoDatabase),
    on_row<TriggerOn::kDatabaseOperates>("primary_database_resumed_operation", 'H', "the database is back",
                                         "When the database is there again.", kNoDatabase),
    on_row<TriggerOn::kBurstBuffer>("burst_buffer", 0, "a burst buffer fails", "When a burst buffer fails.",
                                    "there are no burst buffers here"),

    {{.name = "id",
      .letter = 'i',
      .arg = Arg::kRequired,
      .arg_name = "id",
      .commands = kStrigger,
      .section = Section::kPlacement,
      .summary = "the trigger of this number",
      .doc = "The trigger of this number."},
     set_id},
    {{.name = "jobid",
      .letter = 'j',
      .arg = Arg::kRequired,
      .arg_name = "id",
      .commands = kStrigger,
      .section = Section::kPlacement,
      .summary = "of this job, or of its nodes",
      .doc = "The job that the trigger is about; with --down, --up, --drained and their like, the nodes it has at that moment."},
     q_text<O, &O::job>},
    {{.name = "node",
      .letter = 'n',
      .arg = Arg::kOptional,
      .arg_name = "hosts",
      .commands = kStrigger,
      .section = Section::kPlacement,
      .summary = "of these nodes",
      .doc = "The nodes that the trigger is about; without names, and without this option, all of them."},
     set_node},
    {{.name = "offset",
      .letter = 'o',
      .arg = Arg::kRequired,
      .arg_name = "seconds",
      .commands = kStrigger,
      .section = Section::kPlacement,
      .summary = "so long after, or before",
      .doc = "The program runs so many seconds after what happened; before a job's time limit if negative."},
     set_offset},
    {{.name = "program",
      .letter = 'p',
      .arg = Arg::kRequired,
      .arg_name = "path",
      .commands = kStrigger,
      .section = Section::kPlacement,
      .summary = "what to run",
      .doc = "The program's absolute path, perhaps with arguments after blanks."},
     q_text<O, &O::program>},
    {{.name = "flags",
      .arg = Arg::kRequired,
      .arg_name = "PERM",
      .commands = kStrigger,
      .section = Section::kPlacement,
      .summary = "stay after it ran",
      .doc = "With PERM the trigger stays and runs again the next time."},
     set_flags},
    {{.name = "user",
      .arg = Arg::kRequired,
      .arg_name = "user",
      .commands = kStrigger,
      .section = Section::kPlacement,
      .summary = "set by this user",
      .doc = "Chooses triggers by who set them, for --get and --clear."},
     q_text<O, &O::user>},
    noheader_row<O>(kStrigger, 'N', "no header line"),
    cluster_row<O>(kStrigger),
    quiet_row<O>(kStrigger),
    verbose_row<O>(kStrigger, "Says what was done."),
    usage_row<O>(kStrigger),
    MUSTER_HELP_ROWS(O, kStrigger, 0),
    MUSTER_CONF_ROWS(O, kStrigger),
};
}  // namespace

std::span<const OptionRow<StriggerOptions>> strigger_rows() { return kRows; }

}  // namespace muster
