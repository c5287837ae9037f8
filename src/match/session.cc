#include "match/session.h"

#include <algorithm>

#include "base/text.h"
#include "match/print.h"
#include "match/request.h"
#include "match/words.h"
#include "sched/explain/explain.h"
#include "slurmctld/core/job_ids.h"

namespace muster::match {
namespace {

Result<> expect_words(const std::vector<std::string>& words, size_t least, size_t most) {
  if (words.size() < least + 1) return fail(Errc::kInvalidArgument, words[0] + " needs more words", "see help");
  if (words.size() > most + 1)
    return fail(Errc::kInvalidArgument, words[0] + " does not know what to do with '" + words[most + 1] + "'", "see help");
  return {};
}

// Reads "90s", "30m", "2h", "1d", and what --time takes.
Result<Duration> parse_span(const std::string& text) {
  constexpr std::pair<char, int64_t> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  for (auto [unit, length] : kUnits)
    if (!text.empty() && text.back() == unit)
      if (auto n = parse_number<int64_t>(std::string_view(text).substr(0, text.size() - 1), 0, 1'000'000)) return seconds(*n * length);
  auto limit = parse_time_limit(text);
  if (!limit || !limit->minutes)
    return fail(Errc::kInvalidArgument, "'" + text + "' is no span of time", "for example 90s, 30m, 2h, 1-12:00:00");
  return minutes(*limit->minutes);
}

}  // namespace

Session::Session(std::shared_ptr<const config::LoadedConfig> loaded) : world_(std::move(loaded)) {
  world_.set_witness([this](const Event& e) { witness(e); });
}

const std::vector<Session::Command>& Session::commands() {
  static const std::vector<Command> kCommands = {
      {"allocate", "[NAME] OPTIONS", "place a job now, if there is room for it", &Session::allocate},
      {"submit", "[NAME] OPTIONS", "put a job into the queue", &Session::submit},
      {"plan", "", "one full pass of the scheduler over the queue", &Session::plan},
      {"advance", "SPAN", "move the clock; jobs end at their time limits", &Session::advance},
      {"run", "SPAN", "the same, with a pass now and at every end", &Session::run},
      {"free", "NAME", "end a running job, cancel a waiting one", &Session::free},
      {"down", "NODES", "nodes fail", &Session::down},
      {"drain", "NODES", "nodes take no new jobs", &Session::drain},
      {"up", "NODES", "nodes are back in service", &Session::up},
      {"move", "NODES [TOPOLOGY:UNIT]", "put nodes elsewhere in a topology, or nowhere", &Session::move},
      {"extra", "NODES [TEXT]", "set what nodes say of themselves, for --extra", &Session::extra},
      {"reserve", "KEY=VALUE …", "make a reservation, as scontrol create reservation does; the name alone ends one", &Session::reserve},
      {"show", "nodes|queue|topology", "the state as a table", &Session::show},
      {"explain", "NAME", "why a job waits, and until when", &Session::explain},
      {"help", "", "this list", &Session::print_help},
      {"quit", "", "end here", &Session::quit},
  };
  return kCommands;
}

std::string Session::help() {
  std::string out;
  for (const Command& c : commands()) {
    std::string left = std::string("  ") + c.name + (*c.arguments ? " " : "") + c.arguments;
    left.resize(std::max<size_t>(left.size() + 1, 28), ' ');
    out += left + c.summary + "\n";
  }
  return out + "OPTIONS are those of sbatch. SPAN: 90s, 30m, 2h, or as --time takes it. NODES: a host list.\n"
               "NAME: a job's name or id, name_3 for a task of an array. From # on a line is a comment.\n";
}

Answer Session::execute(std::string_view line) {
  answer_ = {};
  Result<> done;
  auto words = split_words(line);
  if (!words) {
    done = std::unexpected(words.error());
  } else if (!words->empty()) {
    const auto& all = commands();
    auto known = std::ranges::find_if(all, [&](const Command& c) { return (*words)[0] == c.name; });
    if (known != all.end()) {
      done = (this->*known->run)(*words);
    } else {
      std::vector<std::string_view> names;
      for (const Command& c : all) names.emplace_back(c.name);
      const std::string_view near = did_you_mean((*words)[0], names);
      done = fail(Errc::kInvalidArgument, "there is no command '" + (*words)[0] + "'",
                  near.empty() ? "see help" : "did you mean " + std::string(near) + "?");
    }
  }
  if (!done) {
    answer_.failed = true;
    answer_.text += "error: " + std::string(done.error().message()) + "\n";
    if (!done.error().hint.empty()) answer_.text += "  " + done.error().hint + "\n";
  }
  return std::move(answer_);
}

// Prints what happens as it becomes true, whichever command brought it about.
void Session::witness(const Event& event) {
  const Cluster& cluster = world_.cluster();
  auto line = [&](const char* what, JobId id, const std::string& rest) {
    const Job* j = cluster.jobs.find(id.value);
    if (!j) return;
    answer_.text += (planned_ ? "" : "+" + span_text(world_.elapsed()) + " ") + what + " " + name_of(*j) + rest;
  };
  if (const auto* s = std::get_if<event::JobStarted>(&event)) {
    line("start", s->task_job ? s->task_job : s->job,
         std::string(s->flags & kJobPowerUpNode ? " (powers up)" : "") + ": " + allocation_text(cluster, *s->allocation));
  } else if (const auto* e = std::get_if<event::JobEnding>(&event)) {
    line("end", e->task_job ? e->task_job : e->job, ": " + std::string(job_state_name(e->state)) + "\n");
  } else if (const auto* r = std::get_if<event::JobRequeued>(&event)) {
    line("requeue", r->job, "\n");
  }
}

Result<JobRequest> Session::request_of(const Words& words) {
  const uint32_t next = slurmctld::expected_job_id(world_.cluster(), world_.settings().config()).value;
  MUSTER_TRY(made, make_request(std::span(words).subspan(1), "job" + std::to_string(next), world_.now()));
  answer_.text += made.warnings;
  bool taken = false;
  world_.cluster().jobs.for_each([&](uint32_t, const Job& j) { taken = taken || (!j.finished() && j.name() == made.request.name); });
  // Commands find jobs again by their names.
  if (taken) return fail(Errc::kInvalidArgument, "a job named " + made.request.name + " is there already");
  return std::move(made.request);
}

Result<> Session::allocate(const Words& words) {
  MUSTER_TRY(request, request_of(words));
  if (!request.array.empty()) return fail(Errc::kInvalidArgument, "allocate places one job, not an array", "submit it and plan");
  planned_ = true;
  auto done = world_.allocate(request);
  if (!done) {
    answer_.text += "never " + request.name + ": " + std::string(done.error().message()) +
                    (done.error().hint.empty() ? "" : " (" + done.error().hint + ")") + "\n";
    return {};
  }
  if (!done->start) answer_.text += "later " + request.name + ": " + verdict_text(done->verdict, world_.now()) + "\n";
  return {};
}

Result<> Session::submit(const Words& words) {
  MUSTER_TRY(request, request_of(words));
  auto done = world_.submit(request);
  if (!done) {
    answer_.text += "never " + request.name + ": " + std::string(done.error().message()) +
                    (done.error().hint.empty() ? "" : " (" + done.error().hint + ")") + "\n";
    return {};
  }
  answer_.text += "queued " + request.name + " as job " + std::to_string(done->value) + "\n";
  return {};
}

void Session::say_waiting(const sched::Plan& plan) {
  for (const auto& [id, verdict] : plan.verdicts) {
    const Job* j = world_.cluster().jobs.find(id.value);
    if (j && j->pending()) answer_.text += "wait " + name_of(*j) + ": " + verdict_text(verdict, world_.now()) + "\n";
  }
}

Result<> Session::plan(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 0, 0));
  planned_ = true;
  say_waiting(world_.plan());
  return {};
}

Result<> Session::advance(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 1));
  MUSTER_TRY(span, parse_span(words[1]));
  planned_ = false;
  world_.advance(span, false);
  return {};
}

Result<> Session::run(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 1));
  MUSTER_TRY(span, parse_span(words[1]));
  planned_ = false;
  world_.advance(span, true);
  return {};
}

// The jobs of a name or id: several for the name of an array.
Result<std::vector<JobId>> Session::find(const std::string& name) const {
  std::vector<JobId> out;
  world_.cluster().jobs.for_each([&](uint32_t id, const Job& j) {
    if (j.finished()) return;
    if (name_of(j) == name || j.name() == name || std::to_string(id) == name) out.push_back(JobId(id));
  });
  if (out.empty()) return fail(Errc::kInvalidJobId, "no job waits or runs as '" + name + "'", "see show queue");
  return out;
}

Result<> Session::free(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 1));
  MUSTER_TRY(jobs, find(words[1]));
  planned_ = true;
  for (JobId id : jobs) MUSTER_TRY_VOID(world_.end(id));
  return {};
}

Result<> Session::down(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 1));
  planned_ = true;
  return world_.set_node(words[1], "DOWN", "taken down");
}

Result<> Session::drain(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 1));
  planned_ = true;
  return world_.set_node(words[1], "DRAIN", "drained");
}

Result<> Session::up(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 1));
  return world_.set_node(words[1], "RESUME", "");
}

Result<> Session::move(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 2));
  return world_.change_nodes(words[1], "Topology", words.size() > 2 ? words[2] : "");
}

Result<> Session::extra(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 2));
  return world_.change_nodes(words[1], "Extra", words.size() > 2 ? words[2] : "");
}

Result<> Session::reserve(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 40));
  rpc::UpdateReservation request;
  request.create = words[1].find('=') != std::string::npos;
  request.remove = !request.create;
  if (request.remove) request.name = words[1];
  for (size_t i = 1; request.create && i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (equals == std::string::npos) return fail(Errc::kInvalidArgument, "'" + words[i] + "' is no KEY=VALUE", "see help");
    rpc::KeyValue kv{words[i].substr(0, equals), "=", words[i].substr(equals + 1)};
    if (iequals(kv.key, "ReservationName")) request.name = kv.value;
    else request.changes.push_back(std::move(kv));
  }
  planned_ = true;
  MUSTER_TRY(said, world_.reserve(request));
  answer_.text += said;
  return {};
}

Result<> Session::show(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 1));
  if (words[1] == "nodes") answer_.text += nodes_table(world_.cluster());
  else if (words[1] == "queue") answer_.text += queue_table(world_.cluster(), world_.now());
  else if (words[1] == "topology") answer_.text += topology_table(world_.cluster());
  else return fail(Errc::kInvalidArgument, "there is no table '" + words[1] + "'", "show nodes, show queue or show topology");
  return {};
}

Result<> Session::explain(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 1, 1));
  MUSTER_TRY(jobs, find(words[1]));
  const sched::Plan plan = world_.look();
  for (JobId id : jobs) {
    const Job& job = world_.cluster().jobs.at(id.value);
    if (!job.pending()) {
      answer_.text += name_of(job) + " runs: " + allocation_text(world_.cluster(), *job.allocation);
      if (job.ends != kTimeInfinite && job.ends != kTimeUnset)
        answer_.text += "    ends in +" + span_text(job.ends - world_.now()) + " at the latest\n";
      continue;
    }
    const bool starts = std::ranges::any_of(plan.starts, [&](const sched::StartItem& s) { return s.job == id; });
    uint32_t ahead = 0;
    world_.cluster().jobs.for_each([&](uint32_t, const Job& o) {
      if (o.pending() && (o.priority > job.priority || (o.priority == job.priority && o.id < job.id))) ++ahead;
    });
    auto verdict = std::ranges::find_if(plan.verdicts, [&](const auto& v) { return v.first == id; });
    answer_.text += name_of(job) + " waits, priority " + std::to_string(job.priority) + ", " + std::to_string(ahead) + " before it\n";
    if (starts) answer_.text += "    the next plan starts it\n";
    if (verdict != plan.verdicts.end()) answer_.text += "    " + verdict_text(verdict->second, world_.now()) + "\n";
    if (!starts) answer_.text += explanation_text(sched::explain_job(world_.cluster(), world_.settings().sched, world_.now(), job));
  }
  return {};
}

Result<> Session::print_help(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 0, 0));
  answer_.text += help();
  return {};
}

Result<> Session::quit(const Words& words) {
  MUSTER_TRY_VOID(expect_words(words, 0, 0));
  answer_.quit = true;
  return {};
}

}  // namespace muster::match
