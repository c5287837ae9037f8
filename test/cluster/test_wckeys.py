"""Workload keys with a real slurmdbd: the guide wckey from `sacctmgr add user wckey=` to the column of sacct."""
import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0, cpus=8, conf="AccountingStorageEnforce=wckeys")
    database = Database(cluster)
    database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "team")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=team", "wckey=grant,thesis")
    cluster.ok("sacctmgr", "-i", "modify", "user", cluster.user, "set", "defaultwckey=grant")
    until("slurmctld to have heard of the keys", lambda: cluster.run("sbatch", "-H", "--wrap", "true").code == 0)
    yield cluster, database
    database.stop()


def test_a_job_has_its_users_key_or_is_refused(site):
    cluster, database = site
    none = cluster.sbatch("-o", "/dev/null", "--wrap", "true")
    named = cluster.sbatch("-o", "/dev/null", "--wckey=thesis", "--wrap", "true")
    for job, shown, key in ((none, "*grant", "grant"), (named, "thesis", "thesis")):
        assert "WCKey=" + shown in cluster.ok("scontrol", "show", "job", str(job)).out.split()
        database.wait_state(job, "COMPLETED")
        assert cluster.ok("sacct", "-nPX", "-j", str(job), "-o", "wckey").out == shown + "\n"
        assert str(job) in cluster.ok("sacct", "-nPX", "-W", key, "-o", "jobid").out.split(), "a default key is found by its name"
    refused = cluster.run("sbatch", "--wckey=other", "--wrap", "true")
    assert refused.code == 1 and "Batch job submission failed: Invalid wckey specification" in refused.err, refused
    assert "it may use: grant, thesis" in refused.err, refused


def test_users_are_listed_with_their_default_key(site):
    """Where keys are tracked; sacctmgr(1) LIST/SHOW USER FORMAT OPTIONS."""
    cluster, _ = site
    lines = [line.split("|") for line in cluster.ok("sacctmgr", "-P", "list", "user").lines]
    assert lines[0] == ["User", "Def Acct", "Def WCKey", "Admin"], lines
    assert [cluster.user, "grant"] in [[line[0], line[2]] for line in lines], lines
