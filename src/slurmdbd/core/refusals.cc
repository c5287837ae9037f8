#include "slurmdbd/core/refusals.h"

#include <algorithm>

namespace muster::slurmdbd {
namespace {

std::string wide(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

}  // namespace

std::string active_job(const JobRecord& job) {
  return "\n  JobID = " + wide(std::to_string(job.key.id.value), 10) + " C = " + wide(job.cluster, 10) + " A = " + wide(job.account, 10) +
         " U = " + wide(job.user, 9);
}

std::unexpected<Error> jobs_active(const std::string& jobs) {
  return fail(Errc::kJobsActiveOnRemove, " Error with request: " + std::string(errc_text(Errc::kJobsActiveOnRemove)) + jobs);
}

std::unexpected<Error> default_qos_not_allowed(const AssociationRecord& a, const std::string& qos) {
  std::string line = "  DefQOS = " + wide(qos, 10) + " C = " + wide(a.cluster, 10) + " A = " + wide(a.account, 20);
  line += a.user.empty() ? " " : " U = " + wide(a.user, 9);
  return fail(Errc::kInvalidQos, " These associations don't have access to their default qos.\n"
                                 " Please give them access before they the default can be set to this.\n" +
                                     line);
}

}  // namespace muster::slurmdbd
