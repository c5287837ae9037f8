"""Archives with real daemons: what is purged is in a file first, and comes back once, into SQLite and into MariaDB. sacctmgr(1) ARCHIVE FUNCTIONALITY."""
import glob
import os
import stat

import pytest

import harness
from accounting import Database, MariaDb
from conftest import new_folder
from harness import until
from test_purge import make_older

pytestmark = pytest.mark.better_than_slurm      # SQLite

DUMP = ("sacctmgr", "-i", "archive", "dump")


@pytest.fixture
def site(make_cluster):
    """A cluster with two jobs that have ended, of which one seems to be five hours old; its daemons run."""
    cluster = make_cluster(start=False, nodes=2, cpus=4)
    cluster.archives = cluster.folder + "/archives"
    os.mkdir(cluster.archives, 0o700)
    database = cluster.database = Database(cluster, "ArchiveDir=%s\n" % cluster.archives).start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "team")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=team")
    cluster.old, cluster.young = [cluster.sbatch("-A", "team", "-J", "train", "-n2", "-o", "/dev/null", "--wrap", "srun true") for _ in range(2)]
    for job in (cluster.old, cluster.young):
        database.wait_state(job, "COMPLETED")
    until("its steps to be recorded", lambda: database.rows("SELECT COUNT(*) FROM muster_steps WHERE job = ? AND ended < ?", int(cluster.old), 2**62)[0][0] == 2)
    until("the controller to know that", lambda: "DBD Agent queue size: 0" in cluster.ok("sdiag").out)    # else it says it again
    database.stop()
    make_older(cluster, int(cluster.old))
    started_again(cluster)
    until("roll-ups", lambda: database.rows("SELECT 1 FROM muster_usage_state"))
    yield cluster
    cluster.database.stop()


def started_again(site, *lines):
    """slurmdbd, with more lines of slurmdbd.conf."""
    if site.database.process.poll() is None:
        site.database.stop()
    with open(os.path.join(site.folder, "etc/slurmdbd.conf"), "a") as conf:
        conf.write("".join(line + "\n" for line in lines))
    site.database.start()
    until("slurmdbd to answer", lambda: site.run("sacctmgr", "ping").code == 0)


def shown(site):
    return site.ok("sacct", "-anP", "-S", "now-1days", "-o", "jobid,jobname,state,account").lines


def files(site):
    return sorted(glob.glob(site.archives + "/*"))


def log(site):
    return open(site.folder + "/log/slurmdbd.log").read()


def test_what_is_dumped_is_loaded_once(site):
    before = shown(site)
    assert any(line.startswith("%s.0|true|COMPLETED|team" % site.old) for line in before), before
    said = site.ok(*DUMP)
    assert said.out == " Nothing was old enough to be purged\n", said
    asked = site.run("sacctmgr", "archive", "dump", "Jobs", "PurgeJobAfter=2hours", stdin="n\n")
    assert "Are you sure you want to continue?" in asked.out and asked.out.endswith(" Changes Discarded\n"), asked
    assert shown(site) == before and files(site) == []

    said = site.ok(*DUMP, "Jobs", "PurgeJobAfter=2hours", "JobScript")
    path, = files(site)
    assert said.out.splitlines()[0] == " Purged records..." and said.out.splitlines()[1].startswith("  1 jobs before "), said
    assert said.out.splitlines()[1].endswith(" of cluster test") and said.out.splitlines()[2] == "    " + path, said
    assert os.path.basename(path).startswith("test_job_archive_"), path
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert not any(line.startswith(str(site.old)) for line in shown(site)), shown(site)
    assert any(line.startswith(str(site.young)) for line in shown(site)), shown(site)

    said = site.ok("sacctmgr", "archive", "load", "File=" + os.path.basename(path))
    assert said.out == " Loaded 3 records\n", said      # the job, its batch step and its step
    assert shown(site) == before
    again = site.run("sacctmgr", "archive", "load", path)
    assert again.code == 1 and "all 3 records of it are in the database already; nothing was added" in again.err, again
    assert shown(site) == before
    # The old file stays when its records are archived again.
    site.ok(*DUMP, "Jobs", "PurgeJobAfter=2hours")
    assert files(site) == [path, path + ".2"]


def test_files_that_are_no_archives_and_places_that_are_none(site):
    site.ok(*DUMP, "Jobs", "PurgeJobAfter=2hours")
    path, = files(site)
    whole = open(path, "rb").read()
    for name, content in (("cut", whole[:-1]), ("text", b"job 1\n"), ("other", whole[:40] + b"?" + whole[41:])):
        with open(site.archives + "/" + name, "wb") as file:
            os.chmod(file.fileno(), 0o600)
            file.write(content)
        said = site.run("sacctmgr", "archive", "load", "File=" + name)
        assert said.code == 1 and site.archives + "/" + name in said.err, said
    os.chmod(path, 0o666)
    said = site.run("sacctmgr", "archive", "load", "File=" + path)
    assert said.code == 1 and "others may have written it" in said.err, said
    os.symlink("/etc/passwd", site.archives + "/link")
    for wrong in ("File=link", "File=../etc/slurmdbd.conf", "File=none"):
        said = site.run("sacctmgr", "archive", "load", wrong)
        assert said.code == 1 and said.err, said
    said = site.run(*DUMP, "Directory=/dev/null", "Jobs", "PurgeJobAfter=1hours")
    assert said.code == 1 and "/dev/null" in said.err, said
    assert not any(line.startswith(str(site.old)) for line in shown(site))
    os.chmod(path, 0o600)
    site.ok("sacctmgr", "archive", "load", "File=" + path)
    assert sum(line.startswith(str(site.old)) for line in shown(site)) == 3
    started_again(site, "DisableArchiveCommands=yes")
    said = site.run(*DUMP)
    assert said.code == 1 and "DisableArchiveCommands" in said.err, said


def test_each_hour_what_cannot_be_archived_stays(site):
    os.rename(site.archives, site.archives + ".away")
    started_again(site, "PurgeJobAfter=2hours", "ArchiveJobs=yes")
    until("the purge to stop", lambda: "old records are not purged: %s: No such file" % site.archives in log(site))
    assert any(line.startswith(str(site.old)) for line in shown(site))
    os.rename(site.archives + ".away", site.archives)
    started_again(site)
    until("the old job to go", lambda: not any(line.startswith(str(site.old)) for line in shown(site)))
    path, = files(site)
    assert "of cluster test; they are in " + path in log(site)
    site.ok("sacctmgr", "archive", "load", "File=" + path)
    assert sum(line.startswith(str(site.old)) for line in shown(site)) == 3


def test_a_script_archives_instead_of_us(site):
    told = site.folder + "/told"
    script = site.script("copy", "#!/bin/sh\nenv | grep ^SLURM_ARCHIVE_ >%s\nexit $(cat %s.code)\n" % (told, told))
    with open(told + ".code", "w") as file:
        file.write("3")
    started_again(site, "PurgeJobAfter=2hours", "ArchiveJobs=yes", "ArchiveScript=%s/copy" % site.bin)
    until("the script to fail", lambda: "old records are not purged: ArchiveScript: " in log(site))
    assert "exit code 3" in log(site), script
    assert any(line.startswith(str(site.old)) for line in shown(site))
    variables = dict(line.split("=") for line in open(told).read().splitlines())
    assert variables["SLURM_ARCHIVE_JOBS"] == "1" and int(variables["SLURM_ARCHIVE_LAST_JOB"]) > 1e9, variables
    assert variables["SLURM_ARCHIVE_EVENTS"] == "0" and variables["SLURM_ARCHIVE_LAST_EVENT"] == "0", variables
    with open(told + ".code", "w") as file:
        file.write("0")
    started_again(site)
    until("the old job to go", lambda: not any(line.startswith(str(site.old)) for line in shown(site)))
    assert files(site) == []


@pytest.mark.skipif(not os.path.exists(MariaDb.PROGRAM), reason="no mariadb-server-core (tools/install-packages)")
def test_an_archive_server_with_mariadb(site):
    """Another slurmdbd, which no controller speaks to, has what was archived; it can archive it again."""
    before = [line for line in shown(site) if line.startswith(str(site.old))]
    site.ok(*DUMP, "Jobs", "PurgeJobAfter=2hours")
    path, = files(site)
    other = harness.Cluster(new_folder(), nodes=1)
    server = MariaDb(other.folder + "/maria")
    other.archives = other.folder + "/archives"
    os.mkdir(other.archives, 0o700)
    other.database = Database(other, "StorageType=accounting_storage/mysql\nStorageHost=%s\nStorageUser=root\nArchiveDir=%s\n"
                              % (server.socket, other.archives))
    conf = other.folder + "/etc/slurmdbd.conf"
    lines = [line for line in open(conf) if not line.startswith("StorageLoc")]
    with open(conf, "w") as file:
        file.write("".join(lines) + "StorageLoc=archive\n")
    try:
        other.database.start()
        until("slurmdbd to answer", lambda: other.run("sacctmgr", "ping").code == 0)
        assert other.ok("sacctmgr", "archive", "load", "File=" + path).out == " Loaded 3 records\n"
        assert shown(other) == before
        assert server.ask("SELECT COUNT(*) FROM archive.muster_steps") == "2"
        said = other.run("sacctmgr", "archive", "load", "File=" + path)
        assert said.code == 1 and "nothing was added" in said.err, said
        said = other.ok(*DUMP, "Jobs", "PurgeJobAfter=2hours")
        assert shown(other) == [] and len(files(other)) == 1, said
        assert other.ok("sacctmgr", "archive", "load", "File=" + files(other)[0]).out == " Loaded 3 records\n"
        assert shown(other) == before
    finally:
        other.database.stop()
        server.stop()
        harness.remove(other.folder)
