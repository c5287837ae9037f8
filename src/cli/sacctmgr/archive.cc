// archive dump and load: purges old records into files of slurmdbd's host, and brings them back. sacctmgr(1) ARCHIVE FUNCTIONALITY.
#include <algorithm>
#include <string>

#include "base/text.h"
#include "cli/sacctmgr/context.h"
#include "config/purge_age.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

// Purging may go on for long: each transaction deletes at most MaxPurgeLimit rows.
constexpr Duration kLongest = minutes(24 * 60);

struct KindRow {
  std::string_view word, age;  // "Jobs", "PurgeJobAfter"
  RecordKind kind;
  std::string_view told;
};
constexpr KindRow kKinds[] = {
    {"Events", "PurgeEventAfter", RecordKind::kEvents, "events"},
    {"Jobs", "PurgeJobAfter", RecordKind::kJobs, "jobs"},
    {"Reservations", "PurgeResvAfter", RecordKind::kReservations, "reservations"},
    {"Steps", "PurgeStepAfter", RecordKind::kSteps, "steps"},
    {"TXN", "PurgeTXNAfter", RecordKind::kTransactions, "transactions"},
    {"Usage", "PurgeUsageAfter", RecordKind::kUsage, "rows of usage"},
    {"JobScript", "PurgeJobScriptAfter", RecordKind::kScripts, "scripts of jobs"},
    {"JobEnv", "PurgeJobEnvAfter", RecordKind::kEnvironments, "environments of jobs"},
};
// What is no record of its own here.
struct PartOfJob {
  std::string_view word, age, why;
};
constexpr PartOfJob kPartsOfJobs[] = {
    {"Suspend", "PurgeSuspendAfter", "suspensions are part of their job's record and go with it"},
};

// A word may be shortened as long as it is no other's.
bool means(std::string_view typed, std::string_view word) { return typed.size() >= 2 && istarts_with(word, typed); }

rpc::ArchiveChoice& choice_of(rpc::ArchiveDump& request, RecordKind kind) {
  auto at = std::ranges::find(request.choices, kind, &rpc::ArchiveChoice::kind);
  if (at != request.choices.end()) return *at;
  request.choices.push_back({kind, false, {}});
  return request.choices.back();
}

Result<> set_age(rpc::ArchiveDump& request, const KindRow& row, const Spec& spec) {
  const std::optional<PurgeAge> age = config::parse_purge_age(spec.value);
  if (!age)
    return fail(Errc::kInvalidReq, " Bad " + std::string(row.age) + " value: " + spec.value,
                "a number from 1 to " + std::to_string(kLongestPurgeAge) + ", with hours, days or months; alone it means months");
  choice_of(request, row.kind).after = age;
  return {};
}

Result<> take(const Spec& spec, Context& context, rpc::ArchiveDump& request) {
  const bool bare = spec.key.empty();
  const std::string_view typed = bare ? std::string_view(spec.value) : std::string_view(spec.key);
  if (!bare && means(typed, "Directory")) return request.directory = spec.value, Result<>();
  if (!bare && means(typed, "Script")) return request.script = spec.value, Result<>();
  for (const KindRow& row : kKinds) {
    if (bare && means(typed, row.word)) return choice_of(request, row.kind).archive = true, Result<>();
    if (!bare && iequals(typed, row.age)) return set_age(request, row, spec);
  }
  for (const PartOfJob& part : kPartsOfJobs) {
    if (bare ? !iequals(typed, part.word) : !iequals(typed, part.age)) continue;
    context.log.info("{} has no effect: {}", bare ? part.word : part.age, part.why);
    return {};
  }
  return fail(Errc::kUnknownKeyword, " Unknown condition: " + spec.text);
}

std::string told(const rpc::ArchiveDumped& answer) {
  std::string out;
  for (const rpc::PurgedRecords& gone : answer.purged) {
    const auto row = std::ranges::find(kKinds, gone.kind, &KindRow::kind);
    out += "  " + std::to_string(gone.records) + " " + std::string(row == std::end(kKinds) ? "records" : row->told) + " before " +
           format_time(gone.before) + (gone.cluster.empty() ? "" : " of cluster " + gone.cluster) + "\n";
    for (const std::string& file : gone.files) out += "    " + file + "\n";
  }
  out = out.empty() ? " Nothing was old enough to be purged\n" : " Purged records...\n" + out;
  if (answer.roll_ups_behind) out += " Younger ones stay until their usage is rolled up\n";
  return out;
}

void archive_dump(Context& context, Words words) {
  rpc::ArchiveDump request;
  for (const Spec& spec : parse_specs(words))
    if (Result<> done = take(spec, context, request); !done) return context.complain(done.error());
  Session* session = context.session();
  if (!session) return;
  constexpr std::string_view kQuestion = "This may result in loss of accounting database records (if Purge* options enabled).\n"
                                         "Are you sure you want to continue?";
  if (!context.options.immediate && !confirmed(kQuestion)) return context.say(" Changes Discarded\n");
  const Result<rpc::ArchiveDumped> answer = session->call(request, kLongest);
  if (!answer) return context.complain(answer.error());
  context.say(told(*answer));
}

void archive_load(Context& context, Words words) {
  rpc::ArchiveLoad request;
  for (const Spec& spec : parse_specs(words)) {
    if (means(spec.key, "Insert"))
      return context.complain(" Insert= is not available in this version of Muster: records are no rows that SQL could make; load a File=");
    if (!spec.key.empty() && !means(spec.key, "File")) return context.complain(" Unknown option: " + spec.text);
    if (!request.file.empty()) return context.complain(" Can only load one file at a time.  Already loading " + request.file);
    request.file = spec.value;
  }
  if (request.file.empty()) return context.complain(" No filename given, specify one with File=");
  Session* session = context.session();
  if (!session) return;
  const Result<rpc::ArchiveLoaded> answer = session->call(request, kLongest);
  if (!answer) return context.complain(answer.error());
  const std::string known = answer->known ? ", " + std::to_string(answer->known) + " were there already" : "";
  context.say(" Loaded " + std::to_string(answer->added) + " records" + known + "\n");
}

}  // namespace

void archive(Context& context, Words words) {
  if (context.options.readonly) return context.complain("Can't run this command in readonly mode.");
  const std::string_view verb = words.empty() ? std::string_view() : std::string_view(words[0]);
  if (!verb.empty() && istarts_with("dump", verb)) return archive_dump(context, words.subspan(1));
  if (!verb.empty() && istarts_with("load", verb)) return archive_load(context, words.subspan(1));
  context.complain("No valid entity in archive command\nInput line must include, \"Dump\", or \"load\"");
}

}  // namespace muster::cli
