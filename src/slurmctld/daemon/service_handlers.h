// What the files of Service have in common: how a request is read and how it is answered, and the plain handlers.
#pragma once

#include <algorithm>

#include "model/message_bounds.h"
#include "slurmctld/core/passed_on.h"
#include "slurmctld/core/served.h"
#include "slurmctld/daemon/service.h"
#include "steps/credential.h"
#include "steps/step_ports.h"
#include "wire/instances.h"

namespace muster::slurmctld {

// Reads a client's request; the error says why it is not a valid one.
template <class Request>
Result<> read(std::string_view payload, Request& request) {
  MUSTER_TRY_VOID(wire::decode(payload, request));
  return check_bounds(request);
}

template <class Request>
void Service::finish(const Call& call, const AnswerTo<Request>& value) {
  answer(call, wire::encoded(value));
}

template <class Request>
Result<> Service::change(const Call& call, Request request) {
  auto kept = std::make_shared<const Request>(std::move(request));
  core_.post({[this, call, kept](Core& core, store::EventLog&) -> Reply {
                auto answer = core.run(call.who, *kept);
                Result<> whole = answer ? complete(core, call, *kept, *answer) : std::unexpected(answer.error());
                if (!whole) return [this, call, e = whole.error()] { refuse(call, e); };
                return [this, call, a = std::move(*answer)] { finish<Request>(call, a); };
              },
              [this, call](const Error& e) { refuse(call, e); }});
  return {};
}

// Adds the signed credential: for a step whose nodes the core has decided, or for nodes that a step may reach.
template <class Request>
Result<> Service::complete(const Core& core, const Call& call, const Request& request, rpc::StepCreated& step) {
  const Job& job = core.cluster().jobs.at(step.job.value);
  rpc::StepCredential c = steps::credential_of_job(core.cluster(), job);
  auto at = std::ranges::find(job.steps, step.step, &Step::id);
  steps::add_step(c, step, at == job.steps.end() ? std::string() : steps::port_ranges(at->resv_ports), net::Loop::now());
  if constexpr (requires { request.request.spank; })
    if (request.request.spank) steps::add_job_shares(c, *job.allocation);
  if constexpr (requires { request.purpose; }) c.purpose = request.purpose;
  c.by_key_alone = by_key_alone(core.cluster(), core.settings(), job, call.who.uid);
  return sign(c, step);
}

template <class Request>
Result<> Service::of_members(const Call& call, Request request) {
  const auto channel = call.channel.lock();
  if (!channel) return {};
  MUSTER_TRY(answer, members_.answer(*channel, callers_.subject(channel->peer()), call.who, request));
  finish<Request>(call, answer);
  return {};
}

inline Result<> Service::join(Call call, rpc::JoinNode request) {
  const auto channel = call.channel.lock();
  if (!channel) return {};
  call.who.token_names = members_.names_kept_from(*channel);
  return change(call, std::move(request));
}

template <class Request>
Result<> Service::change_by_manager(const Call& call, Request request) {
  const auto manager = manager_to_ask(*core_.snapshot(), *ports_.settings(), call.who, row_of<Request>.of_job, request.job);
  if (manager) return ask_manager(*manager, call, wire::encoded(request));
  return change(call, std::move(request));
}

// The jobs whose steps are meant.
inline std::vector<JobId> jobs_of_steps(const rpc::UpdateStep& request) { return {request.job.job}; }
inline std::vector<JobId> jobs_of_steps(const rpc::SignalJobs& request) {
  std::vector<JobId> out;
  for (const rpc::JobSelector& s : request.filter.jobs)
    if (s.has_step) out.push_back(s.job);
  return out;
}

template <class Request>
Result<> Service::change_told(const Call& call, Request request) {
  auto kept = std::make_shared<Request>(std::move(request));
  when_told(call, row_of<Request>.of_job, jobs_of_steps(*kept), [this, call, kept] { (void)change(call, std::move(*kept)); });
  return {};
}

}  // namespace muster::slurmctld
