// How rows are applied to a record of any type: shared by the job commands and the query commands.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/text.h"
#include "options/option_table.h"
#include "options/parser.h"
#include "options/scanner.h"

namespace muster::options_detail {

template <class Record>
std::vector<const OptionInfo*> infos_of(const std::vector<const OptionRow<Record>*>& rows) {
  std::vector<const OptionInfo*> out;
  out.reserve(rows.size());
  for (const auto* row : rows) out.push_back(&row->info);
  return out;
}

// Adds getopt's sentence, where to read more, and a hint that may help.
void add_getopt_error(std::vector<Message>& messages, const std::string& text, Command command, std::span<const OptionInfo* const> table);
// The hint where `text` calls an option unrecognized: the plugin that is missing, or the nearest known option; "" otherwise.
std::string unknown_option_hint(const std::string& text, Command command, std::span<const OptionInfo* const> table);
void add_error(std::vector<Message>& messages, const Error& error, Message::Level level, Command command);
// False, with an error, when the row's status is kRefused.
bool status_allows(const OptionInfo& info, std::vector<Message>& messages);
// Adds the warning that a row without effect gets.
void warn_no_effect(const Given& given, std::vector<Message>& messages);
void note_seen(std::vector<Seen>& seen, const OptionInfo& info, Source source, const char* env_name, std::string_view value);
// The first variable that is set, of names separated by '|'.
struct EnvValue {
  std::string name;
  const char* value = nullptr;
};
EnvValue find_env(const char* names, const EnvLookup& env);

template <class Record>
class Applier {
 public:
  using Row = OptionRow<Record>;
  Applier(Record& record, std::vector<Seen>& seen, std::vector<Message>& messages, Command command, Time now, bool in_allocation)
      : record_(record), seen_(seen), messages_(messages), command_(command), now_(now), in_allocation_(in_allocation) {}

  bool one(const Row& row, Source source, const char* env_name, bool has_value, std::string_view value) {
    if (!status_allows(row.info, messages_)) return false;
    Given given{command_, source, &row.info, env_name, has_value, value, in_allocation_, now_};
    auto set = row.set(record_, given);
    if (!set) {
      add_error(messages_, set.error(), Message::Level::kError, command_);
      if (env_name) messages_.push_back({Message::Level::kHint, "it comes from the environment variable " + std::string(env_name)});
      return false;
    }
    warn_no_effect(given, messages_);
    note_seen(seen_, row.info, source, row.info.env.of(command_), value);
    return true;
  }

  bool environment(const std::vector<const Row*>& rows, const EnvLookup& env) {
    for (const Row* row : rows) {
      const char* names = row->info.env.of(command_);
      if (!names) continue;
      EnvValue found = find_env(names, env);
      if (!found.value) continue;
      std::string_view value = found.value;
      bool is_option = row->info.name != nullptr;
      if (is_option && row->info.arg == Arg::kNone && !env_flag_is_set(value)) continue;
      bool has_value = row->info.arg == Arg::kOptional ? !value.empty() : true;
      if (!one(*row, Source::kEnvironment, found.name.c_str(), has_value, value)) return false;
    }
    return true;
  }

  bool command_line(const std::vector<const Row*>& rows, const Scan& scan) {
    for (const ScannedOption& o : scan.options)
      if (!one(*rows[o.row], Source::kCommandLine, nullptr, o.has_value, o.value)) return false;
    return true;
  }

 private:
  Record& record_;
  std::vector<Seen>& seen_;
  std::vector<Message>& messages_;
  Command command_;
  Time now_;
  bool in_allocation_;
};

}  // namespace muster::options_detail
