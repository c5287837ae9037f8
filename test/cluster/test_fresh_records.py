"""sacct and seff show what slurmctld has acknowledged, whatever they are asked, and wait for nobody who does not answer."""
import os
import signal

import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # Slurm's sacct shows what slurmdbd has heard by then

WAITS = 1       # seconds at most; on a host too busy for that what there is is printed


@pytest.fixture
def accounted(make_cluster):
    cluster = make_cluster(start=False, nodes=1)
    database = Database(cluster)
    cluster.database = database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: cluster.run("sacct", "-a").code == 0)
    first = cluster.sbatch("--wrap", "true")
    database.wait_state(first, "COMPLETED")     # slurmctld has found slurmdbd
    yield cluster
    database.stop()


def lines(cluster, *args):
    """What sacct prints; again where it took as long as it waits."""
    for _ in range(20):
        result = cluster.ok("sacct", "-nPX", "-o", "jobid,state", *args)
        if result.seconds < WAITS:
            break
    return result.lines


ASKED = [(), ("-a",), ("-a", "-s", "PD,R,CD,CA", "-S", "now-1hour", "-E", "now+1hour"), ("-L",), ("-M", "all"), ("-M", "test"), ("--name=new",), ("-u", "@me"), ("-r", "main")]


def test_a_job_is_shown_from_its_submission_to_its_end(accounted):
    me = accounted.user
    for args in ASKED:
        args = [me if word == "@me" else word for word in args]
        accounted.ok("scontrol", "update", "nodename=n1", "state=drain", "reason=test")
        job = accounted.sbatch("-J", "new", "-p", "main", "--wrap", "sleep 1000")
        assert "%d|PENDING" % job in lines(accounted, *args), args
        accounted.ok("scontrol", "update", "nodename=n1", "state=resume")
        accounted.wait_job(job, "RUNNING")
        assert "%d|RUNNING" % job in lines(accounted, *args), args
        accounted.ok("scancel", str(job))
        accounted.wait_job(job, "CANCELLED")
        assert any(line.startswith("%d|CANCELLED" % job) for line in lines(accounted, *args)), args


def test_tasks_of_an_array_and_components_of_a_heterogeneous_job(accounted):
    array = accounted.sbatch("--array=1-3", "--wrap", "true")
    accounted.wait_job(array, "COMPLETED")
    until("the array's end", lambda: not accounted.queue("-a", "-t", "PD,R,CG"))
    assert sorted(lines(accounted, "-j", str(array))) == ["%d_%d|COMPLETED" % (array, task) for task in (1, 2, 3)]
    both = accounted.sbatch("-n1", ":", "-n1", "--wrap", "true")
    accounted.wait_job(both, "COMPLETED")
    until("the end of both", lambda: not accounted.queue("-a", "-t", "PD,R,CG"))
    assert sorted(lines(accounted, "-j", str(both))) == ["%d+%d|COMPLETED" % (both, part) for part in (0, 1)]


def test_seff_knows_a_job_that_has_just_ended(accounted):
    job = accounted.sbatch("--wrap", "true")
    accounted.wait_job(job, "COMPLETED")
    for _ in range(20):
        result = accounted.ok("seff", str(job))
        if result.seconds < WAITS:
            break
    assert "State: COMPLETED (exit code 0)" in result.out


def test_nobody_waits_for_a_controller_that_does_not_answer(accounted):
    shown = lines(accounted, "-a")
    assert shown
    os.kill(accounted.ctld.pid, signal.SIGSTOP)
    try:
        stopped = accounted.run("sacct", "-nPX", "-o", "jobid,state", "-a")
    finally:
        os.kill(accounted.ctld.pid, signal.SIGCONT)
    assert (stopped.code, stopped.lines, stopped.err) == (0, shown, "")
    assert stopped.seconds < 10      # it asks for a second, and this host may be busy
    accounted.ctld.kill()
    accounted.ctld.wait()
    gone = accounted.run("sacct", "-nPX", "-o", "jobid,state", "-a")
    assert (gone.code, gone.lines, gone.err) == (0, shown, "")
