// What scontrol's commands share: options, sessions, messages.
#pragma once

#include <optional>
#include <string>

#include "cli/common/dialogue.h"
#include "cli/common/session.h"

namespace muster::cli {

class Context final : public Dialogue {
 public:
  explicit Context(ScontrolOptions o) : Dialogue("scontrol"), options(std::move(o)) {}

  ScontrolOptions options;

  // The session, made when first needed; nullptr after reporting why not (exit code 1). Sessions for queries give up at once.
  Session* query_session();
  Session* control_session();
  // Sets the cluster that further commands ask; complains when it is not ours.
  void use_cluster(const std::string& name);
  void complain(std::string_view lines) override;  // --quiet: the exit code alone tells, as with Slurm
  // Prints "prefix: text" and the hint.
  void complain(const std::string& prefix, const Error& e);
  // Prints the controller's refusal of what was typed: its own sentence where it has one, else "prefix: text of the code".
  void complain_input(const std::string& prefix, const Error& e);
  void unavailable(const std::string& what);
  void refuse(const std::string& what, const std::string& why);

 private:
  Session* find(std::optional<Session>& session, Patience patience);
  std::optional<Session> query_, control_;
};

// offline.cc: nothing here contacts a daemon
void show_hostnames(Context& c, Words words);
void show_hostlist(Context& c, Words words, bool sorted);
void print_errnumstr(Context& c, Words words);
// local.cc: slurmd and slurmstepd of this host
void list_pids(Context& context, Words words);
void list_jobs(Context& c, Words words);
void list_steps(Context& c, Words words);
void pid_info(Context& context, Words words);
void get_entities(Context& c, Words words);
void show_slurmd(Context& c, Words words);
void show_daemons(Context& c);
// show_assoc_mgr.cc
void show_assoc_mgr(Context& context, Words words);
// ping.cc
void ping(Context& context);
std::string ping_text(Context& c, bool& all_up);
// control.cc
void control_jobs(Context& context, rpc::JobAction action, Words words);
void reconfigure(Context& c);
void shutdown(Context& context, Words words);
void wait_job(Context& c, Words words);
void notify(Context& c, Words words);
void write(Context& c, Words words);
// nodes.cc
void reboot_nodes(Context& context, Words words);
void cancel_reboot(Context& c, Words words);
void power_nodes(Context& context, Words words);
void get_addresses(Context& context, Words words);
// settings.cc
void set_debug(Context& c, Words words);
void set_debug_flags(Context& context, Words words);
void set_schedloglevel(Context& c, Words words);
void set_dampening(Context& c, Words words);
void update_suspend_exceptions(Context& c, const std::vector<rpc::KeyValue>& changes);
void token(Context& c, Words words);
void takeover(Context& context, Words words);
void write_config(Context& context, Words words);
// update.cc
void update(Context& context, Words words);
void create(Context& context, Words words);
void remove(Context& context, Words words);
// show.cc
void show(Context& context, Words words);
void show_completing(Context& context);
// show_kinds.cc
void show_jobs(Context& context, Words words);
void show_nodes(Context& context, Words words);
void show_partitions(Context& c, Words words);
void show_steps(Context& context, Words words);
void show_licenses(Context& c, Words words);
void show_reservations(Context& c, Words words);
// show_topology.cc
void show_topology(Context& context, Words words);
void show_topoconf(Context& c);

}  // namespace muster::cli
