"""Columns of sacct about how a job was started and what it shared (sacct(1): AssocID, Exclusive, Flags, OverSubscribe, ReservationId,
WCKeyID), as every kind of job leaves them; and --flags."""
import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(start=False, nodes=2, gpus=0, cpus=8, conf="TrackWCKey=yes")
    cluster.database = Database(cluster, "TrackWCKey=yes\n").start()
    cluster.start()
    until("sacctmgr to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-nP", "show", "cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "team")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=team", "wckey=thesis")
    return cluster


def column(site, job, names):
    return site.ok("sacct", "-nPX", "-j", str(job), "-o", names).out.strip()


def ran(site, *options):
    job = site.sbatch("-o", "/dev/null", *options, "--wrap", "true")
    site.wait_job(job)
    return job


def test_what_it_shared(site):
    said = {options: column(site, ran(site, *options), "exclusive,oversubscribe")
            for options in ((), ("--exclusive",), ("--exclusive=user",), ("--oversubscribe",))}
    assert list(said.values()) == ["NO|NO", "NODE|NO", "USER|NO", "NO|YES"], said
    site.ok("scontrol", "update", "partitionname=main", "oversubscribe=yes")
    assert column(site, ran(site), "exclusive,oversubscribe") == "NO|OK"


def test_the_numbers_of_what_it_names(site):
    site.ok("scontrol", "create", "reservation", "reservationname=r", "starttime=now", "duration=60", "users=" + site.user, "nodes=n1")
    job = ran(site, "-A", "team", "--reservation=r", "--wckey=thesis")
    association = site.ok("sacctmgr", "-nP", "show", "assoc", "user=" + site.user, "account=team", "format=id").out.strip()
    key, = (line.split("|")[1] for line in site.ok("sacctmgr", "-nP", "show", "wckey", "format=wckey,id").lines if line.startswith("thesis|"))
    reservation, = site.ok("sacctmgr", "-nP", "show", "reservation", "format=id").lines
    assert column(site, job, "associd,wckeyid,reservationid") == "%s|%s|%s" % (association, key, reservation)
    assert association and key and int(reservation) > 0
    assert column(site, ran(site), "reservationid") == ""


def test_who_started_it(site):
    first = ran(site)
    later = ran(site, "--begin=now+1")
    waiting = site.sbatch("-H", "--wrap", "true")
    assert column(site, first, "flags") == "SchedSubmit" and column(site, waiting, "flags") == ""
    assert column(site, later, "flags") in ("SchedMain", "SchedBackfill")

    def listed(flags):
        return [int(line) for line in site.ok("sacct", "-anPX", "--flags=" + flags, "-o", "jobid").lines]
    assert listed("schedsubmit") == [first] and listed("SchedMain,SchedBackfill") == [later]
    assert listed("StartReceived") == [first, later]
    wrong = site.run("sacct", "--flags=nosuch")
    assert wrong.code == 1 and "Invalid job flag nosuch" in wrong.err, wrong


def test_a_requeued_run_has_flags_of_its_own(site):
    job = site.sbatch("-o", "/dev/null", "--requeue", "--wrap", "sleep 100")
    site.wait_job(job, "RUNNING")
    site.ok("scontrol", "requeuehold", str(job))
    site.wait_job(job, "PENDING")
    assert site.ok("sacct", "-nPXD", "-j", str(job), "-o", "flags").lines == ["SchedSubmit", ""]
