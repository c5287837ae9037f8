// What is answered from a snapshot: the rows kQuery of commands.def. query_from() judges who may ask and what the caller may see, and gives
// the answer, long ones in parts that are made as they are taken. The daemon, the simulator and the fuzzers ask here. Pure, but for the
// texts that come from outside. Cost: that of the rows (row_query.h); a plan for ExplainJob.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>

#include "slurmctld/core/command.h"
#include "slurmctld/core/privacy.h"

namespace muster::slurmctld {

// What the core cannot say itself: files of the configuration as text, and scripts and environments by their hash.
struct QueryTexts {
  std::function<std::string()> show_config;
  std::function<std::string(bool passwords)> write_config;
  std::function<Result<std::string>(const std::string& hash)> read_blob;
};

// What a query is answered from, and what whoever asks may see.
struct QueryContext {
  QueryContext(std::shared_ptr<const Snapshot> snapshot, std::shared_ptr<const Settings> settings_then, Time time, Caller caller,
               const QueryTexts& outside)
      : cluster(std::move(snapshot)),
        settings(std::move(settings_then)),
        now(time),
        privacy(*settings, cluster->directory, caller),
        rights(*settings, cluster->directory, caller),
        who(std::move(caller)),
        texts(outside) {}

  std::shared_ptr<const Snapshot> cluster;
  std::shared_ptr<const Settings> settings;
  Time now;
  Privacy privacy;
  Rights rights;
  Caller who;
  const QueryTexts& texts;  // outlives the answer
};

// An answer that is ready to be taken.
template <class Request>
struct AnswerInParts {
  std::move_only_function<bool(PartOf<Request>&)> next;  // the next part; false: no part is left. Empty where an answer has none
  AnswerTo<Request> last{};                              // what comes after the parts
};

namespace query_detail {
template <class Queries>
struct Answers;
template <class... Requests>
struct Answers<std::variant<Requests...>> {
  using Type = std::variant<AnswerInParts<Requests>...>;
};
}  // namespace query_detail
using QueryAnswer = query_detail::Answers<Query>::Type;  // the alternative of the query's index

Result<QueryAnswer> query_from(const QueryContext& context, Query query);

}  // namespace muster::slurmctld
