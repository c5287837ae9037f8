"""Rolling maintenance and scontrol reboot: an ordinary user neither begins, changes nor ends one, and has no node rebooted; a node that was broken
into says nothing of another node's reboot."""
import json
import os

import pytest

import conftest
import harness
import town as towns
from harness import end_process, until
from town import hostile_program as hostile


class World:
    """n1 is busy with B's job, so of root's maintenance of n1 and n2 n2 is told to reboot at once, and n1 waits. n3 joined with a token and is
    broken into."""

    def __init__(self, town):
        self.town, self.b = town, town.b
        folder = os.path.join(town.folder, "n3")
        os.makedirs(folder)
        self.stolen = folder + "/token.credential"
        end_process(town.slurmds.pop("n3"))
        with open(folder + "/token", "w") as f:
            f.write(town.ok("muster", "token", "create", "--nodes", "n3").out)
        os.chmod(folder + "/token", 0o600)
        town.slurmds["n3"] = town.spawn("slurmd", "-D", "-N", "n3", "-f", town.conf_path, "--token-file", folder + "/token")
        until("n3 to have joined", lambda: os.path.exists(self.stolen))
        town.wait_nodes("idle", ["n3"])
        self.job = town.b.sbatch("-w", "n1", "-o", "/dev/null", "--wrap", "sleep 3600")
        town.wait_job(self.job, "RUNNING")
        town.ok("muster", "maintenance", "start", "fw", "--nodes=n[1-2]", "--reboot", "--at-once=1", "--reason=kernel")
        until("n2 to be told", lambda: self.told() == ["n2"])
        until("the maintenance to say so", lambda: self.steps() == {"n1": "waiting", "n2": "working"})
        self.before = self.seen()

    def told(self):
        path = os.path.join(self.town.folder, "reboots")
        return open(path).read().split() if os.path.exists(path) else []

    def show(self):
        return json.loads(self.town.ok("muster", "maintenance", "show", "fw", "--json").out)["maintenances"][0]

    def steps(self):
        return {n["name"]: n["step"] for n in self.show()["nodes"]}

    def seen(self):
        """All that an attack could have changed."""
        names = [line.split()[0] for line in self.town.ok("muster", "maintenance", "show").out.splitlines() if line]
        return names, self.show(), self.told(), {n: self.town.ok("scontrol", "-o", "show", "node", n).out.split(" Reason=")[1:] for n in self.town.names}

    def unharmed(self):
        assert self.seen() == self.before
        assert self.town.job(self.job)["JobState"] == "RUNNING"
        self.town.must_run()


@pytest.fixture(scope="module")
def world():
    one = towns.Town(conftest.new_folder(), nodes=3, conf="ResumeTimeout=600")
    reboots = os.path.join(one.folder, "reboots")
    one.conf_lines.append("RebootProgram=" + one.script("reboot", "#!/bin/sh\necho $SLURM_NODE_NAME >> %s\n" % reboots))
    one.write_lines()
    try:
        yield World(one.start())
    finally:
        one.stop()
        harness.remove(one.folder)


COMMANDS = [("muster", "maintenance", "start", "mine", "--nodes=n3", "--reboot"), ("muster", "maintenance", "start", "fw", "--nodes=n3", "--reboot"),
            ("muster", "maintenance", "show"), ("muster", "maintenance", "show", "fw"), ("muster", "maintenance", "pause", "fw"),
            ("muster", "maintenance", "continue", "fw"), ("muster", "maintenance", "cancel", "fw"), ("scontrol", "reboot", "n3"),
            ("scontrol", "reboot", "ASAP", "nextstate=resume", "reason=x", "n1"), ("scontrol", "cancel_reboot", "n2"),
            ("scontrol", "update", "nodename=n2", "state=resume"), ("scontrol", "update", "nodename=n2", "reason=mine")]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_users_command_is_refused(world, words):
    done = world.b.run(*words)
    assert done.code != 0 and ("denied" in done.err.lower() or "invalid user" in done.err.lower()), done
    world.unharmed()


NAMES = ["fw", "mine", "", "../fw", "fw\n", "\x1b[2J", "x" * 5000]
FRAMES = ([("StartMaintenance", {"name": name, "nodes": nodes}) for name in NAMES for nodes in ("n3", "ALL")] +
          [("ControlMaintenance", {"name": name, "order": order}) for name in NAMES for order in (0, 1, 2, 77)] +
          [("QueryMaintenance", {"name": name}) for name in NAMES] + [("ControlNodes", {"nodes": "n[1-3]", "action": action}) for action in range(8)])


@pytest.mark.parametrize("by_node", [False, True])
def test_a_users_own_frames_are_refused(world, by_node):
    socket = world.town.node_agent() if by_node else world.town.agent
    for message, fields in FRAMES:
        answer = world.b.send(message, fields, socket=socket)
        assert not answer, (message, fields, answer)
        assert "kernel" not in answer.result.out, answer     # nor does he learn of it
    world.unharmed()


def test_a_node_with_a_certificate_orders_nothing(world):
    """By its own connection, and in the name of root and of the owner of the maintenance."""
    controller = "127.0.0.1:%d" % world.town.port
    for user in ((), ("0", "0"), (str(world.town.slurm.pw_uid), str(world.town.slurm.pw_gid)), (str(world.b.uid), str(world.b.gid))):
        for message, fields in FRAMES:
            if len(str(fields.get("name", ""))) > 10:
                continue
            words = ["%s=%s" % word for word in fields.items()]
            done = world.town.run(hostile(), "as", world.stolen, controller, "controller", *user, message, *words)
            assert done.code == 1, (user, message, fields, done)
    world.unharmed()


def test_it_reports_no_other_nodes_reboot(world):
    """n2 comes back when a machine with another boot registers as n2: that is n2's own slurmd's to say."""
    controller = "127.0.0.1:%d" % world.town.port
    for name in ("n2", "n1", "N2"):
        done = world.town.run(hostile(), "register", world.stolen, controller, name, "2", "another boot", "0")
        assert done.code == 1 and "registered" not in done.out, (name, done)
    assert "registers as node 'n2' and is refused" in world.town.log()
    # Nor does a user's program, which may open the socket.
    for socket in (world.town.agent, world.town.node_agent("n2")):
        world.b.run(hostile(), "say", socket, "fault", "0")
    world.unharmed()
    assert world.steps() == {"n1": "waiting", "n2": "working"}


def test_zz_then_n2_itself_does(world):
    """The last one: what was refused to the others counts when n2 says it."""
    end_process(world.town.slurmds["n2"])
    world.town.slurmds["n2"] = world.town.spawn("slurmd", "-D", "-b", "-N", "n2", "-f", world.town.conf_path)
    until("n2 to be back", lambda: world.steps()["n2"] == "done")
    until("n1 to be drained", lambda: world.steps()["n1"] == "draining")
    world.town.ok("muster", "maintenance", "cancel", "fw")
    assert world.told() == ["n2"]
