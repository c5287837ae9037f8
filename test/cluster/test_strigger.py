"""strigger: programs that run when something happens."""
import os

import pytest

from harness import until


@pytest.fixture
def triggers(cluster):
    yield cluster
    cluster.run("strigger", "--clear", "--user=" + cluster.user)
    cluster.run("scontrol", "update", "nodename=ALL", "state=resume")


@pytest.fixture
def note(cluster):
    """A program that notes how it was called, and a way to wait for what it noted."""
    number = 0

    def make():
        nonlocal number
        number += 1
        out = os.path.join(cluster.work, "note-%d-%d" % (os.getpid(), number))
        path = cluster.script("note%d" % number, "#!/bin/sh\necho \"$(id -u) $PWD $*\" >%s.new && mv %s.new %s\n" % (out, out, out))

        def said():
            until("the program of a trigger to run", lambda: os.path.exists(out), seconds=60)
            with open(out) as f:
                text = f.read()
            os.remove(out)
            return text.split()
        return path, said
    return make


def test_the_end_of_a_job(triggers, note):
    job = triggers.sbatch("--wrap", "sleep 1000")
    triggers.wait_job(job, "RUNNING")
    path, said = note()
    triggers.ok("strigger", "--set", "--jobid=%d" % job, "--fini", "--program=" + path)
    triggers.cancel_all()
    assert said()[-1] == str(job)
    until("the trigger to be gone", lambda: triggers.ok("strigger", "--get").out == "")


@pytest.mark.better_than_slurm
def test_it_runs_as_who_set_it_in_the_root_directory_with_the_arguments_given(triggers, note):
    job = triggers.sbatch("--wrap", "sleep 1000")
    triggers.wait_job(job, "RUNNING")
    path, said = note()
    triggers.ok("strigger", "--set", "--jobid=%d" % job, "--fini", "--program=%s a b" % path)
    triggers.cancel_all()
    assert said() == [str(os.getuid()), "/", "a", "b", str(job)]


def test_a_node_goes_down_and_comes_back(triggers, note):
    down, down_said = note()
    up, up_said = note()
    triggers.ok("strigger", "--set", "--node=n2", "--down", "--program=" + down)
    triggers.ok("strigger", "--set", "--node", "--up", "--program=" + up)
    triggers.ok("scontrol", "update", "nodename=n2", "state=down", "reason=test")
    assert down_said()[-1] == "n2"
    triggers.ok("scontrol", "update", "nodename=n2", "state=resume")
    assert up_said()[-1] == "n2"


def test_a_permanent_one_stays(triggers, note):
    path, said = note()
    triggers.ok("strigger", "--set", "--node=n1", "--drained", "--flags=PERM", "--program=" + path)
    for _ in range(2):
        triggers.ok("scontrol", "update", "nodename=n1", "state=drain", "reason=test")
        assert said()[-1] == "n1"
        triggers.ok("scontrol", "update", "nodename=n1", "state=resume")
        triggers.wait_nodes("idle", ["n1"])
    assert "PERM" in triggers.ok("strigger", "--get").out


@pytest.mark.better_than_slurm
def test_triggers_survive_a_crash_and_a_new_controller_pulls_its_own(triggers, note):
    start, started = note()
    triggers.ok("strigger", "--set", "-A", "--program=" + start)
    triggers.ok("strigger", "--set", "--node=n1", "--down", "--program=/bin/true")
    triggers.kill_ctld()
    triggers.start_ctld()
    triggers.wait_ctld()
    started()
    until("one to be left", lambda: [line.split()[3] for line in triggers.ok("strigger", "-N", "--get").lines] == ["down"])


def test_what_get_prints(triggers):
    job = triggers.sbatch("--wrap", "sleep 1000")
    triggers.ok("strigger", "--set", "--jobid=%d" % job, "--time", "--offset=-600", "--program=/bin/true")
    triggers.ok("strigger", "--set", "-nn1,n2", "--up", "--program=/bin/echo a b", "--flags=perm")
    triggers.ok("strigger", "--set", "--idle", "--offset=32000", "--program=/bin/true")
    out = triggers.ok("strigger", "--get").lines
    assert out[0] == "TRIG_ID RES_TYPE   RES_ID TYPE                                OFFSET USER     FLAGS PROGRAM"
    assert [line[8:] for line in out[1:]] == [
        "job       %7d time                                  -600 %-8s       /bin/true" % (job, triggers.user),
        "node        n1,n2 up                                       0 %-8s PERM  /bin/echo a b" % triggers.user,
        "node            * idle                                 32000 %-8s       /bin/true" % triggers.user]
    numbers = [line.split()[0] for line in out[1:]]
    assert triggers.ok("strigger", "--get", "-N", "--id=" + numbers[1]).lines == [out[2]]
    assert triggers.ok("strigger", "--get", "-N", "--jobid=%d" % job).lines == [out[1]]
    assert triggers.ok("strigger", "--get", "-N", "--node").lines == out[2:]
    triggers.ok("strigger", "--clear", "--id=" + numbers[0])
    assert len(triggers.ok("strigger", "--get", "-N").lines) == 2


@pytest.mark.parametrize("words, said", [
    ([], "strigger: error: You must use exactly one of the following options: --set, --get or --clear"),
    (["--set", "--get"], "strigger: error: You must use exactly one of the following options: --set, --get or --clear"),
    (["--set", "--fini", "--program=/bin/true"], "strigger: error: You must specify a --jobid value"),
    (["--set", "--node", "--down"], "strigger: error: You must specify a --program value"),
    (["--set", "--node", "--down", "--program=true"], 'strigger: error: The --program value must start with "/"'),
    (["--set", "--node", "--down", "--program=/no/such"], "strigger: error: Invalid --program value, file not found"),
    (["--set", "--node=nx", "--down", "--program=/bin/true"], "slurm_set_trigger: Invalid node name specified"),
    (["--set", "--jobid=999999", "--fini", "--program=/bin/true"], "slurm_set_trigger: Invalid job id specified"),
    (["--set", "--jobid=abc", "--fini", "--program=/bin/true"], "strigger: error: Invalid jobid abc"),
    (["--set", "--node", "--down", "--program=/bin/true", "--offset=40000"], "strigger: error: The --offset parameter must be between +/-32000"),
    (["--set", "--node", "--down", "--program=/bin/true", "--flags=foo"], "strigger: error: Invalid flags foo"),
    (["--clear"], "strigger: error: You must specify a --id, --jobid, or --user to clear"),
    (["--clear", "--id=999"], "slurm_clear_trigger: No such process"),
    (["--clear", "--user=nobody-of-this-name"], "strigger: error: Invalid user nobody-of-this-name"),
])
def test_mistakes_as_slurm_words_them(triggers, words, said):
    r = triggers.run("strigger", *words)
    assert r.code == 1 and r.err.splitlines()[0] == said, r


def test_a_duplicate_and_a_quiet_clear(triggers):
    triggers.ok("strigger", "--set", "--node", "--down", "--program=/bin/true")
    assert triggers.run("strigger", "--set", "--node", "--down", "--program=/bin/true").err.startswith("slurm_set_trigger: Duplicate event trigger")
    triggers.ok("strigger", "-Q", "--clear", "--id=999999")


@pytest.mark.better_than_slurm
def test_what_cannot_happen_here_is_refused(triggers):
    for option in ("--burst_buffer", "-a", "-b", "-B", "-c", "-C", "-h", "-H"):
        r = triggers.run("strigger", "--set", option, "--program=/bin/true")
        assert r.code == 1 and triggers.ok("strigger", "--get").out == "", r
