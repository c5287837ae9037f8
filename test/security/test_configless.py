"""The configuration's files are for hosts that have the cluster key, and a host takes them from nobody else; what it is sent is no way to write
anywhere but into the folder that is theirs."""
import os
import shutil
import socket

import pytest

import conftest
import harness
import town as towns
from harness import end_process, until
from town import hostile_program as hostile

SECRET = "StoragePassOfNobody"


@pytest.fixture(scope="module")
def town():
    one = towns.Town(conftest.new_folder(), nodes=1, conf="SlurmctldParameters=enable_configless\nProlog=prolog.sh\nAccountingStoragePass=" + SECRET)
    path = os.path.join(one.folder, "etc", "prolog.sh")
    with open(path, "w") as f:
        f.write("#!/bin/sh\nexit 0\n")
    os.chmod(path, 0o755)
    one.env["RUNTIME_DIRECTORY"] = os.path.join(one.folder, "rt")
    try:
        yield one.start()
    finally:
        one.stop()
        harness.remove(one.folder)


def ask(town, message, **fields):
    """Root's own question."""
    return towns.Answer(town.run(hostile(), "send", town.agent, message, *["%s=%s" % word for word in fields.items()]))


@pytest.mark.parametrize("by_node", [False, True])
def test_a_user_is_given_no_file(town, by_node):
    where = town.node_agent() if by_node else town.agent
    version = ask(town, "FetchConfig").fields["version"]
    assert version
    for message, fields in (("FetchConfig", {}), ("FetchConfig", {"follow": True}),
                            ("FetchConfigFile", {"version": version, "name": "slurm.conf", "offset": 0})):
        answer = town.b.send(message, fields, socket=where)
        assert not answer and "denied" in answer.error, answer
        assert SECRET not in answer.result.out
    # Nor does a slurmd or a sackd that he starts get any: he has no key.
    for program in (("slurmd", "-D", "-N", "n1"), ("sackd", "-D")):
        result = town.b.run(os.path.join(town.prefix, "sbin", program[0]), *program[1:], "--conf-server", "127.0.0.1:%d" % town.port,
                            env={"SLURM_CONF": town.b.home + "/slurm.conf", "RUNTIME_DIRECTORY": town.b.home})
        assert result.code == 1 and not os.path.exists(town.b.home + "/conf"), result
    town.must_run()


NAMES = ["../slurm.conf", "..", ".", "", "/etc/shadow", "slurm.key", "slurmdbd.conf", "slurm.jwks", "etc/slurm.conf", "gres.conf/", "\x1b[2J", "x" * 5000, "*"]


def test_names_are_those_of_the_list_and_nothing_else(town):
    version = ask(town, "FetchConfig").fields["version"]
    whole = ask(town, "FetchConfigFile", version=version, name="prolog.sh", offset=0)
    assert whole and "exit 0" in whole.fields["bytes"], whole
    for name in NAMES:
        answer = ask(town, "FetchConfigFile", version=version, name=name, offset=0)
        assert not answer, "%r was answered: %r" % (name[:40], answer)
    for offset in (1 << 20, (1 << 64) - 1):
        assert not ask(town, "FetchConfigFile", version=version, name="slurm.conf", offset=offset)
    for other in ("", "0" * 64, version[:-1], version + "0"):
        assert not ask(town, "FetchConfigFile", version=other, name="slurm.conf", offset=0)
    town.must_run()


class Node:
    """A slurmd of root's without slurm.conf."""

    def __init__(self, town):
        self.town, self.home = town, os.path.join(town.folder, "node")
        os.makedirs(self.home, exist_ok=True)
        shutil.copy(os.path.join(town.folder, "etc", "slurm.key"), self.home)
        self.cache = os.path.join(town.folder, "spool", "n1", "conf-cache")
        end_process(town.slurmds.pop("n1"))

    def begin(self, server=None):
        kept = self.town.env
        self.town.env = {**kept, "SLURM_CONF": self.home + "/slurm.conf"}
        self.town.slurmds["n1"] = self.town.spawn("slurmd", "-D", "-N", "n1", "--conf-server", server or "127.0.0.1:%d" % self.town.port)
        self.town.env = kept

    def comes(self):
        self.begin()
        self.town.wait_nodes("idle")


def test_a_link_in_the_place_of_the_cache_is_not_followed(town):
    node = Node(town)
    victim = os.path.join(town.folder, "victim")
    os.mkdir(victim)
    with open(victim + "/slurm.conf", "w") as f:
        f.write("mine")
    shutil.rmtree(node.cache, ignore_errors=True)
    os.symlink(victim, node.cache)
    node.comes()
    assert not os.path.islink(node.cache) and os.listdir(victim) == ["slurm.conf"] and open(victim + "/slurm.conf").read() == "mine"
    # The same for a file in it, and while slurmd runs.
    os.unlink(node.cache + "/prolog.sh")
    os.symlink(victim + "/slurm.conf", node.cache + "/prolog.sh")
    with open(os.path.join(town.folder, "etc", "prolog.sh"), "a") as f:
        f.write("# second\n")
    town.ok("scontrol", "reconfigure")
    until("the new prolog", lambda: "# second" in open(node.cache + "/prolog.sh").read())
    assert not os.path.islink(node.cache + "/prolog.sh") and open(victim + "/slurm.conf").read() == "mine"
    for name in os.listdir(node.cache):
        status = os.lstat(os.path.join(node.cache, name))
        assert status.st_uid == 0 and (os.path.islink(os.path.join(node.cache, name)) or not status.st_mode & 0o022), name
    # The user reads what he needs for commands, and neither changes it nor gets at the key.
    assert town.b.run("cat", node.cache + "/slurm.conf").code == 0
    assert town.b.run("cat", node.cache + "/slurm.key").code != 0
    assert town.b.run("touch", node.cache + "/slurm.conf", node.cache + "/new").code != 0


def test_a_spool_that_a_user_may_write_is_refused(town):
    node = Node(town)
    spool = os.path.dirname(node.cache)
    os.chmod(spool, 0o777)
    node.begin()
    assert town.slurmds.pop("n1").wait(20) == 1
    os.chmod(spool, 0o755)
    node.comes()


def test_a_server_with_another_key_is_not_believed(town, make_town):
    """Who answers in slurmctld's place without the key: another cluster, or a socket of a user's."""
    other = make_town(start=False, nodes=1, conf="SlurmctldParameters=enable_configless")
    other.start_ctld()
    other.wait_ctld()
    node = Node(town)
    before = sorted(os.listdir(node.cache)) if os.path.exists(node.cache) else None
    node.begin("127.0.0.1:%d" % other.port)
    assert town.slurmds.pop("n1").wait(20) == 1
    # A user's socket, which says nothing, and one that answers nonsense: no file is taken; slurmd waits for a slurmctld.
    for says in (b"", b"HTTP/1.1 200 OK\r\n\r\nSlurmctldHost=evil\n", os.urandom(4096)):
        with socket.create_server(("127.0.0.1", 0)) as server:
            node.begin("127.0.0.1:%d" % server.getsockname()[1])
            server.settimeout(20)
            channel, _ = server.accept()
            if says:
                channel.sendall(says)
            channel.close()
        end_process(town.slurmds.pop("n1"))
        assert (sorted(os.listdir(node.cache)) if os.path.exists(node.cache) else None) == before
    node.comes()


def test_a_file_that_is_too_large_is_given_to_nobody(town):
    node = Node(town)
    node.comes()
    large = os.path.join(town.folder, "etc", "cli_filter.lua")
    with open(large, "w") as f:
        f.truncate((16 << 20) + 1)
    try:
        town.ok("scontrol", "reconfigure")
        until("the log to name it", lambda: "cli_filter.lua" in town.log())
        assert not os.path.exists(node.cache + "/cli_filter.lua")
        town.must_run()
    finally:
        os.unlink(large)
    town.ok("scontrol", "reconfigure")


def test_sackd_says_who_asks(town):
    """A user of a login host is himself, whatever he says, and no daemon."""
    runtime = os.path.join(town.folder, "login")
    os.mkdir(runtime)
    home = os.path.join(town.folder, "login-etc")
    os.makedirs(home)
    shutil.copy(os.path.join(town.folder, "etc", "slurm.key"), home)
    kept = town.env
    town.env = {**kept, "SLURM_CONF": home + "/slurm.conf", "RUNTIME_DIRECTORY": runtime}
    sackd = town.spawn("sackd", "-D", "--conf-server", "127.0.0.1:%d" % town.port)
    town.env = kept
    try:
        until("sackd to listen", lambda: os.path.exists(runtime + "/sack.socket") and os.path.exists(runtime + "/conf/slurm.conf"))
        assert os.stat("/proc/%d" % sackd.pid).st_uid == town.slurm.pw_uid
        assert os.stat(runtime).st_uid == town.slurm.pw_uid
        sock = runtime + "/sack.socket"
        until("slurmctld by way of it", lambda: town.b.send("Ping", {}, socket=sock))
        for message, fields in (("FetchConfig", {}), ("Reconfigure", {}), ("Shutdown", {}), ("Relay", {"uid": 0, "message": 15}),
                                ("JoinNode", {"name": "d1"}), ("AskerGone", {"asker": 1}), ("FetchContent", {"job": 1, "hash": "0"})):
            answer = town.b.send(message, fields, socket=sock)
            assert not answer, (message, answer)
        answer = town.b.send("SubmitJob", {**town.b.request(uid=town.a.uid), "script": "#!/bin/sh\n"}, socket=sock)
        assert not answer, answer
        answer = town.b.send("SubmitJob", {**town.b.request(), "script": "#!/bin/sh\ntrue\n"}, socket=sock)
        assert answer, answer
        town.must_run()
    finally:
        assert end_process(sackd) == 0
