// The jobs of the accounting benches: 500 users in 50 accounts, spread evenly over a time, ended. The same numbers make the same records.
#pragma once

#include <string>

#include "model/accounting.h"

namespace muster::slurmdbd {

// Job `id` of `of`, which are submitted one after the other within `seconds_long` from `start` on.
inline JobRecord bench_job(uint32_t id, uint32_t of, Time start, int64_t seconds_long) {
  JobRecord job;
  job.key = {JobId(id), start + seconds(seconds_long * id / of), 0};
  job.position = id;
  job.uid = Uid(1000 + id % 500);
  job.user = "user" + std::to_string(id % 500);
  job.account = "lab" + std::to_string(id % 50);
  job.qos = id % 10 ? "normal" : "high";
  job.name = "train";
  job.partition = id % 3 ? "gpu" : "cpu";
  job.state = id % 20 ? JobState::kCompleted : JobState::kFailed;
  job.eligible = job.key.submitted;
  job.started = job.key.submitted + seconds(10);
  job.ended = job.started + minutes(5 + id % 300);
  job.node_list = "n[1-4]";
  job.tres_allocated = job.tres_requested = TresAmounts::from_text("cpu=64,mem=512G,node=4,billing=64,gres/gpu=32,gres/gpu:h100=32");
  job.work_dir = "/home/user/project";
  job.submit_line = "sbatch --nodes=4 --gres=gpu:8 train.sh";
  return job;
}

}  // namespace muster::slurmdbd
