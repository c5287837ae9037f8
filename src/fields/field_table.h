// The tables of printable fields: one row each for squeue's jobs, squeue's steps, sinfo's lines and sprio's lines. squeue(1), sinfo(1) -o
// and -O, sprio(1) -o. Formats, sorts, the help list and the tests against the manual pages all read these rows, so a field is declared
// once: docs/checklists/add-a-field.md. Not here: how formats are written and padded (format.h), how nodes are grouped into lines
// (sinfo_groups.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "fields/environment.h"

namespace muster::fields {

struct SinfoView;     // sinfo_view.h
struct PriorityView;  // priority_fields.h

enum class Split : uint8_t { kNever, kAlways, kExact };  // kExact: with sinfo --exact only

enum class FieldStatus : uint8_t {
  kWorks,
  kConstant,  // Muster has no such feature (federations, burst buffers …): prints what Slurm prints without
              // it
};

// How Slurm cuts a value that is wider than its column. Left justified columns are always cut.
enum Cut : uint8_t {
  kCutAll = 0,
  kWideValue = 1,   // a right justified value is printed whole (times, node lists)
  kWideHeader = 2,  // so is its header
  kKeepStar = 4,    // the '*' of the default partition stays when its name is cut
};

template <class ViewOf>
struct FieldRow {
  using View = ViewOf;
  char letter;             // of -o; 0: none
  std::string_view name;   // of -O, lower case; "": none
  std::string_view alias;  // a second name of -O; usually ""
  std::string_view header;
  uint8_t cut;  // Cut bits
  FieldStatus status;
  std::string_view doc;
  void (*text)(const View&, std::string& out);  // appends
  int64_t (*number)(const View&) = nullptr;     // what to sort by; without it: the text
  Split split = Split::kNever;                  // sinfo: whether a difference in it keeps nodes on lines of their own
  std::string_view long_header = "";            // of -O where it differs
  uint32_t parts = 0;                           // RowPart bits: the costly parts of a job row that the text is made from
  std::string_view needs = "";                  // kConstant: the feature that will fill it; "": nothing will
  std::string_view none = "";                   // stands for a value of which `text` prints nothing
  bool (*there)(const View&) = nullptr;         // whether the view has that of which this is a value; if not, `none` is not printed
};

// Appends the value of a FieldRow or a ColumnField (columns.h).
template <class Row>
void print_field(const Row& field, const typename Row::View& view, std::string& out) {
  const size_t start = out.size();
  field.text(view, out);
  if (out.size() == start && (!field.there || field.there(view))) out += field.none;
}

// The row of a field whose feature Muster does not have: `text` prints what Slurm prints without it.
template <class View>
constexpr FieldRow<View> absent(char letter, std::string_view name, std::string_view header, std::string_view needs, std::string_view doc,
                                void (*text)(const View&, std::string&)) {
  FieldRow<View> f{letter, name, "", header, 0, FieldStatus::kConstant, doc, text};
  f.needs = needs;
  return f;
}

using JobField = FieldRow<JobView>;
using StepField = FieldRow<StepView>;
using SinfoField = FieldRow<SinfoView>;
using PriorityField = FieldRow<PriorityView>;

inline constexpr uint32_t kDefaultLongWidth = 20;  // a column of -O without a size

// All rows of a table, in the order of the help list. Cost: nothing; the rows are constants.
template <class View>
std::span<const std::span<const FieldRow<View>>> field_parts();
template <>
std::span<const std::span<const JobField>> field_parts<JobView>();
template <>
std::span<const std::span<const StepField>> field_parts<StepView>();
template <>
std::span<const std::span<const SinfoField>> field_parts<SinfoView>();
template <>
std::span<const std::span<const PriorityField>> field_parts<PriorityView>();

// nullptr if there is none. Names in any case.
template <class View>
const FieldRow<View>* field_by_letter(char letter);
template <class View>
const FieldRow<View>* field_by_name(std::string_view name);

// The list that `-O help` prints, four names in a line: "Account  AccrueTime …". With `docs`, each field has a line of its own with its
// doc.
template <class View>
std::string field_help(bool docs);

// ---- the parts, each in a file of its own
std::span<const JobField> job_columns();  // job_fields.h
std::span<const StepField> step_fields();
std::span<const SinfoField> sinfo_partition_fields();
std::span<const SinfoField> sinfo_node_fields();
std::span<const PriorityField> priority_fields();

}  // namespace muster::fields
