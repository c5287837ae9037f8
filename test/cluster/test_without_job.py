"""srun --no-allocate: root and SlurmUser run on named nodes without a job. The controller lists nothing, the nodes keep nothing."""
import os
import re
import subprocess

import pytest

from harness import until

pytestmark = pytest.mark.better_than_slurm     # Slurm's number is of another range, and its step's as well


def left(cluster, node):
    """What the spool of a node has of runs without a job; their numbers begin with 2 and have ten digits."""
    return [name for name in os.listdir("%s/spool/%s" % (cluster.folder, node)) if re.search(r"\D2\d{9}(\D|$)", name)]


def start(cluster, *options, program="echo $SLURMD_NODENAME $SLURM_NTASKS ${SLURM_JOB_ID-none}; while [ ! -e go ]; do sleep 0.05; done; exit 3"):
    go = os.path.join(cluster.work, "go")
    if os.path.exists(go):
        os.remove(go)
    return subprocess.Popen(["srun", "-Z", *options, "sh", "-c", program], env=cluster.env, cwd=cluster.work, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def end(cluster, process):
    cluster.file("go", "")
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def test_tasks_on_two_nodes(cluster):
    process = start(cluster, "-w", "n[1-2]", "-n4", "-l")
    until("its steps", lambda: left(cluster, "n1") and left(cluster, "n2"))
    assert cluster.queue("-a") == [] and cluster.queue("-s", "-a") == []
    assert set(cluster.node_states().values()) == {"idle"}
    code, out, err = end(cluster, process)
    assert sorted(out.splitlines()) == ["0: n1 4 none", "1: n1 4 none", "2: n2 4 none", "3: n2 4 none"]
    assert code == 3 and err.splitlines()[0] == "srun: do not allocate resources", err
    until("nothing left", lambda: not left(cluster, "n1") and not left(cluster, "n2"))
    assert "JobId" not in cluster.ok("scontrol", "show", "job", "-a").out


def test_whoever_has_the_nodes_and_in_whatever_state(cluster):
    job = cluster.sbatch("-w", "n1", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", "update", "nodename=n2", "state=drain", "reason=test")
    try:
        result = cluster.ok("srun", "-Q", "-Z", "-w", "n[1-2]", "-l", "printenv", "SLURMD_NODENAME")
        assert sorted(result.lines) == ["0: n1", "1: n2"] and result.err == ""
        assert cluster.job(job)["JobState"] == "RUNNING"
        inside = cluster.ok("srun", "-Q", "--overlap", "--jobid=%d" % job, "-n1", "srun", "-Q", "-Z", "-w", "n3", "-n1", "printenv", "SLURMD_NODENAME")
        assert inside.out == "n3\n", "a job that it is called in has nothing to do with it"
    finally:
        cluster.ok("scontrol", "update", "nodename=n2", "state=resume")


def test_a_node_daemon_that_starts_again_goes_on_with_it(cluster):
    process = start(cluster, "-w", "n1")
    until("its step", lambda: left(cluster, "n1"))
    assert process.stdout.readline().startswith("n1 ")
    cluster.slurmds["n1"].kill()
    cluster.slurmds["n1"].wait()
    cluster.start_slurmd("n1")
    until("the step to be found", lambda: re.search(r"\b2\d{9}\.0\b", cluster.run("scontrol", "liststeps", env={"SLURMD_NODENAME": "n1"}).out))
    cluster.wait_nodes("idle")
    assert process.poll() is None, "the controller, who knows no such job, had it ended"
    assert end(cluster, process)[0] == 3
    until("nothing left", lambda: not left(cluster, "n1"))


def test_a_launcher_that_dies_takes_its_tasks_along(cluster):
    process = start(cluster, "-w", "n1", program="echo here; exec sleep 600")
    assert process.stdout.readline() == "here\n"
    process.kill()
    process.communicate()
    until("nothing left", lambda: not left(cluster, "n1"))


@pytest.mark.parametrize("options, says", [
    ((), "must specify a node list with -Z, --no-allocate."),
    (("-w", "nosuch"), "Unable to run without an allocation: Invalid node name specified"),
    (("-w", "n1", "-x", "n1"), "can not specify --exclude list with -Z, --no-allocate."),
    (("-w", "n1", "--async"), "--async can only be used in an existing job allocation"),
    (("-w", "n1", "--resv-ports"), "--resv-ports cannot be used with --no-allocate"),
])
def test_what_is_refused(cluster, options, says):
    result = cluster.run("srun", "-Z", *options, "true")
    assert result.code != 0 and says in result.err, result
