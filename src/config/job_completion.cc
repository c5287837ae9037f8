#include "config/job_completion.h"

#include <algorithm>

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
    {"jobcomp/lua", "needs Lua, which this build does not use"},
    {"jobcomp/mysql", "is not there: slurmdbd keeps records in MariaDB (AccountingStorageType)"},
};

// The words of JobCompParams, and what they are for.
struct Word {
  std::string_view name;
  bool elasticsearch;
  std::string_view needless = {};  // why it changes nothing
};
constexpr Word kWords[] = {
    {"send_comment", true},
    {"send_script", true},
    {"enable_job_start", false},
    {"flush_timeout", false},
    {"topic", false},
    {"topic_job_start", false},
    {"poll_interval", false, "answers of brokers are taken as they come"},
    {"requeue_on_msg_timeout", false, "a record waits on disk until a broker has taken it"},
};

std::string no_effect(const Word* word, CompletionKind kind) {
  if (!word) return "has no effect";
  if (kind == CompletionKind::kKafka) return word->needless.empty() ? "" : "is not needed: " + std::string(word->needless);
  if (kind == CompletionKind::kElasticsearch && word->elasticsearch) return {};
  return std::string("has no effect but with JobCompType=jobcomp/") + (word->elasticsearch ? "elasticsearch and jobcomp/kafka" : "kafka");
}

std::optional<Duration> flush_timeout(std::string_view text) {
  const auto given = parse_number<int32_t>(text, -1);
  if (!given) return std::nullopt;
  return *given < 0 ? Duration::max() : milliseconds(*given);
}

void check_words(const ConfigValue& params, CompletionKind kind, Findings& findings) {
  const OptionList words = OptionList::parse(params.text);
  for (const auto& [name, value] : words.items()) {
    const auto* word = std::ranges::find_if(kWords, [&](const Word& w) { return iequals(w.name, name); });
    if (const std::string why = no_effect(word == std::end(kWords) ? nullptr : word, kind); !why.empty())
      findings.notice(
          params.pos, "JobCompParams", name + " " + why,
          "there are send_comment and send_script, and for jobcomp/kafka enable_job_start, flush_timeout, topic and topic_job_start");
    if (kind == CompletionKind::kKafka && iequals(name, "flush_timeout") && !flush_timeout(value))
      findings.notice(params.pos, "JobCompParams", "flush_timeout=" + value + " is no number of milliseconds: 500 is taken",
                      "from -1 to 2147483647");
  }
}

std::string_view text_of(const Config& config, std::string_view key) {
  const ConfigValue* value = config.find_value(key);
  return value ? std::string_view(value->text) : std::string_view();
}

}  // namespace

JobCompletion job_completion(std::string_view type, std::string_view place, std::string_view params, std::string_view cluster) {
  JobCompletion out;
  if (iequals(type, "jobcomp/filetxt")) out.kind = CompletionKind::kFile;
  else if (iequals(type, "jobcomp/script")) out.kind = CompletionKind::kScript;
  else if (iequals(type, "jobcomp/elasticsearch")) out.kind = CompletionKind::kElasticsearch;
  else if (iequals(type, "jobcomp/kafka")) out.kind = CompletionKind::kKafka;
  else return out;
  out.place = out.kind == CompletionKind::kFile && place.empty() ? kDefaultFile : place;
  const OptionList words = OptionList::parse(params);
  out.send_comment = words.has("send_comment");
  out.send_script = words.has("send_script");
  if (out.kind != CompletionKind::kKafka) return out;
  out.topic = words.get("topic").value_or(cluster);
  if (words.has("enable_job_start")) out.start_topic = words.get("topic_job_start").value_or(std::string(cluster) + "-job-start");
  if (const auto flush = flush_timeout(words.get("flush_timeout").value_or(""))) out.flush_timeout = *flush;
  return out;
}

JobCompletion job_completion(const Config& config) {
  JobCompletion out =
      job_completion(text_of(config, "JobCompType"), text_of(config, "JobCompLoc"), text_of(config, "JobCompParams"), config.cluster_name);
  if (out.kind == CompletionKind::kScript && !out.place.empty() && out.place[0] != '/') out.place.insert(0, config.directory + "/");
  return out;
}

void check_job_completion(const Config& config, Findings& findings) {
  const ConfigValue* type = config.find_value("JobCompType");
  if (!type) return;
  for (const Missing& missing : kMissing)
    if (iequals(type->text, missing.type))
      findings.notice(type->pos, "JobCompType", type->text + " " + std::string(missing.why) + "; no record of a finished job is written",
                      "there are jobcomp/filetxt, jobcomp/script, jobcomp/elasticsearch and jobcomp/kafka");
  const JobCompletion chosen = job_completion(config);
  if (chosen.kind == CompletionKind::kNone) return;
  if (const ConfigValue* params = config.find_value("JobCompParams")) check_words(*params, chosen.kind, findings);
  if (chosen.place.empty()) findings.error(type->pos, "JobCompType", type->text + " needs JobCompLoc, which has no default for it");
  else if ((chosen.kind == CompletionKind::kFile || chosen.kind == CompletionKind::kKafka) && chosen.place[0] != '/')
    findings.error(config.find_value("JobCompLoc")->pos, "JobCompLoc", "'" + chosen.place + "' is no absolute path");
}

}  // namespace muster::config
