"""Crontabs and triggers of others, and programs that run for their users."""
import os

import pytest

from harness import until


@pytest.fixture
def town(make_town):
    return make_town(conf="ScronParameters=enable")


def test_crontabs_are_their_users_and_roots(town):
    a, b = town.a, town.b
    a.ok("scrontab", "-", stdin="# secret\n@daily echo mine\n")
    job = town.run("squeue", "-h", "-o", "%i").lines[0]
    for words in (["-l"], ["-r"], ["-e"], ["-"]):
        r = b.run("scrontab", "-u", a.name, *words, stdin="@daily echo theirs\n", env={"EDITOR": "true"})
        assert r.code == 1 and "secret" not in r.out + r.err, r
    assert b.run("scancel", job).code == 1
    assert a.ok("scrontab", "-l").out == "# secret\n@daily echo mine\n"
    assert town.run("squeue", "-h", "-o", "%i %u").lines == ["%s %s" % (job, a.name)]
    # Root installs for a user: the job is the user's.
    town.ok("scrontab", "-u", a.name, "-", stdin="@daily id -u\n")
    assert town.run("squeue", "-h", "-o", "%u %Z").lines == ["%s %s" % (a.name, os.path.expanduser("~" + a.name))]


def test_the_editor_is_the_users_own_program(town):
    b = town.b
    script = b.file("ed.sh", "#!/bin/sh\nid -u >who\nstat -c '%u %a' $1 >>who\n")
    os.chmod(script, 0o755)
    b.run("scrontab", "-e", env={"EDITOR": script, "TMPDIR": b.home})
    assert b.read("who").split() == [str(b.uid), str(b.uid), "600"]


def test_where_slurmctld_is_not_root_triggers_are_slurm_users_alone(town):
    for who in (town.a, town):
        r = who.run("strigger", "--set", "--node", "--down", "--program=/bin/true")
        assert r.code == 1 and "Access/permission denied" in r.err, r


def test_a_trigger_gives_up_root_for_good(make_town):
    town = make_town(slurm_user="root")
    a, b = town.a, town.b
    out = os.path.join(a.home, "ran")
    script = a.file("run.sh", "#!/bin/sh\n{ id -u; id -g; id -G; cat /etc/shadow 2>&1 | wc -c; grep -h ^CapEff /proc/self/status; } >%s.new; mv %s.new %s\n"
                    % (out, out, out))
    os.chmod(script, 0o755)
    a.ok("strigger", "--set", "--node=n1", "--drained", "--program=" + script)
    # Another user cannot clear it, nor point it at something else.
    assert b.run("strigger", "--clear", "--user=" + a.name).code == 1
    town.ok("scontrol", "update", "nodename=n1", "state=drain", "reason=test")
    until("the program to run", lambda: os.path.exists(out), seconds=60)
    said = open(out).read().split()
    assert said[0] == str(a.uid) and "0" not in said[:2] and said[-1].strip("0") == "", said


def test_a_program_that_cannot_be_reached_holds_nobody_up(make_town):
    town = make_town(slurm_user="root")
    a, b = town.a, town.b
    fifo = os.path.join(a.home, "fifo")
    os.mkfifo(fifo)
    os.chmod(fifo, 0o777)
    os.chown(fifo, a.uid, -1)
    for i in range(8):
        a.ok("strigger", "--set", "--node=n1", "--drained", "--offset=%d" % (i % 1), "--program=%s %d" % (fifo, i))
    town.ok("scontrol", "update", "nodename=n1", "state=drain", "reason=test")
    job = b.sbatch("--wrap", "true")
    town.wait_job(job, "COMPLETED")
    until("the triggers to be gone", lambda: town.run("strigger", "--get").out == "", seconds=60)
