// modify job: what may be changed in records of jobs that are over. sacctmgr(1) SPECIFICATIONS FOR JOB.
#include <optional>
#include <set>

#include "base/text.h"
#include "base/tres_mem.h"
#include "cli/common/job_ids.h"
#include "cli/sacctmgr/context.h"
#include "model/tres_list.h"
#include "model/tres_name.h"
#include "os/clock.h"
#include "os/users.h"
#include "wire/accounting_instances.h"

namespace muster::cli {
namespace {

// Whether a word names the key or begins it.
bool is(std::string_view key, std::string_view word) { return !key.empty() && istarts_with(word, key); }

Result<> add_jobs(std::string_view value, rpc::JobRecordFilter& f) {
  for (std::string_view text : split_outside_brackets(value)) {
    MUSTER_TRY(selector, parse_job_selector(trim(text)));
    if (selector.has_step) return fail(Errc::kInvalidReq, "JobID=" + std::string(trim(text)) + ": a job is named here, and no step");
    f.jobs.push_back(std::move(selector));
  }
  return {};
}

Result<> add_users(std::string_view value, rpc::JobRecordFilter& f) {
  for (const std::string& name : split_names(value)) {
    MUSTER_TRY(uid, os::find_uid(name));
    f.users.push_back(uid);
  }
  return {};
}

Result<> condition(const Spec& s, Time now, rpc::JobRecordFilter& f) {
  if (is(s.key, "JobIDs") || is(s.key, "Ids") || s.key.empty()) return add_jobs(s.value, f);
  if (is(s.key, "Users")) return add_users(s.value, f);
  if (is(s.key, "WCKeys")) return f.wckeys = split_names(s.value), Result<>();
  if (is(s.key, "Clusters")) return f.clusters = split_names(s.value), Result<>();
  if (is(s.key, "StartTime") || is(s.key, "EndTime")) {
    MUSTER_TRY(t, parse_time_point(s.value, now, ClockRule::kThisDayOrYear));
    (is(s.key, "StartTime") ? f.from : f.until) = t;
    return {};
  }
  return fail(Errc::kUnknownKeyword, " Unknown condition: " + s.text + "\n Use keyword 'set' to modify value");
}

// Reads an exit code, or "code:signal" as it is shown.
Result<int32_t> exit_status(std::string_view text) {
  const size_t colon = text.find(':');
  auto code = parse_number<int32_t>(text.substr(0, colon), 0, 255);
  auto signal = colon == text.npos ? std::optional<int32_t>(0) : parse_number<int32_t>(text.substr(colon + 1), 0, 126);
  if (code && signal) return *code << 8 | *signal;
  return fail(Errc::kInvalidReq, "Invalid value for DerivedExitCode (" + std::string(text) + ")", "an exit code of 0 to 255");
}

// nullopt: it is none. Memory may have a fraction, as sacct shows it: "1.50G".
std::optional<uint64_t> amount_of(TresKind kind, std::string_view text) {
  if (kind != TresKind::kMem) return parse_count(text);
  const uint64_t mb = parse_tres_mem_mb(text);
  return mb || parse_mem_mb(text) ? std::optional(mb) : std::nullopt;
}

// All of the list, or nothing: what is overwritten is lost.
Result<TresAmounts> amounts_of(const std::string& value) {
  const auto refused = [&](std::string why) { return fail(Errc::kInvalidReq, "Invalid value for TRES (" + value + ")", std::move(why)); };
  TresAmounts out;
  std::set<std::string> named;
  for (std::string_view part : split(value, ',')) {
    part = trim(part);
    if (part.empty()) continue;
    const size_t equals = part.find('=');
    const TresName tres = TresName::of(part.substr(0, equals));
    if (tres.kind == TresKind::kOther && tres.name != "energy")
      return refused("records of jobs have cpu, mem, energy, node, billing, gres/NAME and license/NAME, and no " + tres.name);
    const auto amount = equals == part.npos ? std::nullopt : amount_of(tres.kind, part.substr(equals + 1));
    if (!amount || *amount > TresList::kMostCount) return refused("\"" + std::string(part) + "\": a list such as cpu=4,mem=8G,gres/gpu=2");
    if (!named.insert(tres.text()).second) return refused(tres.text() + " is there twice");
    out.put(tres, *amount);
  }
  if (named.empty()) return refused("a list such as cpu=4,mem=8G,gres/gpu=2");
  return out;
}

Result<> setting(const Spec& spec, rpc::EditJobRecords& request) {
  const std::string value = spec.value == "''" || spec.value == "\"\"" ? "" : spec.value;
  if (is(spec.key, "AdminComment")) return request.admin_comment = value, Result<>();
  if (is(spec.key, "Comment")) return request.comment = value, Result<>();
  if (is(spec.key, "SystemComment")) return request.system_comment = value, Result<>();
  if (is(spec.key, "Extra")) return request.extra = value, Result<>();
  if (is(spec.key, "NewWCKey")) return request.wckey = value, Result<>();
  if (is(spec.key, "TRES")) {
    MUSTER_TRY(amounts, amounts_of(value));
    request.tres_allocated = std::move(amounts);
    return {};
  }
  if (is(spec.key, "DerivedExitCode")) {
    MUSTER_TRY(status, exit_status(value));
    request.derived_exit_status = status;
    return {};
  }
  return fail(Errc::kUnknownKeyword, " Unknown option: " + spec.text + "\n Use keyword 'where' to modify condition");
}

std::string told(const rpc::JobRecordsEdited& answer) {
  if (answer.jobs.empty()) return {};
  std::string out = " Modified jobs...\n";
  for (const JobRecord& j : answer.jobs)
    out += "  " + std::to_string(j.key.id.value) + " submitted at " + format_time(j.key.submitted) + "\n";
  return out;
}

}  // namespace

void modify_jobs(Context& context, Words words) {
  if (context.options.readonly) return context.complain("Can't run this command in readonly mode.");
  rpc::EditJobRecords request;
  request.where.duplicates = true;
  bool any = false;
  const std::vector<Spec> specs = parse_specs(words);
  for (const Spec& s : specs) {
    const bool set = s.part == Spec::Part::kSet;
    Result<> done = only_equals(s);
    if (done) done = set ? setting(s, request) : condition(s, os::wall_now(), request.where);
    if (!done) return context.complain(done.error());
    any = any || set;
  }
  if (!any) return context.complain(" You didn't give me anything to set");
  if (request.where.jobs.empty() && request.where.users.empty() && request.where.wckeys.empty())
    return context.complain(" No conditions given: JobID=, User= or WCKey= say which jobs are changed");
  Session* session = context.session();
  if (!session) return;
  if (request.where.clusters.empty()) request.where.clusters.push_back(session->conf().cluster_name);
  request.where.steps = false;
  request.where.ineligible = true;  // also those that were never eligible
  request.commit = context.options.immediate;
  Result<rpc::JobRecordsEdited> answer = session->call(request);
  if (!answer) return context.complain(answer.error());
  std::string text = told(*answer);
  if (text.empty()) context.exit_code = 1;
  context.say(text.empty() ? " Nothing modified\n" : text);
  if (text.empty() || request.commit) return;
  if (!confirmed("Would you like to commit changes?")) return context.say(" Changes Discarded\n");
  request.commit = true;
  answer = session->call(request);
  if (!answer) context.complain(answer.error());
}

}  // namespace muster::cli
