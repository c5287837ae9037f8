#include "config/job_completion.h"

#include "base/text.h"
#include "config/record.h"
#include "config/slurm_conf.h"

namespace muster::config {
namespace {

constexpr std::string_view kDefaultFile = "/var/log/slurm_jobcomp.log";

struct Missing {
  std::string_view type, why;
};
constexpr Missing kMissing[] = {
    {"jobcomp/kafka", "needs librdkafka, which this build does not use"},
    {"jobcomp/lua", "needs Lua, which this build does not use"},
    {"jobcomp/mysql", "is not there: slurmdbd keeps records in MariaDB (AccountingStorageType)"},
};

void check_words(const ConfigValue& params, CompletionKind kind, Findings& findings) {
  const OptionList words = OptionList::parse(params.text);
  for (const auto& [word, value] : words.items()) {
    const bool known = iequals(word, "send_comment") || iequals(word, "send_script");
    if (known && kind == CompletionKind::kElasticsearch) continue;
    findings.notice(params.pos, "JobCompParams", word + " has no effect" + (known ? " but with JobCompType=jobcomp/elasticsearch" : ""),
                    "there are send_comment and send_script");
  }
}

std::string_view text_of(const Config& config, std::string_view key) {
  const ConfigValue* value = config.find_value(key);
  return value ? std::string_view(value->text) : std::string_view();
}

}  // namespace

JobCompletion job_completion(std::string_view type, std::string_view place, std::string_view params) {
  JobCompletion out;
  if (iequals(type, "jobcomp/filetxt")) out.kind = CompletionKind::kFile;
  else if (iequals(type, "jobcomp/script")) out.kind = CompletionKind::kScript;
  else if (iequals(type, "jobcomp/elasticsearch")) out.kind = CompletionKind::kElasticsearch;
  else return out;
  out.place = out.kind == CompletionKind::kFile && place.empty() ? kDefaultFile : place;
  const OptionList words = OptionList::parse(params);
  out.send_comment = words.has("send_comment");
  out.send_script = words.has("send_script");
  return out;
}

JobCompletion job_completion(const Config& config) {
  JobCompletion out = job_completion(text_of(config, "JobCompType"), text_of(config, "JobCompLoc"), text_of(config, "JobCompParams"));
  if (out.kind == CompletionKind::kScript && !out.place.empty() && out.place[0] != '/') out.place.insert(0, config.directory + "/");
  return out;
}

void check_job_completion(const Config& config, Findings& findings) {
  const ConfigValue* type = config.find_value("JobCompType");
  if (!type) return;
  for (const Missing& missing : kMissing)
    if (iequals(type->text, missing.type))
      findings.notice(type->pos, "JobCompType", type->text + " " + std::string(missing.why) + "; no record of a finished job is written",
                      "there are jobcomp/filetxt, jobcomp/script and jobcomp/elasticsearch");
  const JobCompletion chosen = job_completion(config);
  if (chosen.kind == CompletionKind::kNone) return;
  if (const ConfigValue* params = config.find_value("JobCompParams")) check_words(*params, chosen.kind, findings);
  if (chosen.place.empty()) findings.error(type->pos, "JobCompType", type->text + " needs JobCompLoc, which has no default for it");
  else if (chosen.kind == CompletionKind::kFile && chosen.place[0] != '/')
    findings.error(config.find_value("JobCompLoc")->pos, "JobCompLoc", "'" + chosen.place + "' is no absolute path");
}

}  // namespace muster::config
