#include "muster/explain.h"

#include "cli/common/command.h"
#include "cli/common/job_ids.h"
#include "cli/common/session.h"
#include "muster/explain_text.h"
#include "muster/verbs.h"
#include "muster/words.h"
#include "os/users.h"

namespace muster::front {
namespace {

constexpr size_t kMaxWords = 100;
constexpr Duration kPatience = seconds(120);  // the controller plans a long queue anew for the answer

std::string user_name(Uid uid) {
  Result<os::User> user = os::find_user(uid);
  return user ? user->name : "uid " + std::to_string(uid.value);
}

bool names_job(const std::string& word) { return !word.empty() && word[0] >= '0' && word[0] <= '9'; }

template <class Request>
int ask(cli::Session& session, const Request& request, bool json) {
  auto answer = session.call(request, kPatience);
  if (!answer) return complain(answer.error());
  cli::Out out;
  if (!json) {
    out.put(to_text(*answer, user_name));
    return 0;
  }
  auto sink = fields::make_tree_sink(fields::TreeForm::kJson, false, out.buffer());
  if constexpr (std::is_same_v<Request, rpc::ExplainNode>) to_tree(*answer, user_name, *sink);
  else to_tree(*answer, *sink);
  out.line("");
  return 0;
}

int explain(cli::Session& session, const std::string& word, bool json) {
  if (!names_job(word)) {
    rpc::ExplainNode node;
    node.node = word;
    return ask(session, node, json);
  }
  Result<rpc::JobSelector> selector = cli::parse_job_selector(word);
  if (!selector) return complain(selector.error());
  rpc::ExplainJob job;
  job.job = *selector;
  return ask(session, job, json);
}

}  // namespace

int explain_verb(std::span<const std::string> arguments) {
  Result<Words> words = read_words(arguments, {"--json"}, kMaxWords);
  if (!words) return complain(words.error());
  if (words->rest.empty())
    return complain(Error(Errc::kBadOption, "explain: name a job or a node", "muster explain 12; muster explain n1"));
  Result<cli::Session> session = cli::Session::find(cli::Patience::kNone);
  if (!session) return complain(session.error());
  int code = 0;
  for (const std::string& word : words->rest) {
    if (&word != &words->rest[0] && !words->has("--json")) cli::Out().line("");
    code = std::max(code, explain(*session, word, words->has("--json")));
  }
  return code;
}

}  // namespace muster::front
