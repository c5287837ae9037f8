"""Every message of the protocol, with every field set to every hostile value, sent by an ordinary user: what the controller
then has in its log differs by nothing that the manual does not let him change.

The client is generated from src/model/messages.def and the descriptions of the messages, so a new message or field is in it the
day it is written. MAY says for each message what an ordinary user may change by it; a message without a row fails the first
test.
"""
import glob
import os
import re
import sqlite3
import subprocess
import time

import pytest

import conftest
import harness
import town as towns
from harness import until

SECRET = "known-to-a-alone-5309"

# own: his own jobs; new: jobs that were not there before, his own again; "": nothing.
MAY = {
    "SubmitJob": "new", "Allocate": "new own", "WillRun": "", "WaitJob": "", "FinishAllocation": "own", "AttachAllocation": "",
    "SubmitHetJob": "new", "AllocateHetJob": "new own", "CreateHetStep": "own", "CreateStep": "own", "FinishStep": "own", "SignalJobs": "own", "ControlJobs": "own", "UpdateJob": "own", "UpdateNode": "", "JoinNode": "", "FetchConfig": "", "FetchConfigFile": "",
    "UpdatePartition": "", "Shutdown": "", "Reconfigure": "", "Ping": "", "UpdateStep": "own", "ControlNodes": "", "NotifyJob": "",
    "UpdateConfig": "", "UpdateReservation": "", "QueryReservations": "", "QueryJobs": "", "QueryNodes": "", "QueryPartitions": "", "QueryText": "", "ExplainJob": "", "ExplainNode": "",
    "QueryLicenses": "", "QueryShares": "", "QueryAssocMgr": "", "QueryPriorities": "", "Relay": "", "AskerGone": "", "QueryStatistics": "",
    "QueryTopology": "", "WatchJobs": "", "AskCredential": "", "WaitSteps": "", "RunWithoutJob": "",
    "WaitRecords": "", "FetchContent": "", "InstallCrontab": "new own", "QueryCrontab": "", "SetTrigger": "", "ClearTriggers": "",
    "QueryTriggers": "", "AskDatabase": "", "CreateToken": "", "QueryTokens": "", "RevokeToken": "", "AskCertificate": "",
    "StartMaintenance": "", "ControlMaintenance": "", "QueryMaintenance": "",
    # slurmd's
    "LaunchStep": "own", "SignalStepTasks": "own", "RelayToNode": "own", "QueryLocalSteps": "", "QueryLocalDaemon": "", "AttachTasks": "",
    "SendFile": "", "PartEnded": "", "TellSteps": "", "QueryStepUse": "", "AdoptProcess": "",
    # slurmdbd's: the controller does not know them. test_accounting_of_others below asks slurmdbd itself.
    "StoreRecords": "", "QueryRecords": "", "RegisterCluster": "", "QueryEntities": "", "EditEntities": "", "EditJobRecords": "",
    "ArchiveDump": "", "ArchiveLoad": "", "StoreContent": "", "QueryContent": "", "QueryDatabaseStatistics": "",
    "AwaitDirectory": "", "QueryUsage": "", "QueryJobSizes": "", "QueryReservationUsage": "", "QueryEvents": "",
}
OF_SLURMD = [*range(200, 210), 220]

# Of nodes: what follows from jobs that run there. No admin's word, and nothing that partitions have.
OF_USE = {"cpus_used", "mem_used_mb", "gres_used", "jobs_running", "jobs_completing", "whole_node_jobs", "shared_jobs", "exclusive_uid",
          "exclusive_user", "last_busy", "cpus_shared", "mcs_label", "by_partition"}
COMPLETING = 4      # of a node's flags: its jobs' doing

# Answered when something has become of a job, which may be never; watches too, by what they tell.
WAITS = ("Allocate", "WaitJob", "WaitSteps")


def table():
    text = open(os.path.join(harness.REPO, "src/model/messages.def")).read()
    return [(int(number), name) for number, name in re.findall(r"^MUSTER_MESSAGE\((\d+), \w+, rpc::(\w+),", text, re.M)]


def update_keys():
    """The keys that the controller's own tables know."""
    keys = set()
    for path in glob.glob(os.path.join(harness.REPO, "src/slurmctld/core/update_*.cc")) + glob.glob(
            os.path.join(harness.REPO, "src/slurmctld/core/runtime_settings.cc")):
        keys.update(re.findall(r'\{"([A-Za-z-]+)",', open(path).read()))
    assert len(keys) > 60, "the tables of keys have moved: %s" % keys
    return sorted(keys)


def test_every_message_is_in_the_table():
    listed = subprocess.run([towns.hostile_program(), "list"], capture_output=True, text=True, check=True).stdout
    programs = [(int(line.split()[0]), line.split()[1]) for line in listed.splitlines()]
    assert programs == table(), "the client was built from another table"
    missing, gone = {name for _, name in table()} - set(MAY), set(MAY) - {name for _, name in table()}
    assert not missing and not gone, "%s, %s: say in MAY what an ordinary user may change by it" % (missing, gone)


@pytest.fixture(scope="module")
def world():
    lines = ["PartitionName=main Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP", "PartitionName=closed Nodes=n[1-2] RootOnly=YES",
             "PartitionName=hidden Nodes=n2 Hidden=YES AllowGroups=root"]
    one = towns.Town(conftest.new_folder(), partitions=lines, conf="MinJobAge=2\nSlurmctldDebug=info\nLicenses=matlab:5\nScronParameters=enable\n"
                     "AccountingStoragePass=hunter2")
    try:
        yield World(one.start())
    finally:
        one.stop()
        harness.remove(one.folder)


class World:
    def __init__(self, town):
        self.town = town
        a = town.a
        script = a.file("secret.sh", "#!/bin/sh\n# %s\nsleep 3600\n" % SECRET)
        env = {"A_SECRET": SECRET}
        self.running = a.sbatch("--stepmgr", "-w", "n1", "-o", "/dev/null", script, env=env)
        self.held = a.sbatch("--hold", script, env=env)
        self.array = a.sbatch("--hold", "--array=0-3", script, env=env)
        self.stepped = a.popen("srun", "-w", "n2", "-J", "stepped", "sleep", "3600", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        town.wait_job(self.running, "RUNNING")
        self.step_job = int(until("A's step", lambda: town.run("squeue", "-h", "-s", "-o", "%i").lines)[0].split(".")[0])

    def own_jobs(self):
        """One that runs and one that waits; anew where an attack has ended them."""
        b = self.town.b

        def gone():     # again and again: a job that was told to queue again comes back when its nodes are rid of it
            self.town.run("scancel", "-u", b.name)
            return not self.town.run("squeue", "-h", "-u", b.name).out
        until(lambda: "no job of b's: %s" % self.town.run("squeue").out, gone, 60)
        runs = b.sbatch("--stepmgr", "-J", "own", "-w", "n1", "-o", "/dev/null", "--wrap", "sleep 3600")
        waits = b.sbatch("-J", "own", "--hold", "--wrap", "true")
        self.town.wait_job(runs, "RUNNING")
        return [runs, waits]

    def file(self, own):
        t = self.town
        lines = ["uid %d" % t.b.uid, "gid %d" % t.b.gid]
        lines += ["job %d" % job for job in (self.held, self.running, self.array, self.step_job)] + ["own %d" % job for job in own]
        lines += ["number %d" % n for n in (t.a.uid, t.slurm.pw_uid, 2147493648)]
        lines += ["text " + text for text in ("", "root", "-100", "4294967295", "closed", "main,closed", t.a.name, "ALL", "n1", "+", "/etc/passwd", "DOWN")]
        lines += ["key " + key for key in update_keys()] + ["key Bogus"]
        lines += ["secret " + text for text in (SECRET, "hunter2", "the secret of daemons")] + ["long 70000"]
        return t.b.file("world", "\n".join(lines) + "\n")


def others(things, uid):
    """Everything that is not a job of this user, without what follows from use."""
    out = {}
    for thing, fields in things.items():
        if thing.startswith("job/"):
            if fields.get("request.uid") == str(uid):
                continue
            out[thing] = fields
        elif thing.startswith("node/"):
            out[thing] = {k: v for k, v in fields.items() if k.split(".")[0] not in OF_USE}
            out[thing]["flags"] = str(int(fields.get("flags", 0)) & ~COMPLETING)
        else:
            out[thing] = fields
    return out


def difference(before, after):
    lines = []
    for thing in sorted(before.keys() | after.keys()):
        old, new = before.get(thing, {}), after.get(thing, {})
        lines += ["%s.%s: %r, was %r" % (thing, f, new.get(f), old.get(f)) for f in sorted(old.keys() | new.keys()) if old.get(f) != new.get(f)]
    return lines


def attack(world, message, socket):
    """What it did, and the state before and after."""
    t = world.town
    own = world.own_jobs()
    path = world.file(own)
    before = world.town.stored()
    done = t.b.run(towns.hostile_program(), "attack", socket, message, path, timeout=120)
    counts = re.search(r"sent (\d+) answered (\d+) refused (\d+) ", done.out)
    assert done.code == 0 and counts, done
    sent, decided = int(counts[1]), int(counts[2]) + int(counts[3])
    assert sent > 1 and (message in WAITS or decided >= 0.9 * sent), "the attack did not arrive: %s" % done
    t.must_run()
    return done.out, own, before, world.town.stored()


def judge(world, message, said, own, before, after):
    t, may = world.town, MAY.get(message, "own new").split()
    assert "leak:" not in said, said
    changed = difference(others(before, t.b.uid), others(after, t.b.uid))
    assert not changed, "%s changed what is not the user's:\n%s\n%s" % (message, "\n".join(changed[:30]), said)
    for thing, fields in after.items():
        if not thing.startswith("job/") or fields.get("request.uid") != str(t.b.uid):
            continue
        if thing not in before:
            assert "new" in may, "%s made %s" % (message, thing)
        elif without_progress(fields) == without_progress(before[thing]):
            continue
        elif int(thing[4:]) in own:
            assert "own" in may, "%s changed %s: %s" % (message, thing, difference({thing: before[thing]}, {thing: fields}))
        bounded(world, message, thing, fields, max(int(before["job/%d" % job].get("priority", 0)) for job in own))


def without_progress(fields):
    """What becomes of a job by itself meanwhile."""
    return {k: v for k, v in fields.items() if k not in ("launched", "batch_host") and not k.startswith("releasing")}


def bounded(world, message, thing, fields, highest):
    """What no job of an ordinary user can have. highest: the priority that his own had before; what comes later has less."""
    t = world.town
    told = "%s left %s with %%s" % (message, thing)
    assert fields.get("request.user_name") == t.b.name, told % fields.get("request.user_name")
    assert fields.get("request.gid") == str(t.b.gid), told % ("group " + fields.get("request.gid", "0"))
    assert "request.admin_comment" not in fields, told % fields["request.admin_comment"]
    assert "request.site_factor" not in fields, told % fields["request.site_factor"]
    assert int(fields.get("request.nice", "0")) >= 0, told % fields["request.nice"]
    assert int(fields.get("priority", "0")) <= highest, told % fields["priority"]
    assert fields.get("partition", "0") == "0", told % ("partition %s" % fields["partition"])
    assert "request.reboot" not in fields and "request.no_allocate" not in fields, told % "what is for operators"
    for text in ("closed", "hidden"):
        assert not any(text in v.split(",") for k, v in fields.items() if k.startswith("request.partitions")), told % text


@pytest.mark.parametrize("number, message", table(), ids=lambda v: str(v))
def test_a_message_by_an_ordinary_user(world, number, message):
    """To the controller itself, and to it or slurmd by way of a node's socket."""
    sockets = [world.town.agent] if number not in OF_SLURMD else []
    if number in OF_SLURMD or message in ("UpdatePartition", "UpdateNode", "Relay", "SignalJobs", "ControlJobs", "Shutdown",
                                         "CreateStep", "FinishStep", "AskCredential", "AttachAllocation"):   # of managed jobs slurmd's own
        sockets.append(world.town.node_agent())
    for socket in sockets:
        judge(world, message, *attack(world, message, socket))


def test_what_only_daemons_may_say(world):
    """Reports of nodes, orders to nodes, every number with any bytes: to both sockets."""
    t = world.town
    for socket in (t.agent, t.node_agent()):
        own = world.own_jobs()
        path, before = world.file(own), world.town.stored()
        done = t.b.run(towns.hostile_program(), "reports", socket, path, timeout=120)
        assert done.code == 0, done
        t.must_run()
        judge(world, "anything", done.out, own, before, world.town.stored())


def test_afterwards_everything_still_runs(world):
    t = world.town
    assert t.job(world.running)["JobState"] == "RUNNING" and world.stepped.poll() is None
    assert t.job(world.held)["JobState"] == "PENDING" and t.drained() == []
    assert t.a.run("srun", "echo", "fine").out == "fine\n"
    assert max(t.memory().values()) < 500, t.memory()
    world.stepped.kill()
    world.stepped.wait()


def test_accounting_of_others(make_town):
    """The same at slurmdbd's own socket: no record of another's job and no account changes."""
    town = make_town(start=False, nodes=1, conf="MinJobAge=2")
    database = towns.start_database(town, "StoragePass=hunter2\n")
    try:
        town.ok("sacctmgr", "-i", "add", "account", "lab")
        town.ok("sacctmgr", "-i", "add", "user", town.a.name, "account=lab")
        job = town.a.sbatch("-o", "/dev/null", "--comment=mine", "--wrap", "true")
        town.wait_job(job)
        until("its record", lambda: town.run("sacct", "-n", "-X", "-j", str(job), "-o", "state").out.strip() == "COMPLETED")
        world = town.b.file("world", "\n".join(
            ["uid %d" % town.b.uid, "gid %d" % town.b.gid, "job %d" % job, "number %d" % town.a.uid, "long 5000", "secret hunter2"] +
            ["text " + t for t in ("", "root", "lab", town.a.name, "test", "ALL", "-1")]) + "\n")
        socket = "%s/run/slurmdbd.%d.sock" % (town.folder, database.port)

        def rows():
            with sqlite3.connect("file:%s?mode=ro" % database.file, uri=True) as db:
                db.text_factory = bytes
                names = [n.decode() for (n,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")]
                return {name: sorted(map(repr, db.execute('SELECT * FROM "%s"' % name))) for name in names}
        until("slurmctld and slurmdbd to be quiet", lambda: rows() == (time.sleep(0.3), rows())[1])
        before = rows()
        for number, message in table():
            if number >= 400 or message in ("Shutdown", "Reconfigure", "QueryText"):
                done = town.b.run(towns.hostile_program(), "attack", socket, message, world, timeout=120)
                assert done.code == 0 and "leak:" not in done.out, done
                assert database.process.poll() is None, message
                after = rows()
                changed = [name for name in before if before[name] != after.get(name)]
                assert not changed, "%s changed %s: %s" % (message, changed, [r for n in changed for r in set(after[n]) ^ set(before[n])][:6])
        town.must_run()
    finally:
        database.stop()
