// scontrol show job: the keys that the facts of a job (job_fields.h) have in the record, and what of it is made of several values.
#include "fields/show_job.h"

#include <algorithm>

#include "fields/job_composites.h"
#include "fields/job_fields.h"
#include "fields/job_values.h"
#include "hostlist/hostlist.h"
#include "model/mail.h"

namespace muster::fields {
void show_job(const JobView& v, const ShowOptions& options, std::string& out) {
  Record r(out, options.oneliner);
  job_record().print(v, options.details, r);
  r.end();
}

void show_submit_host(const JobView& v, std::string& out) {
  put_or(out, v.request.alloc_node);
  out += ':';
  put_number(out, v.request.alloc_sid);
}

void show_switches(const JobView& v, std::string& out) {
  put_number(out, v.request.switches);
  out += '@';
  put_span_full(out, v.request.switches_wait);
}

void show_mail_type(const JobView& v, std::string& out) { put(out, format_mail_type(v.request.mail_type)); }

// A range is printed where the job asked for one, and for a held job, for which nobody has worked out yet how many nodes it will get.
void show_nodes(const JobView& v, std::string& out) {
  put_number(out, v.row.nodes);
  if (v.row.state != JobState::kPending || (!v.row.max_nodes && v.row.priority != 0)) return;
  out += '-';
  put_number(out, most_nodes(v));
}

void show_shape(const JobView& v, std::string& out) {
  out += "0:0:";
  put_number_or_star(out, v.request.cores_per_socket);
  out += ':';
  put_number_or_star(out, v.request.threads_per_core);
}

void show_tasks_per(const JobView& v, std::string& out) {
  put_number(out, v.request.ntasks_per_node);
  out += ":0:";
  put_number_or_star(out, v.request.ntasks_per_socket);
  out += ':';
  put_number_or_star(out, v.request.ntasks_per_core);
}

void show_reason(const JobView& v, std::string& out) {
  const size_t from = out.size();
  put(out, reason_text(v.row));
  std::replace(out.begin() + static_cast<std::ptrdiff_t>(from), out.end(), ' ', '_');
}

void show_shares(const JobView& view, const ShownKey<JobView>&, Record& record) {
  auto same = [](const NodeShareRow& a, const NodeShareRow& b) {
    return a.cpu_ids == b.cpu_ids && a.mem_mb == b.mem_mb && a.gres == b.gres && a.channel == b.channel;
  };
  for (auto s = view.row.shares.begin(); s != view.row.shares.end();) {
    auto end = std::find_if(s, view.row.shares.end(), [&](const NodeShareRow& next) { return !same(*s, next); });
    std::vector<std::string> nodes;
    for (auto one = s; one != end; ++one) nodes.push_back(one->node);
    record.line();
    record.out() += "  ";  // on one line, too
    record.pair("Nodes", compress_hosts(nodes)).pair("CPU_IDs", s->cpu_ids).pair("Mem", s->mem_mb).pair("GRES", s->gres);
    if (s->channel) record.pair("Channel", *s->channel);
    s = end;
  }
}

}  // namespace muster::fields
