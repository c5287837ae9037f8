// Prints the tables that options, fields and configuration keys are made from, a line for each row, fields
// separated by tabs. tools/compatibility makes docs/compatibility.md of it.
//
//   option  COMMAND  NAME  works|no effect|refused  NOTE  WHAT IT WAITS FOR
//   field   squeue|squeue -s|sinfo|sacct|sacctmgr show …  NAME  works|constant  DOC  WHAT IT WAITS FOR
//   key     FILE  NAME  works|no effect|not yet|refused  WHAT IT NEEDS, OR WHY NOT
//   word    KEY  NAME  works|no effect|not yet  WHAT IT DOES, OR WHY NOT
#include <cstdio>
#include <string>

#include "config/key_table.h"
#include "config/parameter_words.h"
#include "fields/entity_view.h"
#include "fields/field_table.h"
#include "fields/record_view.h"
#include "options/option_table.h"
#include "options/query_options.h"

namespace muster {
namespace {

void line(std::initializer_list<std::string_view> cells) {
  std::string text;
  for (std::string_view cell : cells) (text += text.empty() ? "" : "\t") += cell;
  std::puts(text.c_str());
}

std::string_view status_name(Status s) {
  switch (s) {
    case Status::kWorks: return "works";
    case Status::kNoEffect: return "no effect";
    case Status::kRefused: return "refused";
  }
  return "";
}

std::string_view status_name(config::KeyStatus s) {
  switch (s) {
    case config::KeyStatus::kWorks: return "works";
    case config::KeyStatus::kNotYet: return "not yet";
    case config::KeyStatus::kRefused: return "refused";
    case config::KeyStatus::kNoEffect: return "no effect";
  }
  return "";
}

void print_options() {
  for (Command c : kAllCommands)
    for (const OptionInfo* o : option_infos(c))
      if (o->name && !o->hidden)
        line({"option", command_name(c), o->name, status_name(o->status), o->note ? o->note : "", o->needs ? o->needs : ""});
}

template <class View>
void print_fields(std::string_view of) {
  for (auto part : fields::field_parts<View>())
    for (const fields::FieldRow<View>& f : part) {
      std::string name = f.letter ? std::string("%") + f.letter : std::string();
      if (!f.name.empty()) (name += name.empty() ? "" : " ") += f.name;
      line({"field", of, name, f.status == fields::FieldStatus::kWorks ? "works" : "constant", f.doc, f.needs});
    }
}

template <class View>
void print_columns(std::string_view of, std::span<const fields::ColumnField<View>> columns) {
  for (const auto& f : columns) line({"field", of, f.name, f.status == fields::FieldStatus::kWorks ? "works" : "constant", f.doc, f.needs});
}

void print_keys() {
  for (int i = 0; i < config::kConfFileCount; ++i) {
    auto file = static_cast<config::ConfFile>(i);
    for (const config::KeyRow* k : config::rows_of(file))
      if (!k->alias_of) {
        std::string name(config::section_name(k->section));
        if (!name.empty()) name += " ";
        line({"key", config::file_name(file), name + k->name, status_name(k->state), k->needs});
      }
  }
}

void print_words() {
  for (const config::ParameterKey& key : config::parameter_keys())
    for (const config::ParameterWord& w : key.words) line({"word", key.key, w.name, config::word_status_name(w.status), w.note});
  for (const config::SlurmdbdKey& key : config::slurmdbd_keys())
    for (const config::ParameterWord& w : key.words)
      line({"word", "slurmdbd.conf " + std::string(key.key), w.name, config::word_status_name(w.status), w.note});
}

}  // namespace
}  // namespace muster

int main() {
  using namespace muster;
  print_options();
  print_fields<fields::JobView>("squeue");
  print_fields<fields::StepView>("squeue -s");
  print_fields<fields::SinfoView>("sinfo");
  print_columns("sacct", fields::record_fields());
  print_columns("sacctmgr show qos", fields::entity_fields(Entity::kQos));
  print_columns("sacctmgr show association", fields::entity_fields(Entity::kAssociation));
  print_keys();
  print_words();
}
