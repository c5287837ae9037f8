// What a column of sacct sees: a job as the accounting database keeps it, or one of its steps with its job. sacct(1).
#pragma once

#include <map>
#include <span>
#include <string>
#include <tuple>

#include "fields/columns.h"
#include "fields/environment.h"
#include "fields/usage_values.h"
#include "model/accounting.h"

namespace muster::fields {

using WckeyNumbers = std::map<std::tuple<std::string, std::string, std::string>, uint32_t>;  // by cluster, user and name

struct RecordStyle {
  char units = 0;         // --units: one of KMGTP
  bool truncate = false;  // --truncate: times within [from, until]
  Time from{}, until{};
  std::map<std::string, uint32_t> qos_numbers;  // the database's, for who asks for them
  WckeyNumbers wckey_numbers;                   // likewise
};

struct RecordView {
  const JobRecord& job;
  const StepRecord* step;  // nullptr: the job itself
  const Environment& env;
  const RecordStyle& style;
  std::span<const StepRecord> steps = {};   // of a job itself: what they used is what the job used
  std::span<const StepRecord> listed = {};  // those of them that its document lists
};

// What a step has used; null of a job, or where nothing was gathered.
inline const StepUsage* usage_of(const RecordView& v) { return v.step ? v.step->usage.get() : nullptr; }
inline UsageStyle usage_style(const RecordView& v) { return {v.style.units, v.env.noconvert}; }

using RecordField = ColumnField<RecordView>;

// Every column of sacct in the order of --helpformat, then columns that are understood but not listed (AllocGRES …).
std::span<const RecordField> record_fields();
// The list that --helpformat prints: "Account  AdminComment …".
std::string record_help();

inline constexpr std::string_view kRecordDefault = "jobid,jobname,partition,account,alloccpus,state,exitcode";
inline constexpr std::string_view kRecordBrief = "jobid,state,exitcode";
extern const std::string_view kRecordLong;

}  // namespace muster::fields
