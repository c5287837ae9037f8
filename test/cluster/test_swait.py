"""srun --async where the resources are busy, and swait."""
import os
import re

import pytest

from harness import until

pytestmark = pytest.mark.better_than_slurm      # newer than 22.05


def steps(cluster, job):
    return [line.split() for line in cluster.ok("squeue", "-s", "-h", "-j", str(job), "-o", "%i %S").lines if re.search(r"\.\d+ ", line)]


def stop(cluster):
    cluster.sh("touch stop-$$; mv stop-$$ stop")


@pytest.fixture
def holder(cluster):
    """A job on one CPU whose tasks go on until there is a file."""
    for name in os.listdir(cluster.work):
        if name.startswith("stop"):
            os.remove(os.path.join(cluster.work, name))
    cluster.file("until.sh", "#!/bin/sh\nwhile [ ! -e stop ]; do sleep 0.05; done\necho over\n")
    cluster.sh("chmod +x until.sh")
    job = cluster.sbatch("-n1", "-c1", "--wrap", "sleep 1000")
    cluster.wait_job(job, "RUNNING")
    yield job
    stop(cluster)
    cluster.cancel_all()


def submit(cluster, job, *args):
    return cluster.ok("srun", "--jobid=%d" % job, "--async", "--parsable", "-n1", "--exact", *args)


def test_a_busy_step_is_queued_with_its_number(cluster, holder):
    first = submit(cluster, holder, "-o", "first.out", "./until.sh")
    second = submit(cluster, holder, "-o", "second.out", "echo", "ran")
    assert (first.out, second.out) == ("%d.0\n" % holder, "%d.1\n" % holder) and second.err == ""
    assert cluster.ok("srun", "--jobid=%d" % holder, "--async", "-n1", "--exact", "-o", "third.out", "true").out == "Submitted step %d.2\n" % holder
    assert "State=PENDING" in cluster.ok("scontrol", "show", "step", "%d.1" % holder).out
    assert cluster.run("swait", "--timeout=1", str(holder)).code == 1
    stop(cluster)
    assert cluster.ok("swait", str(holder)).err == ""
    assert cluster.read("first.out") == "over\n" and cluster.read("second.out") == "ran\n"
    assert steps(cluster, holder) == []


def test_a_waiting_step_is_cancelled(cluster, holder):
    submit(cluster, holder, "./until.sh")
    submit(cluster, holder, "-o", "never.out", "echo", "never")
    cluster.ok("scancel", "%d.1" % holder)
    until("only the other", lambda: [s[0] for s in steps(cluster, holder)] == ["%d.0" % holder])
    stop(cluster)
    cluster.ok("swait", str(holder))
    assert not os.path.exists(os.path.join(cluster.work, "never.out"))


def test_a_waiting_step_outlives_the_controller(cluster, holder):
    submit(cluster, holder, "./until.sh")
    submit(cluster, holder, "-o", "after.out", "echo", "after")
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    stop(cluster)
    cluster.ok("swait", str(holder))
    assert cluster.read("after.out") == "after\n"


def test_swait_in_a_batch_script(cluster):
    out, _ = cluster.run_script("#!/bin/bash\n#SBATCH -n2\nfor i in 1 2 3 4; do srun --async --parsable -n1 -c1 -o swait-$i.out sh -c 'sleep 0.3; echo done' >/dev/null; done\n"
                                "swait; echo $?; cat swait-[1-4].out\n")
    assert out == "0\n" + "done\n" * 4


def test_what_swait_refuses(cluster):
    job = cluster.sbatch("-H", "--wrap", "true")
    for arguments in ((), ("99999",), ("x",), ("1_[2-3]",), ("1", "2"), ("-v", "-Q", "1"), ("--timeout=-1", "1"), ("--timeout=x", "1"), (str(job),), ("--nonsense",)):
        result = cluster.run("swait", *arguments)
        assert result.code == 2 and result.err, result
    assert "Job is pending execution" in cluster.run("swait", str(job)).err
    assert cluster.ok("swait", "--help").out and cluster.ok("swait", "--usage").out and cluster.ok("swait", "--version").out
    cluster.cancel_all()


def test_a_task_of_an_array_must_be_named(cluster):
    """The array's number is one of its tasks', too: the end of that one's steps is not the end of all."""
    job = cluster.sbatch("--array=0-2", "-n1", "--wrap", "srun sleep 1000")
    cluster.wait_job(job, "RUNNING")
    result = cluster.run("swait", "--timeout=1", str(job))
    assert result.code == 2 and "array of several tasks" in result.err, result
    for task in (0, 2):
        until("its step", lambda: cluster.run("swait", "--timeout=1", "%d_%d" % (job, task)).code == 1)
    cluster.ok("scancel", "%d_[0-1]" % job)
    waiting = cluster.sbatch("-H", "--array=5-6", "--wrap", "true")
    result = cluster.run("swait", str(waiting))
    assert result.code == 2 and "array of several tasks" in result.err, result
    cluster.cancel_all()


def test_the_only_task_of_an_array_is_the_array(cluster):
    job = cluster.sbatch("--array=7", "-n1", "--wrap", "srun sleep 1000")
    cluster.wait_job(job, "RUNNING")
    until("its step", lambda: cluster.run("swait", "--timeout=1", str(job)).code == 1)
    cluster.cancel_all()


def test_a_task_of_an_array_waits_for_its_own_steps(cluster):
    text = "#!/bin/bash\n#SBATCH -n1 --array=0-1\nsrun true\nswait; echo $?; swait $SLURM_JOB_ID; echo $?\n"
    job = cluster.sbatch("-o", "own-%a.out", cluster.file("own.sh", text))
    until("both tasks' words", lambda: all(os.path.exists(os.path.join(cluster.work, "own-%d.out" % t)) and
                                           cluster.read("own-%d.out" % t) == "0\n0\n" for t in (0, 1)))
    cluster.wait_job(job)
