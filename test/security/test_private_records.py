"""PrivateData of slurmdbd.conf: a user sees what is his; a coordinator also what is of his accounts and those below, and nothing else."""
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
        database = towns.start_database(town, "PrivateData=accounts,events,jobs,reservations,usage,users\n")
        town.ok("sacctmgr", "-i", "add", "account", "top,elsewhere,mine")
        town.ok("sacctmgr", "-i", "add", "account", "lab", "parent=top")
        town.ok("sacctmgr", "-i", "add", "user", town.a.name, "account=lab,elsewhere", "wckey=secret")
        town.ok("sacctmgr", "-i", "add", "user", town.b.name, "account=mine")
        until("the accounts to be known", lambda: all(u.run("sbatch", "-H", "--begin=now+1day", "-A", account, "--wrap", "true").code == 0
                                                      for u, account in ((town.a, "lab"), (town.a, "elsewhere"), (town.b, "mine"))))
        town.job_by_account = {}
        for account in ("lab", "elsewhere"):
            job = town.a.sbatch("-A", account, "-o", "/dev/null", "--wrap", "true")
            town.wait_job(job)
            town.job_by_account[account] = str(job)
        for job in town.job_by_account.values():
            until("the record", lambda: "COMPLETED" in town.ok("sacct", "-nX", "-j", job, "-o", "state%20").out)
        yield town
    finally:
        town.stop()
        if database:
            database.stop()
        harness.remove(folder)


def seen(town):
    """The accounts in which B sees jobs of A, however he asks; and of which he sees the associations of A."""
    found = set()
    for words in (["-a"], ["-u", town.a.name], ["-A", "lab,elsewhere"], ["-j", ",".join(town.job_by_account.values())], ["-a", "-s", "CD"]):
        lines = town.b.ok("sacct", "-nXP", "-S", "now-1day", "-E", "now", *words, "-o", "user,account").lines
        found |= {line.split("|")[1] for line in lines if line.startswith(town.a.name + "|")}
    named = town.b.ok("sacctmgr", "-nP", "show", "assoc", "format=user,account").lines
    return found, {line.split("|")[1] for line in named if line.startswith(town.a.name + "|")}


def accounts(town):
    return set(town.b.ok("sacctmgr", "-nP", "show", "account", "format=account").lines)


def test_others_records_are_hidden(site):
    assert seen(site) == (set(), set())
    assert accounts(site) == {"mine"}
    for words in (["user"], ["user", site.a.name], ["wckey"], ["transactions"], ["transactions", "withassoc"]):
        out = site.b.ok("sacctmgr", "-nP", "show", *words).out
        assert site.a.name not in out and "secret" not in out and "elsewhere" not in out, words
    assert site.b.run("sacctmgr", "-nP", "show", "event").code == 1
    assert site.a.name not in site.b.ok("sreport", "-nP", "cluster", "AccountUtilizationByUser", "start=now-1day", "end=now+1hour").out
    assert site.b.run("sacct", "-j", site.job_by_account["lab"], "--batch-script").out.find("true") < 0


def test_a_coordinator_sees_his_accounts_and_those_below(site):
    site.ok("sacctmgr", "-i", "add", "coordinator", "account=top", "names=" + site.b.name)
    try:
        assert seen(site) == ({"lab"}, {"lab"})
        assert accounts(site) == {"mine", "top", "lab"}
        assert site.b.ok("sacctmgr", "-nP", "show", "user", "format=user").lines == [site.b.name], "of users himself alone"
        assert site.b.run("sacctmgr", "-nP", "show", "event").code == 1, "events are for operators"
        assert site.b.run("sacctmgr", "-i", "modify", "job", "where", "jobid=" + site.job_by_account["lab"], "set", "comment=x").code == 1
    finally:
        site.ok("sacctmgr", "-i", "delete", "coordinator", "account=top", "names=" + site.b.name)
    assert seen(site) == (set(), set())


def test_the_flag_of_an_account_makes_its_users_coordinators_until_it_is_taken(site):
    site.ok("sacctmgr", "-i", "add", "user", site.b.name, "account=top")
    assert seen(site) == (set(), set())
    site.ok("sacctmgr", "-i", "modify", "account", "top", "set", "flags=UsersAreCoords")
    assert seen(site) == ({"lab"}, {"lab"})
    assert site.b.run("sacctmgr", "-i", "modify", "account", "mine", "set", "flags=UsersAreCoords").code == 1
    site.ok("sacctmgr", "-i", "delete", "user", site.b.name, "account=top")
    assert seen(site) == (set(), set()), "he is no user of it any more"
    site.ok("sacctmgr", "-i", "modify", "account", "top", "set", "flags=NoUsersAreCoords")
