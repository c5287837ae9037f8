"""slurmctld judges by what slurmdbd says of accounts and QOS: defaults, AccountingStorageEnforce, and what is known while slurmdbd is away."""
import os
import re
import subprocess

import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite; what 22.05 does in the same situations is told in docs/differences.md
NO_ACCOUNT = "Invalid account or account/partition combination specified"


@pytest.fixture
def make_site(make_cluster):
    databases = []

    def make(enforce="none", start=True, more=""):
        cluster = make_cluster(start=False, nodes=1, gpus=0, conf="AccountingStorageEnforce=%s\n%s" % (enforce, more))
        cluster.database = Database(cluster)
        databases.append(cluster.database)
        if start:
            cluster.database.start()
            cluster.start()
            prepare(cluster)
        return cluster
    yield make
    for database in databases:
        if database.process:
            database.stop()


def prepare(cluster):
    """Account `team` for the user that runs this, with QOS normal and fast, which is the default; `other` is somebody else's."""
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    user = cluster.user
    cluster.ok("sacctmgr", "-i", "add", "qos", "fast,slow")
    cluster.ok("sacctmgr", "-i", "add", "account", "team,other")
    cluster.ok("sacctmgr", "-i", "add", "user", user, "account=team")
    cluster.ok("sacctmgr", "-i", "modify", "user", user, "set", "defaultaccount=team")
    cluster.ok("sacctmgr", "-i", "modify", "user", user, "where", "account=team", "set", "qos=normal,fast", "defaultqos=fast")
    until(lambda: "slurmctld to have heard of it\n" + cluster.logs(), lambda: charged(cluster, held(cluster)) == "team fast")


def held(cluster, *args):
    return cluster.sbatch("-H", *args, "--wrap", "true")


def charged(cluster, job):
    return cluster.ok("squeue", "-h", "-j", str(job), "-o", "%a %q").out.strip()


def refused(cluster, *args):
    result = cluster.run("sbatch", "-H", *args, "--wrap", "true")
    return result.err if result.code == 1 else "taken: %r" % result


def test_defaults_are_shown_everywhere_and_in_the_job(make_site):
    cluster = make_site()
    job = cluster.sbatch("-o", "out", "--wrap", "echo $SLURM_JOB_ACCOUNT $SLURM_JOB_QOS; srun sh -c 'echo $SLURM_JOB_ACCOUNT $SLURM_JOB_QOS'")
    cluster.wait_job(job, "COMPLETED")
    assert cluster.read("out") == "team fast\nteam fast\n"
    shown = cluster.ok("scontrol", "show", "job", str(job)).out
    assert "Account=team" in shown and "QOS=fast" in shown
    cluster.database.wait_state(job, "COMPLETED")
    assert cluster.ok("sacct", "-nPX", "-j", str(job), "-o", "account,qos").out == "team|fast\n"
    assert charged(cluster, held(cluster, "-q", "normal")) == "team normal"
    # Nothing is enforced: what is named is taken.
    assert charged(cluster, held(cluster, "-A", "Nosuch", "-q", "nosuch")) == "nosuch nosuch"


def test_without_an_association_nothing_is_taken(make_site):
    cluster = make_site("associations")
    for account in ("nosuch", "other"):
        said = refused(cluster, "-A", account)
        assert NO_ACCOUNT in said and account in said and "team" in said, said
    assert NO_ACCOUNT in cluster.run("srun", "-A", "nosuch", "true").err
    assert NO_ACCOUNT in cluster.run("salloc", "-A", "nosuch", "true").err
    assert NO_ACCOUNT in cluster.run("sbatch", "--test-only", "-A", "nosuch", "--wrap", "true").err
    assert charged(cluster, held(cluster, "-q", "nosuch")) == "team nosuch"      # needs AccountingStorageEnforce=qos
    job = held(cluster)
    done = cluster.run("scontrol", "update", "job", str(job), "account=nosuch")
    assert done.code == 1 and NO_ACCOUNT in done.err, done
    assert charged(cluster, job) == "team fast"
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=other")
    until("the new association to be known", lambda: cluster.run("scontrol", "update", "job", str(job), "account=other").code == 0)
    assert charged(cluster, job) == "other fast"


def test_a_qos_is_one_of_the_associations(make_site):
    cluster = make_site("associations,qos", more="EnforcePartLimits=ALL")
    for qos in ("nosuch", "slow"):
        said = refused(cluster, "-q", qos)
        assert "Invalid qos specification" in said and qos in said, said
    job = held(cluster, "-q", "NORMAL")
    assert charged(cluster, job) == "team normal"
    done = cluster.run("scontrol", "update", "job", str(job), "qos=nosuch")
    assert done.code == 1 and "Invalid qos specification" in done.err, done
    cluster.ok("scontrol", "update", "job", str(job), "qos=")
    assert charged(cluster, job) == "team fast"
    done = cluster.run("scontrol", "update", "partitionname=main", "denyqos=nosuch")
    assert done.code == 1 and "Invalid qos specification" in done.err, done
    cluster.ok("scontrol", "update", "partitionname=main", "denyqos=fast")
    assert "DenyQos=fast" in cluster.ok("scontrol", "show", "partition", "main").out
    assert "Invalid qos specification" in refused(cluster)


def test_a_waiting_job_waits_for_its_association_to_come_back(make_site):
    cluster = make_site("qos")
    cluster.ok("scontrol", "update", "nodename=n1", "state=drain", "reason=test")
    job = cluster.sbatch("-o", "/dev/null", "--wrap", "true")
    user = cluster.user

    def reason():
        return cluster.ok("squeue", "-h", "-j", str(job), "-o", "%r").out.strip()
    cluster.ok("sacctmgr", "-i", "modify", "user", user, "where", "account=team", "set", "qos=normal", "defaultqos=normal")
    until(lambda: "InvalidQOS; it is " + reason(), lambda: reason() == "InvalidQOS")
    cluster.ok("scontrol", "update", "nodename=n1", "state=resume")
    until(lambda: "still InvalidQOS; it is " + reason(), lambda: reason() == "InvalidQOS" and "idle" in cluster.node_states()["n1"])
    cluster.ok("sacctmgr", "-i", "modify", "user", user, "where", "account=team", "set", "qos=normal,fast")
    cluster.wait_job(job, "COMPLETED")


def test_the_last_known_accounts_serve_while_slurmdbd_is_away(make_site):
    cluster = make_site("associations")
    cluster.database.kill()
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    assert charged(cluster, held(cluster)) == "team fast"
    assert NO_ACCOUNT in refused(cluster, "-A", "nosuch")
    cluster.database.start()
    until("slurmdbd to be back", lambda: cluster.run("sacctmgr", "-n", "show", "cluster").code == 0)
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=other")
    until("what changed meanwhile", lambda: cluster.run("sbatch", "-H", "-A", "other", "--wrap", "true").code == 0)


def test_nobody_is_judged_before_slurmdbd_was_ever_heard(make_site):
    cluster = make_site("associations", start=False, more="MessageTimeout=2")
    cluster.start()
    result = cluster.run("sbatch", "--wrap", "true")
    assert result.code == 1 and "slurmdbd" in result.err and "Unable to connect to database" in result.err, result
    # One that comes a little before slurmdbd waits for it.
    cluster.stop_ctld()
    cluster.conf_lines = [re.sub("MessageTimeout=2", "MessageTimeout=60", line) for line in cluster.conf_lines]
    cluster.write_lines()
    cluster.start_ctld()
    cluster.wait_ctld()
    early = subprocess.Popen(["sbatch", "-H", "--parsable", "-A", "root", "--wrap", "true"], env=cluster.env, cwd=cluster.work, text=True,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    cluster.database.start()
    out, err = early.communicate(timeout=60)
    if os.geteuid() == 0:       # root has an association from the start
        assert early.returncode == 0, err
        assert charged(cluster, int(out)) == "root normal"
    else:
        assert NO_ACCOUNT in err, err


def test_accounting_that_is_switched_off_asks_for_nothing(make_site):
    cluster = make_site("associations")
    lines = cluster.conf_lines
    cluster.conf_lines = ["AccountingStorageType=accounting_storage/none" if l.startswith("AccountingStorageType") else l for l in lines]
    cluster.write_lines()
    cluster.ok("scontrol", "reconfigure")
    until("nothing to be asked for", lambda: cluster.run("sbatch", "-H", "-A", "nosuch", "--wrap", "true").code == 0)
    cluster.conf_lines = lines
    cluster.write_lines()
    cluster.ok("scontrol", "reconfigure")
    until("an association to be asked for", lambda: NO_ACCOUNT in refused(cluster, "-A", "nosuch"))
