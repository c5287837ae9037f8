"""Purging with real daemons: old records go, young and running ones stay, and reports of the old time say what they said before."""
import json
import os
import sqlite3
import time

import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite

SHIFT = 5 * 3600 * 1_000_000      # microseconds
KEYS = "PurgeJobAfter=2hours\nPurgeStepAfter=2hours\nPurgeEventAfter=2hours\nPurgeTXNAfter=2hours\nMaxPurgeLimit=1\n"


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(start=False, nodes=2, cpus=4)
    cluster.database = Database(cluster)
    cluster.database.start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "team")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=team")
    yield cluster
    cluster.database.stop()


def make_older(site, job):
    """Puts a job that has ended, with its steps, and the first edit by sacctmgr five hours back, as if nothing had been rolled up yet."""
    db = sqlite3.connect(site.database.file, timeout=10)
    for change in ("muster_jobs SET submitted = submitted - ?, started = started - ?, ended = ended - ?", "muster_steps SET submitted = submitted - ?, ended = ended - ?"):
        db.execute("UPDATE %s WHERE job = ?" % change, (SHIFT,) * change.count("?") + (job,))
    db.execute("UPDATE muster_transactions SET time = time - ? WHERE id = (SELECT MIN(id) FROM muster_transactions)", (SHIFT,))
    for table in ("usage", "usage_state", "usage_changed"):
        db.execute("DELETE FROM muster_" + table)
    db.commit()
    db.close()


def used(site):
    """CPU-seconds of each account, in the hours around the older job."""
    hours = [time.strftime("%Y-%m-%dT%H:00:00", time.localtime(time.time() - 3600 * back)) for back in (7, 3)]
    answer = site.ok("sreport", "--json", "cluster", "AccountUtilizationByUser", "start=" + hours[0], "end=" + hours[1])
    return {(row["account"], row["user"]): row["used_seconds"] for row in json.loads(answer.out)["reports"]}


def test_old_records_go_and_reports_stay(site):
    database = site.database
    old, young = [site.sbatch("-A", "team", "-n2", "-o", "/dev/null", "--wrap", "srun sleep 2") for _ in range(2)]
    for job in (old, young):
        database.wait_state(job, "COMPLETED")
    running = site.sbatch("-A", "team", "-n1", "-o", "/dev/null", "--wrap", "sleep 1000")
    database.wait_state(running, "RUNNING")
    site.ok("scontrol", "update", "node=n2", "state=drain", "reason=disk")
    until("the event to be recorded", lambda: "disk" in site.run("sacctmgr", "-nP", "show", "event").out)
    steps = database.rows("SELECT COUNT(*) FROM muster_steps WHERE job = ?", int(old))
    assert steps[0][0] >= 2
    transactions = database.rows("SELECT COUNT(*) FROM muster_transactions")[0][0]
    assert transactions >= 2

    database.stop()
    make_older(site, int(old))
    database.start()
    until("roll-ups", lambda: database.rows("SELECT 1 FROM muster_usage_state"))
    until("slurmdbd to answer", lambda: site.run("sacctmgr", "ping").code == 0)
    before = used(site)
    assert before["team", site.user] >= 4, before
    assert {str(old), str(young), str(running)} <= set(site.ok("sacct", "-anXP", "-S", "now-1days", "-o", "jobid").lines)

    database.stop()
    with open(os.path.join(site.folder, "etc/slurmdbd.conf"), "a") as conf:
        conf.write(KEYS)
    database.start()
    database.wait_for("the old job to go", lambda: set(database.jobs()) == {(int(young), 0), (int(running), 0)})
    until("the old edit to go", lambda: database.rows("SELECT COUNT(*) FROM muster_transactions")[0][0] == transactions - 1)
    assert database.rows("SELECT COUNT(*) FROM muster_steps WHERE job = ?", int(old)) == [(0,)]
    assert database.rows("SELECT COUNT(*) FROM muster_steps WHERE job = ?", int(young))[0][0] >= 2
    assert "disk" in site.ok("sacctmgr", "-nP", "show", "event").out
    assert used(site) == before
    assert set(site.ok("sacct", "-anXP", "-S", "now-1days", "-o", "jobid").lines) == {str(young), str(running)}
    log = open(os.path.join(site.folder, "log/slurmdbd.log")).read()
    assert "purged 1 jobs that ended before " in log and "purged 1 transactions before " in log, log
    site.ok("scancel", str(running))
