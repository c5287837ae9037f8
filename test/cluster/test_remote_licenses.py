"""Licences that slurmdbd serves, by the commands of the guide licenses: made for clusters, asked for by jobs, used up elsewhere."""
import re

import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite


@pytest.fixture
def cluster(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    database = Database(cluster)
    database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    yield cluster
    database.stop()


def licences(cluster, name):
    """The numbers of `scontrol show license NAME`."""
    out = cluster.run("scontrol", "show", "license", name).out
    return {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)(?!\S)", out)}


def test_a_licence_of_another_server_is_shared_by_percent(cluster):
    added = cluster.ok("sacctmgr", "-i", "add", "resource", "name=nastran", "cluster=test", "count=100", "allowed=50", "server=flex_host",
                       "servertype=flexlm", "type=license").out
    assert "nastran@flex_host" in added, added
    shown = cluster.ok("sacctmgr", "-n", "-P", "show", "resource", "withclusters",
                       "format=name,server,type,count,servertype,cluster,allowed").lines
    assert shown == ["nastran|flex_host|License|100|flexlm|test|50"]
    until(lambda: "slurmctld to hear of it\n" + cluster.logs(), lambda: licences(cluster, "nastran@flex_host").get("Total") == 50)

    first = cluster.sbatch("-L", "nastran@flex_host:40", "--wrap", "sleep 1000")
    cluster.wait_job(first, "RUNNING")
    assert licences(cluster, "nastran@flex_host")["Free"] == 10
    second = cluster.sbatch("-L", "nastran@flex_host:20", "--wrap", "true")
    until("the second job to wait for licences", lambda: cluster.queue("-j", str(second), "-o", "%T %r") == ["PENDING Licenses"])
    cluster.ok("sacctmgr", "-i", "modify", "resource", "name=nastran", "server=flex_host", "cluster=test", "set", "allowed=60")
    cluster.wait_job(second, "COMPLETED")
    too_many = cluster.run("sbatch", "-L", "nastran@flex_host:61", "--wrap", "true")
    assert too_many.code == 1 and "Invalid license specification" in too_many.err, too_many
    by_name = cluster.run("sbatch", "-L", "nastran", "--wrap", "true")
    assert by_name.code == 1 and "Invalid license specification" in by_name.err, by_name


def test_what_is_used_up_elsewhere_is_set_aside(cluster):
    """The guide's numbers: 80 of 100 are ours, so of 30 that are taken 10 cannot be somebody else's."""
    cluster.ok("sacctmgr", "-i", "add", "resource", "foobar", "count=100", "flags=absolute", "cluster=test", "allowed=80")
    until(lambda: "slurmctld to hear of it\n" + cluster.logs(), lambda: licences(cluster, "foobar@slurmdb").get("Total") == 80)
    for consumed, free, deficit in ((30, 70, 10), (20, 80, 0)):
        cluster.ok("sacctmgr", "-i", "update", "resource", "foobar", "set", "lastconsumed=%d" % consumed)
        until(lambda: "%d free\n%s" % (free, cluster.run("scontrol", "show", "license").out), lambda: licences(cluster, "foobar@slurmdb")["Free"] == free)
        assert licences(cluster, "foobar@slurmdb")["LastDeficit"] == deficit


def test_wrong_words_are_refused_by_name(cluster):
    for words, said in ((["name=x", "server=s", "count=many"], "count"), (["name=x", "server=s", "count=5", "cluster=test", "allowed=101"], "101"),
                        (["server=s", "count=5"], "Need name of resource")):
        refused = cluster.run("sacctmgr", "-i", "add", "resource", *words)
        assert refused.code == 1 and said in (refused.out + refused.err), (words, refused)
