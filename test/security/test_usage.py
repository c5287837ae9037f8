"""What steps use is seen by their user and by root, and measuring it hurts nobody."""
import pytest

import harness
import town as towns
from conftest import new_folder
from harness import until


@pytest.fixture(scope="module")
def site():
    folder = new_folder()
    town = towns.Town(folder, nodes=1, conf="JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=1")
    town.conf_lines.remove("JobAcctGatherType=jobacct_gather/none")
    town.write_lines()
    try:
        town.start()
        yield town
    finally:
        town.stop()
        harness.remove(folder)


@pytest.fixture(scope="module")
def running(site):
    job = site.a.sbatch("-o", "/dev/null", "--wrap", "srun sleep 100000")
    until("its step to be watched", lambda: "%d.0" % job in site.a.run("sstat", "-n", "-j", "%d.0" % job).out)
    return job


def test_anothers_steps_are_not_shown(site, running):
    for step in ("0", "batch"):
        for words in ((), ("-i",)):
            other = site.b.run("sstat", "-n", "-j", "%d.%s" % (running, step), *words)
            assert other.out == "" and "couldn't get steps for job %d" % running in other.err, other
            mine = site.a.ok("sstat", "-n", "-j", "%d.%s" % (running, step), *words)
            assert mine.out.startswith("%d.%s " % (running, step))
    assert site.ok("sstat", "-n", "-j", "%d.0" % running).out.startswith("%d.0 " % running)     # root


def test_a_node_answers_nobody_without_a_credential_to_watch(site, running):
    own = site.b.sbatch("-o", "/dev/null", "--wrap", "srun sleep 100000")
    until("b's step", lambda: "%d.0" % own in site.b.run("sstat", "-n", "-j", "%d.0" % own).out)
    theirs = site.a.send("AskCredential", {"job": running, "has_step": 1, "step": 0, "purpose": 3})
    to_attach = site.b.send("AskCredential", {"job": own, "has_step": 1, "step": 0, "purpose": 1})
    assert theirs and to_attach
    assert not site.b.send("AskCredential", {"job": running, "has_step": 1, "step": 0, "purpose": 3})
    node = site.names[0]
    for credential in ("", "x", theirs.fields["credential"], to_attach.fields["credential"]):
        for relay in (None, node):
            answer = site.b.send("QueryStepUse", {"node": node, "credential": credential}, socket=site.node_agent(), relay=relay)
            assert not answer, answer
    # A credential to watch allows nothing else.
    watch = site.b.send("AskCredential", {"job": own, "has_step": 1, "step": 0, "purpose": 3}).fields["credential"]
    for message in ("AttachTasks", "LaunchStep"):
        assert not site.b.send(message, {"node": node, "credential": watch}, socket=site.node_agent())
    site.b.ok("scancel", str(own))


def test_a_step_that_starts_processes_without_end_is_still_obeyed(site):
    job = site.b.sbatch("-o", "/dev/null", "--wrap", "for i in $(seq 300); do sleep 1000 & done; wait")
    until("its processes", lambda: site.b.run("sstat", "-inP", "-a", "-j", str(job)).out.count(",") >= 300)
    site.b.ok("scancel", str(job))
    until("it to be gone", lambda: site.run("squeue", "-h", "-j", str(job)).out == "")
