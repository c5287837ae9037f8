"""Users whose host has no slurmdbd and who may not read the cluster key: their questions go by way of slurmctld, and are judged as theirs."""
import os
import re

import pytest

import town as towns
from harness import until


@pytest.fixture(scope="module")
def site():
    from conftest import new_folder
    import harness
    folder = new_folder()
    town = towns.Town(folder, nodes=1, conf="AccountingStorageEnforce=associations")
    database = None
    try:
        database = towns.start_database(town, "PrivateData=jobs\n", far=True)
        town.ok("sacctmgr", "-i", "add", "account", "lab")
        for user in (town.a, town.b):
            town.ok("sacctmgr", "-i", "add", "user", user.name, "account=lab")
        until("the account to be known", lambda: all(u.run("sbatch", "-H", "--begin=now+1day", "--wrap", "true").code == 0
                                                     for u in (town.a, town.b)))
        town.database = database
        yield town
    finally:
        town.stop()
        if database:
            database.stop()
        harness.remove(folder)


def test_no_socket_of_slurmdbd_is_where_users_look(site):
    assert not [name for name in os.listdir(site.folder + "/run") if name.startswith("slurmdbd")]
    assert site.a.run("cat", site.folder + "/etc/slurm.key").code != 0


def test_ones_own_records_and_no_others(site):
    job = site.a.sbatch("-o", "/dev/null", "--wrap", "true")
    site.wait_job(job)
    own = until("the record", lambda: site.a.ok("sacct", "-n", "-X", "-j", str(job), "-o", "user,state%20").out.split())
    assert own == [site.a.name, "COMPLETED"]
    for args in (["-j", str(job)], ["-a"], ["-u", site.a.name]):
        assert not re.search(r"^%d\b" % job, site.b.ok("sacct", "-n", "-X", *args).out, re.M), args


def test_every_command_of_accounting_finds_its_way(site):
    assert site.a.ok("sacctmgr", "-n", "-P", "show", "assoc", "user=" + site.a.name, "format=account").lines == ["lab"]
    assert "Cluster Utilization" in site.a.ok("sreport", "cluster", "utilization").out
    assert "AccountingStorageHost" in site.a.ok("sacctmgr", "show", "configuration").out
    assert site.a.ok("sacctmgr", "ping").code == 0


def test_rights_are_those_of_who_asks(site):
    refused = site.b.run("sacctmgr", "-i", "add", "account", "mine")
    assert refused.code == 1 and "denied" in refused.err + refused.out, refused
    for word in ("shutdown", "reconfigure"):
        assert site.b.run("sacctmgr", word).code != 0
    site.ok("sacctmgr", "-i", "modify", "user", site.b.name, "set", "adminlevel=operator")
    site.b.ok("sacctmgr", "-i", "add", "account", "mine")
    assert site.a.ok("sacctmgr", "-n", "-P", "show", "account", "mine", "format=account").lines == ["mine"]
    site.ok("sacctmgr", "-i", "modify", "user", site.b.name, "set", "adminlevel=none")


def test_what_daemons_say_is_said_by_nobody_else(site):
    """Every message of slurmdbd's, and some of others, inside a question: nothing of root's or of a daemon's is done."""
    world = site.b.file("world", "uid 0\ngid 0\njob 1\nnumber 0\nlong 50\nsecret none\ntext test\n")
    before = site.database.rows("SELECT count(*) FROM muster_jobs"), site.ok("sacctmgr", "-n", "-P", "show", "account", "format=account").out
    for message in (14, 15, 60, 75, 400, 402, 406):
        done = site.b.run(towns.hostile_program(), "send", site.agent, "AskDatabase", "message=%d" % message, "payload=")
        assert done.code == 1 and done.out.startswith("error: "), (message, done)
    done = site.b.run(towns.hostile_program(), "attack", site.agent, "AskDatabase", world, timeout=120)
    assert done.code == 0 and "leak:" not in done.out, done
    after = site.database.rows("SELECT count(*) FROM muster_jobs"), site.ok("sacctmgr", "-n", "-P", "show", "account", "format=account").out
    assert before == after
    site.must_run()
    assert site.database.process.poll() is None


def test_many_questions_of_one_user_leave_room_for_others(site):
    many = [site.b.popen("sacct", "-n", "-a") for _ in range(40)]
    assert site.a.ok("sacct", "-n", "-X", timeout=30).code == 0
    assert [p.wait(timeout=60) for p in many] == [0] * 40


def test_while_slurmdbd_is_away_the_error_says_where_it_was_looked_for(site):
    site.database.stop()
    done = site.a.run("sacct", "-n")
    assert done.code == 1 and "127.0.0.1:%d" % site.database.port in done.err, done
    site.database.start()
    until("slurmdbd to answer", lambda: site.a.run("sacct", "-n").code == 0)
