// A controller core for fuzzers: four nodes, a turn at a time, and what has to hold after each. Commands and queries come as the bytes of a
// message and go through Core::run and query_from(), so that they are covered as soon as they have a row in commands.def.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "config/load.h"
#include "model/message_bounds.h"
#include "slurmctld/core/core.h"
#include "slurmctld/core/query.h"
#include "wire/cluster_codec.h"
#include "wire/instances.h"

namespace muster::slurmctld {

template <class T>
inline constexpr bool kIsSubmission = false;
template <class T>
requires std::is_same_v<decltype(T::request), AskedRequest>
inline constexpr bool kIsSubmission<T> = true;

// What the daemon makes of a submission before the core sees it: Callers::complete refuses another user's uid and gid.
template <class Request>
DecidedAs<Request> completed(Request m, const Caller& who) {
  if constexpr (kIsSubmission<Request>) {
    m.request.uid = who.uid;
    m.request.gid = who.gid;
    JobRequest r = job_request(std::move(m.request));
    r.kind = std::is_same_v<Request, rpc::Allocate> ? JobKind::kAllocation : JobKind::kBatch;
    if constexpr (std::is_same_v<DecidedAs<Request>, TestOnly>) return TestOnly{std::move(r)};
    else return r;
  } else if constexpr (std::is_same_v<DecidedAs<Request>, HetRequest>) {
    HetRequest out;
    for (AskedRequest& one : m.components) {
      one.uid = who.uid;
      one.gid = who.gid;
      JobRequest& r = out.components.emplace_back(job_request(std::move(one)));
      r.kind = std::is_same_v<Request, rpc::AllocateHetJob> ? JobKind::kAllocation : JobKind::kBatch;
    }
    return out;
  } else if constexpr (std::is_same_v<Request, rpc::InstallCrontab>) {
    CrontabChange change{m.user, std::move(m.crontab), {}, who};
    for (rpc::CronEntry& e : m.entries) {
      e.request.uid = who.uid;
      e.request.gid = who.gid;
      change.entries.push_back({e.times, e.first_line, e.last_line, job_request(std::move(e.request))});
    }
    return change;
  } else {
    return m;
  }
}

template <class Request>
std::optional<Command> decoded(std::string_view bytes, const Caller& who) {
  if constexpr (row_of<Request>.kind == CommandKind::kChange) {
    Request m;
    if (wire::decode(bytes, m) && check_bounds(m)) return completed(std::move(m), who);
  }
  return std::nullopt;
}

// The command that a message of `who` is; nullopt: it is none that the core decides. `row`: of commands.def.
inline std::optional<Command> command_of(size_t row, std::string_view bytes, const Caller& who) {
  size_t at = 0;
#define MUSTER_COMMAND(request, first, of_job, kind, handler) \
  if (at++ == row) return decoded<rpc::request>(bytes, who);
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
  return std::nullopt;
}

template <class Request>
std::optional<Query> as_query(std::string_view bytes) {
  if constexpr (row_of<Request>.kind == CommandKind::kQuery) {
    Request m;
    if (wire::decode(bytes, m) && check_bounds(m)) return m;
  }
  return std::nullopt;
}

// Likewise of those that are answered from a snapshot.
inline std::optional<Query> query_of(size_t row, std::string_view bytes) {
  size_t at = 0;
#define MUSTER_COMMAND(request, first, of_job, kind, handler) \
  if (at++ == row) return as_query<rpc::request>(bytes);
#include "slurmctld/core/commands.def"
#undef MUSTER_COMMAND
  return std::nullopt;
}

class FuzzController {
 public:
  FuzzController(const char* conf, Uid slurm_user) : settings(make_settings(loaded(conf), slurm_user, false)), core(settings) {
    turn([&] { core.configure(settings); });
    for (uint32_t n = 0; n < 4; ++n) {
      node_rpc::Register r;
      r.node = "n" + std::to_string(n + 1);
      r.hardware.cpus = r.hardware.sockets = 4;
      r.hardware.cores_per_socket = r.hardware.threads_per_core = 1;
      r.hardware.real_memory_mb = 1000;
      turn([&] { core.report(NodeId(n), r); });
    }
  }

  template <class F>
  void turn(F f) {
    core.begin(now);
    f();
    core.housekeep();
    core.commit();
    (void)core.take_effects(now);
    check_indexes();
  }
  // One whose append fails: nothing of it stays.
  template <class F>
  void failing_turn(F f) {
    const auto before = encode_cluster(core.cluster());
    core.begin(now);
    f();
    core.housekeep();
    core.rollback();
    if (encode_cluster(core.cluster()) != before) broken("a turn that failed left something");
    check_indexes();
  }
  void plan(sched::Pass pass = sched::Pass::kFull) { core.carry_out(planner.plan(core.cluster(), core.settings().sched, now, pass)); }

  // Asks as `who` and takes all parts of the answer. Whether there was one.
  bool ask(const Caller& who, Query query) {
    static const QueryTexts kTexts{[] { return std::string("shown"); }, [](bool) { return std::string("written"); },
                                   [](const std::string& hash) -> Result<std::string> { return hash; }};
    auto answer = query_from({core.snapshot(), std::make_shared<const Settings>(core.settings()), now, who, kTexts}, std::move(query));
    if (!answer) return false;
    std::visit(
        []<class Request>(AnswerInParts<Request>& a) {
          PartOf<Request> part;
          for (int parts = 0; a.next && a.next(part); ++parts)
            if (parts > 10'000) broken("an answer without an end");
        },
        *answer);
    return true;
  }

  [[noreturn]] static void broken(const char* what, uint32_t id = 0) {
    std::fprintf(stderr, "%s (%u)\n", what, id);
    std::abort();
  }

  Settings settings;
  Core core;
  sched::Planner planner;
  Time now = from_unix(1795250940);

 private:
  static std::shared_ptr<const config::LoadedConfig> loaded(const char* conf) {
    static const auto kLoaded = [&] {
      config::MemoryFiles files;
      files.put("/c/slurm.conf", conf);
      return std::make_shared<const config::LoadedConfig>(*config::load_config(files, "/c/slurm.conf"));
    }();
    return kLoaded;  // a fuzzer has one
  }
  void check_indexes() {
    if (!core.indexes().same_as(rebuild_indexes(core.cluster(), settings.config().min_job_age)))
      broken("the indexes are not those of a rebuild");
  }
};

}  // namespace muster::slurmctld
