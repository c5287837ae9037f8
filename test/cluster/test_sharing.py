"""Fair sharing with real daemons: what is used counts against an account, sshare and sprio tell it, and no crash forgets it."""
import re
import time

import pytest

from accounting import Database
from harness import until
from test_limits import heard, limit, sleeper, until_shown

pytestmark = pytest.mark.better_than_slurm      # SQLite

PARTITION = "main"
CONF = ("AccountingStorageEnforce=limits\nPriorityType=priority/multifactor\nPriorityWeightFairshare=10000\nPriorityWeightQOS=100\n"
        "PriorityDecayHalfLife=7-0\nPriorityCalcPeriod=1")


@pytest.fixture
def site(make_cluster):
    yield from made(make_cluster, CONF)


def made(make_cluster, conf):
    """Accounts `one` and `two` with shares 2 and 1 for the user that runs this; one node of 8 CPUs."""
    cluster = make_cluster(start=False, nodes=1, gpus=0, cpus=8, conf=conf)
    database = Database(cluster)
    database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "one", "fairshare=2")
    cluster.ok("sacctmgr", "-i", "add", "account", "two", "fairshare=1")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=one,two")
    heard(cluster)
    yield cluster
    database.stop()


def shares(cluster, *args):
    """What sshare tells, by account and user."""
    lines = cluster.ok("sshare", "-a", "-P", "-l", *args).lines
    names = lines[0].split("|")
    rows = [dict(zip(names, line.split("|"))) for line in lines[1:]]
    return {(row["Account"].strip(), row["User"].strip()): row for row in rows}


def used(cluster, account):
    return int(shares(cluster)[account, ""]["RawUsage"])


@pytest.mark.row(92)
def test_usage_grows_while_a_job_runs_and_survives_a_crash(site):
    assert used(site, "one") == 0
    job = sleeper(site, "-n8", "-A", "one")
    until_shown(site, job, "RUNNING None")
    until("two seconds of eight CPUs", lambda: used(site, "one") >= 16)
    site.kill_ctld()
    site.start_ctld()
    site.wait_ctld()
    after = used(site, "one")
    assert after >= 16 and used(site, "two") == 0
    site.ok("scancel", str(job))
    site.wait_job(job, "CANCELLED")
    ended = used(site, "one")
    time.sleep(1.5)
    assert used(site, "one") == ended, "nothing runs any more"
    assert used(site, "root") == ended
    table = shares(site)
    assert table["one", ""]["NormShares"] == "0.666667" or float(table["one", ""]["NormShares"]) < 0.67
    assert table["one", site.user]["EffectvUsage"] == "1.000000"
    assert float(table["two", site.user]["FairShare"]) > float(table["one", site.user]["FairShare"])
    assert table["two", ""]["LevelFS"] == "inf"


@pytest.fixture
def rising(make_cluster):
    yield from made(make_cluster, CONF + "\nPriorityFlags=INCR_ONLY")


def test_with_incr_only_no_priority_falls(rising):
    runs = sleeper(rising, "-n8", "-A", "one")
    until_shown(rising, runs, "RUNNING None")
    waits = sleeper(rising, "-n8", "-A", "one")

    def told():
        return [int(x) for x in rising.ok("sprio", "-h", "-j", str(waits), "-o", "%F %Y").out.split()]
    until("a priority", lambda: len(told()) == 2)
    before = told()[1]
    # A reconfigure does not work them out anew here, since what has risen is to stay.
    until(lambda: "its fair share to fall: %s" % told(), lambda: told()[0] < before - 1000, seconds=90)  # PriorityCalcPeriod
    assert told()[1] >= before
    assert int(rising.ok("squeue", "-h", "-j", str(waits), "-o", "%Q").out) >= before
    rising.kill_ctld()
    rising.start_ctld()
    rising.wait_ctld()
    until("a priority", lambda: len(told()) == 2)
    assert told()[1] >= before, "what was kept is in the log"


@pytest.mark.row(92, 103)
def test_who_used_less_comes_first_and_sprio_says_why(site):
    first = sleeper(site, "-n8", "-A", "one")
    until_shown(site, first, "RUNNING None")
    until("usage", lambda: used(site, "one") >= 8)
    of_one, of_two = sleeper(site, "-n8", "-A", "one"), sleeper(site, "-n8", "-A", "two")
    site.ok("scontrol", "reconfigure")              # not in a PriorityCalcPeriod, but now

    def factors():
        out = site.ok("sprio", "-h", "-o", "%i %F %Y").out
        return {int(i): (int(share), int(priority)) for i, share, priority in re.findall(r"(\d+) +(\d+) +(\d+)", out)}
    until(lambda: "factors that differ: %s" % site.run("sprio", "-l").out,
          lambda: factors().get(of_two, (0, 0))[0] > factors().get(of_one, (0, 0))[0])
    shown = {int(i): int(priority) for i, priority in (line.split() for line in site.queue("-o", "%i %Q"))}
    assert (factors()[of_one][1], factors()[of_two][1]) == (shown[of_one], shown[of_two]) and shown[of_two] > shown[of_one]
    site.ok("scancel", str(first))
    until_shown(site, of_two, "RUNNING None")
    assert site.ok("squeue", "-h", "-j", str(of_one), "-o", "%T").out.strip() == "PENDING"
    assert site.ok("sprio", "-w").lines[-1].split()[0] == "Weights"


def test_a_job_ends_when_the_minutes_are_used_up_and_others_wait_until_they_are_given_back(site):
    limit(site, "one", "grptresmins=cpu=1")
    job = sleeper(site, "-n8", "-A", "one")
    until_shown(site, job, "RUNNING None")
    site.wait_job(job, "TIMEOUT")
    assert site.job(job)["Reason"] == "AssocGrpCPUMinutesLimit"
    assert 60 <= used(site, "one") <= 80, "8 CPUs for 7.5 seconds"
    waits, beside = sleeper(site, "-n1", "-A", "one"), sleeper(site, "-n1", "-A", "two")
    until_shown(site, waits, "PENDING AssocGrpCPUMinutesLimit")
    until_shown(site, beside, "RUNNING None")
    told = site.ok("muster", "explain", str(waits)).out
    assert "GrpTRESMins=cpu of account one: 1 of 1 minutes used" in told, told
    until("the record", lambda: site.run("sacct", "-nXP", "-j", str(job), "-o", "state").out.strip() == "TIMEOUT")
    assert site.run("sacctmgr", "-i", "modify", "account", "one", "set", "rawusage=7").code != 0
    site.ok("sacctmgr", "-i", "modify", "account", "one", "set", "rawusage=0")
    until_shown(site, waits, "RUNNING None")
    assert used(site, "one") < 60


def test_what_is_billed_follows_from_the_weights_of_the_partition(site):
    site.ok("scontrol", "update", "partition=" + PARTITION, "TRESBillingWeights=CPU=2,Mem=0.5G")
    assert "TRESBillingWeights=CPU=2,Mem=0.5G" in site.ok("scontrol", "show", "partition", PARTITION).out
    limit(site, "one", "grptres=billing=10")
    job = sleeper(site, "-n2", "--mem=4G", "-A", "one")
    until_shown(site, job, "RUNNING None")
    shown = site.ok("scontrol", "show", "job", str(job)).out
    assert shown.count("billing=6") == 2, shown
    waits, small = sleeper(site, "-n3", "--mem=1G", "-A", "one"), sleeper(site, "-n1", "--mem=1G", "-A", "one")
    until_shown(site, waits, "PENDING AssocGrpBilling")
    until_shown(site, small, "RUNNING None")
    assert "GrpTRES=billing of account one: 8 of 10 in use, 6 more wanted" in site.ok("muster", "explain", str(waits)).out
    before = used(site, "one")
    until("what is billed to be what is used", lambda: used(site, "one") >= before + 16)
    site.ok("scancel", str(job), str(waits), str(small))
    site.wait_job(job, "CANCELLED")
    until("the record", lambda: "billing=6," in site.run("sacct", "-nXP", "-j", str(job), "-o", "alloctres").out)
    assert site.run("scontrol", "update", "partition=" + PARTITION, "TRESBillingWeights=CPU=much").code != 0


def test_minutes_of_running_jobs_are_a_limit(site):
    limit(site, "one", "grptresrunmins=cpu=100")
    first = sleeper(site, "-n4", "-t20", "-A", "one")
    until_shown(site, first, "RUNNING None")
    waits, small = sleeper(site, "-n2", "-t20", "-A", "one"), sleeper(site, "-n1", "-t20", "-A", "one")
    until_shown(site, waits, "PENDING AssocGrpCPURunMinutesLimit")
    until_shown(site, small, "RUNNING None")
    assert "cpu=" in shares(site)["one", ""]["TRESRunMins"]


@pytest.mark.parametrize("command", [["sshare", "-o", "nothing"], ["sprio", "-S", "G"], ["sshare", "--no-such"], ["sprio", "-j", "x"]])
def test_what_is_wrong_is_said(cluster, command):
    result = cluster.run(*command)
    assert result.code == 1 and result.err.startswith(command[0] + ": "), result
