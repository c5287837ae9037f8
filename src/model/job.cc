#include "model/job.h"

#include <algorithm>

#include "model/same.h"

namespace muster {

bool Step::operator==(const Step& o) const {
  return id == o.id && state == o.state && same(request, o.request) && start == o.start && shares == o.shares &&
         exit_status == o.exit_status && srun_host == o.srun_host && srun_pid == o.srun_pid && time_limit_min == o.time_limit_min &&
         overlap == o.overlap && resv_ports == o.resv_ports;
}

void Job::ask(const JobRequest& whole) {
  request = std::make_shared<const RequestBody>(whole);
  own = PackedOwn(whole);
}

bool Job::is_leaving(NodeId node) const {
  return std::any_of(leaving.begin(), leaving.end(), [&](const NodeShare& s) { return s.node == node; });
}

bool Job::operator==(const Job& o) const {
  return id == o.id && request_id == o.request_id && same(request, o.request) && own == o.own && state == o.state && reason == o.reason &&
         flags == o.flags && priority == o.priority && time_limit_min == o.time_limit_min && array_job_id == o.array_job_id &&
         array_task == o.array_task && same(array_tasks, o.array_tasks) && same(dependencies, o.dependencies) && partition == o.partition &&
         association == o.association && restarts == o.restarts && next_step == o.next_step && submitted == o.submitted &&
         eligible == o.eligible && started == o.started && ends == o.ends && ended == o.ended && suspended == o.suspended &&
         suspended_total == o.suspended_total && same(allocation, o.allocation) && releasing == o.releasing && launched == o.launched &&
         exit_status == o.exit_status && derived_exit_status == o.derived_exit_status && time_warned == o.time_warned && steps == o.steps &&
         same(detail, o.detail) && batch_host == o.batch_host && batch_index == o.batch_index && settling == o.settling &&
         cancelled_by == o.cancelled_by && record_position == o.record_position && resized == o.resized && leaving == o.leaving &&
         prolog_due == o.prolog_due && epilog_due == o.epilog_due && preparing == o.preparing && managed == o.managed &&
         first_port == o.first_port && last_port == o.last_port && step_news == o.step_news;
}

}  // namespace muster
