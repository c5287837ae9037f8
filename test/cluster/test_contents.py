"""Scripts and environments of jobs in the database: AccountingStoreFlags, sacct --batch-script and --env-vars, their purge and their archive."""
import glob
import os
import sqlite3

import pytest

import accounting
from harness import until
from test_purge import SHIFT

pytestmark = pytest.mark.better_than_slurm      # SQLite

LINE = "-" * 80 + "\n"
SCRIPT = "#!/bin/sh\n# a comment, and no newline at the end\necho done"
STORE = "AccountingStoreFlags=job_script,job_env"


@pytest.fixture
def site(make_cluster, request):
    """A cluster, not started yet, whose jobs are forgotten three seconds after their end; start(lines of slurmdbd.conf) starts it."""
    cluster = make_cluster(start=False, nodes=1, cpus=4, conf="MinJobAge=3")
    cluster.archives = cluster.folder + "/archives"
    os.mkdir(cluster.archives, 0o700)
    database = cluster.database = accounting.kind(request)(cluster, "ArchiveDir=%s\n" % cluster.archives)

    def start(flags=STORE):
        cluster.conf_lines.append(flags)
        cluster.write_lines()
        database.start()
        cluster.start()
        until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
        return cluster
    cluster.begin = start
    yield cluster
    database.stop()


def script_of(site, job):
    return site.ok("sacct", "-B", "-j", str(job)).out


def count(site, table):
    return site.database.rows("SELECT COUNT(*) FROM muster_" + table)[0][0]


def submitted(site, *args, text=SCRIPT, env=None):
    return site.sbatch("-o", "/dev/null", *args, site.file("script.sh", text), env=env)


@accounting.on_both("site")
def test_what_was_submitted_can_be_read_again(site):
    site.begin()
    job = submitted(site, "--comment=why", env={"OF_THIS_JOB": "two words\nand a line"})
    same = submitted(site, "-H", env={"OF_THIS_JOB": "another"})
    array = submitted(site, "--array=1-2", text="#!/bin/sh\ntrue\n")
    # At once: sacct waits until slurmdbd has heard of the job.
    assert script_of(site, job) == "Batch Script for %d\n%s%s\n" % (job, LINE, SCRIPT)
    assert script_of(site, same) == "Batch Script for %d\n%s%s\n" % (same, LINE, SCRIPT)
    environment = site.ok("sacct", "--env-vars", "-j", str(job)).out
    assert environment.startswith("Environment used for %d (must be batch to display)\n%s" % (job, LINE)), environment
    assert "\nOF_THIS_JOB=two words\nand a line\n" in environment and "OF_THIS_JOB=another" not in environment
    for one in (job, array):
        site.wait_job(one)
    site.database.wait_state(job, "COMPLETED")
    assert script_of(site, "%d_2" % array) == "Batch Script for %d_2\n%s#!/bin/sh\ntrue\n\n" % (array, LINE)
    assert script_of(site, array).count("true\n") == 2
    assert count(site, "contents") == 2 + 3, "equal ones are kept once"
    # It is there when the controller has forgotten the job.
    until("slurmctld to forget the job", lambda: site.run("scontrol", "show", "job", str(job)).code != 0)
    assert script_of(site, job).endswith(SCRIPT + "\n")
    assert site.ok("sacct", "-nX", "-j", str(job), "-o", "comment").out.strip() == "", "job_comment was not asked for"
    shell = site.run("salloc", "-n1", "sh", "-c", "echo $SLURM_JOB_ID").out.strip()
    assert script_of(site, shell) == "Batch Script for %s\n%sNONE\n\n" % (shell, LINE)


def test_a_script_outlives_the_time_that_slurmdbd_was_away(site):
    site.begin()
    site.database.kill()
    job = submitted(site)
    site.wait_job(job)
    until("slurmctld to forget the job", lambda: site.run("scontrol", "show", "job", str(job)).code != 0)
    site.kill_ctld()
    site.start_ctld()
    site.database.start()
    site.database.wait_state(job, "COMPLETED")
    assert until("its script", lambda: SCRIPT in script_of(site, job))


def test_flags_that_are_not_there_record_nothing(site):
    site.begin("AccountingStoreFlags=job_comment,job_extra,no_stdio")
    job = submitted(site, "--comment=why", "--extra=more")
    site.wait_job(job)
    site.database.wait_state(job, "COMPLETED")
    assert site.ok("sacct", "-nPX", "-j", str(job), "-o", "comment,extra,stdout,stdin").out == "why|more||\n"
    assert script_of(site, job) == "Batch Script for %d\n%sNONE\n\n" % (job, LINE)
    assert count(site, "job_contents") == 0
    said = site.run("sacct", "-B")
    assert said.code == 1 and "you must also request specific jobs with the '-j' option" in said.err, said
    said = site.run("sacct", "-B", "--env-vars", "-j", "1")
    assert said.code == 1 and "mutually exclusive" in said.err, said


def test_a_terminal_does_not_obey_a_script(site):
    site.begin()
    job = submitted(site, text="#!/bin/sh\n\techo '\033]0;owned\007\u009b2J'\n")
    assert "\033]0;owned" in script_of(site, job), "into a pipe it goes as it is"
    shown, code = site.terminal("sacct", "-B", "-j", str(job))
    assert code == 0 and "\033" not in shown and "\u009b" not in shown and "\\x1b]0;owned\\x07" in shown, shown
    assert "\r\n\techo" in shown, shown


def test_old_scripts_go_by_their_own_age_and_come_back(site):
    site.begin()
    job, young = submitted(site), submitted(site, text="#!/bin/sh\nyoung\n")
    for one in (job, young):
        site.wait_job(one, "COMPLETED|FAILED")
        until("its end", lambda: site.database.rows("SELECT 1 FROM muster_job_contents WHERE job = ? AND kind = 0 AND ended < ?", one, 2**62))
    site.database.stop()
    db = sqlite3.connect(site.database.file, timeout=10)
    db.execute("UPDATE muster_job_contents SET ended = ended - ? WHERE job = ?", (SHIFT, job))
    db.commit()
    db.close()
    with open(site.folder + "/etc/slurmdbd.conf", "a") as conf:
        conf.write("PurgeJobScriptAfter=2hours\nArchiveJobScript=yes\n")
    site.database.start()
    until("the script to go", lambda: site.run("sacct", "-B", "-j", str(job)).out.endswith("NONE\n\n"))
    assert "young" in script_of(site, young)
    assert site.ok("sacct", "-nX", "-j", str(job), "-o", "jobid").out.strip() == str(job), "the job stays"
    assert "OF_THIS" not in site.ok("sacct", "--env-vars", "-j", str(job)).out
    assert not site.ok("sacct", "--env-vars", "-j", str(job)).out.endswith("NONE\n\n"), "environments have no age"
    path, = glob.glob(site.archives + "/test_job_script_archive_*")
    assert SCRIPT.encode() in open(path, "rb").read()
    assert site.ok("sacctmgr", "archive", "load", "File=" + path).out == " Loaded 1 records\n"
    assert script_of(site, job).endswith(SCRIPT + "\n")
    said = site.ok("sacctmgr", "-i", "archive", "dump", "JobEnv", "PurgeJobEnvAfter=2hours")
    assert "  1 environments of jobs before " in said.out, said
    assert site.ok("sacct", "--env-vars", "-j", str(job)).out.endswith("NONE\n\n")
