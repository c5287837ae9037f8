// --json and --yaml: the documents of data_parser v0.0.44 (job_info, node, partition_info of the OpenAPI description), written row by row
// so that the memory used does not depend on the number of rows:
//
//   std::string out;
//   auto sink = make_tree_sink(TreeForm::kJson, compact, out);
//   begin_document(*sink, "jobs");                      // {"jobs": [
//   for (…) { json_job(view, *sink); drain(out); }      // the caller writes `out` away and clears it
//   end_document(*sink, "jobs", meta);                  // ], "last_backfill": …, "meta": …, "errors": [], "warnings": []}
//
// Numbers that may be unset or infinite are {"set", "infinite", "number"}; states and flags are lists of names; every property of the
// description is written. Times are seconds since 1970. Cost: a job is about 7 KiB of compact JSON, 10 µs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fields/environment.h"
#include "fields/record_view.h"
#include "fields/sinfo_view.h"
#include "fields/tree_sink.h"

namespace muster::fields {

struct DocumentError {
  int32_t number = 0;
  std::string error, description, source;
};
struct DocumentWarning {
  std::string description, source;
};

struct DocumentMeta {
  std::string client_source, client_user, client_group;
  std::vector<std::string> command;  // argv of the caller
  std::string cluster;
  std::string major = "26", minor = "05", micro = "0", release = "26.05.0";
  Time last_update{}, last_backfill{};
  bool from_database = false;  // sacct's documents name no times of the controller
  std::vector<DocumentError> errors;
  std::vector<DocumentWarning> warnings;
};

// `list` names the list that the document holds: "jobs", "steps", "nodes", "partitions", "licenses", "reservations", "pings", "sinfo",
// or those of sacctmgr: "accounts", "events" …. Or it names the one record written between begin and end: "statistics" (json_statistics.h,
// json_database.h), "shares" (json_share.h).
void begin_document(TreeSink& sink, std::string_view list);
void end_document(TreeSink& sink, std::string_view list, const DocumentMeta& meta);

void json_job(const JobView& v, TreeSink& sink);                                       // job_info
void json_step(const StepView& v, TreeSink& sink);                                     // step
void json_node(const NodeRow& node, const Environment& env, TreeSink& sink);           // node
void json_partition(const PartitionRow& row, const Environment& env, TreeSink& sink);  // partition_info
struct ControllerPing {
  std::string host;
  bool up = false, primary = false;
  int64_t microseconds = 0;
};
void json_ping(const ControllerPing& ping, TreeSink& sink);  // controller_ping
// The `job` of the description's slurmdb part, with its steps: sacct.
void json_record(const RecordView& v, std::span<const StepRecord> steps, TreeSink& sink);
void json_sinfo(const SinfoView& v, TreeSink& sink);  // sinfo's line; holds a partition_info

}  // namespace muster::fields
