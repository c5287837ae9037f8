"""--stepmgr: the steps of a job are managed by the slurmd of its first node, whatever becomes of slurmctld."""
import os
import re
import subprocess

import pytest

from accounting import Database
from harness import end_process, until

pytestmark = pytest.mark.better_than_slurm      # newer than 22.05

# A script that does what it is told by lines of a file, one after the other, and says what came of each.
FOLLOWS = """#!/bin/bash
order=1
while :; do
  line=$(sed -n ${order}p orders 2>/dev/null)
  if [ -z "$line" ]; then sleep 0.02; continue; fi
  [ "$line" = end ] && exit 0
  eval "$line" >out.$order 2>err.$order
  echo $? >code.$order
  order=$((order + 1))
done
"""


class Script:
    """A managed job, and what its script is told to do."""

    def __init__(self, cluster, *args):
        self.cluster, self.told = cluster, 0
        cluster.sh("rm -f orders out.* err.* code.*")
        cluster.file("follows.sh", FOLLOWS)
        self.job = cluster.sbatch("--stepmgr", "-o", "/dev/null", *args, "follows.sh")
        cluster.wait_job(self.job, "RUNNING")

    def tell(self, line):
        self.told += 1
        with open(os.path.join(self.cluster.work, "orders"), "a") as f:
            f.write(line + "\n")
        return self.told

    def result(self, number, seconds=30):
        until(lambda: "order %d; %s\n%s" % (number, self.cluster.sh("cat err.%d" % number).out, self.cluster.logs()),
              lambda: self.cluster.read("code.%d" % number).endswith("\n"), seconds)
        return int(self.cluster.read("code.%d" % number)), self.cluster.read("out.%d" % number), self.cluster.read("err.%d" % number)

    def does(self, line, seconds=30):
        code, out, err = self.result(self.tell(line), seconds)
        assert code == 0, (line, code, out, err, self.cluster.logs())
        return out

    def steps(self):
        lines = self.cluster.ok("squeue", "-s", "-h", "-j", str(self.job), "-o", "%i").lines
        return sorted(line.strip() for line in lines if re.search(r"\.\d+$", line.strip()))

    def step(self, number):
        return "%d.%d" % (self.job, number)


def managed_here(cluster, node):
    """The jobs that a node's slurmd keeps a journal of."""
    folder = "%s/spool/%s/managed" % (cluster.folder, node)
    return sorted(int(name) for name in os.listdir(folder) if name.isdigit())


def test_who_manages_the_steps_is_in_the_record(cluster):
    script = Script(cluster, "-N2", "-n2")
    assert cluster.job(script.job)["StepMgrEnabled"] == "Yes"
    first = cluster.job(script.job)["BatchHost"]
    assert managed_here(cluster, first) == [script.job]
    assert script.does("echo $SLURM_STEPMGR; srun -n1 sh -c 'echo $SLURM_STEPMGR $SLURM_STEP_ID'").split() == [first, first, "0"]
    assert sorted(script.does("srun -l -N2 -n2 printenv SLURM_STEP_ID").split("\n")[:2]) == ["0: 1", "1: 1"]
    script.tell("end")
    cluster.wait_job(script.job)
    until("nothing to be left of it", lambda: managed_here(cluster, first) == [])
    plain = cluster.sbatch("-o", "/dev/null", "--wrap", "true")
    assert "StepMgrEnabled" not in cluster.job(plain)


def test_steps_go_on_while_slurmctld_is_dead(make_cluster):
    cluster = make_cluster(start=False, nodes=2, gpus=0)
    database = Database(cluster)
    try:
        database.start()
        cluster.start()
        script = Script(cluster, "-N2", "-n4")
        assert script.does("srun -n1 echo before") == "before\n"
        cluster.kill_ctld()
        assert script.does("srun -n1 echo one") == "one\n"
        assert script.does("srun -l -N2 -n2 echo two") in ("0: two\n1: two\n", "1: two\n0: two\n")
        code, _, _ = script.result(script.tell("srun -n1 sh -c 'exit 7'"))
        assert code == 7
        # One that is still there when slurmctld is, and one on the other node whose srun is not.
        script.does("srun -n1 -c1 --exact sh -c 'while [ ! -e go ]; do sleep 0.05; done' & sleep 0")
        script.does("srun --async --parsable -N1 -n1 -c1 --exact -r1 -o async.out sh -c 'echo begun; sleep 0.2; echo over' >async.id")
        until("the asynchronous step", lambda: cluster.read("async.out") == "begun\nover\n")
        cluster.start_ctld()
        cluster.wait_ctld()
        until(lambda: "the step that runs; there are %s\n%s" % (script.steps(), cluster.logs()), lambda: script.steps() == [script.step(4)])
        cluster.file("go", "")
        until("the step's end", lambda: script.steps() == [])
        script.tell("end")
        cluster.wait_job(script.job)
        database.wait_for("six steps and the batch step", lambda: len(database.rows("SELECT step FROM muster_steps WHERE job = ?", script.job)) == 7)
        said = cluster.ok("sacct", "-n", "-P", "-j", str(script.job), "-o", "JobID,State,ExitCode").out
        assert "%s|COMPLETED|0:0\n" % script.step(1) in said and "%s|FAILED|7:0\n" % script.step(3) in said, said
        assert "%s|COMPLETED|0:0\n" % script.step(5) in said, said
    finally:
        database.stop()


def test_slurmd_of_the_first_node_is_started_again(make_cluster):
    cluster = make_cluster(nodes=2, gpus=0)
    script = Script(cluster, "-N2", "-n4")
    first = cluster.job(script.job)["BatchHost"]
    other = next(n for n in cluster.names if n != first)
    running = script.tell("srun -n1 -c1 --exact -o running.out sh -c 'echo up; while [ ! -e go ]; do sleep 0.05; done; exit 5' & wait $!")
    until("the step to run", lambda: cluster.read("running.out") == "up\n")
    cluster.slurmds[first].kill()
    cluster.slurmds[first].wait()
    cluster.start_slurmd(first)
    cluster.wait_nodes("mixed|allocated")
    assert managed_here(cluster, first) == [script.job]
    # Its number is taken, what it has is not free, and its end is noted.
    said = cluster.ok("srun", "--jobid=%d" % script.job, "-N1", "-n1", "-c1", "--exact", "printenv", "SLURM_STEP_ID").out
    assert said == "1\n"
    cluster.file("go", "")
    code, _, _ = script.result(running)
    assert code == 5
    until("no steps", lambda: script.steps() == [])
    # A part on another node ends while the manager is away.
    part = script.tell("srun -N1 -n1 -c1 -w %s --async --parsable -o part.out sh -c 'echo up; while [ ! -e go2 ]; do sleep 0.05; done; echo over'" % other)
    assert script.result(part)[0] == 0
    until("the part", lambda: cluster.read("part.out") == "up\n")
    cluster.slurmds[first].kill()
    cluster.slurmds[first].wait()
    cluster.file("go2", "")
    until("its end", lambda: cluster.read("part.out") == "up\nover\n")
    cluster.start_slurmd(first)
    until(lambda: "no steps: %s\n%s" % (script.steps(), cluster.logs()), lambda: script.steps() == [])
    assert script.does("srun -N2 -n4 -l true") == ""


def test_a_requeued_job_begins_with_its_first_step(make_cluster):
    cluster = make_cluster(nodes=2, gpus=0)
    script = Script(cluster, "-N2", "-n2", "--requeue")
    assert script.does("srun -n1 printenv SLURM_STEP_ID") == "0\n"
    cluster.sh("rm -f out.* err.* code.*")
    cluster.ok("scontrol", "requeue", str(script.job))
    # The script begins with the first order again.
    assert script.result(1)[:2] == (0, "0\n")
    assert cluster.job(script.job)["Restarts"] == "1"
    assert script.does("srun -N2 -n2 -l printenv SLURM_STEP_ID") in ("0: 1\n1: 1\n", "1: 1\n0: 1\n")


def held_allocation(cluster, *args):
    """A job without a script; its number, and how to end it."""
    process = subprocess.Popen(["salloc", "--stepmgr", *args, "sh", "-c", "echo $SLURM_JOB_ID >id.new; mv id.new id; exec sleep 1000"],
                               env=cluster.env, cwd=cluster.work, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return process, int(until("the allocation", lambda: cluster.read("id").strip()))


@pytest.mark.parametrize("no_kill", (True, False))
def test_the_first_node_is_lost(make_cluster, no_kill):
    cluster = make_cluster(nodes=3, gpus=0)
    process, job = held_allocation(cluster, "-N2", "-n2", *(["--no-kill"] if no_kill else []))
    try:
        assert cluster.ok("srun", "--jobid=%d" % job, "-n1", "printenv", "SLURM_STEP_ID").out == "0\n"
        first = next(n for n in cluster.names if job in managed_here(cluster, n))
        cluster.slurmds[first].kill()
        cluster.slurmds[first].wait()
        cluster.ok("scontrol", "update", "nodename=" + first, "state=down", "reason=test")
        if not no_kill:
            until("the job's end", lambda: cluster.job(job)["JobState"] in ("NODE_FAIL", "FAILED", "CANCELLED"))
            return
        until("the next manager", lambda: any(job in managed_here(cluster, n) for n in cluster.names if n != first))
        number = int(cluster.ok("srun", "--jobid=%d" % job, "-n1", "printenv", "SLURM_STEP_ID").out)
        assert number >= 10000, "numbers that the first manager may have given are not given again"
        assert cluster.job(job)["JobState"] == "RUNNING"
        # It comes back, and is rid of the job.
        cluster.start_slurmd(first)
        until(lambda: "%s to forget the job\n%s" % (first, cluster.logs()), lambda: job not in managed_here(cluster, first))
    finally:
        end_process(process)


def test_an_srun_that_is_killed_leaves_nothing_behind(cluster):
    script = Script(cluster, "-N2", "-n2", "-c2")
    for way in ("batch", "outside"):
        mark = "up.%s" % way
        line = ["srun", "-N2", "-n2", "-c2", "sh", "-c", "echo up >>%s; exec sleep 1000" % mark]
        if way == "batch":
            script.does("srun -N2 -n2 -c2 sh -c 'echo up >>%s; exec sleep 1000' >/dev/null 2>&1 & echo $! >pid" % mark)
            pid = int(cluster.read("pid"))
            process = None
        else:
            process = subprocess.Popen(["srun", "--jobid=%d" % script.job, *line[1:]], env=cluster.env, cwd=cluster.work, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            pid = process.pid
        until("both tasks", lambda: cluster.read(mark) == "up\nup\n")
        os.kill(pid, 9)
        if process:
            process.wait()
        until(lambda: "no steps: %s" % script.steps(), lambda: script.steps() == [])
        assert script.does("srun -N2 -n2 -c2 echo free").count("free") == 2


def test_two_hundred_steps(cluster):
    script = Script(cluster, "-N2", "-n8")
    script.does("for i in $(seq 100); do srun -n1 -c1 --exact true || echo failed >>failed; done", 120)
    script.does("for j in 1 2 3 4; do (for i in $(seq 25); do srun -n1 -c1 --exact true || echo failed >>failed; done) & done; wait", 120)
    assert not os.path.exists(os.path.join(cluster.work, "failed"))
    assert script.does("srun -n1 printenv SLURM_STEP_ID") == "200\n"
    until("all to be known as ended", lambda: script.steps() == [])


def test_what_others_ask_about_its_steps(cluster):
    script = Script(cluster, "-N2", "-n4")
    cluster.sh("rm -f stop other")
    script.does("srun -n1 -c1 --exact sh -c 'while [ ! -e stop ]; do echo tick; sleep 0.05; done' >/dev/null & sleep 0")
    until("the step", lambda: script.steps() == [script.step(0)])
    assert "StepId=%s" % script.step(0) in cluster.ok("scontrol", "show", "step", script.step(0)).out
    # sattach and sbcast are answered by the manager.
    attached = subprocess.Popen(["sattach", script.step(0)], env=cluster.env, cwd=cluster.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
    try:
        assert attached.stdout.readline() == "tick\n"
    finally:
        end_process(attached)
        attached.stdout.close()
    cluster.file("payload", "content\n")
    cluster.ok("sbcast", "--jobid=%d" % script.job, "-f", "payload", cluster.work + "/received")
    assert cluster.read("received") == "content\n"
    # A step is cancelled as soon as its number is printed, and swait waits for one.
    made = cluster.ok("srun", "--jobid=%d" % script.job, "--async", "--parsable", "-n1", "-c1", "--exact", "-o", "/dev/null", "sleep", "1000").out.strip()
    assert made == script.step(1)
    cluster.ok("scancel", made)
    until("the other alone", lambda: script.steps() == [script.step(0)])
    cluster.ok("srun", "--jobid=%d" % script.job, "--async", "-n1", "-c1", "--exact", "-o", "other", "sh", "-c", "sleep 0.3; echo over")
    cluster.file("stop", "")
    assert cluster.ok("swait", str(script.job)).err == ""
    assert cluster.read("other") == "over\n" and script.steps() == []
    # A step that waits for the job's resources, and never gets them.
    script.does("srun -N2 -n4 -c1 --exact sh -c 'while [ ! -e stop2 ]; do sleep 0.05; done' >/dev/null & sleep 0")
    until("the step that has all", lambda: len(script.steps()) == 1)
    waits = cluster.ok("srun", "--jobid=%d" % script.job, "--async", "--parsable", "-N2", "-n4", "-c1", "--exact", "-o", "never", "true").out.strip()
    until("it to be known", lambda: "State=PENDING" in cluster.run("scontrol", "show", "step", waits).out)
    cluster.ok("scancel", waits)
    until("it to be gone", lambda: waits not in script.steps())
    cluster.file("stop2", "")
    cluster.ok("swait", str(script.job))
    cluster.sh("rm -f stop stop2")


def test_short_jobs_of_srun_have_their_step_in_the_books(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0, conf="SlurmctldParameters=enable_stepmgr")
    database = Database(cluster)
    try:
        database.start()
        cluster.start()
        assert cluster.ok("srun", "-n1", "printenv", "SLURM_STEPMGR").out == "n1\n"
        database.wait_for("the step", lambda: [s for s, in database.rows("SELECT step FROM muster_steps")] == [0])
        assert cluster.run("srun", "-n1", "false").code == 1
        database.wait_for("the second", lambda: len(database.rows("SELECT step FROM muster_steps")) == 2)
    finally:
        database.stop()


def test_ports_are_the_jobs_own(make_cluster):
    cluster = make_cluster(nodes=1, gpus=0, cpus=4, conf="MpiParams=ports=14000-14007")
    script = Script(cluster, "-n2")
    assert script.does("srun -n2 --resv-ports printenv SLURM_STEP_RESV_PORTS").split() == ["14000-14001"] * 2
    beside = cluster.ok("srun", "-n2", "--resv-ports", "printenv", "SLURM_STEP_RESV_PORTS").out.split()
    assert beside == ["14002-14003"] * 2
    code, _, err = script.result(script.tell("srun -n1 --resv-ports=3 true"))
    assert code != 0 and "the job has 2 ports" in err


def test_with_munge(make_cluster):
    """Slurmctld and the nodes prove themselves by munge; the manager's signatures are its own."""
    cluster = make_cluster(nodes=2, gpus=0, auth="munge")
    script = Script(cluster, "-N2", "-n2")
    assert sorted(script.does("srun -l -N2 -n2 printenv SLURM_STEP_ID").split("\n")[:2]) == ["0: 0", "1: 0"]
    cluster.kill_ctld()
    script.does("srun --async --parsable -N1 -n1 -r1 -o async.out echo over")
    until("the step on the other node", lambda: cluster.read("async.out") == "over\n")
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.ok("swait", str(script.job))
    assert script.steps() == [] and script.does("srun -n1 printenv SLURM_STEP_ID") == "2\n"
