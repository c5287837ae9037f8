"""sacctmgr show runawayjobs, reservation and problem: what the database has that nobody else does. sacctmgr(1)."""
import glob
import os

import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(start=False, nodes=2, cpus=4)
    cluster.database = Database(cluster).start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    yield cluster
    cluster.database.stop()


def runaways(site, *words):
    return [line.split("|") for line in site.run("sacctmgr", "-nP", "show", "runawayjobs", *words, stdin="n\n").lines if "|" in line]


def lose_the_state(site):
    """The disk of the controller is gone; jobs end with it."""
    site.kill_ctld()
    for path in glob.glob(site.state_folder + "/muster.db*"):
        os.unlink(path)
    site.start_ctld()
    site.wait_ctld()
    site.wait_nodes("idle")


def test_jobs_that_no_controller_knows(site):
    database = site.database
    assert site.ok("sacctmgr", "show", "runawayjobs").out == "Runaway Jobs: No runaway jobs found on cluster test\n"
    ended = int(site.sbatch("-o", "/dev/null", "--wrap", "true"))
    database.wait_state(ended, "COMPLETED")
    runs = int(site.sbatch("-J", "lost", "-o", "/dev/null", "--wrap", "sleep 1000"))
    waits = int(site.sbatch("-N2", "--exclusive", "-o", "/dev/null", "--wrap", "true"))
    database.wait_state(runs, "RUNNING")
    database.wait_state(waits, "PENDING")
    assert runaways(site) == []
    site.stop_ctld()
    away = site.run("sacctmgr", "show", "runawayjobs")      # who does not know what runs must not call it lost
    assert away.code == 1 and "Runaway" not in away.out, away
    site.start_ctld()
    site.wait_ctld()
    lose_the_state(site)

    found = runaways(site)
    assert [row[0] for row in found] == [str(runs), str(waits)], found
    assert found[0][1:5] == ["lost", "main", "test", "RUNNING"] and found[0][7] == "Unknown", found
    assert found[1][4] == "PENDING" and found[1][6] == "Unknown", found
    said = site.run("sacctmgr", "show", "runawayjobs", "format=id,state", stdin="n\n")
    assert said.lines[0].startswith("NOTE: Runaway jobs are jobs that don't exist in the controller"), said
    assert said.lines[1].split() == ["ID", "State"] and said.lines[2] == "------------ ---------- ", said
    assert "Would you like to fix these runaway jobs?" in said.out and said.out.endswith(" Changes Discarded\n"), said
    assert database.jobs()[runs, 0] == "RUNNING"

    # The number of the other is in use again: it is not called lost, and its run would be the one that ends.
    for _ in range(runs):
        again = int(site.sbatch("-J", "again", "-o", "/dev/null", "--wrap", "sleep 1000"))
    assert again == runs
    assert [row[0] for row in runaways(site)] == [str(waits)]
    wrong = site.run("sacctmgr", "show", "runawayjobs", "set", "EndState=Running")
    assert wrong.code == 1 and " Bad EndState value: Running" in wrong.err, wrong
    site.ok("sacctmgr", "-i", "show", "runawayjobs", "set", "EndState=Failed")
    assert database.jobs()[waits, 0] == "FAILED"
    assert runaways(site) == []
    assert site.run("squeue", "-h", "-j", str(again), "-o", "%T").out.strip() in ("RUNNING", "PENDING")
    row, = site.ok("sacct", "-XnP", "-j", str(waits), "-o", "state,end,submit").lines
    state, end, submitted = row.split("|")
    assert state == "FAILED" and end == submitted, row


def test_reservations_as_recorded(site):
    site.ok("sacctmgr", "-i", "add", "account", "team")
    site.ok("sacctmgr", "-i", "add", "user", site.user, "account=team")
    until("slurmctld to hear of the account", lambda: "team" in site.run("scontrol", "show", "assoc_mgr", "flags=assoc").out)
    site.ok("scontrol", "create", "reservation", "ReservationName=mine", "StartTime=now", "Duration=60", "Nodes=n1", "Accounts=team", "Flags=IGNORE_JOBS")
    until("it to be recorded", lambda: "mine" in site.run("sacctmgr", "-nP", "show", "reservation", "end=now+1hours").out)
    (name, tres, nodes, flags, ids), = [line.split("|") for line in site.ok(
        "sacctmgr", "-nP", "show", "reservation", "Names=mine", "end=now+1hours", "format=name,tres,nodenames,flags,associations").lines]
    account = [line.split("|") for line in site.ok("sacctmgr", "-nP", "show", "assoc", "format=id,account,user").lines]
    assert (name, nodes) == ("mine", "n1") and "cpu=4" in tres and "IGNORE_JOBS" in flags, (tres, flags)
    assert ids == next(row[0] for row in account if row[1:] == ["team", ""]), (ids, account)
    number = site.ok("sacctmgr", "-nP", "show", "reservation", "end=now+1hours", "format=id").lines[0]
    assert site.ok("sacctmgr", "-nP", "show", "reservation", "end=now+1hours", "id=" + number, "format=name").lines == ["mine"]
    assert site.ok("sacctmgr", "-nP", "show", "reservation", "end=now+1hours", "id=77", "format=name").lines == []
    assert site.ok("sacctmgr", "-nP", "show", "reservation", "end=now+1hours", "nodes=n2", "format=name").lines == []
    assert site.ok("sacctmgr", "-nP", "show", "reservation", "end=now-1hours", "format=name").lines == []
    unused = float(site.ok("sacctmgr", "-nP", "show", "reservation", "end=now+1hours", "format=unusedwall").lines[0])
    assert 0 <= unused < 3600, unused


def test_what_is_missing_of_accounts_and_users(site):
    site.ok("sacctmgr", "-i", "add", "account", "team")
    site.ok("sacctmgr", "-i", "add", "user", "no-such-user", "account=team")
    said = site.ok("sacctmgr", "-P", "show", "problem")
    assert said.lines == ["Cluster|Account|User|Problem", "||no-such-user|User does not have a uid"], said
