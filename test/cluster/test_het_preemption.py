"""Heterogeneous jobs for which others make room, with real daemons: all components start then, and nobody ends for a part of them."""
import pytest

from harness import until
from test_het_jobs import rows, running, states, submit
from test_preemption import make, whole

pytestmark = pytest.mark.better_than_slurm      # harness and texts of our own beside Slurm's behaviour


def waits_for_room(cluster, job):
    until("a reason", lambda: {row[-1] for row in rows(cluster, "-j", str(job))} == {"Resources"})


def test_all_components_get_their_place(make_cluster):
    cluster = make(make_cluster, "REQUEUE")
    low = [whole(cluster, "-N1"), whole(cluster, "-N1")]
    for job in low:
        cluster.wait_job(job, "RUNNING")
    high = submit(cluster, "-phigh", "-N1", "--exclusive", ":", "-phigh", "-N1", "--exclusive", "--wrap",
                  "srun --het-group=0,1 sh -c 'echo $SLURMD_NODENAME' > hosts; while [ ! -f over ]; do sleep 0.05; done")
    running(cluster, high)
    assert [cluster.job(job)["JobState"] for job in low] == ["PENDING", "PENDING"]
    assert [cluster.job(job)["Restarts"] for job in low] == ["1", "1"]
    for job in low:
        said = cluster.ok("squeue", "-h", "-j", str(job), "-O", "system_comment:60").out.strip()
        assert said == "preempted by job %d" % high
    until("the tasks of both", lambda: len(set(cluster.run("cat", cluster.work + "/hosts").out.split())) == 2)
    cluster.file("over", "")
    for job in low:
        cluster.wait_job(job, "RUNNING")


def test_nobody_ends_for_a_part(make_cluster):
    """The second component may not end anybody, and there is no node left for it: so the first one ends nobody either."""
    cluster = make(make_cluster, "CANCEL")
    low = [whole(cluster, "-N1"), whole(cluster, "-N1")]
    for job in low:
        cluster.wait_job(job, "RUNNING")
    waits = submit(cluster, "-phigh", "-N1", "--exclusive", ":", "-plow", "-N1", "--exclusive", "--wrap", "true")
    waits_for_room(cluster, waits)
    assert [cluster.job(job)["JobState"] for job in low] == ["RUNNING", "RUNNING"]      # the pass that said so would have ended them
    cluster.ok("scancel", str(waits))
    both = submit(cluster, "-phigh", "-N1", "--exclusive", ":", "-phigh", "-N1", "--exclusive", "--wrap", "sleep 600")
    running(cluster, both)
    assert [cluster.job(job)["JobState"] for job in low] == ["PREEMPTED", "PREEMPTED"]
    for job in low:
        assert "It made room for job %d." % both in cluster.ok("muster", "explain", str(job)).out


def test_all_wait_for_the_grace_time_of_one(make_cluster):
    cluster = make(make_cluster, "REQUEUE", low="GraceTime=60")
    cluster.file("task.sh", "#!/bin/bash\ntrap 'echo told >> told; exit 0' TERM\ntouch ready\nwhile :; do sleep 0.1; done\n")
    low = cluster.sbatch("-N1", "--exclusive", "--wrap", "srun -N1 -n1 bash task.sh; sleep 600")
    until("the task", lambda: cluster.run("ls", cluster.work + "/ready").code == 0)
    high = submit(cluster, "-phigh", "-N1", "--exclusive", ":", "-phigh", "-N1", "--exclusive", "--wrap", "sleep 600")
    until("the task to be told", lambda: cluster.run("cat", cluster.work + "/told").out == "told\n")
    assert set(states(cluster, high).values()) == {"PENDING"}       # though a node is idle
    for component in ("%d+0" % high, "%d+1" % high):
        told = cluster.ok("muster", "explain", component).out
        assert "1 job ends to make room for it:" in told, told
    assert "It makes room for job %d" % high in cluster.ok("muster", "explain", str(low)).out
    later = whole(cluster, "-p", "high", "-N1", command="true")      # the idle node is kept for them
    until("a reason", lambda: cluster.job(later)["Reason"] in ("Resources", "Priority"))
    cluster.ok("scancel", "--signal=KILL", "--batch", str(low))
    running(cluster, high)
    assert cluster.job(later)["JobState"] == "PENDING"


def test_exempt_time_of_one_holds_off_all(make_cluster):
    cluster = make(make_cluster, "REQUEUE", more="PreemptExemptTime=00:30:00")
    low = whole(cluster, "-N1")
    cluster.wait_job(low, "RUNNING")
    high = submit(cluster, "-phigh", "-N1", "--exclusive", ":", "-phigh", "-N1", "--exclusive", "--wrap", "true")
    waits_for_room(cluster, high)
    assert cluster.job(low)["JobState"] == "RUNNING"
    told = cluster.ok("muster", "explain", str(high)).out
    assert "It may take the place of 1 job at" in told and "(PreemptExemptTime)" in told, told
