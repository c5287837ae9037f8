"""A step daemon or node daemon that is killed at once: the job never runs twice at the same time, and leaves nothing."""
import os
import signal

import pytest

from harness import until

JOB = """#!/bin/bash
exec 9>>lock
flock -n 9 || { echo twice >>trouble; exit 1; }
echo $$ >>runs
%s
until [ -e enough ]; do sleep 0.05; done
"""


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def runs(user):
    return [int(p) for p in user.read("runs").split()]


@pytest.fixture
def fresh(town):
    for name in ("lock", "runs", "trouble", "enough"):
        path = os.path.join(town.b.home, name)
        if os.path.exists(path):
            os.unlink(path)
    return town


@pytest.mark.parametrize("detached", [False, True], ids=["plain", "detached"])
def test_a_killed_step_daemon_leaves_no_second_run(fresh, detached):
    """Its tasks go with it, also those that left their session, before the job runs anew."""
    town = fresh
    more = "setsid sleep 1000 & echo $! >>children" if detached else ""
    job = town.b.sbatch("--requeue", "-w", "n1", "-o", "/dev/null", town.b.file("job.sh", JOB % more))
    first = until("the job", lambda: runs(town.b))[0]
    for pid, _ in town.stepds(job):
        os.kill(pid, signal.SIGKILL)
    until(lambda: "the first run to be gone: %s\n%s" % (town.job(job), town.logs()), lambda: not alive(first), 30)
    if detached:
        child = int(town.b.read("children").split()[0])
        until("what it left behind to be gone", lambda: not alive(child), 30)
        os.unlink(os.path.join(town.b.home, "children"))
    town.b.file("enough", "")
    until(lambda: "the job to be over: %s" % town.job(job), lambda: town.job(job)["JobState"] not in ("RUNNING", "PENDING", "COMPLETING"), 60)
    assert not os.path.exists(os.path.join(town.b.home, "trouble"))


@pytest.mark.parametrize("order", ["both", "slurmd-first", "restart"])
def test_a_killed_node_daemon_and_step_daemon(fresh, order):
    town = fresh
    job = town.b.sbatch("--requeue", "-w", "n1", "-o", "/dev/null", town.b.file("job.sh", JOB % ""))
    first = until("the job", lambda: runs(town.b))[0]
    stepds = [pid for pid, _ in town.stepds(job)]
    assert stepds
    node = town.slurmds["n1"]
    node.kill()
    node.wait()
    if order == "restart":      # the new slurmd has found the step when it dies
        town.start_slurmd("n1")
        until("n1 to serve", lambda: town.run("scontrol", "ping").code == 0 and town.node_states()["n1"] != "down", 30)
    for pid in stepds:
        os.kill(pid, signal.SIGKILL)
    if order != "restart":
        town.start_slurmd("n1")
    # Whatever is decided about the job: never two of it.
    until(lambda: "the first run to end: %s\n%s" % (town.job(job), town.logs()), lambda: not alive(first), 40)
    town.b.file("enough", "")
    until(lambda: "the job to be over: %s\n%s" % (town.job(job), town.logs()),
          lambda: town.job(job)["JobState"] not in ("RUNNING", "PENDING", "COMPLETING"), 60)
    until("n1 to be idle: %s" % town.node_states(), lambda: town.node_states()["n1"].startswith("idle"), 30)
    assert not os.path.exists(os.path.join(town.b.home, "trouble"))
    assert len(set(runs(town.b))) == len(runs(town.b))


def test_nothing_is_left_in_the_spool(town):
    """A job's script folder in the spool belongs to its user, who may fill it and close it to himself."""
    scripts = {
        "plain": "true",
        "files": 'd=$(dirname $0); mkdir -p $d/a/b/c; echo x >$d/a/b/c/f; touch $d/.hidden',
        "links": 'd=$(dirname $0); ln -s / $d/root; ln -s ../.. $d/up; mkfifo $d/fifo',
        "gone": 'd=$(dirname $0); rm -rf $d',
        "moved": 'd=$(dirname $0); mv $d/slurm_script $d/other',
        "deep": 'cd $(dirname $0); for i in $(seq 300); do mkdir d; cd d; done',
    }
    before = {n: sorted(os.listdir("%s/spool/%s" % (town.folder, n))) for n in town.names}
    for name, text in scripts.items():
        job = town.b.sbatch("-w", "n1", "-o", "/dev/null", town.b.file("spool-%s.sh" % name, "#!/bin/bash\n%s\n" % text))
        town.wait_job(job, "COMPLETED|FAILED")
    town.b.ok("srun", "-N2", "true")
    job = town.b.sbatch("-w", "n1", "-o", "/dev/null", "--wrap", "srun sleep 600")
    until("its step", lambda: len(town.stepds(job)) == 2)
    town.ok("scancel", str(job))
    town.wait_job(job, "CANCELLED")
    for pid, _ in town.stepds(job):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def left():
        return {n: sorted(set(os.listdir("%s/spool/%s" % (town.folder, n))) - set(before[n])) for n in town.names}
    until(lambda: "an empty spool: %s" % left(), lambda: not any(left().values()), 20)
    assert os.path.exists("/etc/passwd")


def test_a_closed_folder_is_not_left_in_the_spool(make_town):
    town = make_town(nodes=1)
    text = "#!/bin/bash\nd=$(dirname $0); mkdir $d/a; touch $d/a/f; chmod 000 $d/a $d\n"
    job = town.b.sbatch("-o", "/dev/null", town.b.file("closed.sh", text))
    town.wait_job(job, "COMPLETED|FAILED")
    until("an empty spool", lambda: "job%d" % job not in os.listdir(town.folder + "/spool/n1"), 5)


def test_leavings_of_a_crash_go_with_the_next_start(town):
    job = town.b.sbatch("-w", "n1", "-o", "/dev/null", "--wrap", "sleep 600")
    until("the step", lambda: town.stepds(job))
    node = town.slurmds["n1"]
    node.kill()
    node.wait()
    for pid, _ in town.stepds(job):
        os.kill(pid, signal.SIGKILL)
    town.ok("scancel", str(job))
    town.start_slurmd("n1")
    until(lambda: "the job to be over: %s" % town.job(job), lambda: town.job(job)["JobState"] not in ("RUNNING", "COMPLETING"), 60)
    folder = "%s/spool/n1" % town.folder
    until(lambda: "an empty spool: %s" % os.listdir(folder),
          lambda: not [f for f in os.listdir(folder) if "job%d" % job in f or "step.%d" % job in f], 30)
