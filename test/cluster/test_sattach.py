"""sattach: the streams of a step that runs, beside its srun."""
import fcntl
import os
import pty
import re
import select
import subprocess
import termios

import pytest

from harness import end_process, until

TICK = """#!/bin/bash
while [ ! -e stop ]; do echo tick $SLURM_PROCID; echo oops $SLURM_PROCID >&2; sleep 0.02; done
exit 3
"""


class Step:
    """An srun in the background, and its step."""

    def __init__(self, cluster, *args):
        cluster.sh("rm -f stop")
        self.cluster = cluster
        self.process = subprocess.Popen(["srun", *args], env=cluster.env, cwd=cluster.work, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.name = until("the step", self.find)

    def find(self):
        steps = self.cluster.ok("squeue", "-h", "-s", "-o", "%i").lines
        return next((s.strip() for s in steps if s.strip().endswith(".0")), None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.cluster.sh("touch stop")
        self.process.stdin.close()
        end_process(self.process)
        self.process.stdout.close()


class Attached:
    def __init__(self, cluster, *args, stdin=subprocess.DEVNULL):
        self.out = ""
        self.process = subprocess.Popen(["sattach", *args], env=cluster.env, cwd=cluster.work, stdin=stdin,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def until_all(self, *texts):
        while not all(t in self.out for t in texts):
            line = self.process.stdout.readline()
            assert line, "the end of %r: %s" % (self.out, self.process.stderr.read())
            self.out += line

    def until_it_listens(self, step):
        """Only what comes after it has attached is shown, so srun says a line again and again until one is."""
        while not select.select([self.process.stdout], [], [], 0.1)[0]:
            step.process.stdin.write("is it there?\n")
            step.process.stdin.flush()

    def end(self):
        out, err = self.process.communicate(timeout=20)
        self.out += out
        return self.process.returncode, err


def test_output_of_all_tasks_and_the_exit_code(cluster):
    script = cluster.file("tick.sh", TICK)
    with Step(cluster, "-N2", "-n4", "bash", script) as step:
        attached = Attached(cluster, "--label", step.name)
        attached.until_all("0: tick 0\n", "1: tick 1\n", "2: tick 2\n", "3: tick 3\n")
        cluster.sh("touch stop")
        code, err = attached.end()
        assert code == 3, err
        assert "0: oops 0" in err


def test_filters(cluster):
    script = cluster.file("tick.sh", TICK)
    with Step(cluster, "-N2", "-n4", "bash", script) as step:
        attached = Attached(cluster, "--output-filter=2", "--error-filter", "1", step.name)
        attached.until_all("tick 2\n")
        cluster.sh("touch stop")
        _, err = attached.end()
        assert set(attached.out.splitlines()) == {"tick 2"}
        assert set(re.findall(r"oops \d", err)) <= {"oops 1"}
        wrong = cluster.run("sattach", "--output-filter=9", step.name)
        assert wrong.code == 1


def test_input_goes_to_the_tasks(cluster):
    with Step(cluster, "-n2", "cat") as step:
        attached = Attached(cluster, "--label", step.name, stdin=subprocess.PIPE)
        attached.process.stdin.write("hello\n")
        attached.process.stdin.flush()
        attached.until_all("0: hello\n", "1: hello\n")
        step.process.stdin.write("more\n")
        step.process.stdin.flush()
        attached.until_all("0: more\n", "1: more\n")
        attached.process.kill()
        attached.process.stdin.close()
        attached.process.wait()
        attached.process.stdout.close()
        attached.process.stderr.close()
        step.process.stdin.write("last\n")
        step.process.stdin.close()
        assert step.process.wait(20) == 0       # a reader that goes does no harm
        assert step.process.stdout.read().count("last") == 2
        step.process.stdin = open("/dev/null")


def test_the_end_of_input_reaches_the_tasks(cluster):
    with Step(cluster, "-n2", "cat") as step:
        # One that has nothing to say leaves the tasks' input alone.
        quiet = Attached(cluster, "--label", step.name)
        quiet.until_it_listens(step)
        attached = Attached(cluster, "--label", step.name, stdin=subprocess.PIPE)
        attached.process.stdin.write("x")
        attached.process.stdin.close()
        attached.process.stdin = None
        quiet.until_all("0: x", "1: x")
        assert attached.end()[0] == 0
        assert step.process.wait(20) == 0 and step.process.stdout.read().count("x") == 2
        assert quiet.end()[0] == 0
        step.process.stdin.close()
        step.process.stdin = open("/dev/null")


def test_ctrl_c_ends_only_sattach(cluster):
    script = cluster.file("tick.sh", TICK)
    with Step(cluster, "-n1", "bash", script) as step:
        _, code = cluster.terminal("sattach", step.name, keys=[(rb"tick 0", b"\x03")])
        assert code == 0
        assert step.find() == step.name


def test_layout(cluster):
    with Step(cluster, "-N2", "-n3", "sleep", "60") as step:
        out = cluster.ok("sattach", "--layout", step.name).out
        assert out.startswith("Job step layout:\n\t3 tasks, 2 nodes (n1,n2)\n"), out
        assert "Node 0 (n1), 2 task(s): 0 1\n" in out and "Node 1 (n2), 1 task(s): 2\n" in out
        cluster.run("scancel", step.name.split(".")[0])


def test_refusals(cluster):
    job = cluster.sbatch("--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    assert "no step id was given" in cluster.run("sattach").err
    assert cluster.run("sattach", "%d.batch" % job).code == 1
    assert "Invalid job id" in cluster.run("sattach", "%d.7" % job).err
    assert cluster.run("sattach", "999999.0", env={"SLURM_EXIT_ERROR": "44"}).code == 44
    assert "--pty is not compatible" in cluster.run("sattach", "--pty", "--output-filter=0", "%d.0" % job).err


def test_nobody_else_may(cluster):
    if cluster.user != "root":
        pytest.skip("needs two users")
    with Step(cluster, "-n1", "sleep", "60") as step:
        result = cluster.run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sattach", step.name)
        assert result.code == 1 and "denied" in result.err, result
        cluster.run("scancel", step.name.split(".")[0])


def test_pty_is_a_second_terminal_of_task_zero(cluster):
    """What is typed into sattach's terminal reaches the shell that srun --pty started; its end is sattach's."""
    master, slave = pty.openpty()
    shell = subprocess.Popen(["srun", "--pty", "bash", "--norc"], env=cluster.env, cwd=cluster.work, stdin=slave, stdout=slave, stderr=slave,
                             start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(slave)
    try:
        find = lambda: next((s.strip() for s in cluster.ok("squeue", "-h", "-s", "-o", "%i").lines if s.strip().endswith(".0")), None)
        step = until("the step", find)
        said, code = cluster.terminal("sattach", "--pty", step, send=b"echo one$((1+1))three; tty\n",
                                      keys=[(rb"one2three[^$]*/dev/pts/", b"exit 5\n")])
        assert "one2three" in said and code == 5, (said, code)
        assert shell.wait(20) == 5
    finally:
        end_process(shell)
        os.close(master)


def test_pty_goes_with_no_filter(cluster):
    said = cluster.run("sattach", "--pty", "--output-filter=0", "1.0")
    assert said.code == 1 and "--pty is not compatible with" in said.err, said
