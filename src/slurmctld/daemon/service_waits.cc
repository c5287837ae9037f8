// Commands that wait for what becomes of a job: sbatch --wait, scontrol wait_job, swait; sacct -j for records on their way. They
// wait on the core thread (waiters.h, record_waits.h) as long as there is somebody to answer. Those that wait for slurmdbd's answer wait in
// database_questions.h.
#include "slurmctld/core/waits.h"
#include "slurmctld/daemon/service_handlers.h"

namespace muster::slurmctld {

// Commands that wait on a closed connection would answer nobody.
void Service::forget_waiters(const net::Channel* channel) {
  if (waiting_.erase(channel) == 0) return;
  database_.forget_all(channel);
  core_.post({[this, channel](Core& core, store::EventLog&) -> Reply {
                const auto first = attendants_.lower_bound({channel, 0});
                auto last = first;
                for (; last != attendants_.end() && last->first.connection == channel; ++last) core.leave(last->second);
                attendants_.erase(first, last);
                core_.waiters().forget_all(channel);
                core_.record_waits().forget_all(channel);
                return {};
              },
              [](const Error&) {}});
}

// A node daemon says that somebody for whom it passed requests on is gone.
Result<> Service::asker_gone(const Call& call, rpc::AskerGone gone) {
  const Line line{call.channel.lock().get(), gone.asker};
  looked_up_.erase(line);
  database_.forget(line);
  core_.post({[this, line](Core& core, store::EventLog&) -> Reply {
                for (auto [at, end] = attendants_.equal_range(line); at != end; ++at) core.leave(at->second);
                attendants_.erase(line);
                core_.waiters().forget(line);
                core_.record_waits().forget(line);
                return {};
              },
              [](const Error&) {}});
  return {};
}

Line Service::line_of(const Call& call) {
  const net::ChannelPtr channel = call.channel.lock();
  waiting_.insert(channel.get());
  return {channel.get(), call.passed_on.asker};
}

template <class Request, class Wait>
void Service::wait_for(const Call& call, JobId id, Wait wait) {
  auto done = [this, call, wait = std::move(wait)](const Cluster& cluster, const Job* job, std::vector<Reply>& replies) mutable {
    auto answer = wait.look(cluster, job);
    if (!answer) return false;
    if (*answer) replies.push_back([this, call, a = **answer] { finish<Request>(call, a); });
    else replies.push_back([this, call, e = answer->error()] { refuse(call, e); });
    return true;
  };
  core_.post({[this, call, id, done, line = waits<Request>(call)](Core& core, store::EventLog&) mutable -> Reply {
                std::vector<Reply> replies;
                if (done(core.cluster(), core.cluster().jobs.find(id.value), replies)) return replies[0];
                Result<> waits = core_.waiters().add(id, line, call.who.uid, done);
                if (!waits) return [this, call, e = waits.error()] { refuse(call, e); };
                return {};
              },
              [this, call](const Error& e) { refuse(call, e); }});
}

// salloc and srun: as long as their request is open somebody is there for the allocation (InactiveLimit).
void Service::attend(const Call& call, JobId job) {
  core_.post({[this, call, job, line = waits<rpc::WaitJob>(call)](Core& core, store::EventLog&) -> Reply {
                const Job* j = core.cluster().jobs.find(job.value);
                const bool may = j && Rights(core.settings(), core.cluster().directory, call.who).may(Right::kFinishAllocation, *j);
                if (!may || !core_.waiters().may_add(call.who.uid)) return {};
                attend(core, line, job);
                return {};
              },
              {}});
}

void Service::attend(Core& core, Line line, JobId job) {
  attendants_.emplace(line, job);
  core.attend(job);
}

Result<> Service::wait_job(const Call& call, rpc::WaitJob request) {
  if (request.attends) attend(call, request.job);
  wait_for<rpc::WaitJob>(call, request.job, JobWait(request, privacy_of(call)));
  return {};
}

// swait. The manager's news come first: a step of srun --async that has just been made is one to wait for.
Result<> Service::wait_steps(const Call& call, rpc::WaitSteps request) {
  when_told(call, row_of<rpc::WaitSteps>.of_job, {request.job}, [this, call, id = request.job] {
    if (call.channel.expired()) return;
    wait_for<rpc::WaitSteps>(call, id, StepsWait(privacy_of(call), rights_of(call)));
  });
  return {};
}

// sacct right after sbatch.
Result<> Service::wait_records(const Call& call, rpc::WaitRecords request) {
  auto kept = std::make_shared<const rpc::WaitRecords>(std::move(request));
  core_.post({[this, call, kept, line = waits<rpc::WaitRecords>(call)](Core& core, store::EventLog&) -> Reply {
                const Privacy privacy(core.settings(), core.cluster().directory, call.who);
                const uint64_t position = records_awaited(core.cluster(), core.indexes(), privacy, kept->jobs);
                Reply answer = [this, call] { finish<rpc::WaitRecords>(call, {}); };
                if (core_.record_waits().add(position, line, call.who.uid, answer)) return {};
                return answer;
              },
              [this, call](const Error& e) { refuse(call, e); }});
  return {};
}

DatabaseQuestions::Way Service::way_to_database() const {
  const auto settings = ports_.settings();
  const config::Config& config = settings->config();
  DatabaseQuestions::Way way{{config.accounting_storage_host}, config.accounting_storage_port, ports_.security, config.message_timeout};
  if (!config.accounting_storage_backup_host.empty()) way.hosts.push_back(config.accounting_storage_backup_host);
  return way;
}

// sacct, sacctmgr and their like where there is no slurmdbd. It judges the question; here it is only said who asks.
Result<> Service::ask_database(const Call& call, rpc::AskDatabase request) {
  if (!keeps_records(ports_.settings()->config())) return fail(Errc::kDisabled, {}, "this cluster keeps no accounting records");
  DatabaseQuestions::Question question;
  question.user = call.who.uid;
  question.line = waits<rpc::AskDatabase>(call);
  question.asker = call.channel;
  question.relay = wire::encoded(relay_of(call, request.message, std::move(request.payload)));
  MUSTER_TRY(place, ports_.pass_on(call.who.uid, question.relay.size()));
  question.place = std::move(place);
  question.part = [call](std::string part) {
    if (auto asker = call.channel.lock()) asker->answer_part(call.id, call.message, std::move(part));
  };
  question.answered = [this, call](Result<std::string> answer) {
    answer ? this->answer(call, std::move(*answer)) : refuse(call, answer.error());
  };
  database_.ask(std::move(question));
  return {};
}

}  // namespace muster::slurmctld
