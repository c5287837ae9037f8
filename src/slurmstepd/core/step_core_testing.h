// A node for tests of StepCore: it writes down what the core has done, and answers what the core asks from what the test set.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "slurmstepd/core/step_core.h"

namespace muster::slurmstepd {

struct TestHost : StepHost {
  StepCore core{*this};
  std::vector<std::string> done;  // in order: "connect", "launch 0", "SIGTERM", "note …"
  Duration clock{};
  std::map<StepTimer, Duration> timers;  // when they fire
  int processes = 0;                     // of the step
  int programs = 0;
  std::vector<size_t> prologs;  // the tasks whose prologs run
  bool module = false, connected = false, attached = false, outputs = false, held = false, blames_job = false;
  uint64_t kills = 0;
  std::optional<Error> wire_error, launch_error, plugin_error, release_error, module_error;
  std::set<size_t> stubborn;  // tasks that SIGTERM does not end
  bool dies = true;           // SIGKILL is seen at the next reap()
  std::set<size_t> alive;
  std::vector<EndedTask> dead;  // not reaped yet
  std::vector<step_rpc::StepdReport> reports;

  void say(std::string what) { done.push_back(std::move(what)); }
  bool did(const std::string& what) const {
    for (const std::string& d : done)
      if (d.starts_with(what)) return true;
    return false;
  }

  Duration now() override { return clock; }
  void set_timer(StepTimer t, Duration delay) override { timers[t] = clock + delay; }
  void cancel_timer(StepTimer t) override { timers.erase(t); }
  bool processes_left() override { return processes > 0; }
  bool programs_run() override { return programs > 0; }
  bool module_runs() override { return module; }
  bool srun_connected() override { return connected; }
  bool readers_attached() override { return attached; }
  bool outputs_open() override { return outputs; }
  uint64_t oom_kills() override { return kills; }
  void connect_to_srun() override { say("connect"); }
  void load_login_environment() override { say("login environment"); }
  void prepared() override { say("prepared"); }
  std::string module_name() override { return "mpi/x"; }
  Result<> start_module() override {
    say("module");
    if (module_error) return std::unexpected(*module_error);
    module = true;
    return {};
  }
  void module_is_ready() override { say("module is ready"); }
  Result<> begin_plugins() override { return outcome(plugin_error); }
  bool plugins_blame_job() override { return blames_job; }
  void open_files() override { say("open"); }
  Result<> wire(size_t task) override {
    say("wire " + std::to_string(task));
    return outcome(std::exchange(wire_error, std::nullopt));
  }
  void run_prolog(size_t task, bool of_site) override {
    ++programs;
    prologs.push_back(task);
    say((of_site ? "site prolog " : "prolog ") + std::to_string(task));
  }
  Result<Launched> launch(size_t task, bool in_tmp) override {
    if (launch_error) return std::unexpected(*std::exchange(launch_error, std::nullopt));
    say("launch " + std::to_string(task) + (in_tmp ? " in /tmp" : ""));
    alive.insert(task);
    ++processes;
    return held ? Launched::kHeld : Launched::kOnItsWay;
  }
  void go_to_tmp(size_t task, const Error&) override { say("to /tmp " + std::to_string(task)); }
  void has_started(size_t task) override { say("started " + std::to_string(task)); }
  void forget_start(size_t task) override { say("forget " + std::to_string(task)); }
  Result<> release_tasks() override { return outcome(release_error); }
  void all_run(const std::string& word) override { say("all run" + (word.empty() ? "" : ": " + word)); }
  void is_over(const EndedTask& t, bool epilog) override { say("over " + std::to_string(t.task) + (epilog ? " with epilog" : "")); }
  void signal_tasks(int signal) override { say("tasks get " + std::to_string(signal)); }
  void signal_everything(int signal) override {
    say("all get " + std::to_string(signal));
    if (signal == 15)
      for (size_t task : std::set<size_t>(alive))
        if (!stubborn.contains(task)) die(task, 15);
  }
  void kill_everything() override {
    say("kill");
    if (!dies) return;
    for (size_t task : std::set<size_t>(alive)) die(task, 9);
    processes = 0;
  }
  void reap() override {
    StepCore::Reaped what;
    what.tasks = std::exchange(dead, {});
    for (const EndedTask& t : what.tasks) core.task_ended(t.task, t.status);
    core.reaped(what);
  }
  void give_up_start() override {
    say("give up start");
    programs = 0;
    prologs.clear();
  }
  void finish_module() override { say("finish module"); }
  void kill_module() override { module = false; }
  void end_plugins() override { say("end plugins"); }
  void sweep() override { say("sweep"); }
  void write_the_rest() override { say("write"); }
  void say_end_to_srun() override { say("end to srun"); }
  void close_stream() override { connected = attached = false; }
  void clean_up() override { say("clean up"); }
  void leave() override { say("leave"); }
  void wait_to_leave() override { say("wait to leave"); }
  void note(const std::string& line) override { say("note " + line); }
  void note_to_srun(const std::string& line) override { say("to srun " + line); }
  void note_oom_kills(uint64_t more) override { say("oom kills " + std::to_string(more)); }
  void note_of_node(const std::string& text) override { say("node " + text); }
  std::string out_of_time() override { return "TIME LIMIT"; }
  void tell_ended(const std::vector<EndedTask>& tasks, bool oom) override {
    for (const EndedTask& t : tasks) say("ended " + std::to_string(t.task) + " " + std::to_string(t.status) + (oom ? " oom" : ""));
  }
  void abort_on_all_nodes() override { say("abort everywhere"); }
  void report(const step_rpc::StepdReport& state) override { reports.push_back(state); }

  // ---- what happens
  void die(size_t task, int32_t status) {
    if (alive.erase(task) == 0) return;
    --processes;
    dead.push_back({task, status, {}});
  }
  void exits(size_t task, int32_t status) {
    die(task, status);
    reap();
  }
  // The next timer's time comes.
  void pass() {
    auto next = timers.begin();
    for (auto it = timers.begin(); it != timers.end(); ++it)
      if (it->second < next->second) next = it;
    clock = std::max(clock, next->second);
    const StepTimer timer = next->first;
    timers.erase(next);
    core.fired(timer);
  }

 private:
  static Result<> outcome(const std::optional<Error>& error) { return error ? Result<>(std::unexpected(*error)) : Result<>(); }
};

}  // namespace muster::slurmstepd
