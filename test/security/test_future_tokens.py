"""A machine that joined with slurmd -F and a token is the node that its certificate says, whatever it says of itself; it takes no other FUTURE
node, not even one that the token would have been good for."""
import os
import re

import pytest

import conftest
import harness
import town as towns
from harness import end_process, free_ports, until
from town import hostile_program as hostile


class World:
    """Machine `a` became f1, machine `b` f2, by tokens of their own; f3 is nobody's. `a` is broken into. Its token named all three."""

    def __init__(self, town, shape):
        self.town = town
        self.shape = dict(word.split("=") for word in shape.split())
        for host, names in (("a", "f[1-3]"), ("b", "f2")):
            os.makedirs(self.folder(host))
            self.token(host, names, uses=2)
            self.begin(host)
            until("%s to have joined" % host, lambda: os.path.exists(self.folder(host) + "/token.credential"))
            town.wait_nodes("idle", [{"a": "f1", "b": "f2"}[host]])
        self.stolen = self.folder("a") + "/token.credential"

    def folder(self, host):
        return os.path.join(self.town.folder, "host-" + host)

    def token(self, host, names, uses=1):
        path = self.folder(host) + "/token"
        with open(path, "w") as f:
            f.write(self.town.ok("muster", "token", "create", "--uses", str(uses), "--nodes", names).out)
        os.chmod(path, 0o600)

    def begin(self, host):
        self.town.slurmds[host] = self.town.spawn("slurmd", "-D", "-F", "-N", host, "-f", self.town.conf_path, "--token-file", self.folder(host) + "/token")

    def ask(self, message, fields):
        words = ["%s=%s" % word for word in fields.items()]
        return towns.Answer(self.town.run(hostile(), "as", self.stolen, "127.0.0.1:%d" % self.town.port, "controller", message, *words))

    def machine(self, host, **more):
        out = {"as": 1, "name": host, "hostname": host, "boot_id": "x", **more}
        for at, (key, value) in enumerate(self.shape.items()):
            out.update({"definition.%d.key" % at: key, "definition.%d.op" % at: "=", "definition.%d.value" % at: value})
        return out

    def record(self, node):
        return dict(re.findall(r"(\w+)=(\S*)", self.town.ok("scontrol", "-o", "-F", "show", "node", node).out))


@pytest.fixture(scope="module")
def world():
    one = towns.Town(conftest.new_folder(), nodes=1)
    shape = re.search(r"SocketsPerBoard=\d+ CoresPerSocket=\d+ ThreadsPerCore=\d+", one.ok("slurmd", "-C").out).group()
    for name, port in zip(("f1", "f2", "f3"), free_ports(3)):
        one.conf_lines.append("NodeName=%s %s RealMemory=100 State=FUTURE Port=%d" % (name, shape, port))
    one.conf_lines.append("PartitionName=future Nodes=f[1-3]")
    one.write_lines()
    try:
        yield World(one.start(), shape)
    finally:
        one.stop()
        harness.remove(one.folder)


def test_it_joins_as_itself_whatever_it_says(world):
    before = {node: world.record(node) for node in ("f2", "f3")}
    for name in ("b", "f2", "f3", "a", "n1"):      # b is the host that f2 is on
        answer = world.ask("JoinNode", world.machine(name))
        assert answer and answer.fields["name"] == "f1", (name, answer)
    for fields in ({"as": 0, "name": "f2"}, {"as": 0, "name": "f3"}, {"as": 0, "name": "n1"}):
        answer = world.ask("JoinNode", world.machine("a", **fields))
        assert not answer and "node:f1" in answer.error, answer
    for node, known in before.items():
        now = world.record(node)
        assert (now["NodeHostName"], now["NodeAddr"], now["State"]) == (known["NodeHostName"], known["NodeAddr"], known["State"]), node
    world.town.must_run()


def test_it_is_given_no_other_certificate(world):
    for fields in ({"name": "f2"}, {"name": "f3"}, {"name": ""}):
        assert not world.ask("AskCertificate", {**fields, "public_key": "k" * 32}), fields
    for name in ("f2", "f3"):
        done = world.town.run(hostile(), "register", world.stolen, "127.0.0.1:%d" % world.town.port, name, "2")
        assert done.code == 1 and "registered" not in done.out, done
    assert world.record("f3")["State"] == "FUTURE"
    world.town.must_run()


def test_a_user_has_no_future_node(world):
    for socket in (world.town.agent, world.town.node_agent("n1")):
        for message, fields in (("JoinNode", world.machine("u")), ("AskCertificate", {"public_key": "k" * 32})):
            assert not world.town.b.send(message, fields, socket=socket), message
    assert world.record("f3")["State"] == "FUTURE"


def test_the_cluster_key_takes_no_name_of_a_token(world):
    """f1 and f2 are joined by tokens, and a token is good for f3: a slurmd that has the cluster key alone gets none, not even under a hostname
    that had one, and while the machine is away."""
    town = world.town
    end_process(town.slurmds.pop("b"))
    for host in ("key", "a", "b", "f3"):
        done = town.run("slurmd", "-D", "-F", "-N", host, "-f", town.conf_path)
        assert done.code == 1 and "no FUTURE node is left for this machine" in done.err, (host, done)
    assert world.record("f3")["State"] == "FUTURE" and world.record("f2")["NodeHostName"] == "b"
    world.begin("b")
    town.wait_nodes("idle", ["f2"])
    town.must_run()


def test_zz_after_it_was_revoked_it_is_nothing(world):
    assert "node:f1 is out" in world.town.ok("muster", "token", "revoke", "--node", "f1").out
    assert not world.ask("JoinNode", world.machine("a"))
    # Nor does the token that it still has make it f1 again, nor f2, which is b's. The token has to be revoked, too: it names f3 (docs/security.md).
    end_process(world.town.slurmds.pop("a"))
    world.town.ok("muster", "token", "revoke", "1")
    os.unlink(world.stolen)
    world.begin("a")
    assert world.town.slurmds.pop("a").wait(20) == 1
    assert world.record("f3")["State"] == "FUTURE" and world.record("f2")["NodeHostName"] == "b"
    world.town.must_run()
    # Now no token is for f3 any more, and who has the cluster key may have it.
    world.town.slurmds["key"] = world.town.spawn("slurmd", "-D", "-F", "-N", "key", "-f", world.town.conf_path)
    until("f3 to be given to a machine with the key", lambda: world.record("f3").get("NodeHostName") == "key")
