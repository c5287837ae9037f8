"""slurmdbd for a test's cluster, with SQLite or MariaDB, and its database read from beside."""
import os
import sqlite3
import subprocess

import pytest

import harness
from harness import until

STATES = ("PENDING RUNNING SUSPENDED COMPLETED CANCELLED FAILED TIMEOUT NODE_FAIL PREEMPTED BOOT_FAIL DEADLINE "
          "OUT_OF_MEMORY").split()
BATCH = 0xfffffffb


class Database:
    """slurmdbd of one cluster, and its file read from beside."""

    def __init__(self, cluster, more=""):
        self.cluster = cluster
        self.port = harness.free_ports(1)[0]
        self.file = cluster.folder + "/state/accounting.db"
        self.pid_file = cluster.folder + "/run/slurmdbd.pid"
        self.process = None
        with open(cluster.folder + "/etc/slurmdbd.conf", "w") as f:
            f.write("DbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort=%d\nPidFile=%s\nLogFile=%s/log/slurmdbd.log\nSlurmUser=%s\n"
                    "DebugLevel=debug\n%s%s" % (self.port, self.pid_file, cluster.folder, cluster.user, self.storage(), more))
        os.chmod(f.name, 0o600)
        lines = [l for l in cluster.conf_lines if not l.startswith("AccountingStorageType")]
        cluster.conf_lines = lines + ["AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=127.0.0.1",
                                      "AccountingStoragePort=%d" % self.port, "AccountingStorageTRES=gres/gpu"]
        cluster.write_lines()

    def storage(self):
        """The lines of slurmdbd.conf that say where records are."""
        return "StorageLoc=%s\n" % self.file

    def start(self):
        self.process = self.cluster.spawn("slurmdbd", "-D")
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        return harness.end_process(self.process)

    def rows(self, question, *values):
        try:
            db = sqlite3.connect("file:%s?mode=ro" % self.file, uri=True, timeout=10)
            try:
                return db.execute(question, values).fetchall()
            finally:
                db.close()
        except sqlite3.OperationalError:      # not there yet
            return []

    def jobs(self):
        """{(id, restarts): state}"""
        return {(job, run): STATES[state] for job, run, state in
                self.rows("SELECT job, restarts, state FROM muster_jobs")}

    def wait_for(self, what, check, seconds=30):
        return until(lambda: "%s; the database has %s\n%s" % (what, self.jobs(), self.cluster.logs()), check, seconds)

    def wait_state(self, job, state, run=0):
        self.wait_for("job %s to be %s" % (job, state), lambda: self.jobs().get((job, run)) == state)


class MariaDb:
    """mariadbd of our own: its directory, its socket, and a port only where one is asked for, on loopback."""

    PROGRAM = "/usr/sbin/mariadbd"

    def __init__(self, folder, port=None):
        os.makedirs(folder)
        self.socket = folder + "/s"
        network = ["--bind-address=127.0.0.1", "--port=%d" % port] if port else ["--skip-networking"]
        user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        with open(folder + "/log", "ab") as log:
            subprocess.run(["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db",
                            "--datadir=" + folder + "/data", "--user=" + user], stdout=log, stderr=log, check=True)
            self.process = subprocess.Popen([self.PROGRAM, "--no-defaults", *network, "--datadir=" + folder + "/data",
                                             "--socket=" + self.socket, "--pid-file=" + folder + "/pid", "--user=" + user],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until("mariadbd to answer", lambda: self.ask("SELECT 1") == "1")

    def ask(self, statement, *options):
        done = subprocess.run(["mariadb", "--no-defaults", "-S", self.socket, "-u", "root", "-N", "-B", *options, "-e", statement],
                              capture_output=True, text=True)
        return done.stdout.strip()

    def stop(self):
        harness.end_process(self.process)


class OnMariaDb(Database):
    """The same, with the records in MariaDB, as a site has it: a port, a user with a password, a database of that user's."""

    def __init__(self, cluster, more=""):
        self.storage_port = harness.free_ports(1)[0]
        self.server = MariaDb(cluster.folder + "/maria", self.storage_port)
        self.server.ask("CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'some_pass'; GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1'")
        super().__init__(cluster, more)

    def storage(self):
        return ("StorageType=accounting_storage/mysql\nStorageHost=127.0.0.1\nStoragePort=%d\nStorageUser=slurm\nStoragePass=some_pass\n"
                "StorageLoc=slurm_acct_db\n" % self.storage_port)

    def stop(self):
        code = super().stop()
        self.server.stop()
        return code

    def rows(self, question, *values):
        """Numbers only, which is all that tests ask for here."""
        for value in values:
            question = question.replace("?", str(int(value)), 1)
        return [tuple(map(int, line.split("\t"))) for line in self.server.ask(question, "-D", "slurm_acct_db").splitlines()]


BOTH = [pytest.param(Database, id="sqlite"),
        pytest.param(OnMariaDb, id="mariadb", marks=pytest.mark.skipif(
            not os.path.exists(MariaDb.PROGRAM), reason="no mariadb-server-core (tools/install-packages)"))]


def on_both(fixture):
    """The test runs with each kind of database; the fixture of this name takes the kind as its parameter."""
    return pytest.mark.parametrize(fixture, BOTH, indirect=True)


def kind(request):
    """The kind of database that a fixture is asked for."""
    return getattr(request, "param", Database)
