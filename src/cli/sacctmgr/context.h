// What sacctmgr's commands share: options, the way to slurmdbd, messages.
#pragma once

#include <optional>
#include <string>

#include "cli/common/dialogue.h"
#include "cli/common/session.h"
#include "cli/sacctmgr/specs.h"
#include "fields/columns.h"

namespace muster::cli {

class Context final : public Dialogue {
 public:
  explicit Context(SacctmgrOptions o) : Dialogue("sacctmgr"), options(std::move(o)) {}

  SacctmgrOptions options;

  // The session, connected to slurmdbd; nullptr after reporting why not (exit code 1).
  Session* session();
  // The configuration, which is read now unless session() has read it.
  const ClientConf* conf();
  using Dialogue::complain;
  // Reports the error of slurmdbd or of a value's rule; exit code 1.
  void complain(const Error& e);
  // Prints lines on standard output, unless --quiet.
  void say(std::string_view text);

 private:
  std::optional<Session> session_;
  std::optional<ClientConf> conf_;
};

// How the options have tables printed.
fields::TableStyle table_style(const SacctmgrOptions& options);
// Gives a table the columns that were typed after the command, else after --format, else the usual ones. False after a complaint.
template <class View>
bool add_columns(Context& context, fields::Table<View>& table, std::span<const fields::ColumnField<View>> fields, const std::string& typed,
                 std::string_view usual) {
  if (context.options.data.kind != DataOutput::Kind::kText) return true;  // documents have all members
  const std::string_view columns = !typed.empty() ? typed : !context.options.format.empty() ? context.options.format : usual;
  const auto added = table.add(fields, columns);
  if (!added) context.complain("Unknown field '" + std::string(added.error().message()) + "'");
  return added.has_value();
}

// Asks "Would you like to commit changes? …"; true for a yes within 30 seconds. The end of the input and anything but yes is a no.
// `question` comes without its last line.
bool confirmed(std::string_view question);
inline constexpr int kSecondsToDecide = 30;

// entity.cc: the entity that a word means; entities of sacctmgr(1) that are not there yet are refused with a reason. nullopt after a
// complaint.
std::optional<Entity> entity_of(Context& context, std::string_view verb, std::string_view word);
// edit.cc
void add(Context& context, Words words);
void modify(Context& c, Words words);
void remove(Context& c, Words words);
// jobs.cc: modify job
void modify_jobs(Context& context, Words words);
// archive.cc
void archive(Context& context, Words words);
// flat_file.cc
void dump(Context& c, Words words);
void load(Context& c, Words words);
// show.cc
void show(Context& context, Words words);
// events.cc
void show_events(Context& context, Words words);
// held.cc
void show_reservations(Context& context, Words words);
// problems.cc
void show_problems(Context& context, Words words);
// runaway.cc
void show_runaway_jobs(Context& context, Words words);
// stats.cc
void show_statistics(Context& context, Words words);
void clear(Context& context, Words words);
// daemon.cc
void ping(Context& c, Words words);
void reconfigure(Context& c, Words words);
void shutdown(Context& c, Words words);
void show_configuration(Context& context);

}  // namespace muster::cli
