#include "match/request.h"

#include "base/text.h"
#include "options/parser.h"

namespace muster::match {
namespace {

// A failure becomes the first error, with the messages after it as the hint; after a success all messages are warnings.
Result<> digest(const std::vector<Message>& messages, bool failed, std::string& warnings) {
  Error error(Errc::kInvalidReq);
  for (const Message& m : messages) {
    if (!failed) warnings += "warning: " + m.text + "\n";
    else if (m.level != Message::Level::kWarning && error.text.empty()) error.text = m.text;
    else if (!error.text.empty()) error.hint += (error.hint.empty() ? "" : "; ") + m.text;
  }
  if (failed) return std::unexpected(std::move(error));
  return {};
}

Result<> refuse_unfit(const JobCommandLine& line, const JobOptions& o) {
  for (const char* name : {"wrap", "wait", "test-only", "parsable", "nodefile", "export-file"})
    if (line.given(name))
      return fail(Errc::kInvalidReq, std::string("--") + name + " has no meaning here",
                  "options that say what a job needs, where and when");
  if (!o.nodelist_file.empty() || !o.exclude_file.empty())
    return fail(Errc::kInvalidReq, "node lists are given here as host lists, not as files");
  return {};
}

Result<Uid> user_of(const JobOptions& o) {
  if (o.user_text.empty()) return kDefaultUser;
  auto uid = parse_number<uint32_t>(o.user_text);
  if (!uid) return fail(Errc::kInvalidReq, "--uid takes a number here, not '" + o.user_text + "'");
  return Uid(*uid);
}

}  // namespace

Result<MadeRequest> make_request(std::span<const std::string> words, std::string default_name, Time now) {
  std::string name;
  if (!words.empty() && !words[0].starts_with('-')) {
    name = words[0];
    words = words.subspan(1);
  }
  MadeRequest made;
  JobScanResult scan = scan_job_command(muster::Command::kSbatch, words);
  MUSTER_TRY_VOID(digest(scan.messages, !scan.ok(), made.warnings));
  if (!scan.line.scan.operands.empty())
    return fail(Errc::kInvalidReq, "'" + std::string(scan.line.scan.operands[0]) + "' is not an option",
                "[NAME] comes first, then options of sbatch; there is no script");
  JobInputs in;
  in.now = now;
  JobParse parse = parse_job_command(scan.line, in);
  if (parse.outcome != Outcome::kRun && parse.outcome != Outcome::kFailed)
    return fail(Errc::kInvalidReq, "sbatch's own --help and --version are not answered here");
  MUSTER_TRY_VOID(digest(parse.messages, parse.outcome == Outcome::kFailed, made.warnings));
  MUSTER_TRY_VOID(refuse_unfit(scan.line, parse.options));
  made.request = job_request(std::move(parse.options.request));
  MUSTER_TRY(uid, user_of(parse.options));
  made.request.uid = uid;
  made.request.gid = Gid(uid.value);
  made.request.user_name = "user" + std::to_string(uid.value);
  if (!name.empty()) made.request.name = name;
  if (made.request.name.empty()) made.request.name = std::move(default_name);
  return made;
}

}  // namespace muster::match
