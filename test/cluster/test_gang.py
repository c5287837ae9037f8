"""Checklist rows 90 and 91: all nodes or none, what is given stays."""
import pytest

from harness import until


@pytest.mark.row(90)
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


@pytest.mark.row(91)
def test_given_gpus_stay_until_the_end(cluster):
    first = cluster.sbatch("-N4", "--gres=gpu:8", "--wrap", "sleep 60")
    record = cluster.wait_job(first, "RUNNING")
    urgent = cluster.sbatch("-N1", "--gres=gpu:1", "--nice=-100", "--wrap", "true")
    until("a reason", lambda: cluster.job(urgent)["Reason"] in ("Resources", "Priority"))
    now = cluster.job(first)
    assert now["JobState"] == "RUNNING" and now["StartTime"] == record["StartTime"] and now["Restarts"] == "0"
    cluster.ok("scancel", str(first))
    cluster.wait_job(urgent)
