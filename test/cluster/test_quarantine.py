"""SlurmctldParameters=quarantine=N: a node where jobs of several users fail is drained, tested when it is empty, and returns if it passes."""
import os
import re

import pytest

from harness import until

pytestmark = [pytest.mark.better_than_slurm, pytest.mark.skipif(os.geteuid() != 0, reason="jobs of several users")]

USERS = ("daemon", "nobody")
# Passes at the start of slurmd; later it waits for the test's word, and finds what that says.
CHECK = """#!/bin/bash
[ -e WORK/armed ] || exit 0
echo $SLURMD_NODENAME >>WORK/tests
while [ ! -e WORK/go ]; do sleep 0.1; done
[ ! -e WORK/sick ] || { echo "a disk is gone"; exit 1; }
"""


@pytest.fixture
def ward(make_cluster):
    def make(most=1, check=True):
        c = make_cluster(start=False, nodes=3, gpus=0, cpus=4)
        c.conf_lines.append("SlurmctldParameters=quarantine=%d" % most)
        if check:
            c.conf_lines.append("HealthCheckProgram=" + c.script("check", CHECK.replace("WORK", c.work)))
        c.write_lines()
        c.start()
        c.file("armed", "")
        return c
    return make


def ends(c, node, user, status):
    """A job of this user that ends on this node with this status."""
    job = c.sbatch("--uid=" + user, "-w", node, "-n1", "-D", "/", "-o", "/dev/null", "--wrap", "exit %d" % status)
    c.wait_job(job, "COMPLETED" if status == 0 else "FAILED")
    return job


def fail(c, node):
    return [ends(c, node, user, 1) for user in USERS + USERS]


def log_of(c):
    with open(os.path.join(c.folder, "log", "slurmctld.log")) as f:
        return f.read()


def reason(c, node):
    found = re.search(r"Reason=(.*) \[", c.ok("scontrol", "show", "node", node).out)
    return found.group(1) if found else ""


def checks_of(c):
    return c.read("tests").split() if os.path.exists(os.path.join(c.work, "tests")) else []


def test_a_suspect_is_tested_and_returns_whatever_ends_the_controller(ward):
    c = ward(most=1)
    jobs = fail(c, "n1")
    c.wait_nodes("drained", ["n1"])
    why = "quarantine: the last 4 jobs of 2 users failed here (jobs %s)" % ",".join(map(str, jobs))
    assert reason(c, "n1") == why
    assert "quarantine: the last" in c.ok("sinfo", "-R").out
    until("the test to begin", lambda: checks_of(c) == ["n1"])
    said = c.ok("muster", "explain", "n1").out
    assert "Reason: " + why in said and "its test is under way, and it returns by itself if it passes." in said, said
    # No second node goes, and the first is not forgotten.
    fail(c, "n2")
    until("the log to name it", lambda: "node n2 is a suspect: the last 4 jobs of 2 users failed here" in log_of(c))
    assert c.node_states()["n2"] == "idle"
    c.kill_ctld()
    c.start_ctld()
    c.wait_ctld()
    c.wait_nodes("idle", ["n2", "n3"])
    assert c.node_states()["n1"] == "drained" and reason(c, "n1") == why
    c.file("go", "")
    c.wait_nodes("idle", ["n1"])
    assert reason(c, "n1") == ""
    assert "node n1 returns from quarantine: its test passed" in log_of(c)
    assert "It returned from quarantine" in c.ok("muster", "explain", "n1").out
    ends(c, "n1", USERS[0], 0)


def test_the_next_suspect_goes_when_there_is_room_and_jobs_go_on(ward):
    c = ward(most=1)
    fail(c, "n1")
    c.wait_nodes("drained", ["n1"])
    stays = c.sbatch("-w", "n2", "-n1", "-o", "/dev/null", "--wrap", "sleep 600")
    c.wait_job(stays, "RUNNING")
    fail(c, "n2")
    until("the log to name it", lambda: "node n2 is a suspect" in log_of(c))
    c.file("go", "")
    c.wait_nodes("idle", ["n1"])
    c.wait_nodes("draining", ["n2"])
    assert c.job(stays)["JobState"] == "RUNNING"
    assert "it is tested when its jobs are over" in c.ok("muster", "explain", "n2").out
    assert checks_of(c) == ["n1"]
    c.ok("scancel", str(stays))
    c.wait_nodes("idle", ["n2"])
    assert checks_of(c) == ["n1", "n2"]


def test_a_failed_test_keeps_the_node_until_somebody_returns_it(ward):
    c = ward()
    c.file("sick", "")
    c.file("go", "")
    fail(c, "n1")
    until("the failed test", lambda: reason(c, "n1").startswith("quarantine: the test failed: HealthCheckProgram: "))
    assert "a disk is gone" in reason(c, "n1")
    assert c.node_states()["n1"] == "drained"
    assert "its test failed. It stays out of service until somebody returns it." in c.ok("muster", "explain", "n1").out
    c.ok("scontrol", "update", "nodename=n1", "state=resume")
    c.wait_nodes("idle", ["n1"])
    ends(c, "n1", USERS[0], 1)
    assert c.node_states()["n1"] == "idle"


def test_once_more_within_a_day_is_for_the_administrator(ward):
    c = ward()
    c.file("go", "")
    fail(c, "n1")
    until("its return", lambda: "node n1 returns from quarantine" in log_of(c))
    c.wait_nodes("idle", ["n1"])
    fail(c, "n1")
    until("the second time", lambda: reason(c, "n1").startswith("quarantine: again after a passed test: the last 4 jobs of 2 users"))
    assert checks_of(c) == ["n1"] and c.node_states()["n1"] == "drained"


def test_one_user_alone_puts_no_node_there(ward):
    c = ward()
    for _ in range(8):
        ends(c, "n1", USERS[0], 1)
    assert c.node_states()["n1"] == "idle" and reason(c, "n1") == ""


def test_a_node_that_somebody_has_taken_over_is_not_returned(ward):
    c = ward()
    fail(c, "n1")
    until("the test to begin", lambda: checks_of(c) == ["n1"])
    c.ok("scontrol", "update", "nodename=n1", "state=drain", "reason=mine")
    c.file("go", "")
    fail(c, "n2")       # its own test comes after the answer of n1
    until("the other to return", lambda: "node n2 returns from quarantine" in log_of(c))
    assert reason(c, "n1") == "mine" and c.node_states()["n1"] == "drained"
    assert "In quarantine" not in c.ok("muster", "explain", "n1").out
