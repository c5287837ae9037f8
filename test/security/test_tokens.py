"""A node that was broken into: it joined with a token, and whoever attacks has all that it has (FILE.credential, the spool, root there). What he
cannot do for all that is a line of the table in docs/adr/0019, and a test here."""
import json
import os
import re
import shutil
import socket
import threading

import pytest

import conftest
import harness
import town as towns
from harness import end_process, until
from town import hostile_program as hostile

SECRET = "only-for-a-4711"


class World:
    """n1 and n2 have the cluster key; n3 joined with a token and is broken into. A runs on n1 and on n3, B on n1 alone."""

    def __init__(self, town):
        self.town, self.a, self.b = town, town.a, town.b
        self.folder = os.path.join(town.folder, "n3")
        os.makedirs(self.folder)
        self.token = os.path.join(self.folder, "token")
        self.stolen = self.token + ".credential"
        end_process(town.slurmds.pop("n3"))
        self.make_token("n3")
        self.begin()
        script = town.a.file("secret.sh", "#!/bin/sh\n# %s\nsleep 3600\n" % SECRET)
        self.far = town.a.sbatch("-w", "n1", "-o", "/dev/null", script)
        self.near = town.a.sbatch("-w", "n3", "-o", "/dev/null", script)
        self.bobs = town.b.sbatch("-w", "n1", "-o", "/dev/null", "--wrap", "sleep 3600")
        self.waits = town.a.sbatch("--hold", script)
        for job in (self.far, self.near, self.bobs):
            town.wait_job(job, "RUNNING")

    def make_token(self, *names):
        with open(self.token, "w") as f:
            f.write(self.town.ok("muster", "token", "create", "--nodes", ",".join(names)).out)
        os.chmod(self.token, 0o600)

    def begin(self):
        self.town.slurmds["n3"] = self.town.spawn("slurmd", "-D", "-N", "n3", "-f", self.town.conf_path, "--token-file", self.token)
        self.town.wait_nodes("idle|mixed|allocated", ["n3"])

    @property
    def controller(self):
        return "127.0.0.1:%d" % self.town.port

    def node(self, name):
        return "127.0.0.1:%d" % self.town.node_ports[self.town.names.index(name)]

    def ask(self, message, fields=(), user=None, to=None, whom="controller", stolen=None):
        """One message with what was stolen; user: passed on in this user's name. A node passes on by the slurmd that is registered, to which root
        there can say anything as anybody; a connection of the attacker's own is tried, too, and passes nothing on."""
        words = ["%s=%s" % word for word in dict(fields).items()]
        name = [str(user[0]), str(user[1])] if user else []
        if user and not stolen and user[0] < 0xffffffff:
            own = towns.Answer(self.town.run(hostile(), "as", self.stolen, self.controller, whom, *name, message, *words))
            assert not own and "on which it is registered" in own.error, (message, own)
            become = ["setpriv", "--reuid", name[0], "--regid", name[1], "--clear-groups"]
            result = self.town.run(*become, hostile(), "send", self.town.node_agent("n3"), message, *words, cwd="/")
        else:
            result = self.town.run(hostile(), "as", stolen or self.stolen, to or self.controller, whom, *name, message, *words)
        assert result.code != 2, "nothing was sent: %s" % result
        return towns.Answer(result)

    def register(self, node, stolen=None, seconds=2, to=None, boot="stolen", days_ahead=0):
        return self.town.run(hostile(), "register", stolen or self.stolen, to or self.controller, node, str(seconds), boot, str(days_ahead))

    def is_registered(self):
        """n3's own slurmd, not somebody in its place."""
        answer = self.ask("Ping", user=own(self.a))
        assert answer, answer

    def still_there(self):
        for job in (self.far, self.near, self.bobs):
            assert self.town.job(job)["JobState"] == "RUNNING", job
        assert self.town.job(self.waits)["JobState"] == "PENDING"
        self.town.must_run()


@pytest.fixture(scope="module")
def world():
    one = towns.Town(conftest.new_folder(), nodes=3, conf="SlurmctldParameters=enable_configless")
    try:
        one.start()
        yield World(one)
    finally:
        one.stop()
        harness.remove(one.folder)


def refused(answer, text="denied"):
    assert not answer and text in answer.error.lower(), answer


def own(user):
    return (user.uid, user.gid)


def test_it_ends_no_job_but_its_own(world):
    for job, users in ((world.far, [own(world.a), own(world.b), (0, 0), own_slurm(world)]), (world.bobs, [own(world.b), own(world.a), (0, 0)]),
                       (world.waits, [own(world.a), (0, 0)])):
        for user in users:
            for fields in ({"filter.jobs.0.job": job}, {"filter.jobs.0.job": job, "signal": 9}, {"filter.users.0": user[0]}):
                world.ask("SignalJobs", fields, user=user)
            world.ask("UpdateJob", {"job.job": job, "changes.0.key": "TimeLimit", "changes.0.op": "=", "changes.0.value": "1"}, user=user)
            world.ask("ControlJobs", {"jobs.0.job": job, "action": 2}, user=user)
            world.ask("FinishAllocation", {"job": job}, user=user)
    # A user's own words end what runs on n3, and nothing of the above did more than that.
    states = {job: world.town.job(job)["JobState"] for job in (world.far, world.bobs, world.waits)}
    assert states == {world.far: "RUNNING", world.bobs: "RUNNING", world.waits: "PENDING"}
    if world.town.job(world.near)["JobState"] != "RUNNING":
        world.near = world.a.sbatch("-w", "n3", "-o", "/dev/null", world.a.home + "/secret.sh")
        world.town.wait_job(world.near, "RUNNING")
    # Nor does what it reports: it may only report of its own jobs.
    answer = world.ask("SignalJobs", {"filter.jobs.0.job": world.bobs})
    refused(answer, "node:n3")


class Elsewhere:
    """A way to slurmctld from another address of the machine."""

    def __init__(self, port, address="127.0.0.66"):
        self.to, self.address = ("127.0.0.1", port), address
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.at = "127.0.0.1:%d" % self.listener.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                here, _ = self.listener.accept()
            except OSError:
                return
            there = socket.create_connection(self.to, source_address=(self.address, 0))
            for one, other in ((here, there), (there, here)):
                threading.Thread(target=self.copy, args=(one, other), daemon=True).start()

    @staticmethod
    def copy(one, other):
        try:
            while True:
                some = one.recv(65536)
                if not some:
                    break
                other.sendall(some)
            other.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.close()


def own_slurm(world):
    return (world.town.slurm.pw_uid, world.town.slurm.pw_gid)


def test_it_reads_no_job_but_its_own(world):
    assert SECRET in world.ask("QueryText", {"subject": "script", "job": world.near}, user=own(world.a)).result.out, "what runs there is its own"
    for job in (world.far, world.waits):
        for user in (own(world.a), own(world.b), (0, 0), own_slurm(world), (0xffffffff, 0xffffffff)):
            for what in ("script", "environment"):
                answer = world.ask("QueryText", {"subject": what, "job": job}, user=user)
                assert SECRET not in answer.result.out, answer
    for fields in ({"job": world.far}, {"job": world.bobs}):
        for message in ("FetchContent", "AttachAllocation", "AskCredential"):
            answer = world.ask(message, fields)
            assert not answer, (message, answer)
    world.still_there()


def test_it_submits_as_nobody_who_has_no_job_there(world):
    before = set(world.town.stored())
    for user in (own(world.b), (0, 0), own_slurm(world), (1, 1)):
        fields = {"request.uid": user[0], "request.gid": user[1], "request.name": "forged", "request.num_tasks": 1, "request.min_nodes": 1,
                  "request.max_nodes": 1, "request.work_dir": "/tmp", "request.argv.0": "forged", "script": "#!/bin/sh\\nid > /tmp/forged\\n"}
        refused(world.ask("SubmitJob", fields, user=user), "node:n3")
        refused(world.ask("Allocate", {k: v for k, v in fields.items() if k != "script"}, user=user), "node:n3")
        refused(world.ask("SubmitJob", fields), "node:n3")        # in its own name
        # A's uid with a job on n3 does not submit for others.
        assert not world.ask("SubmitJob", fields, user=own(world.a))
    assert {name for name in world.town.stored() if name.startswith("job/")} == {name for name in before if name.startswith("job/")}
    world.still_there()


ADMIN = [("UpdateNode", {"nodes": "n1", "changes.0.key": "State", "changes.0.op": "=", "changes.0.value": "DOWN"}), ("Shutdown", {}), ("Reconfigure", {}),
         ("ControlNodes", {"nodes": "n1"}), ("UpdatePartition", {"name": "main", "changes.0.key": "State", "changes.0.op": "=", "changes.0.value": "DOWN"}),
         ("CreateToken", {"hosts": "n9", "seconds": 60, "uses": 1}), ("QueryTokens", {}), ("RevokeToken", {"node": "n1"}), ("RunWithoutJob", {}),
         ("InstallCrontab", {}), ("SetTrigger", {})]


def test_it_has_nobodys_rights_over_the_cluster(world):
    for message, fields in ADMIN:
        for user in (None, (0, 0), own_slurm(world), own(world.b)):
            answer = world.ask(message, fields, user=user)
            assert not answer, (message, user, answer)
    assert world.town.node_states()["n1"].split()[0].rstrip("*") in ("mixed", "allocated")
    assert world.town.ok("muster", "token", "list").out.count("\n") == 3
    world.still_there()


def test_it_cannot_be_another_node(world):
    for name in ("n1", "n2", "n9", "N3", "n3 ", ""):
        result = world.register(name)
        assert result.code == 1 and "registered" not in result.out, (name, result)
    assert "node:n3 at" in world.town.log() and "registers as node 'n1' and is refused" in world.town.log()
    for fields in ({"name": "n1"}, {"name": "d1"}, {"name": "n3", "as": 1}):
        refused(world.ask("JoinNode", {**fields, "hostname": "x", "port": 7}), "node:n3")
    # No certificate but its own is given to it, and the one it has is nobody else's.
    for fields in ({"name": "n1"}, {"name": "n3", "role": 1}, {"name": ""}):
        assert not world.ask("AskCertificate", {**fields, "public_key": "k" * 32})
    # Nor does a copy of it renew itself beside the node.
    refused(world.ask("AskCertificate", {"name": "n3", "public_key": "k" * 32}), "on which it is registered")
    assert not world.ask("Ping", to=world.node("n3"), whom="controller")
    assert not world.ask("QueryLocalDaemon", to=world.node("n3"), whom="node:n1")
    world.still_there()
    assert world.town.node_states()["n2"].startswith("idle")


def test_a_copy_of_its_disk_does_not_take_its_place(world):
    """All nodes of this town have the boot of this machine, which is what lies in n3's spool, too."""
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    elsewhere = Elsewhere(world.town.port)
    try:
        result = world.register("n3", to=elsewhere.at, boot=boot)
        assert result.code == 1 and "registered" not in result.out, result
        until("the log to say so", lambda: "registers as node n3, which is another machine" in world.town.log())
        world.is_registered()
        for message, fields in (("JoinNode", {"name": "n3", "hostname": "x", "port": 7, "boot_id": boot}),
                                ("AskCertificate", {"name": "n3", "public_key": "k" * 32})):
            refused(world.ask(message, fields, to=elsewhere.at), "n3")
    finally:
        elsewhere.close()
    # From its own address, but with a number that nothing could take the place of.
    result = world.register("n3", boot=boot, days_ahead=2)
    assert result.code == 1 and "registered" not in result.out, result
    world.is_registered()
    world.still_there()


def test_its_connections_end_with_its_certificate(world):
    short = os.path.join(world.folder, "short")
    authority = os.path.join(world.town.state_folder, "authority")
    for to, whom in ((world.controller, "controller"), (world.node("n1"), "node:n1")):
        for seconds_left, code in ((600, 0), (3, 1)):
            assert world.town.run(hostile(), "mint", authority, short, "node:n3", "%.5f" % (24 - seconds_left / 3600)).code == 0
            result = world.town.run(hostile(), "linger", short, to, whom, "5")
            assert result.code == code and result.lines[0] == "answered", (whom, seconds_left, result)
    world.still_there()


def test_it_names_no_group_of_a_user(world):
    """A's job is on n3; that he is in a group says the user database, and not n3."""
    for group in (0, 42, world.b.gid):
        fields = {"request.uid": world.a.uid, "request.gid": group, "request.name": "grouped", "request.num_tasks": 1, "request.min_nodes": 1,
                  "request.max_nodes": 1, "request.work_dir": "/tmp", "request.argv.0": "grouped", "script": "#!/bin/sh\\nid\\n"}
        refused(world.ask("SubmitJob", fields, user=(world.a.uid, group)), "not in group %d" % group)
    own_group = world.ask("SubmitJob", {**fields, "request.gid": world.a.gid, "request.hold": 1}, user=own(world.a))
    assert own_group, own_group
    world.town.ok("scancel", own_group.fields["job"])


REACHES_FURTHER = [("InstallCrontab", {"crontab": "* * * * * true"}), ("QueryCrontab", {}), ("SetTrigger", {"trigger.program": "/bin/true"}), ("ClearTriggers", {}),
                   ("UpdateReservation", {"name": "r"})]


def test_a_users_name_reaches_no_further_than_its_jobs(world):
    """In the name of A, who has a job there."""
    for message, fields in REACHES_FURTHER:
        if message in ("InstallCrontab", "QueryCrontab"):
            fields = {**fields, "user": world.a.uid}
        refused(world.ask(message, fields, user=own(world.a)), "not passed on from there")
    assert not world.a.run("scrontab", "-l").out
    world.still_there()


def test_it_is_shown_no_credential_of_root_that_it_could_use(world):
    """Root's job has a part of n3, which is shown the credential of its step; with A's it can do what A's steps can."""
    n1 = dict(to=world.node("n1"), whom="node:n1")
    root = world.town.sbatch("-w", "n1,n3", "-N2", "-o", "/dev/null", "--wrap", "sleep 3600")
    users = world.a.sbatch("-w", "n1,n3", "-N2", "-o", "/dev/null", "--wrap", "sleep 3600")
    for job in (root, users):
        world.town.wait_job(job, "RUNNING")
    words = {"request.num_tasks": 2, "request.min_nodes": 2, "request.max_nodes": 2}
    for job, who in ((root, None), (users, own(world.a))):
        for message, fields, purpose in (("CreateStep", words, "LaunchStep"), ("AskCredential", {"purpose": 2}, "SendFile")):
            become = ["setpriv", "--reuid", str(who[0]), "--regid", str(who[1]), "--clear-groups"] if who else []
            shown = towns.Answer(world.town.run(*become, hostile(), "send", world.town.agent, message, *["%s=%s" % w for w in {"job": job, **fields}.items()], cwd="/"))
            assert shown, shown
            credential = shown.fields["credential"]
            told = {"LaunchStep": {"node": "n1"}, "SendFile": {"path": "/tmp/planted", "nodes.0": "n1", "transfer": "t" * 20, "data": "x", "size": 1}}[purpose]
            answer = world.ask(purpose, {**told, "credential": credential}, **n1)
            if who:
                assert "no cluster key" not in answer.error, answer
            else:
                refused(answer, "node:n3 has no cluster key")
    if os.path.exists("/tmp/planted"):
        assert os.stat("/tmp/planted").st_uid == world.a.uid
        os.unlink("/tmp/planted")
    for job in (root, users):
        world.town.ok("scancel", str(job))
        world.town.wait_job(job, "CANCELLED")
    world.still_there()


def test_what_it_signs_is_worth_nothing(world):
    for subject in ("node:n1", "node:n3", "login:l1", "controller"):
        forged = os.path.join(world.folder, "forged")
        assert world.town.run(hostile(), "forge", world.stolen, forged, subject).code == 0
        for to, whom, message in ((world.controller, "controller", "Ping"), (world.node("n1"), "node:n1", "QueryLocalDaemon")):
            answer = world.ask(message, to=to, whom=whom, stolen=forged)
            assert not answer, (subject, message, answer)
        assert world.register("n1", stolen=forged).code == 1
    world.still_there()


def test_to_other_nodes_it_says_nothing_without_a_credential(world):
    n1 = dict(to=world.node("n1"), whom="node:n1")
    assert world.ask("QueryLocalDaemon", **n1), "it reaches them"
    for job in (world.far, world.bobs):
        refused(world.ask("SignalStepTasks", {"job": job, "step": 4294967291, "signal": 9}, **n1))
        refused(world.ask("SignalStepTasks", {"job": job, "step": 0, "signal": 9}, **n1), "")
        for node in ("n1", "n2"):
            refused(world.ask("PartEnded", {"node": node, "job": job}, **n1), "node:n3")
    path = os.path.join(world.town.folder, "planted")
    refused(world.ask("SendFile", {"path": path, "nodes.0": "n1", "as_caller": 1, "transfer": "t" * 20, "data": "x", "size": 1}, **n1), "")
    assert not os.path.exists(path)
    assert not world.ask("RelayToNode", {"node": "n2", "message": 204}, **n1)
    assert not world.ask("LaunchStep", {"node": "n1", "credential": "A" + "x" * 64 + "content"}, **n1)
    # What n1 is told by others it passes on to nobody for it.
    assert not world.ask("SubmitJob", {}, **n1) and not world.ask("QueryJobs", {}, **n1)
    world.still_there()


def test_it_has_no_key_and_no_other_secret(world):
    spool = os.path.join(world.town.folder, "spool", "n3")
    with open(os.path.join(world.town.folder, "etc", "slurm.key"), "rb") as f:
        key = f.read()
    with open(os.path.join(world.town.state_folder, "authority"), "rb") as f:
        authority = f.read()
    for folder, _, names in list(os.walk(spool)) + list(os.walk(world.folder)):
        for name in names:
            try:
                with open(os.path.join(folder, name), "rb") as f:
                    text = f.read()
            except OSError:
                continue
            assert key not in text and authority not in text, os.path.join(folder, name)
    for name in ("authority", "tokens"):
        assert os.stat(os.path.join(world.town.state_folder, name)).st_mode & 0o777 == 0o600
    for name in ("token", "token.credential"):
        assert os.stat(os.path.join(world.folder, name)).st_mode & 0o777 == 0o600
        assert world.b.run("cat", os.path.join(world.folder, name)).code != 0
    # Nor does slurmctld keep the token itself.
    with open(world.token) as f:
        token = f.read().strip()
    with open(os.path.join(world.town.state_folder, "tokens"), "rb") as f:
        assert token.encode() not in f.read()


def test_a_found_token_lets_nobody_in_twice_nor_where_somebody_is(world):
    def tries(name, token=None):
        found = os.path.join(world.folder, "found")
        shutil.copy(token or world.token, found)
        os.chmod(found, 0o600)
        if os.path.exists(found + ".credential"):
            os.unlink(found + ".credential")
        return world.town.run("slurmd", "-D", "-N", name, "-f", world.town.conf_path, "--token-file", found, timeout=15)
    assert "is used up" in tries("n3").err
    assert "is another machine" in tries("n1").err
    end_process(world.town.slurmds.pop("n2"))
    assert "is used up" in tries("n2").err
    world.town.start_slurmd("n2")
    world.town.wait_nodes("idle", ["n2"])
    # Who tries again and again does not fill the log.
    before = world.town.log().count("no certificate for")
    for _ in range(4):
        assert "is used up" in tries("n3").err
    assert world.town.log().count("no certificate for") <= before + 1
    rows = json.loads(world.town.ok("muster", "token", "list", "--json").out)["tokens"]
    assert [use["host"] for use in rows[0]["used"]] == ["n3"]


def shown(world, job, user=None):
    """The credential of a step that root or this user has just made in the job."""
    become = ["setpriv", "--reuid", str(user.uid), "--regid", str(user.gid), "--clear-groups"] if user else []
    words = {"job": job, "request.num_tasks": 1, "request.min_nodes": 1, "request.max_nodes": 1}
    answer = towns.Answer(world.town.run(*become, hostile(), "send", world.town.agent, "CreateStep", *["%s=%s" % w for w in words.items()], cwd="/"))
    assert answer, answer
    return answer.fields["credential"]


def steps_from_there(world, sack, n1):
    """An ordinary user's step begins by way of the login host; nobody brings another's credential, and the host none of root's."""
    of_a = shown(world, world.far, world.a)
    answer = world.b.send("LaunchStep", {"node": "n1", "credential": of_a}, socket=sack, relay="n1")
    assert not answer and "the credential is for uid %d" % world.a.uid in answer.error, answer
    for message, fields in (("LaunchStep", {"node": "n1", "credential": "x" * 300}), ("SignalStepTasks", {"job": world.far, "step": 0, "signal": 9}),
                            ("SendFile", {"as_caller": 1, "path": "/tmp/planted", "nodes.0": "n1", "transfer": "t" * 20, "data": "x", "size": 1,
                                          "credential": of_a})):
        for user in (world.a, world.b):
            assert not user.send(message, fields, socket=sack, relay="n1"), (message, user.name)
    assert not world.a.send("LaunchStep", {"node": "n2", "credential": of_a}, socket=sack, relay="n2"), "n2 is none of its nodes"
    assert not os.path.exists("/tmp/planted")
    root = world.town.sbatch("-w", "n1", "-o", "/dev/null", "--wrap", "sleep 3600")
    world.town.wait_job(root, "RUNNING")
    answer = world.ask("LaunchStep", {"node": "n1", "credential": shown(world, root)}, **n1)
    assert not answer and "has no cluster key" in answer.error, answer
    world.town.ok("scancel", str(root))
    done = world.a.run("srun", "-w", "n2", "id", "-u", env={"SLURM_CONF": os.path.dirname(sack) + "/conf/slurm.conf"})
    assert done.out == "%d\n" % world.a.uid, done


def test_a_login_host_speaks_for_ordinary_users_and_is_nothing_else(world):
    folder = os.path.join(world.town.folder, "login")
    os.makedirs(folder)
    token = os.path.join(folder, "token")
    host = harness.HOST.split(".")[0]
    with open(token, "w") as f:
        f.write(world.town.ok("muster", "token", "create", "--logins", host).out)
    os.chmod(token, 0o600)
    kept = world.town.env
    world.town.env = {**kept, "SLURM_CONF": folder + "/none/slurm.conf", "RUNTIME_DIRECTORY": folder + "/rt"}
    words = ("-D", "--conf-server", world.controller, "--token-file", token)
    try:
        refused_to_start = world.town.run("sackd", *words, timeout=15)
        assert refused_to_start.code == 1 and "SlurmUser has to own the folder" in refused_to_start.err, refused_to_start
        os.chown(folder, world.town.slurm.pw_uid, world.town.slurm.pw_gid)
        sackd = world.town.spawn("sackd", *words)
    finally:
        world.town.env = kept
    try:
        until("the socket of sackd", lambda: os.path.exists(folder + "/rt/sack.socket"))
        assert not os.path.islink(folder + "/rt/conf/slurm.key")
        # What users ask there is passed on, with the kernel's word for who they are.
        def script(user):
            return {"a": world.a, "b": world.b}[user].send("QueryText", {"subject": "script", "job": world.far}, socket=folder + "/rt/sack.socket").result.out
        until("sackd to have reached slurmctld", lambda: SECRET in script("a"))
        assert SECRET not in script("b")
        login = dict(stolen=token + ".credential")
        # Root of that host may name any ordinary user, and no other.
        assert SECRET in world.ask("QueryText", {"subject": "script", "job": world.far}, user=own(world.a), **login).result.out
        for user in ((0, 0), own_slurm(world)):
            assert SECRET not in world.ask("QueryText", {"subject": "script", "job": world.far}, user=user, **login).result.out
            for message, fields in ADMIN + [("SignalJobs", {"filter.jobs.0.job": world.far}), ("SubmitJob", {"request.uid": user[0]})]:
                assert not world.ask(message, fields, user=user, **login), message
        for message, fields in ADMIN:
            assert not world.ask(message, fields, user=own(world.b), **login), message
        world.ask("SignalJobs", {"filter.jobs.0.job": world.far}, user=own(world.b), **login)
        # It is no node, and other nodes do not listen to it.
        assert world.register(host, stolen=token + ".credential").code == 1 and world.register("n1", stolen=token + ".credential").code == 1
        for message, fields in (("FetchContent", {}), ("JoinNode", {"name": host}), ("AskCertificate", {"name": host, "public_key": "k" * 32})):
            assert not world.ask(message, fields, **login), message
        n1 = dict(to=world.node("n1"), whom="node:n1", **login)
        for message, fields in (("QueryLocalDaemon", {}), ("QueryLocalSteps", {}), ("SignalStepTasks", {"job": world.far, "step": 4294967291, "signal": 9}),
                                ("PartEnded", {"node": "n1", "job": world.far}), ("AdoptProcess", {"uid": world.town.a.uid}),
                                ("SendFile", {"as_caller": 1, "path": "/tmp/planted", "nodes.0": "n1", "transfer": "t" * 20, "data": "x", "size": 1}),
                                ("RelayToNode", {"node": "n3"}), ("LaunchStep", {"node": "n1", "credential": "forged"})):
            assert not world.ask(message, fields, **n1), message
        steps_from_there(world, folder + "/rt/sack.socket", n1)
        world.still_there()
        assert "login:%s is out" % host in world.town.ok("muster", "token", "revoke", "--login", host).out
        assert not world.ask("Ping", **login)
        assert SECRET not in script("a")
    finally:
        end_process(sackd)


def test_an_old_certificate_is_renewed_and_an_expired_one_is_none(world):
    end_process(world.town.slurmds.pop("n3"))
    os.rename(world.token, world.token + ".away")
    os.rename(world.stolen, world.stolen + ".away")
    authority = os.path.join(world.town.state_folder, "authority")

    def issued(hours):
        assert world.town.run(hostile(), "mint", authority, world.stolen, "node:n3", str(hours)).code == 0
        os.chmod(world.stolen, 0o600)
        with open(world.stolen, "rb") as f:
            return f.read()
    issued(25)
    result = world.town.run("slurmd", "-D", "-N", "n3", "-f", world.town.conf_path, "--token-file", world.token, timeout=15)
    assert result.code == 1 and "certificate has expired" in result.err and "a new token is needed" in result.err, result
    old = issued(13)
    world.begin()
    until("the certificate to be renewed", lambda: open(world.stolen, "rb").read() != old)
    assert os.stat(world.stolen).st_mode & 0o777 == 0o600
    until("it to be good", lambda: world.ask("Ping"))
    # With the new one it goes on, after a restart, too.
    end_process(world.town.slurmds.pop("n3"))
    os.rename(world.stolen + ".away", world.folder + "/first")
    os.rename(world.token + ".away", world.folder + "/first-token")
    world.begin()
    world.still_there()


def test_users_make_no_tokens(world):
    for words in (("create", "--nodes", "n1"), ("list",), ("revoke", "1"), ("revoke", "--node", "n1")):
        result = world.b.run("muster", "token", *words)
        assert result.code == 1 and "denied" in result.err, result
    for message, fields in (("CreateToken", {"hosts": "n1", "seconds": 60}), ("QueryTokens", {}), ("RevokeToken", {"token": 1}),
                            ("AskCertificate", {"name": "n1", "public_key": "k" * 32})):
        for socket in (world.town.agent, world.town.node_agent(), world.town.node_agent("n3")):
            assert not world.b.send(message, fields, socket=socket)
    world.still_there()


def test_zz_after_it_was_revoked_it_is_nothing(world):
    """The last one: n3 is out."""
    assert world.ask("Ping") and world.ask("QueryLocalDaemon", to=world.node("n1"), whom="node:n1")
    copy = os.path.join(world.folder, "copy")
    shutil.copy(world.stolen, copy)
    assert "node:n3 is out" in world.town.ok("muster", "token", "revoke", "1").out
    assert not world.ask("Ping", stolen=copy)
    assert world.register("n3", stolen=copy).code == 1
    until("n1 to know", lambda: not world.ask("QueryLocalDaemon", to=world.node("n1"), whom="node:n1", stolen=copy))
    # One who is away meanwhile hears of it before anything else.
    end_process(world.town.slurmds.pop("n2"))
    world.town.start_slurmd("n2")
    world.town.wait_nodes("idle", ["n2"])
    until("n2 to have a certificate", lambda: not world.ask("QueryLocalDaemon", to=world.node("n2"), whom="node:n2", stolen=copy))
    assert re.search(r"refused .*the certificate of node:n3 was revoked", world.town.log())
    # A new token for the same name, and what was stolen stays worthless.
    end_process(world.town.slurmds.pop("n3"))
    os.unlink(world.stolen)
    world.make_token("n3")
    world.begin()
    until("n3 to have joined again", lambda: os.path.exists(world.stolen) and world.ask("Ping"))
    assert not world.ask("Ping", stolen=copy)
    world.town.must_run()


def test_zz_z_a_revoked_node_does_not_come_back_by_its_token(world):
    """After the last one: n3's token has uses left, and so has another that names it; what was there knows the one, and may know the other."""
    end_process(world.town.slurmds.pop("n3"))
    os.unlink(world.stolen)
    tokens = [world.town.ok("muster", "token", "create", "--uses", "5", "--nodes", names).out for names in ("n3,n9", "n[3-4]")]

    def use(token):
        with open(world.token, "w") as f:
            f.write(token)
    use(tokens[0])
    world.begin()
    until("n3 to have joined", lambda: os.path.exists(world.stolen) and world.ask("Ping"))
    out = world.town.ok("muster", "token", "revoke", "--node", "n3").out
    assert "node:n3 is out" in out and re.search(r"token \d+, by which it joined, still lets other hosts in", out), out
    end_process(world.town.slurmds.pop("n3"))
    for token in tokens:
        os.path.exists(world.stolen) and os.unlink(world.stolen)
        use(token)
        result = world.town.run("slurmd", "-D", "-N", "n3", "-f", world.town.conf_path, "--token-file", world.token, timeout=15)
        assert result.code == 1 and "was made before 'n3' was revoked" in result.err, result
    world.make_token("n3")
    world.begin()
    until("n3 to have joined by a new one", lambda: os.path.exists(world.stolen) and world.ask("Ping"))
    world.town.must_run()
