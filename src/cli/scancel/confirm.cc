#include "cli/scancel/confirm.h"

#include <stdio.h>
#include <unistd.h>

#include <algorithm>

#include "base/plain_text.h"
#include "cli/common/job_ids.h"
#include "cli/common/request_table.h"

namespace muster::cli {
namespace {

rpc::JobSelector selector_of(const JobRow& row) {
  rpc::JobSelector s;
  s.job = row.array_job_id ? row.array_job_id : row.id;
  if (row.het) {
    s.job = row.het.leader;
    s.het_offset = row.het.offset;
  }
  if (row.array_task != kNoArrayTask) s.array_task = row.array_task;
  else s.array_tasks = row.array_tasks;
  return s;
}

}  // namespace

Result<std::vector<Candidate>> candidates(Session& session, const rpc::SignalJobs& request) {
  rpc::QueryJobs query;
  query.filter = request.filter;
  for (rpc::JobSelector& s : query.filter.jobs) s.has_step = false;
  if (!query.filter.states && !query.filter.state_flags) {
    query.filter.states = 1u << static_cast<unsigned>(JobState::kPending) | 1u << static_cast<unsigned>(JobState::kRunning) |
                          1u << static_cast<unsigned>(JobState::kSuspended);
    query.filter.state_flags = kJobStopped;
  }
  query.parts = kRowRequest;
  query.show_all = true;
  std::vector<Candidate> out;
  RequestTable requests;
  auto on_part = [&](rpc::JobRows&& part) -> Result<> {
    requests.add(part);
    for (const JobRow& row : part.jobs) out.push_back({selector_of(row), row.id, requests.of(row).name, row.partition});
    return {};
  };
  MUSTER_TRY_VOID(session.stream(query, on_part));
  return out;
}

namespace {

bool is_of(const rpc::JobSelector& named, const Candidate& candidate) {
  const rpc::JobSelector& found = candidate.job;
  if (named.job == candidate.id && named.array_task == kNoArrayTask) return true;
  return named.job == found.job &&
         (named.array_task == kNoArrayTask || found.array_task == kNoArrayTask || named.array_task == found.array_task);
}

bool yes(const std::string& question) {
  for (;;) {
    printf("%s", question.c_str());
    fflush(stdout);
    char answer[64];
    if (!fgets(answer, sizeof answer, stdin)) return false;
    if (answer[0] == 'y' || answer[0] == 'Y') return true;
    if (answer[0] == 'n' || answer[0] == 'N' || answer[0] == '\n') return false;
  }
}

}  // namespace

Result<std::vector<rpc::JobSelector>> confirm_each(Session& session, rpc::SignalJobs& request) {
  std::vector<rpc::JobSelector> confirmed, missing;
  MUSTER_TRY(jobs, candidates(session, request));
  for (const rpc::JobSelector& s : request.filter.jobs) {
    const bool there = std::ranges::any_of(jobs, [&](const Candidate& c) { return is_of(s, c); });
    if (!there) missing.push_back(s);
    else if (s.has_step && yes("Cancel step_id=" + selector_text(s) + " [y/n]? ")) confirmed.push_back(s);
  }
  // A job of which only steps were named is not asked for.
  auto meant = [&](const Candidate& c) {
    return request.filter.jobs.empty() ||
           std::ranges::any_of(request.filter.jobs, [&](const rpc::JobSelector& s) { return !s.has_step && is_of(s, c); });
  };
  for (const Candidate& c : jobs)
    if (meant(c) && yes("Cancel job_id=" + selector_text(c.job) + " name=" + plain(c.name) + " partition=" + c.partition + " [y/n]? "))
      confirmed.push_back(c.job);
  request.filter = {};
  request.filter.jobs = std::move(confirmed);
  return missing;
}

}  // namespace muster::cli
