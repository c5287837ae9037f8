"""What a node reports of its own health drains that node and no other: who is no node reports nothing, and a node that was broken into nothing of
another."""
import os
import time

import pytest

import conftest
import harness
import town as towns
from harness import end_process, until
from town import hostile_program as hostile

REPORTS = ("fault", "failed", "passed")


@pytest.fixture(scope="module")
def town():
    """n3 joined with a token, and what lies beside the token was stolen."""
    one = towns.Town(conftest.new_folder(), nodes=3, conf="SlurmctldParameters=quarantine=1\nSlurmdParameters=config_overrides")
    try:
        one.start()
        folder = os.path.join(one.folder, "n3")
        os.makedirs(folder)
        one.stolen = folder + "/token.credential"
        end_process(one.slurmds.pop("n3"))
        with open(folder + "/token", "w") as f:
            f.write(one.ok("muster", "token", "create", "--nodes", "n3").out)
        os.chmod(folder + "/token", 0o600)
        one.slurmds["n3"] = one.spawn("slurmd", "-D", "-N", "n3", "-f", one.conf_path, "--token-file", folder + "/token")
        until("n3 to have joined", lambda: os.path.exists(one.stolen))
        one.wait_nodes("idle", one.names)
        yield one
    finally:
        one.stop()
        harness.remove(one.folder)


def well(town, *names):
    said = town.ok("sinfo", "-R", "-h").out
    states = town.node_states()
    assert all(states[n].startswith("idle") and n not in said for n in names), (states, said)
    town.must_run()


def test_a_user_says_nothing_of_a_node(town):
    for socket in (town.agent, *map(town.node_agent, town.names)):
        for what in REPORTS:
            town.b.run(hostile(), "say", socket, what, str(int(time.time())))
    well(town, "n1", "n2", "n3")


@pytest.mark.parametrize("what", REPORTS)
def test_a_node_says_nothing_with_anothers_name(town, what):
    controller = "127.0.0.1:%d" % town.port
    for name in ("n1", "n2", ""):      # "": without registering at all
        done = town.run(hostile(), "report", town.stolen, controller, name, what, str(int(time.time())))
        assert "registered" not in done.out, (name, done)
    well(town, "n1", "n2", "n3")


def test_what_an_administrator_drained_it_does_not_return(town):
    """A passed test gives back what quarantine has drained, and only the node whose test it was."""
    town.ok("scontrol", "update", "nodename=n1", "state=drain", "reason=quarantine: by hand")
    controller = "127.0.0.1:%d" % town.port
    for name in ("n1", ""):
        town.run(hostile(), "report", town.stolen, controller, name, "passed", str(int(time.time())))
    for socket in (town.agent, town.node_agent("n1")):
        town.b.run(hostile(), "say", socket, "passed", str(int(time.time())))
    assert "drain" in town.node_states()["n1"]
    town.ok("scontrol", "update", "nodename=n1", "state=resume")
    town.wait_nodes("idle", ["n1"])


def test_zz_of_itself_it_may(town):
    """The last one, so that the others are no tests of a report that nobody would take. What it says of its hardware counts by config_overrides."""
    end_process(town.slurmds.pop("n3"))
    controller = "127.0.0.1:%d" % town.port
    done = town.run(hostile(), "report", town.stolen, controller, "n3", "fault", "0")
    assert "registered" in done.out, done
    until("n3 to be drained", lambda: "said by somebody else" in town.ok("scontrol", "show", "node", "n3").out)
    well(town, "n1", "n2")
