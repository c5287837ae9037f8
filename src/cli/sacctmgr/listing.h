// Where a listing of sacctmgr goes: into a table, or with --json and --yaml into a document with the same rows.
#pragma once

#include <optional>

#include "cli/common/document.h"
#include "cli/sacctmgr/context.h"
#include "fields/listed_fact.h"

namespace muster::cli {

inline bool as_data(const Context& context) { return context.options.data.kind != DataOutput::Kind::kText; }

// A document whose answer comes from slurmdbd.
class DatabaseDocument {
 public:
  DatabaseDocument(const Context& context, std::string_view list, const ClientConf& conf, Out& out)
      : document_(context.options.data, context.options, list, conf, out) {
    document_.from_database();
  }
  fields::TreeSink& sink() { return document_.sink(); }

 private:
  Document document_;
};

// The rows of one listing. Its end is written when it goes; `table`, `conf` and `out` outlive it.
template <class View>
class Rows {
 public:
  Rows(const Context& context, const ClientConf& conf, const fields::Table<View>& table, std::string_view list,
       const fields::DocumentObject<View>& object, Out& out)
      : table_(table), object_(object), out_(out) {
    if (as_data(context)) document_.emplace(context, list, conf, out);
    else table_.header(out_.buffer());
  }
  void row(const View& view) {
    if (document_) fields::json_listed(object_, view, document_->sink());
    else table_.row(view, out_.buffer());
  }
  // Prints what has come so far.
  void flush() { out_.put(""); }

 private:
  const fields::Table<View>& table_;
  fields::DocumentObject<View> object_;
  Out& out_;
  std::optional<DatabaseDocument> document_;
};

}  // namespace muster::cli
