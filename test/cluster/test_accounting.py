"""Accounting: every job and step reaches slurmdbd's database, once, whatever is killed in between."""
import os
import sqlite3
import subprocess

import pytest

from accounting import BATCH, Database, MariaDb
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite, and what is looked into here is Muster's

@pytest.fixture
def accounted(make_cluster):
    cluster = make_cluster(start=False, nodes=2, gpus=2)
    database = Database(cluster)
    cluster.database = database
    yield cluster
    database.stop()


def test_a_job_is_there_from_its_submission_to_its_end(accounted):
    database = accounted.database.start()
    accounted.start()
    held = accounted.sbatch("--hold", "--wrap", "true")
    database.wait_state(held, "PENDING")
    job = accounted.sbatch("--gres=gpu:2", "--account=team-a", "--wrap", "srun true; srun false; while [ ! -e go ]; do sleep 0.05; done; exit 3")
    database.wait_state(job, "RUNNING")
    database.wait_for("two steps that ended and the batch step",
                      lambda: len(database.rows("SELECT step FROM muster_steps WHERE job = ?", job)) == 3)
    accounted.file("go", "")
    accounted.wait_job(job, "FAILED")
    database.wait_state(job, "FAILED")
    row = database.rows("SELECT account, part, cluster, ended - started, record FROM muster_jobs WHERE job = ?", job)
    assert len(row) == 1
    account, partition, cluster, took, record = row[0]
    assert (account, partition, cluster) == ("team-a", "main", "test") and took > 0
    assert b"\x03gpu\x12\x04h100\x18\x02" in record, "amounts are values: a GRES by name, type and count"
    accounted.ok("scancel", str(held))
    database.wait_state(held, "CANCELLED")


def shown(cluster, job, state):
    """What sacct says of a job. It waits a second for slurmdbd to have heard; on a host too busy for that it prints what there is."""
    for _ in range(20):
        result = cluster.ok("sacct", "-nPX", "-j", str(job), "-o", "state")
        if result.out == state or result.seconds < 1:
            break
    return result.out


def test_sacct_of_a_job_that_was_only_just_submitted_or_ended(accounted):
    accounted.database.start()
    accounted.start()
    first = accounted.sbatch("--wrap", "true")
    accounted.database.wait_state(first, "COMPLETED")     # slurmctld has found slurmdbd
    for args in [("--hold",)] * 10 + [("--hold", "--array=1-3")]:
        job = accounted.sbatch(*args, "--wrap", "true")
        assert shown(accounted, job, "PENDING\n") == "PENDING\n"
    ended = accounted.sbatch("--wrap", "true")
    accounted.wait_job(ended, "COMPLETED")
    assert shown(accounted, ended, "COMPLETED\n") == "COMPLETED\n"
    accounted.ctld.kill()
    accounted.ctld.wait()
    said = accounted.run("sacct", "-nPX", "-j", str(ended), "-o", "state")
    assert (said.code, said.out, said.err) == (0, "COMPLETED\n", "")


def test_the_cluster_registers_itself(accounted):
    database = accounted.database.start()
    accounted.start()
    names = database.wait_for("the cluster's row", lambda: database.rows("SELECT name FROM muster_entities WHERE kind = 2"))
    assert names == [("test",)]
    tres = [record for record, in database.rows("SELECT record FROM muster_entities WHERE kind = 6")]
    assert len(tres) >= 9 and any(r.endswith(b"gres\x1a\x03gpu") for r in tres), tres


def test_slurmdbd_is_killed_and_comes_later(accounted):
    """Records wait in the controller, through a kill -9 of either side, and arrive once."""
    database = accounted.database.start()
    accounted.start()
    first = accounted.sbatch("--wrap", "true")
    database.wait_state(first, "COMPLETED")
    database.kill()
    script = accounted.file("s.sh", "#!/bin/sh\nsrun true\n")
    jobs = [accounted.sbatch(script) for _ in range(5)]
    for job in jobs:
        accounted.wait_job(job)
    running = accounted.sbatch("--wrap", "while [ ! -e stop ]; do sleep 0.05; done")
    accounted.wait_job(running, "RUNNING")
    accounted.kill_ctld()
    accounted.start_ctld()
    accounted.wait_ctld()
    accounted.wait_nodes("(idle|mixed)")
    after = accounted.sbatch("--wrap", "true")
    accounted.wait_job(after)
    assert len(database.jobs()) == 1
    database.start()
    for job in jobs + [after]:
        database.wait_state(job, "COMPLETED")
    database.wait_state(running, "RUNNING")
    accounted.file("stop", "")
    database.wait_state(running, "COMPLETED")
    database.wait_for("all steps", lambda: len(database.rows("SELECT 1 FROM muster_steps")) == 2 * 5 + 3)
    assert sorted(database.jobs()) == sorted((j, 0) for j in [first, running, after] + jobs)


def test_both_are_killed_again_and_again(accounted):
    database = accounted.database.start()
    accounted.start()
    jobs = []
    for turn in range(6):
        jobs += [accounted.sbatch("-n1", "-o", "/dev/null", "--wrap", "true") for _ in range(4)]
        if turn % 2:
            database.kill()
            database.start()
        else:
            accounted.kill_ctld()
            accounted.start_ctld()
            accounted.wait_ctld()
    for job in jobs:
        database.wait_state(job, "COMPLETED")
    assert sorted(database.jobs()) == [(j, 0) for j in sorted(jobs)]
    batch = database.rows("SELECT count(*), count(DISTINCT job) FROM muster_steps WHERE step = ?", BATCH)
    assert batch == [(len(jobs), len(jobs))]


def test_each_run_of_a_requeued_job(accounted):
    database = accounted.database.start()
    accounted.start()
    job = accounted.sbatch("--requeue", "--wrap", "while [ ! -e stop ]; do sleep 0.05; done")
    accounted.wait_job(job, "RUNNING")
    accounted.ok("scontrol", "requeue", str(job))
    database.wait_for("a second run", lambda: (job, 1) in database.jobs())
    assert database.jobs()[(job, 0)] not in ("PENDING", "RUNNING")
    accounted.ok("scancel", str(job))
    database.wait_state(job, "CANCELLED", run=1)


def test_tasks_of_an_array(accounted):
    database = accounted.database.start()
    accounted.start()
    job = accounted.sbatch("--array=0-3", "-o", "/dev/null", "--wrap", "true")
    database.wait_for("four tasks", lambda: sorted(database.jobs().values()) == ["COMPLETED"] * 4)
    assert {head for head, in database.rows("SELECT head FROM muster_jobs")} == {job}


@pytest.mark.skipif(not os.path.exists("/usr/sbin/munged"), reason="no munge (tools/install-packages)")
def test_with_munge(make_cluster):
    cluster = make_cluster(start=False, nodes=1, auth="munge")
    database = Database(cluster, "AuthType=auth/munge\nAuthInfo=socket=%s\n" % cluster.munge.socket).start()
    try:
        cluster.start()
        job = cluster.sbatch("--wrap", "true")
        database.wait_state(job, "COMPLETED")
    finally:
        database.stop()


def test_another_key_is_refused(accounted):
    """Who has not the cluster's key stores nothing; both logs say so, and with the right key everything arrives."""
    database, key = accounted.database, accounted.folder + "/etc/slurm.key"
    right = open(key, "rb").read()
    other = accounted.folder + "/other"
    os.makedirs(other)
    with open(other + "/slurm.key", "wb") as f:
        f.write(os.urandom(64))
    os.chmod(other + "/slurm.key", 0o600)
    os.rename(accounted.folder + "/etc/slurmdbd.conf", other + "/slurmdbd.conf")
    database.process = accounted.spawn("slurmdbd", "-D", "-f", other + "/slurmdbd.conf")
    accounted.start()
    job = accounted.sbatch("--wrap", "true")
    accounted.wait_job(job)
    until(accounted.logs, lambda: "refused" in open(accounted.folder + "/log/slurmdbd.log").read())
    until(accounted.logs, lambda: "cannot be reached" in open(accounted.folder + "/log/slurmctld.log").read())
    assert not database.jobs()
    database.stop()
    with open(other + "/slurm.key", "wb") as f:
        f.write(right)
    database.process = accounted.spawn("slurmdbd", "-D", "-f", other + "/slurmdbd.conf")
    database.wait_state(job, "COMPLETED")


def test_a_database_that_cannot_be_written(accounted):
    """slurmdbd is there and stores nothing: the controller says so once, keeps everything, and does not hammer it."""
    database = accounted.database.start()
    accounted.start()
    first = accounted.sbatch("--wrap", "true")
    database.wait_state(first, "COMPLETED")
    lock = sqlite3.connect(database.file, isolation_level=None)
    lock.execute("ALTER TABLE muster_jobs RENAME TO away")
    job = accounted.sbatch("--wrap", "true")
    accounted.wait_job(job)

    def said():
        with open(accounted.folder + "/log/slurmctld.log") as f:
            return [line for line in f if "does not store accounting records" in line]
    until(accounted.logs, said)
    lock.execute("ALTER TABLE away RENAME TO muster_jobs")
    lock.close()
    database.wait_state(job, "COMPLETED")
    assert len(said()) == 1 and "error" in said()[0], said()


@pytest.mark.row(103, 128)
@pytest.mark.skipif(not os.path.exists(MariaDb.PROGRAM), reason="no mariadb-server-core (tools/install-packages)")
def test_with_mariadb(accounted):
    """The same with StorageType=accounting_storage/mysql, and the server restarted under slurmdbd's feet."""
    server = MariaDb(accounted.folder + "/maria")
    try:
        database = accounted.database
        with open(accounted.folder + "/etc/slurmdbd.conf") as f:
            lines = [l for l in f.read().splitlines() if not l.startswith("StorageLoc")]
        with open(accounted.folder + "/etc/slurmdbd.conf", "w") as f:
            f.write("\n".join(lines + ["StorageType=accounting_storage/mysql", "StorageHost=" + server.socket, "StorageUser=root"]) + "\n")
        database.start()
        accounted.start()

        def state(job):
            return server.ask("SELECT state FROM slurm_acct_db.muster_jobs WHERE job = %d" % job)
        job = accounted.sbatch("--wrap", "true")
        until(lambda: "job %d in MariaDB: %r\n%s" % (job, state(job), accounted.logs()), lambda: state(job) == "3")
        assert server.ask("SELECT count(*) FROM slurm_acct_db.muster_steps") == "1"
        for id in server.ask("SELECT id FROM information_schema.processlist WHERE db = 'slurm_acct_db'").split():
            server.ask("KILL " + id)
        job = accounted.sbatch("--wrap", "true")
        until(lambda: "job %d in MariaDB: %r\n%s" % (job, state(job), accounted.logs()), lambda: state(job) == "3")
    finally:
        accounted.database.stop()
        server.stop()


def test_it_detaches_and_ends_as_a_daemon_does(accounted):
    database = accounted.database
    done = accounted.run(os.path.join(accounted.prefix, "sbin/slurmdbd"))
    assert done.code == 0, done
    with open(database.pid_file) as f:
        pid = int(f.read())
    try:
        again = accounted.run(os.path.join(accounted.prefix, "sbin/slurmdbd"))
        assert again.code == 1 and str(pid) in again.err, again
        with open("/proc/%d/cmdline" % pid) as f:
            assert "slurmdbd" in f.read()
    finally:
        os.kill(pid, 15)
    until("slurmdbd to end", lambda: not os.path.exists("/proc/%d" % pid) or open("/proc/%d/stat" % pid).read().split()[2] == "Z")
    until("its pid file to go", lambda: not os.path.exists(database.pid_file))


@pytest.mark.parametrize("line, said", [
    ("DbdPort=none", "DbdPort"), ("StorageType=accounting_storage/oracle", "StorageType"), ("NoSuchKey=1", "NoSuchKey"),
    ("StorageLoc=/proc/nowhere/x.db", "/proc/nowhere")])
def test_a_configuration_that_cannot_work(accounted, line, said):
    key = line.split("=")[0] + "="
    path = accounted.folder + "/etc/slurmdbd.conf"
    with open(path) as f:
        lines = [l for l in f.read().splitlines() if not l.startswith(key)]
    with open(path, "w") as f:
        f.write("\n".join(lines + [line]) + "\n")
    done = accounted.run(os.path.join(accounted.prefix, "sbin/slurmdbd"))
    assert done.code == 1 and said in done.err and done.err.startswith("slurmdbd: fatal:"), done


def test_without_a_configuration_it_says_which_file(accounted):
    os.unlink(accounted.folder + "/etc/slurmdbd.conf")
    done = accounted.run(os.path.join(accounted.prefix, "sbin/slurmdbd"), "-D")
    assert done.code == 1 and accounted.folder + "/etc/slurmdbd.conf" in done.err, done
    for option, code in (("-V", 0), ("-h", 0), ("--nonsense", 1)):
        assert subprocess.run([os.path.join(accounted.prefix, "sbin/slurmdbd"), option], capture_output=True).returncode == code
