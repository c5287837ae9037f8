"""Checklist rows 90, 91 and 96: all nodes or none, what is given stays, arrays flow through few GPUs."""
import collections

from harness import until


def test_a_job_starts_on_all_its_nodes_or_on_none(cluster):
    blocker = cluster.sbatch("-w", "n4", "--exclusive", "--wrap", "sleep 60")
    cluster.wait_job(blocker, "RUNNING")
    cluster.file("gang.sh", "#!/bin/bash\n#SBATCH -N4\n#SBATCH --gres=gpu:8\nsrun touch gang-$SLURM_JOB_ID\n")
    gang = cluster.sbatch("gang.sh")
    # Three nodes are free. Smaller jobs after it show that passes have looked at the queue since.
    small = [cluster.sbatch("-N1", "--time=1", "--wrap", "true") for _ in range(3)]
    until("a reason", lambda: cluster.job(gang)["Reason"] in ("Resources", "Priority"))
    record = cluster.job(gang)
    assert record["JobState"] == "PENDING" and record["NodeList"] in ("", "(null)")
    assert cluster.sh("ls gang-*").out == ""
    cluster.ok("scancel", str(blocker))
    assert cluster.wait_job(gang)["NodeList"] == "n[1-4]"
    for job in small:
        cluster.wait_job(job)


def test_given_gpus_stay_until_the_end(cluster):
    first = cluster.sbatch("-N4", "--gres=gpu:8", "--wrap", "sleep 60")
    record = cluster.wait_job(first, "RUNNING")
    urgent = cluster.sbatch("-N1", "--gres=gpu:1", "--nice=-100", "--wrap", "true")
    until("a reason", lambda: cluster.job(urgent)["Reason"] in ("Resources", "Priority"))
    now = cluster.job(first)
    assert now["JobState"] == "RUNNING" and now["StartTime"] == record["StartTime"] and now["Restarts"] == "0"
    cluster.ok("scancel", str(first))
    cluster.wait_job(urgent)


def test_many_shards_on_few_gpus(make_cluster):
    """100 shards, 10 GPUs: never more than ten at a time, no GPU twice, each shard once."""
    cluster = make_cluster(nodes=2, gpus=5, cpus=10)
    cluster.file("shard.sh", "#!/bin/bash\n#SBATCH --array=0-99\n#SBATCH --gres=gpu:1\n#SBATCH -o /dev/null\n"
                 "echo \"$(date +%s%N) + $SLURM_ARRAY_TASK_ID $SLURMD_NODENAME:$CUDA_VISIBLE_DEVICES\" >>log\n"
                 "echo \"$(date +%s%N) - $SLURM_ARRAY_TASK_ID $SLURMD_NODENAME:$CUDA_VISIBLE_DEVICES\" >>log\n")
    job = cluster.sbatch("shard.sh")
    until("100 shards", lambda: not cluster.queue("-j", str(job)), 90)
    busy, most, done = collections.Counter(), 0, collections.Counter()
    for line in sorted(cluster.read("log").splitlines(), key=lambda line: int(line.split()[0])):
        _, sign, shard, gpu = line.split()
        busy[gpu] += 1 if sign == "+" else -1
        most = max(most, sum(busy.values()))
        done[shard] += sign == "-"
        assert gpu.endswith(":") or busy[gpu] <= 1, "two shards on %s" % gpu
    assert done == {str(i): 1 for i in range(100)}
    assert 2 <= most <= 10
