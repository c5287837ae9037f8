// What is printed of a job and made of several of its values, so that no kind (kinds.h) spells it. The rows of job_*_fields.h name these
// functions. All append; they live with the form that they belong to: squeue's in job_composites.cc, scontrol's in show_job.cc, documents'
// in json_job.cc.
#pragma once

#include <string>
#include <string_view>

#include "fields/environment.h"
#include "fields/json_values.h"

namespace muster::fields {

template <class View>
struct ShownKey;
class Record;

// ---- columns of squeue
void job_id(const JobView& v, std::string& out);               // 12_[4-15%2]
void end_or_never(const JobView& v, std::string& out);         // NONE for a job that runs without a limit
void time_left(const JobView& v, std::string& out);            // nothing without a limit
void shape(const JobView& v, std::string& out);                // 2:*:1
void core_spec(const JobView& v, std::string& out);            // "4 Threads"
void mem_per_tres_column(const JobView& v, std::string& out);  // gres/gpu:1024
void nodes_or_reason(const JobView& v, std::string& out);      // n[1-2], (Resources)
void priority_fraction(const JobView& v, std::string& out);    // 0.99998474074527

// ---- values of keys in scontrol's record
void show_submit_host(const JobView& v, std::string& out);   // host:session
void show_switches(const JobView& v, std::string& out);      // 2@00:05:00
void show_mail_type(const JobView& v, std::string& out);     // BEGIN,END
void show_nodes(const JobView& v, std::string& out);         // 1-4
void put_number_or_star(std::string& out, uint32_t number);  // of what may be any number
void show_shape(const JobView& v, std::string& out);         // 0:0:*:*
void show_tasks_per(const JobView& v, std::string& out);     // 0:0:*:*
void show_reason(const JobView& v, std::string& out);        // as one word
// For -d: what the job has on each node. Neighbours in the list with equal shares are printed together.
void show_shares(const JobView& v, const ShownKey<JobView>& key, Record& r);

// ---- members of a job's object
void json_step_id(const JobView& v, std::string_view key, Members& m);
void json_flags(const JobView& v, std::string_view key, Members& m);
void json_mail_type(const JobView& v, std::string_view key, Members& m);
void json_states(const JobView& v, std::string_view key, Members& m);
void json_billable(const JobView& v, std::string_view key, Members& m);
void json_resources(const JobView& v, std::string_view key, Members& m);
void json_gres_detail(const JobView& v, std::string_view key, Members& m);
void json_power(const JobView& v, std::string_view key, Members& m);
void json_no_priorities(const JobView& v, std::string_view key, Members& m);

}  // namespace muster::fields
