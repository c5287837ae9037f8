// --json and --yaml: a document around rows that are written as they come; meta, errors and warnings follow at its end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cli/common/client_conf.h"
#include "cli/common/command.h"
#include "fields/json.h"

namespace muster::cli {

// Answers --json=list, or a data parser that does not exist: prints and gives the exit code.
std::optional<int> data_parser_asked(const DataOutput& data, const os::CliLog& log);

// Begins the document; the destructor writes its end. `list`: "jobs", "nodes", "partitions", "sinfo". `out` must outlive it; the caller
// writes it by out.put("") now and then.
class Document {
 public:
  Document(const DataOutput& data, const QueryCommon& options, std::string_view list, const ClientConf& conf, Out& out);
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;
  ~Document();
  fields::TreeSink& sink() { return *sink_; }
  void from_database() { from_database_ = true; }  // slurmdbd answered, not the controller

 private:
  bool from_database_ = false;
  std::string list_, cluster_;
  Out& out_;
  std::unique_ptr<fields::TreeSink> sink_;
};

}  // namespace muster::cli
