"""squeue --watch: told of changes as they happen, on a terminal and elsewhere."""
import os
import re
import signal
import subprocess

import pytest

from harness import end_process, until

pytestmark = pytest.mark.better_than_slurm


class Watch:
    """squeue --watch with its output in a file."""

    def __init__(self, cluster, *args):
        self.path = os.path.join(cluster.work, "watch.out")
        with open(self.path, "wb") as out:
            self.process = subprocess.Popen(["squeue", "--watch=10", *args], env=cluster.env, cwd=cluster.work, stdout=out,
                                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    def lines(self):
        with open(self.path) as f:
            return f.read().splitlines()

    def shows(self, line):
        until(lambda: "%r in %s" % (line, self.lines()), lambda: line in self.lines())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        end_process(self.process)


def test_lines_come_as_jobs_change(cluster):
    held = cluster.sbatch("--hold", "--wrap", "true")
    with Watch(cluster, "-o", "%i %t") as watch:
        watch.shows("%d PD" % held)
        assert watch.lines()[0] == "JOBID ST"
        job = cluster.sbatch("--wrap", "sleep 60")
        watch.shows("%d R" % job)
        cluster.ok("scancel", str(job))
        until("the end of the job in %s" % watch.lines(), lambda: re.search(r"^%d (CA|CG)$" % job, "\n".join(watch.lines()), re.M))
        assert watch.lines().count("%d PD" % held) == 1
        watch.process.send_signal(signal.SIGTERM)
        assert watch.process.wait(10) == 0


def test_only_what_was_asked_for(cluster):
    with Watch(cluster, "-h", "-n", "mine", "-o", "%j %t") as watch:
        cluster.sbatch("-J", "other", "--hold", "--wrap", "true")
        cluster.sbatch("-J", "mine", "--hold", "--wrap", "true")
        watch.shows("mine PD")
        assert watch.lines() == ["mine PD"]


def test_a_controller_that_restarts_is_waited_for(cluster):
    with Watch(cluster, "-h", "-o", "%j %t") as watch:
        cluster.sbatch("-J", "before", "--hold", "--wrap", "true")
        watch.shows("before PD")
        cluster.kill_ctld()
        cluster.start_ctld()
        cluster.wait_ctld()
        cluster.sbatch("-J", "after", "--hold", "--wrap", "true")
        watch.shows("after PD")
        assert watch.lines().count("before PD") == 1
    cluster.wait_nodes("idle")


def test_on_a_terminal_until_q(cluster):
    job = cluster.sbatch("-J", "seen", "--hold", "--wrap", "true")
    out, code = cluster.terminal("squeue", "--watch", columns=40, keys=[(rb"seen", b"q")])
    assert code == 0, out
    assert "\x1b[?1049h" in out and out.rstrip().endswith("\x1b[?1049l")
    assert str(job) in out and "1 job  (q ends)" in out
    for line in re.split(r"\x1b\[K", out)[:-1]:
        assert len(re.sub(r"\x1b\[[?0-9;]*[A-Za-z]|[\r\n]", "", line)) <= 40, line


def test_on_a_terminal_until_interrupted(cluster):
    out, code = cluster.terminal("squeue", "--watch", keys=[(rb"0 jobs", b"\x03")])
    assert code == 0 and out.rstrip().endswith("\x1b[?1049l"), out


def test_a_small_window_says_how_much_it_hides(cluster):
    cluster.sbatch("--array=1-9", "--hold", "--wrap", "true")
    out, code = cluster.terminal("squeue", "--watch", "-r", rows=5, keys=[(rb"lines below", b"q")])
    assert code == 0 and "6 lines below" in out, out


def test_it_is_a_subscription_and_no_series_of_questions(cluster):
    def asked():
        return sum(int(n) for n in re.findall(r"QueryJobs\b.*?count:(\d+)", cluster.ok("sdiag").out))
    with Watch(cluster, "-h", "-o", "%j %t") as watch:
        before = asked()
        for i in range(3):
            cluster.sbatch("-J", "j%d" % i, "--hold", "--wrap", "true")
            watch.shows("j%d PD" % i)
        assert asked() == before


@pytest.mark.parametrize("other", ["--steps", "--json", "--iterate=1"])
def test_what_does_not_go_with_it(cluster, other):
    result = cluster.run("squeue", "--watch", other)
    assert result.code == 1 and "--watch cannot be combined with" in result.err, result
