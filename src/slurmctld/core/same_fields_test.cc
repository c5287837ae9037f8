// Which fields rows and records take over from what they are made of. A field that appears here was written on both sides with one
// name and one type: is it the same thing? What is not is set after the copy, or is called otherwise.
#include "base/same_fields.h"

#include <gtest/gtest.h>

#include "model/accounting.h"
#include "model/job.h"
#include "model/node.h"
#include "model/rows.h"
#include "model/step_request.h"

namespace muster {
namespace {

TEST(SameFields, OfJobs) {
  EXPECT_EQ((same_field_names<Job, JobRow>()),
            "id state flags reason priority time_limit_min array_job_id array_task restarts submitted eligible started ends ended "
            "suspended suspended_total batch_host exit_status derived_exit_status resized preempted het");
  EXPECT_EQ((same_field_names<Job, JobRecord>()),
            "array_job_id array_task state reason flags eligible started ended suspended "
            "suspended_total priority time_limit_min exit_status derived_exit_status cancelled_by het association");
  EXPECT_EQ((same_field_names<RequestBody, JobRecord>()),
            "uid gid account qos wckey reservation mcs_label container features licenses wckey_is_default exclusive");
  EXPECT_EQ((same_field_names<RequestOwn, JobRecord>()),
            "name comment admin_comment extra work_dir submit_line std_in std_out std_err script_hash environment_hash");
}

TEST(SameFields, OfSteps) {
  EXPECT_EQ((same_field_names<Step, StepRow>()), "id state start time_limit_min srun_host srun_pid");
  EXPECT_EQ((same_field_names<StepRequest, StepRow>()),
            "name distribution network cpu_freq tres_bind tres_freq tres_per_step tres_per_socket tres_per_task std_in std_out std_err");
  EXPECT_EQ((same_field_names<StepRow, StepRecord>()), "id name nodes tasks cpus node_list cpu_freq submit_line std_in std_out std_err");
}

TEST(SameFields, OfNodes) {
  EXPECT_EQ(
      (same_field_names<NodeHardware, NodeRow>()),
      "arch os version cpus boards sockets cores_per_socket threads_per_core real_memory_mb tmp_disk_mb features boot_time slurmd_start");
  EXPECT_EQ((same_field_names<NodeSpec, NodeRow>()), "name address hostname comment extra port cpus boards sockets cores_per_socket "
                                                     "threads_per_core real_memory_mb tmp_disk_mb weight core_spec_count features");
  EXPECT_EQ((same_field_names<Node, NodeRow>()), "comment extra reason flags weight features_active reason_uid reason_time last_busy "
                                                 "resume_after jobs_running instance_id instance_type mcs_label");
}

}  // namespace
}  // namespace muster
