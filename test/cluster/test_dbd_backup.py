"""Two slurmdbds on one MariaDB (DbdBackupHost): the backup serves while the primary is away, and nothing is lost or there twice."""
import os
import signal
import time

import pytest

from accounting import MariaDb, OnMariaDb
from harness import end_process, until

pytestmark = [pytest.mark.better_than_slurm,
              pytest.mark.skipif(not os.path.exists(MariaDb.PROGRAM), reason="no mariadb-server-core (tools/install-packages)"),
              pytest.mark.skipif(os.geteuid() != 0, reason="a host's name is made up with unshare(1), as root")]

BACKUP = "127.0.0.2"


@pytest.fixture
def pair(make_cluster):
    """Primary at 127.0.0.1, backup at 127.0.0.2, which believes that this is its host's name. Neither is started."""
    cluster = make_cluster(start=False, nodes=2, conf="AccountingStorageBackupHost=%s\n" % BACKUP)
    database = OnMariaDb(cluster, "DbdBackupHost=%s\n" % BACKUP)
    etc = cluster.folder + "/etc/"
    with open(etc + "slurmdbd.conf") as f:
        text = f.read()
    with open(etc + "backup.conf", "w") as f:
        f.write(text.replace("/run/slurmdbd.pid", "/work/backup.pid").replace("slurmdbd.log", "backup.log"))
    os.chmod(f.name, 0o600)

    def start_backup():
        cluster.wrapper = ["unshare", "--uts", "sh", "-c", "hostname %s && exec \"$@\"" % BACKUP, "sh"]
        database.backup = cluster.spawn("slurmdbd", "-D", "-f", etc + "backup.conf")
        cluster.wrapper = []
        return database.backup
    database.backup, database.start_backup = None, start_backup
    cluster.database = database
    yield cluster
    for process in (database.backup, database.process):
        if process:
            end_process(process)
    database.server.stop()


def pings(cluster):
    return [line.rsplit(" ", 1)[1] for line in cluster.run("sacctmgr", "ping").lines]


def wait_pings(cluster, primary, backup, seconds=30):
    until(lambda: "primary %s, backup %s; they are %s\n%s" % (primary, backup, pings(cluster), cluster.logs(4000)),
          lambda: pings(cluster) == [primary, backup], seconds)


def submit(cluster, count):
    return [cluster.sbatch("-o", "/dev/null", "--wrap", "true") for _ in range(count)]


def all_recorded(cluster, jobs):
    """Each once, and ended."""
    def there():
        rows = cluster.database.rows("SELECT job, state FROM muster_jobs ORDER BY job")
        return rows == [(job, 3) for job in jobs]
    until(lambda: "%s, each once: %s\n%s" % (jobs, cluster.database.rows("SELECT job, state FROM muster_jobs"), cluster.logs()), there, 60)


def start_both(pair):
    """The first serves, and the backup waits."""
    database = pair.database
    database.start()
    pair.start()
    wait_pings(pair, "UP", "DOWN")
    database.start_backup()
    until("the backup to wait", lambda: "waiting" in open(pair.folder + "/log/backup.log").read())
    return database


def test_the_backup_takes_over_and_gives_back(pair):
    database = start_both(pair)
    assert pings(pair) == ["UP", "DOWN"]
    jobs = submit(pair, 3)
    # It is killed while jobs end.
    jobs += submit(pair, 5)
    database.kill()
    jobs += submit(pair, 5)
    wait_pings(pair, "DOWN", "UP")
    all_recorded(pair, jobs)
    pair.ok("sacctmgr", "-i", "add", "account", "made-at-the-backup")
    assert len(pair.ok("sacct", "-nXP", "-o", "jobid").lines) == len(jobs)
    # It comes back while jobs end, and knows what was done meanwhile.
    jobs += submit(pair, 5)
    database.start()
    jobs += submit(pair, 5)
    wait_pings(pair, "UP", "DOWN")
    all_recorded(pair, jobs)
    assert pair.ok("sacctmgr", "-nP", "show", "account", "made-at-the-backup", "format=account").lines == ["made-at-the-backup"]
    # And once more; the backup ends well, too.
    database.kill()
    wait_pings(pair, "DOWN", "UP")
    jobs += submit(pair, 2)
    all_recorded(pair, jobs)
    assert end_process(database.backup) == 0
    database.backup = None


def test_a_backup_alone_serves_and_the_primary_takes_its_place(pair):
    database = pair.database
    database.start_backup()
    pair.start()
    wait_pings(pair, "DOWN", "UP")
    database.start()
    wait_pings(pair, "UP", "DOWN")
    jobs = submit(pair, 2)
    all_recorded(pair, jobs)


def test_a_primary_that_hangs_is_replaced_and_writes_no_more(pair):
    database = start_both(pair)
    jobs = submit(pair, 2)
    all_recorded(pair, jobs)
    os.kill(database.process.pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        until(lambda: "the backup to serve\n" + pair.logs(3000),
              lambda: "accounting records are in" in open(pair.folder + "/log/backup.log").read(), 60)
        assert time.monotonic() - began > 5, "a primary that is only slow is not replaced"
        # Commands on its host, who find its socket first, turn to the backup.
        began = time.monotonic()
        pair.ok("sacctmgr", "-i", "add", "account", "made-while-it-hangs")
        assert len(pair.ok("sacct", "-nXP", "-o", "jobid").lines) == len(jobs)
        assert time.monotonic() - began < 30, "each waits 3 s for the socket and 3 s for the port"
    finally:
        os.kill(database.process.pid, signal.SIGCONT)
    wait_pings(pair, "UP", "DOWN")      # it notices, waits for its turn, and gets it
    assert "it is not our turn any more" in open(pair.folder + "/log/slurmdbd.log").read()
    jobs += submit(pair, 2)
    all_recorded(pair, jobs)


def test_two_need_a_database_that_both_reach(make_cluster):
    from accounting import Database
    cluster = make_cluster(start=False, nodes=1)
    database = Database(cluster, "DbdBackupHost=%s\n" % BACKUP)
    cluster.wrapper = ["unshare", "--uts", "sh", "-c", "hostname %s && exec \"$@\"" % BACKUP, "sh"]
    done = database.start().process.wait(20)
    with open(cluster.folder + "/log/slurmdbd.out") as f:
        said = f.read()
    assert done == 1 and "both slurmdbds need one MariaDB" in said, said
