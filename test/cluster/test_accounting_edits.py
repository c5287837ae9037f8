"""sacctmgr with a real slurmdbd: records of jobs that are changed, workload keys, transactions, events, and clusters that come back."""
import re

import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0, cpus=8)
    cluster.database = Database(cluster, "TrackWCKey=yes\n")
    cluster.database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "team")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=team", "defaultwckey=grant")
    yield cluster
    cluster.database.stop()


def finished(site, *options):
    job = site.sbatch("-o", "/dev/null", *options, "--wrap", "true")
    site.database.wait_state(job, "COMPLETED")
    return str(job)


def field(site, job, name):
    return site.ok("sacct", "-nPX", "-j", job, "-o", name).out.strip()


def test_tres_that_are_named_change_and_others_stay(site):
    job = finished(site)
    before = field(site, job, "alloctres")
    assert "cpu=1," in before and "node=1" in before
    site.ok("sacctmgr", "-i", "modify", "job", "where", "id=" + job, "user=" + site.user, "cluster=test", "set", "tres=cpu=3")
    assert field(site, job, "alloctres") == before.replace("cpu=1,", "cpu=3,")
    for wrong in ("tres=gres/nosuch=1", "tres=cpu=x", "tres=", "tres=cpu", "tres=cpu=4,cpu=5", "tres=mem=8Q", "tres=mem=x.50G", "tres=vmem=1",
                  "tres+=cpu=1", "tres-=cpu=1", "comment+=x"):
        assert site.run("sacctmgr", "-i", "modify", "job", "where", "jobid=" + job, "set", wrong).code == 1, wrong
    assert field(site, job, "alloctres") == before.replace("cpu=1,", "cpu=3,")
    site.ok("sacctmgr", "-i", "modify", "job", "where", "jobid=" + job, "set", "tres=mem=1.50G")
    assert "mem=1.50G" in field(site, job, "alloctres")
    refused = site.run("sacctmgr", "-i", "modify", "job", "where", "jobid=%s.batch" % job, "set", "comment=x")
    assert refused.code == 1 and "no step" in refused.err + refused.out, refused
    assert "Nothing modified" in site.run("sacctmgr", "-i", "modify", "job", "where", "jobid=" + job, "endtime=2020-01-01", "set",
                                          "comment=x").out, "it ended after that"


def test_a_text_of_a_job_that_runs_stays_when_it_ends(site):
    job = str(site.sbatch("-o", "/dev/null", "--wrap", "sleep 600"))
    site.database.wait_state(int(job), "RUNNING")
    site.ok("sacctmgr", "-i", "modify", "job", "where", "jobid=" + job, "set", "admincomment=seen", "extra=more")
    site.ok("scancel", job)
    site.database.wait_state(int(job), "CANCELLED")
    assert field(site, job, "admincomment,extra") == "seen|more"


def test_wckeys_of_jobs_where_they_are_tracked_and_where_not(site):
    job = finished(site)
    assert field(site, job, "wckey") == "*grant", "slurm.conf does not track them, so it is of its user's default one"
    site.ok("sacctmgr", "-i", "modify", "job", "where", "wckey=grant", "set", "newwckey=thesis")
    assert field(site, job, "wckey") == "thesis"
    path = site.folder + "/etc/slurmdbd.conf"
    with open(path) as f:
        text = f.read().replace("TrackWCKey=yes", "TrackWCKey=no")
    with open(path, "w") as f:
        f.write(text)
    site.ok("sacctmgr", "reconfigure")
    refused = site.run("sacctmgr", "-i", "modify", "job", "where", "jobid=" + job, "set", "newwckey=other")
    assert refused.code == 1 and "TrackWCKey" in refused.err + refused.out, refused
    assert field(site, job, "wckey") == "thesis"


def test_a_users_keys_and_his_default_one(site):
    def keys(*words):
        return site.ok("sacctmgr", "-nP", "list", "wckey", *words).lines
    assert keys() == ["*grant|test|" + site.user]
    site.ok("sacctmgr", "-i", "add", "user", site.user, "wckey=thesis")
    assert keys("onlydefaults") == ["*grant|test|" + site.user]
    assert keys("wckeys=thesis", "format=wckey,id")[0].startswith("thesis|")
    assert keys("users=nobody") == [] == keys("cluster=other")
    refused = site.run("sacctmgr", "-i", "modify", "user", site.user, "set", "defaultwckey=nosuch")
    assert refused.code == 1 and "nosuch" in refused.err + refused.out, refused
    site.ok("sacctmgr", "-i", "modify", "user", site.user, "set", "defaultwckey=thesis")
    assert keys("onlydefaults") == ["*thesis|test|" + site.user]
    site.ok("sacctmgr", "-i", "delete", "user", site.user, "wckey=thesis")
    assert keys("withdeleted") == ["grant|test|" + site.user], "never used, and gone without a trace"
    assert site.ok("sacctmgr", "-nP", "show", "user", site.user, "format=defaultwckey").out.strip() == ""


def test_transactions_say_whom_they_were_about(site):
    lines = site.ok("sacctmgr", "-nP", "list", "transactions", "withassoc", "users=" + site.user, "format=action,cluster,account,user").lines
    assert "Add Users|test|team|" + site.user in lines, lines
    assert site.ok("sacctmgr", "-P", "list", "transactions", "withassoc").lines[0] == \
        "Time|Action|Actor|Where|Info|Cluster|Account|User"


def test_events_by_who_set_them_are_those_of_nodes(site):
    site.ok("scontrol", "update", "nodename=n1", "state=drain", "reason=by hand")

    def events(*words):
        return site.ok("sacctmgr", "-nP", "show", "event", "format=event,reason", *words).lines
    until("the event", lambda: "Node|by hand" in events())
    assert any(line.startswith("Cluster|") for line in events())
    assert events("user=" + site.user) == ["Node|by hand"]
    assert events("user=daemon") == []
    assert events("user=" + site.user, "condflags=open", "nodes=n1", "mincpus=1", "maxcpus=8", "all_clusters") == ["Node|by hand"]
    assert events("event=node", "reason=other") == [] == events("all_time", "mincpus=9")


def test_a_cluster_that_is_added_again_begins_anew(site):
    def root(what):
        return site.ok("sacctmgr", "-nP", "list", "assoc", "cluster=second", *what).lines
    site.ok("sacctmgr", "-i", "add", "cluster", "second", "maxjobs=3")
    for _ in range(2):
        assert root(["onlydefaults", "format=account,user"]) == ["root|root"]
        site.ok("sacctmgr", "-i", "delete", "cluster", "second")
        site.ok("sacctmgr", "-i", "add", "cluster", "second")
    assert root(["user=", "format=account,maxjobs,qos"]) == ["root||normal"]


def test_the_flag_of_an_account_is_dumped_and_loaded(site):
    site.ok("sacctmgr", "-i", "add", "account", "lab", "flags=UsersAreCoords")
    site.ok("sacctmgr", "-i", "add", "account", "below", "parent=lab")
    site.ok("sacctmgr", "-i", "add", "user", site.user, "account=lab")

    def coordinators():
        return site.ok("sacctmgr", "-nP", "show", "account", "below", "withcoord", "format=coordinators").out.strip()
    assert coordinators() == site.user
    assert site.ok("sacctmgr", "-nP", "show", "account", "flags=userSarecoords", "format=account,flags").lines == ["lab|UsersAreCoords"]
    path = site.folder + "/work/test.cfg"
    site.ok("sacctmgr", "dump", "test", "file=" + path)
    with open(path) as f:
        assert re.search("^Account - 'lab':.*Flags='UsersAreCoords'", f.read(), re.M)
    site.ok("sacctmgr", "-i", "modify", "account", "lab", "set", "flags=NoUsersAreCoords")
    assert coordinators() == ""
    site.ok("sacctmgr", "-i", "load", "file=" + path)
    assert coordinators() == site.user
    assert site.run("sacctmgr", "-i", "modify", "account", "lab", "set", "flags=UsersAreKings").code == 1
