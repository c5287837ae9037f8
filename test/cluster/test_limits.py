"""Limits of accounts hold back what is too much, and nobody else: AccountingStorageEnforce=limits with a real slurmdbd."""
import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite


@pytest.fixture
def site(make_cluster):
    """Account `team` below `lab` for the user that runs this, and `free` beside it; one node of 8 CPUs."""
    cluster = make_cluster(start=False, nodes=1, gpus=0, cpus=8, conf="AccountingStorageEnforce=limits")
    database = Database(cluster)
    database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "lab,free")
    cluster.ok("sacctmgr", "-i", "add", "account", "team", "parent=lab")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=team,free")
    cluster.ok("sacctmgr", "-i", "modify", "user", cluster.user, "set", "defaultaccount=team")
    heard(cluster)
    yield cluster
    database.stop()


def heard(cluster):
    """Until slurmctld knows all that sacctmgr said so far: then it knows an account that was added after it."""
    cluster.said = getattr(cluster, "said", 0) + 1
    account = "probe%d" % cluster.said
    cluster.ok("sacctmgr", "-i", "add", "account", account)
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=" + account)
    until("slurmctld to have heard of it", lambda: cluster.run("sbatch", "-H", "-A", account, "--wrap", "true").code == 0)


def limit(cluster, account, what):
    cluster.ok("sacctmgr", "-i", "modify", "account", account, "set", what)
    heard(cluster)


def sleeper(cluster, *args):
    return cluster.sbatch("-o", "/dev/null", *args, "--wrap", "exec sleep 600")


def shown(cluster, job):
    """State and reason as squeue has them."""
    return cluster.ok("squeue", "-h", "-j", str(job), "-o", "%T %r").out.strip()


def until_shown(cluster, job, wanted):
    until(lambda: "job %s to be %s; it is %s\n%s" % (job, wanted, shown(cluster, job), cluster.logs()),
          lambda: shown(cluster, job) == wanted)


def test_a_job_over_the_limit_of_an_account_waits_for_another_to_end(site):
    limit(site, "lab", "grptres=cpu=2")
    first = sleeper(site, "-n2")
    until_shown(site, first, "RUNNING None")
    waits, beside = sleeper(site, "-n1"), sleeper(site, "-n1", "-A", "free")
    until_shown(site, beside, "RUNNING None")
    until_shown(site, waits, "PENDING AssocGrpCpuLimit")
    told = site.ok("muster", "explain", str(waits)).out
    assert "GrpTRES=cpu of account lab" in told, told
    site.kill_ctld()
    site.start_ctld()
    site.wait_ctld()
    site.wait_nodes("mixed")
    until_shown(site, waits, "PENDING AssocGrpCpuLimit")
    site.ok("scancel", str(first))
    until_shown(site, waits, "RUNNING None")


def test_a_limit_on_jobs_is_lifted_and_lowered_while_they_run(site):
    limit(site, "team", "grpjobs=1")
    first, second = sleeper(site, "-n1"), sleeper(site, "-n1")
    until_shown(site, first, "RUNNING None")
    until_shown(site, second, "PENDING AssocGrpJobsLimit")
    limit(site, "team", "grpjobs=-1")
    until_shown(site, second, "RUNNING None")
    limit(site, "team", "grpjobs=1")
    third = sleeper(site, "-n1")
    until_shown(site, third, "PENDING AssocGrpJobsLimit")
    assert [shown(site, first), shown(site, second)] == ["RUNNING None"] * 2
