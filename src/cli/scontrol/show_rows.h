// One way to show all kinds of rows: ask, print each as it comes (text, --json or --yaml), and say so when there are none. A Kind has what
// is particular to one kind of row: see show_kinds.cc. Rows are not kept, except by a Kind itself.
//
//   struct Kind {
//     using Query = rpc::Query…;
//     static constexpr RowTexts kTexts;
//     static … rows(PartOf<Query>&)                 the rows of a part
//     void text(const Row&, Shown&); void json(const Row&, Shown&);
//   };
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cli/common/command.h"
#include "cli/common/document.h"
#include "cli/common/print_environment.h"
#include "cli/scontrol/context.h"
#include "fields/show.h"

namespace muster::cli {

struct RowTexts {
  std::string_view list;    // name of the list in --json
  std::string_view failed;  // "slurm_load_jobs error: "
  std::string_view none;    // "No jobs in the system"; "" = nothing is said
};

struct Shown {  // what printing one row needs
  const fields::Environment& env;
  fields::ShowOptions options;
  std::string& out;        // of text()
  fields::TreeSink* sink;  // of json()
};

// False after a complaint. `count` is set to the number of rows printed.
template <class Kind>
bool show_rows(Context& context, const typename Kind::Query& query, Kind& kind, size_t& count) {
  Session* session = context.query_session();
  if (!session) return false;
  Names names;
  fields::Environment env = print_environment(session->conf(), context.options, names);
  env.array_text_length = context.options.array_text_length.value_or(64);
  Out out;
  std::optional<Document> document;
  bool as_data = context.options.data.kind != DataOutput::Kind::kText;
  if (as_data) {
    if (Result<> there = session->connect(); !there) {  // before anything is printed
      context.complain(std::string(Kind::kTexts.failed), there.error());
      return false;
    }
    document.emplace(context.options.data, context.options, Kind::kTexts.list, session->conf(), out);
  }
  Shown shown{env,
              {.oneliner = context.options.oneliner, .details = context.options.details},
              out.buffer(),
              document ? &document->sink() : nullptr};
  count = 0;
  Result<rpc::Empty> done = session->stream(query, [&](wire::PartOf<typename Kind::Query>&& part) -> Result<> {
    for (const auto& row : kind.rows(part)) {
      if (!kind.wanted(row)) continue;
      if (document) kind.json(row, shown);
      else kind.text(row, shown);
      out.put("");
      ++count;
    }
    return {};
  });
  document.reset();
  out.flush();
  if (done && context.options.verbose) put_error("last_update_time=" + format_time(env.now) + ", records=" + std::to_string(count));
  if (!done) context.complain(std::string(Kind::kTexts.failed), done.error());
  return done.has_value();
}

}  // namespace muster::cli
