// Commands that change the controller while it runs: setdebug, setdebugflags, schedloglevel, fsdampeningfactor, update SuspendExc…; write
// config; and token and takeover, whose answer says what Muster lacks. scontrol(1).
#include <time.h>

#include "base/text.h"
#include "cli/scontrol/context.h"
#include "config/key_table.h"
#include "os/files.h"

namespace muster::cli {
namespace {

// Takes the last word off if it is nodes=….
std::string take_nodes(Words& words) {
  if (words.empty() || !istarts_with(words.back(), "nodes=")) return {};
  std::string nodes = words.back().substr(6);
  words = words.subspan(0, words.size() - 1);
  return nodes;
}

void send(Context& c, const rpc::UpdateConfig& request, const std::string& failed) {
  Session* session = c.control_session();
  if (!session) return;
  Result<rpc::Messages> answer = session->call(request);
  if (!answer) return c.complain(failed, answer.error());
  for (const rpc::PerJobError& e : answer->errors) c.complain(failed + e.job + ": " + e.text);
}

}  // namespace

void set_debug(Context& c, Words words) {
  rpc::UpdateConfig request;
  request.nodes = take_nodes(words);
  if (words.size() != 1) return c.complain((words.empty() ? "too few" : "too many") + std::string(" arguments for keyword:setdebug"));
  std::optional<int> level = config::parse_debug_level(words[0]);
  if (!level) return c.complain("invalid debug level: " + words[0]);
  request.changes.push_back({"SlurmctldDebug", "=", std::string(config::debug_level_name(*level))});
  send(c, request, "slurm_set_debug_level error: ");
}

void set_debug_flags(Context& context, Words words) {
  rpc::UpdateConfig request;
  request.nodes = take_nodes(words);
  if (words.empty()) return context.complain("too few arguments for keyword:setdebugflags");
  const config::KeyRow* row = config::find_row(config::ConfFile::kSlurm, config::Section::kGlobal, "DebugFlags");
  for (const std::string& word : words) {
    bool sign = word.starts_with('+') || word.starts_with('-');
    if (!sign || config::check_value(*row, word.substr(1))) {
      if (sign) context.complain("scontrol: error: Invalid DebugFlag: " + word.substr(1));
      context.complain("invalid debug flag: " + word);
      if (!sign) context.complain("Usage: setdebugflags [+|-]NAME");
      return;
    }
    request.changes.push_back({"DebugFlags", word[0] == '+' ? "+=" : "-=", word.substr(1)});
  }
  send(context, request, "slurm_set_debug_flags error: ");
}

void set_schedloglevel(Context& c, Words words) {
  bool known = words[0] == "0" || words[0] == "1" || iequals(words[0], "enable") || iequals(words[0], "disable");
  if (!known) return c.complain("invalid schedlog level: " + words[0]);
  // This is Slurm's answer where slurm.conf names no SlurmSchedLogFile; Muster has no such log.
  c.complain("slurm_set_schedlog_level error: ",
             Error(Errc::kDisabled, {}, "there is no log of scheduling events; setdebugflags shows them in slurmctld's"));
}

void set_dampening(Context& c, Words words) {
  std::optional<uint32_t> factor = parse_number<uint32_t>(words[0], 1, 65535);
  if (!factor) return c.complain("invalid dampening factor: " + words[0]);
  rpc::UpdateConfig request;
  request.changes.push_back({"FairShareDampeningFactor", "=", std::to_string(*factor)});
  send(c, request, "slurm_set_fs_dampeningfactor error: ");
}

void update_suspend_exceptions(Context& c, const std::vector<rpc::KeyValue>& changes) {
  rpc::UpdateConfig request;
  request.changes = changes;
  send(c, request, "slurm_update error: ");
}

void token(Context& c, Words words) {
  for (const std::string& word : words) {
    if (!istarts_with(word, "lifespan=") && !istarts_with(word, "username=")) return c.complain("invalid token argument: " + word);
    const std::string lifespan = word.substr(word.find('=') + 1);
    if (istarts_with(word, "lifespan=") && !iequals(lifespan, "infinite") && !parse_number<uint32_t>(lifespan)) {
      c.exit_code = 1;
      return c.log.error("Invalid numeric value \"{}\" for lifespan.", lifespan);
    }
  }
  c.complain("Error fetching token");
  c.complain("auth/jwt is not available in this version of Muster; commands of this host and munge or the cluster key need no token");
}

void takeover(Context& context, Words words) {
  Session* session = context.query_session();
  if (!session) return;
  size_t backups = session->conf().controllers.size() - 1;
  if (!backups && words.empty())
    return context.complain("slurm_takeover error: ",
                            Error(Errc::kConnectFailed, {}, "slurm.conf names no backup controller (a second SlurmctldHost)"));
  std::optional<size_t> index = words.empty() ? std::optional<size_t>(1) : parse_number<size_t>(words[0], 1);
  if (!index || *index > backups)
    return context.complain("takeover: invalid backup controller index (" + (words.empty() ? std::string("1") : words[0]) + ")");
  context.complain("slurm_takeover error: ",
                   Error(Errc::kNotSupportedHere, {}, "a standby controller is not available in this version of Muster"));
}

// Writes "slurm.conf.2026-11-21T12:33:29" beside slurm.conf, or the name given with the same ending. Only the caller can read the file,
// because it holds passwords when an administrator asks.
void write_config(Context& context, Words words) {
  Session* session = context.query_session();
  if (!session) return;
  rpc::QueryText query;
  query.subject = "slurm.conf";
  Result<rpc::Text> text = session->call(query);
  if (!text) return context.complain("slurm_load_ctl_conf error: ", text.error());
  std::string file = !words.empty() ? words[0] : !context.options.conf_out.empty() ? context.options.conf_out : session->conf().path;
  char stamp[32] = {};
  time_t now = ::time(nullptr);
  tm parts{};
  ::localtime_r(&now, &parts);
  ::strftime(stamp, sizeof stamp, ".%Y-%m-%dT%H:%M:%S", &parts);
  file += stamp;
  if (Result<> written = os::write_file_atomic(file, text->text, 0600); !written)
    return context.complain("slurm_write_ctl_conf error: ", written.error());
  if (!context.options.quiet) Out().line("Slurm config saved to " + file);
}

}  // namespace muster::cli
