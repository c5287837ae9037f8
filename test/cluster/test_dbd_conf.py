"""slurmdbd.conf: a program that says the password of the database, subjects of the log, time limits. slurmdbd.conf(5)."""
import os
import re
import signal
import socket
import struct
import time

import pytest

from accounting import Database, MariaDb, OnMariaDb
from harness import until

pytestmark = pytest.mark.better_than_slurm      # StoragePassScript is newer than the packaged Slurm; SQLite

needs_mariadb = pytest.mark.skipif(not os.path.exists(MariaDb.PROGRAM), reason="no mariadb-server-core (tools/install-packages)")


class WithScript(OnMariaDb):
    """The password stands in no configuration: a program prints it."""

    def __init__(self, cluster, more=""):
        self.script = cluster.folder + "/etc/token"
        super().__init__(cluster, more)
        self.prints("echo TOKEN=some_pass")

    def storage(self):
        return super().storage().replace("StoragePass=some_pass", "StoragePassScript=" + self.script)

    def prints(self, body, mode=0o700):
        with open(self.script, "w") as f:
            f.write("#!/bin/sh\n%s\n" % body)
        os.chmod(self.script, mode)


@pytest.fixture
def site(request, make_cluster):
    cluster = make_cluster(start=False, nodes=1, gpus=0)
    kind, more = getattr(request, "param", (Database, ""))
    cluster.database = kind(cluster, more)
    yield cluster
    if cluster.database.process:
        cluster.database.stop()
    elif hasattr(cluster.database, "server"):
        cluster.database.server.stop()


def with_script(more=""):
    return pytest.mark.parametrize("site", [pytest.param((WithScript, more), id="script", marks=needs_mariadb)], indirect=True)


def with_lines(more):
    return pytest.mark.parametrize("site", [pytest.param((Database, more), id="lines")], indirect=True)


def log_of(cluster):
    with open(cluster.folder + "/log/slurmdbd.log", errors="replace") as f:
        return f.read()


def ends_with(cluster, words, seconds=30):
    """slurmdbd ends at its start, and says this; the password is nowhere in what it says."""
    process = cluster.spawn("slurmdbd", "-D")
    assert process.wait(seconds) == 1
    said = cluster.logs(4000)
    assert words in said, said
    assert "some_pass" not in said, said


def log_hides_the_password(cluster):
    assert "some_pass" not in cluster.logs(1 << 20)


@with_script("StorageParameters=token_duration=1\n")
def test_the_password_comes_from_a_program(site):
    database = site.database
    database.prints("env | grep ^SLURM_STORAGE | sort >%s/asked; echo $# >>%s/asked; echo vault: some_pass >&2; echo TOKEN=some_pass"
                    % (site.folder, site.folder))
    database.start()
    site.start()
    job = site.sbatch("--wrap", "true")
    database.wait_state(job, "COMPLETED")
    with open(site.folder + "/asked") as f:
        assert f.read().splitlines() == ["SLURM_STORAGE_HOSTNAME=127.0.0.1", "SLURM_STORAGE_PORT=%d" % database.storage_port,
                                         "SLURM_STORAGE_USER=slurm", "0"]
    told = site.ok("sacctmgr", "show", "config").out
    assert database.script in told and "some_pass" not in told, told
    assert "error: StoragePassScript=%s: vault: ***" % database.script in log_of(site), site.logs()
    log_hides_the_password(site)


@with_script()
def test_a_program_that_says_no_password_ends_slurmdbd(site):
    database = site.database
    says = "StoragePassScript=" + database.script + ": "
    database.prints("echo TOKEN=some_pass; exit 3")
    ends_with(site, says + "exit status 3")
    database.prints("echo some_pass")
    ends_with(site, says + "prints no line TOKEN=PASSWORD")
    database.prints("echo TOKEN=some_pass", 0o722)
    ends_with(site, says + database.script + ": mode 0722 lets others change it")
    database.prints("echo TOKEN=wrong")
    ends_with(site, "Access denied for user 'slurm'")
    database.prints("exec sleep 1000")
    began = time.monotonic()
    ends_with(site, says + "did not end within 10 s and was ended")
    assert time.monotonic() - began < 25


@with_script()
def test_a_password_that_is_changed_is_asked_for_anew(site):
    database = site.database
    database.start()
    site.start()
    job = site.sbatch("--wrap", "true")
    database.wait_state(job, "COMPLETED")
    # While the program fails and the server refuses the old password, nothing is lost.
    database.server.ask("ALTER USER slurm@'127.0.0.1' IDENTIFIED BY 'next_pass'")
    database.prints("exit 7")
    for session in database.server.ask("SELECT id FROM information_schema.processlist WHERE user = 'slurm'").split():
        database.server.ask("KILL " + session)
    job = site.sbatch("--wrap", "true")
    until(lambda: "the failure to be said\n" + site.logs(),
          lambda: "StoragePassScript=%s: exit status 7; the last password goes on being used" % database.script in log_of(site))
    assert database.process.poll() is None
    database.prints("echo TOKEN=next_pass")
    database.wait_for("job %d to be recorded" % job, lambda: database.jobs().get((job, 0)) == "COMPLETED", 60)
    assert "next_pass" not in site.logs(1 << 20)


@with_lines("DebugFlags=DB_JOB,AuditRPCs,NetworkRaw\nStoragePass=some_pass\n")
def test_the_subjects_of_the_log(site):
    site.database.start()
    site.start()
    job = site.sbatch("--comment", "a\x1b[2Jb", "--wrap", "echo secret words of a script")
    site.database.wait_state(job, "COMPLETED")
    log = log_of(site)
    assert " ms, 0 rows: INSERT INTO muster_jobs(" in log and "DB_JOB: " in log, log
    assert "AuditRPCs: StoreRecords for uid " in log, log
    assert "NetworkRaw has no effect: " in log, log
    assert "DB_STEP" not in log and "secret words" not in log and "\x1b" not in log, log
    log_hides_the_password(site)
    # And others, without a restart.
    conf = site.folder + "/etc/slurmdbd.conf"
    with open(conf) as f:
        text = f.read()
    with open(conf, "w") as f:
        f.write(text.replace("DB_JOB,AuditRPCs,NetworkRaw", "DB_STEP,Network"))
    os.kill(site.database.process.pid, signal.SIGHUP)
    until(lambda: "DebugFlags to change\n" + site.logs(), lambda: "DB_STEP,Network" in site.run("sacctmgr", "show", "config").out)
    before = len(log_of(site))
    site.ok("sacct", "-j", str(job))
    until(lambda: "connections and statements about steps to be told\n" + site.logs(),
          lambda: all(words in log_of(site)[before:] for words in ("Network: connection from ", "DB_STEP: ")))
    after = log_of(site)[before:]
    assert "DB_JOB: " not in after and "AuditRPCs: " not in after, after


@with_lines("PrivateData=jobs\n")
def test_words_that_are_left_out_are_told_at_each_reconfigure(site):
    site.database.start()
    until(lambda: "slurmdbd\n" + site.logs(), lambda: site.run("sacctmgr", "ping").code == 0)
    conf, process = site.folder + "/etc/slurmdbd.conf", site.database.process
    told = 'slurmdbd.conf:%d: PrivateData: "jbos" is not one of '
    with open(conf) as f:
        text = f.read()
    line = text.splitlines().index("PrivateData=jobs") + 1
    with open(conf, "w") as f:
        f.write(text.replace("PrivateData=jobs", "PrivateData=users,jbos"))
    for times, reconfigure in enumerate((lambda: os.kill(process.pid, signal.SIGHUP), lambda: site.ok("sacctmgr", "reconfigure")), 1):
        reconfigure()
        until(lambda: "the wrong word to be told\n" + site.logs(), lambda: log_of(site).count(told % line) == times)
    assert "did you mean jobs?" in log_of(site), site.logs()
    assert re.search(r"^PrivateData +=  ?users$", site.ok("sacctmgr", "show", "config").out, re.M)


@with_lines("MessageTimeout=1\n")
def test_a_message_that_does_not_end_closes_its_connection(site):
    site.database.start()
    site.start()
    assert "MessageTimeout" in site.ok("sacctmgr", "show", "config").out
    path = "%s/run/slurmdbd.%d.sock" % (site.folder, site.database.port)
    with socket.socket(socket.AF_UNIX) as half:
        half.settimeout(20)      # our own limit would be 60 s
        half.connect(path)
        half.sendall(struct.pack("<IBQH", 11 + 100, 1, 1, 1) + b"x")
        began = time.monotonic()
        while half.recv(4096):
            pass
        assert time.monotonic() - began < 20
