"""Two clusters, each with a slurmctld of its own, on one slurmdbd: what belongs to which stays apart, and federations are recorded."""
import shutil
import time

import pytest

from accounting import Database
from harness import until


@pytest.fixture(scope="module")
def both(request):
    from conftest import new_folder
    import harness
    folders = [new_folder(), new_folder()]
    first = harness.Cluster(folders[0], nodes=2)
    second = harness.Cluster(folders[1], nodes=1, cpus=8)
    database = Database(first, "PrivateData=none\n")
    second.conf_lines = [line for line in second.conf_lines if not line.startswith(("AccountingStorageType", "ClusterName"))]
    second.conf_lines += ["ClusterName=second"] + [line for line in first.conf_lines if line.startswith("AccountingStorage")]
    second.write_lines()
    shutil.copy2(folders[0] + "/etc/slurm.key", folders[1] + "/etc/slurm.key")
    first.database, first.second = database, second
    try:
        database.start()
        first.start()
        second.start()
        until("both clusters to be known", lambda: first.run("sacctmgr", "-nP", "show", "cluster", "format=cluster").lines ==
              ["second", "test"])
        first.ok("sacctmgr", "-i", "add", "account", "shared")
        first.ok("sacctmgr", "-i", "add", "user", first.user, "account=shared")
        first.ok("sacctmgr", "-i", "add", "account", "own", "cluster=second")
        first.since = time.strftime("%Y-%m-%dT%H:00:00", time.gmtime())
        yield first
    finally:
        second.stop()
        first.stop()
        database.stop()
        for folder in folders:
            harness.remove(folder)


@pytest.fixture(scope="module")
def jobs(both):
    """One job of each cluster: they have the same number."""
    out = []
    for cluster, cpus in ((both, 2), (both.second, 4)):
        job = cluster.sbatch("-A", "shared", "-n%d" % cpus, "-o", "/dev/null", "--wrap", "sleep 3")
        out.append(job)
    for cluster, job in zip((both, both.second), out):
        cluster.wait_job(job)
    until("both to be recorded", lambda: [s for s, in both.database.rows("SELECT state FROM muster_jobs")] == [3, 3])
    assert out[0] == out[1]
    return out


def test_each_cluster_has_its_jobs(both, jobs):
    def seen(cluster, *args):
        return cluster.ok("sacct", "-nXP", "-o", "cluster,jobid,alloccpus", *args).lines
    job = jobs[0]
    mine, other = "test|%d|2" % job, "second|%d|4" % job
    assert seen(both, "-a") == [mine]
    assert seen(both.second, "-a") == [other]
    assert seen(both, "-a", "-M", "second") == [other]
    assert seen(both.second, "-a", "-M", "test") == [mine]
    assert sorted(seen(both, "-a", "-L")) == sorted([mine, other])
    assert sorted(seen(both, "-a", "-M", "all")) == sorted([mine, other])
    assert sorted(seen(both, "-M", "test,second", "-j", str(job))) == sorted([mine, other])
    refused = both.run("sacct", "-a", "-M", "nosuch")
    assert refused.code == 1 and "invalid entry for --cluster" in refused.err


def test_clusters_are_listed_with_what_they_have(both):
    assert both.ok("sacctmgr", "-nP", "show", "cluster", "format=cluster,controlport,nodecount,nodenames").lines == [
        "second|%d|1|n1" % both.second.port, "test|%d|2|n[1-2]" % both.port]


def test_accounts_of_one_cluster_are_not_the_others(both):
    shown = both.ok("sacctmgr", "-nP", "show", "assoc", "account=own", "format=cluster,account").lines
    assert shown == ["second|own"]
    both.ok("sacctmgr", "-i", "modify", "account", "shared", "cluster=second", "set", "maxjobs=7")
    shown = both.ok("sacctmgr", "-nP", "show", "assoc", "account=shared", "user=", "format=cluster,maxjobs").lines
    assert sorted(shown) == ["second|7", "test|"]


def test_usage_is_kept_apart_and_added_up_where_all_is_asked(both, jobs):
    def used(*words, options=()):
        lines = both.ok("sreport", "-nP", "-t", "seconds", *options, "cluster", "AccountUtilizationByUser", "start=" + both.since,
                        "end=now+2hours", "accounts=shared", "format=cluster,login,used", *words).lines
        return {line.split("|")[0]: int(line.split("|")[2]) for line in lines if line.split("|")[1]}

    def waited():
        one, two = used(), used("clusters=second")
        return (set(one), set(two)) == ({"test"}, {"second"}) and one, two
    until("the usage to be rolled up", lambda: all(waited()), 90)
    one, two = used()["test"], used("clusters=second")["second"]
    assert two == pytest.approx(2 * one, abs=8) and one >= 6      # 3 s of 2 and of 4 CPUs
    assert used(options=("-a",)) == {"test": one, "second": two}
    assert used("clusters=test,second") == {"test": one, "second": two}
    assert used(options=("-M", "second")) == {"second": two}


def test_a_job_of_another_cluster_is_not_changed_by_name_alone(both, jobs):
    both.ok("sacctmgr", "-i", "modify", "job", "where", "jobid=%d" % jobs[0], "cluster=second", "set", "comment=there")
    shown = both.ok("sacct", "-nXP", "-L", "-a", "-o", "cluster,comment").lines
    assert sorted(shown) == ["second|there", "test|"]


def test_federations_are_recorded_and_say_what_they_are_not(both):
    made = both.ok("sacctmgr", "-i", "add", "federation", "Fed1", "clusters=test")
    assert "each cluster schedules its own jobs alone" in made.err and "Adding Federation(s)" in made.out
    both.ok("sacctmgr", "-i", "modify", "federation", "fed1", "set", "clusters+=second")
    both.ok("sacctmgr", "-i", "modify", "cluster", "second", "set", "fedstate=drain", "features=fast,ssd")

    def fed(*words):
        return both.ok("sacctmgr", "-P", "show", "federation", *words).lines
    assert fed() == ["Federation|Cluster|Features|FedState", "fed1|test||ACTIVE", "fed1|second|fast,ssd|DRAIN"]
    assert fed("tree", "format=federation,cluster,index") == ["Federation|Cluster|ID", "fed1||", "|test|1", "|second|2"]
    raw = ["Cluster|FedStateRaw", "test|1", "second|17"]       # the numbers that Slurm 22.05 prints
    assert fed("format=cluster,fedstateraw") == raw
    assert sorted(both.ok("sacctmgr", "-P", "show", "cluster", "format=cluster,fedstateraw").lines) == sorted(raw)
    both.ok("sacctmgr", "-i", "modify", "cluster", "second", "set", "fedstate=inactive")
    assert fed("clusters=second", "format=fedstateraw") == ["FedStateRaw", "2"]
    both.ok("sacctmgr", "-i", "modify", "cluster", "second", "set", "fedstate=drain")
    assert fed("fed1", "clusters=second", "format=cluster") == ["Cluster", "second"]
    assert fed("nosuch") == ["Federation|Cluster|Features|FedState"]
    assert both.ok("sacctmgr", "-nP", "show", "cluster", "withfed", "wolimits", "second").lines[0].split("|")[4:] == [
        "fed1", "2", "fast,ssd", "DRAIN"]
    assert both.ok("sacctmgr", "-nP", "show", "cluster", "federation=fed1", "format=cluster").lines == ["second", "test"]
    refused = both.run("sacctmgr", "-i", "add", "federation", "fed2", "clusters=test")
    assert refused.code == 1 and "is in federation 'fed1'" in refused.err
    refused = both.run("sacctmgr", "--json", "show", "federation")
    assert refused.code == 1 and "no published shape" in refused.err
    both.ok("sacctmgr", "-i", "modify", "cluster", "test", "set", "federation=")
    assert "test|" in both.ok("sacctmgr", "-P", "show", "cluster", "format=cluster,fedstateraw").lines
    both.ok("sacctmgr", "-i", "delete", "federation", "fed1")
    assert fed() == ["Federation|Cluster|Features|FedState"]
    assert "Remove Federations" in both.ok("sacctmgr", "-nP", "show", "transactions", "format=action").out


def test_only_operators_edit_federations(both):
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    refused = both.run(*nobody, "sacctmgr", "-i", "add", "federation", "mine", cwd="/")
    assert refused.code == 1 and "needs an administrator or an operator" in refused.err
