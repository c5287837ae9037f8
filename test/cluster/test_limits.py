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


def test_the_qos_of_a_partition_bounds_its_jobs_unless_theirs_comes_first(site):
    partition = site.ok("sinfo", "-h", "-o", "%R").out.split()[0]
    site.ok("sacctmgr", "-i", "add", "qos", "part", "grptres=cpu=2")
    site.ok("sacctmgr", "-i", "add", "qos", "over", "flags=OverPartQOS", "grptres=cpu=6")
    site.ok("sacctmgr", "-i", "modify", "user", site.user, "set", "qos+=over")
    heard(site)
    site.ok("scontrol", "update", "partition=" + partition, "QOS=part")
    first, second = sleeper(site, "-n2"), sleeper(site, "-n1")
    until_shown(site, first, "RUNNING None")
    until_shown(site, second, "PENDING QOSGrpCpuLimit")
    assert "GrpTRES=cpu of QOS part of partition" in site.ok("muster", "explain", str(second)).out
    third = sleeper(site, "-n4", "--qos=over")
    until_shown(site, third, "RUNNING None")
    site.ok("scontrol", "update", "partition=" + partition, "QOS=NONE")
    until_shown(site, second, "RUNNING None")


def test_what_a_job_takes_on_one_node_is_bounded(site):
    limit(site, "team", "maxtrespernode=cpu=3")
    fits, too_much = sleeper(site, "-n3"), sleeper(site, "-N1", "-n4")
    until_shown(site, fits, "RUNNING None")
    until_shown(site, too_much, "PENDING AssocMaxCpuPerNode")
    site.ok("sacctmgr", "-i", "add", "qos", "strict", "flags=DenyOnLimit", "maxtrespernode=cpu=2")
    site.ok("sacctmgr", "-i", "modify", "user", site.user, "set", "qos+=strict")
    heard(site)
    refused = site.run("sbatch", "--qos=strict", "-N1", "-n3", "--wrap", "true")
    assert refused.code != 0 and "MaxTRESPerNode=cpu of QOS strict: a job may have 2, 3 wanted" in refused.err, refused


def test_the_controller_shows_what_it_holds(site):
    limit(site, "lab", "grptres=cpu=5")
    job = sleeper(site, "-n2")
    until_shown(site, job, "RUNNING None")
    shown = site.ok("scontrol", "show", "assoc_mgr").out
    assert shown.startswith("Current Association Manager state\n\nUser Records\n\n"), shown
    lab = shown.split("Account=lab UserName= ")[1].split("ClusterName=")[0]
    assert "GrpJobs=N(1)" in lab and "GrpTRES=cpu=5(2),mem=" in lab, lab
    assert "UserName=%s(" % site.user in shown
    only = site.ok("scontrol", "show", "assoc_mgr", "accounts=lab", "flags=assoc").out
    assert only.count("ClusterName=") == 1 and "QOS Records" not in only, only
    qos = site.ok("scontrol", "show", "assoc_mgr", "flags=qos", "qos=normal").out
    assert "QOS=normal(1)" in qos and "MaxTRESPU=cpu=N(2)" in qos and "MaxTRESPA=cpu=N(2)" in qos, qos
    assert "No QOS currently cached" in site.ok("scontrol", "show", "assoc_mgr", "flags=qos", "qos=nosuch").out
    assert "invalid flag 'foo'" in site.run("scontrol", "show", "assoc_mgr", "flags=foo").err


def test_flags_of_a_qos_set_limits_of_the_partition_aside(site):
    partition = site.ok("sinfo", "-h", "-o", "%R").out.split()[0]
    site.ok("scontrol", "update", "partition=" + partition, "MaxTime=10", "MaxNodes=1")
    site.ok("sacctmgr", "-i", "add", "qos", "long", "flags=PartitionTimeLimit")
    site.ok("sacctmgr", "-i", "modify", "user", site.user, "set", "qos+=long")
    heard(site)
    until_shown(site, sleeper(site, "-t20"), "PENDING PartitionTimeLimit")
    until_shown(site, sleeper(site, "-t20", "--qos=long"), "RUNNING None")


def test_a_qos_for_reservations_is_refused_without_one(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0, cpus=8, conf="AccountingStorageEnforce=qos")
    database = Database(cluster)
    database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "team")
    cluster.ok("sacctmgr", "-i", "add", "qos", "booked", "flags=RequiresReservation")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=team", "qos=normal,booked", "defaultqos=normal")
    heard(cluster)
    refused = cluster.run("sbatch", "-A", "team", "--qos=booked", "--wrap", "true")
    assert refused.code != 0 and "QOS booked is for jobs in a reservation (RequiresReservation)" in refused.err, refused
    database.stop()
