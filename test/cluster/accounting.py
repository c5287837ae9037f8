"""slurmdbd for a test's cluster, with SQLite, and its database read from beside."""
import os
import sqlite3
import subprocess

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
            f.write("DbdHost=localhost\nDbdAddr=127.0.0.1\nDbdPort=%d\nStorageLoc=%s\nPidFile=%s\nLogFile=%s/log/slurmdbd.log\n"
                    "SlurmUser=%s\nDebugLevel=debug\n%s" % (self.port, self.file, self.pid_file, cluster.folder, cluster.user, more))
        os.chmod(f.name, 0o600)
        lines = [l for l in cluster.conf_lines if not l.startswith("AccountingStorageType")]
        cluster.conf_lines = lines + ["AccountingStorageType=accounting_storage/slurmdbd", "AccountingStorageHost=127.0.0.1",
                                      "AccountingStoragePort=%d" % self.port, "AccountingStorageTRES=gres/gpu"]
        cluster.write_lines()

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
    """mariadbd of our own: its directory, its socket, no port."""

    PROGRAM = "/usr/sbin/mariadbd"

    def __init__(self, folder):
        os.makedirs(folder)
        self.socket = folder + "/s"
        user = subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip()
        with open(folder + "/log", "ab") as log:
            subprocess.run(["mariadb-install-db", "--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db",
                            "--datadir=" + folder + "/data", "--user=" + user], stdout=log, stderr=log, check=True)
            self.process = subprocess.Popen([self.PROGRAM, "--no-defaults", "--skip-networking", "--datadir=" + folder + "/data",
                                             "--socket=" + self.socket, "--pid-file=" + folder + "/pid", "--user=" + user],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        until("mariadbd to answer", lambda: self.ask("SELECT 1") == "1")

    def ask(self, statement):
        done = subprocess.run(["mariadb", "--no-defaults", "-S", self.socket, "-u", "root", "-N", "-B", "-e", statement],
                              capture_output=True, text=True)
        return done.stdout.strip()

    def stop(self):
        harness.end_process(self.process)
