#include "fields/field_table.h"

#include <array>

#include "base/text.h"
#include "fields/priority_fields.h"
#include "fields/sinfo_view.h"

namespace muster::fields {

template <>
std::span<const std::span<const JobField>> field_parts<JobView>() {
  static const std::array<std::span<const JobField>, 1> parts = {job_columns()};
  return parts;
}

template <>
std::span<const std::span<const StepField>> field_parts<StepView>() {
  static const std::array<std::span<const StepField>, 1> parts = {step_fields()};
  return parts;
}

template <>
std::span<const std::span<const SinfoField>> field_parts<SinfoView>() {
  static const std::array<std::span<const SinfoField>, 2> parts = {sinfo_partition_fields(), sinfo_node_fields()};
  return parts;
}

template <>
std::span<const std::span<const PriorityField>> field_parts<PriorityView>() {
  static const std::array<std::span<const PriorityField>, 1> parts = {priority_fields()};
  return parts;
}

template <class View>
const FieldRow<View>* field_by_letter(char letter) {
  if (!letter) return nullptr;
  for (std::span<const FieldRow<View>> part : field_parts<View>())
    for (const FieldRow<View>& f : part)
      if (f.letter == letter) return &f;
  return nullptr;
}

template <class View>
const FieldRow<View>* field_by_name(std::string_view name) {
  if (name.empty()) return nullptr;
  for (std::span<const FieldRow<View>> part : field_parts<View>())
    for (const FieldRow<View>& f : part)
      if (iequals(f.name, name) || (!f.alias.empty() && iequals(f.alias, name))) return &f;
  return nullptr;
}

template <class View>
std::string field_help(bool docs) {
  std::string out;
  int column = 0;
  for (std::span<const FieldRow<View>> part : field_parts<View>())
    for (const FieldRow<View>& f : part) {
      if (f.name.empty()) continue;
      size_t start = out.size();
      out += f.name;
      bool last = docs || ++column == 4;
      if (docs || !last) out.resize(std::max(out.size() + 1, start + 20), ' ');
      if (docs) out += f.doc;
      if (last) {
        out += '\n';
        column = 0;
      }
    }
  if (column) {
    while (out.back() == ' ') out.pop_back();
    out += '\n';
  }
  return out;
}

template const FieldRow<JobView>* field_by_letter<JobView>(char);
template const FieldRow<StepView>* field_by_letter<StepView>(char);
template const FieldRow<SinfoView>* field_by_letter<SinfoView>(char);
template const FieldRow<PriorityView>* field_by_letter<PriorityView>(char);
template const FieldRow<JobView>* field_by_name<JobView>(std::string_view);
template const FieldRow<StepView>* field_by_name<StepView>(std::string_view);
template const FieldRow<SinfoView>* field_by_name<SinfoView>(std::string_view);
template std::string field_help<JobView>(bool);
template std::string field_help<StepView>(bool);
template std::string field_help<SinfoView>(bool);

}  // namespace muster::fields
