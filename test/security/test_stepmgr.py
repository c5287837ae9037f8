"""Steps that the slurmd of a job's first node manages: another's are nobody's, and its word is nobody else's."""
import os

import pytest

import town as towns
from harness import until


@pytest.fixture
def managed(town):
    """A job of A on both nodes, whose first node manages its steps, with one step that runs."""
    job = town.a.sbatch("--stepmgr", "-N2", "-n2", "-c2", "-o", "/dev/null", "--wrap", "srun -N2 -n2 -c1 --exact sleep 3600 & wait")
    town.wait_job(job, "RUNNING")
    until("its step", lambda: "%d.0" % job in town.run("squeue", "-h", "-s", "-j", str(job), "-o", "%i").out)
    first = town.job(job)["BatchHost"]
    assert os.path.exists("%s/spool/%s/managed/%d" % (town.folder, first, job))
    yield job, first
    town.leave_no_job()


def sockets(town, first):
    """The controller, who passes on to the manager; the manager; the job's other node."""
    other = next(name for name in town.names if name != first)
    return [town.agent, town.node_agent(first), town.node_agent(other)]


def numbers_of(town, job):
    return town.run("squeue", "-h", "-s", "-j", str(job), "-o", "%i").out


def test_another_makes_ends_and_sees_no_step_of_it(town, managed):
    job, first = managed
    before = numbers_of(town, job)
    for socket in sockets(town, first):
        for message, fields in (("CreateStep", {"request.num_tasks": 1, "request.overlap": 1}), ("CreateStep", {"waiting_step": 0}),
                                ("FinishStep", {"step": 0}), ("AskCredential", {"has_step": 1, "step": 0}),
                                ("AskCredential", {"has_step": 1, "step": 0, "purpose": 2}), ("AskCredential", {"purpose": 2}),
                                ("AskCredential", {"purpose": 0, "has_step": 1, "step": 0}), ("AttachAllocation", {})):
            answer = town.b.send(message, {"job": job, **fields}, socket=socket)
            assert not answer, "%s by another at %s: %s" % (message, socket, answer)
            assert "credential" not in answer.fields
    assert numbers_of(town, job) == before
    # The job's own user does, at each of them.
    for socket in sockets(town, first):
        made = town.a.send("CreateStep", {"job": job, "request.num_tasks": 1, "request.overlap": 1}, socket=socket)
        assert made and "credential" in made.fields, made


def test_what_daemons_say_to_each_other_is_no_users_word(town, managed):
    job, first = managed
    other = next(name for name in town.names if name != first)
    for who in (town.a, town.b):
        for node in (first, other):
            for socket in sockets(town, first):
                assert not who.send("PartEnded", {"node": node, "job": job, "step": 0, "exit_status": 0, "ends_step": 1}, socket=socket)
        for socket in sockets(town, first):
            assert not who.send("TellSteps", {"job": job}, socket=socket)
            assert not who.send("Relay", {"uid": 0, "message": 7, "payload": ""}, socket=socket)
    assert "%d.0" % job in numbers_of(town, job)
    town.must_run()


def test_a_managers_credential_is_for_its_owner_and_as_it_was_signed(town, managed):
    job, first = managed
    made = town.a.send("CreateStep", {"job": job, "request.num_tasks": 1, "request.overlap": 1}, socket=town.node_agent(first))
    assert made, made
    credential, number = made.fields["credential"], made.fields["step"]
    io = {"node": first, "request.work_dir": "/", "request.num_tasks": 1, "request.argv.0": "/usr/bin/touch", "request.argv.1": town.b.home + "/got-in"}
    assert not town.b.send("LaunchStep", {**io, "credential": credential}, socket=town.node_agent(first)), "it is A's"
    for at in range(40, len(credential) - 1, max(1, len(credential) // 25)):
        altered = credential[:at] + ("a" if credential[at] != "a" else "b") + credential[at + 1:]
        answer = town.a.send("LaunchStep", {**io, "credential": altered}, socket=town.node_agent(first))
        assert not answer, (at, number, answer)
    # A credential of slurmctld is no warrant, and a warrant is no credential of slurmctld.
    plain = town.b.ok("salloc", "--no-shell", "-N1", "-n1", "-c1")
    own = int(plain.err.split("job allocation ")[1].split()[0])
    until("B's job", lambda: town.job(own)["JobState"] == "RUNNING")
    assert not town.b.send("AttachTasks", {"node": first, "credential": credential}, socket=town.node_agent(first))
    assert not os.path.exists(town.b.home + "/got-in")


def test_the_key_and_the_state_are_roots(town, managed):
    job, first = managed
    folder = "%s/spool/%s/managed" % (town.folder, first)
    assert os.stat(folder).st_mode & 0o777 == 0o700
    for name in ("key", str(job)):
        assert os.stat("%s/%s" % (folder, name)).st_mode & 0o777 == 0o600
        for who in (town.a, town.b):
            assert who.run("cat", "%s/%s" % (folder, name)).code != 0


def test_slurmd_does_not_grow_with_steps_that_nobody_hears_of(make_town):
    """While slurmctld is away news wait in the manager: so many, and then no more steps."""
    town = make_town(nodes=1)
    job = town.a.sbatch("--stepmgr", "-n1", "-o", "/dev/null", "--wrap", "sleep 3600")
    town.wait_job(job, "RUNNING")
    town.kill_ctld()
    argument = "x" * 1000000
    made = 0
    while made < 100:
        answer = town.a.send("CreateStep", {"job": job, "request.num_tasks": 1, "request.overlap": 1, "request.argv.0": "true", "request.argv.1": argument},
                             socket=town.node_agent())
        if not answer:
            break
        made += 1
    assert 20 < made < 80, answer
    assert town.memory()["slurmd-n1"] < 400
    town.start_ctld()
    town.wait_ctld()
    until("the steps to be known", lambda: numbers_of(town, job).count("%d." % job) >= made)
