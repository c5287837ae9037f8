"""SLUID: a sortable id of each run of a job, shown and taken in place of its number. squeue(1), sbatch(1) FILENAME PATTERN."""
import re

import pytest

from accounting import Database
from harness import until

pytestmark = pytest.mark.better_than_slurm      # 22.05 has none


def sluid(cluster, job):
    text, = cluster.queue("-j", str(job), "-t", "all", "-o", "%s")
    assert re.fullmatch(r"s[0-9A-HJKMNP-TV-Z]{13}", text), text
    return text


def test_it_names_files_and_stands_in_the_environment(cluster):
    job = cluster.sbatch("-o", "out-%S.txt", "--wrap", "echo $SLURM_JOB_SLUID; srun -o step-%S.txt true")
    cluster.wait_job(job)
    name = sluid(cluster, job)
    assert cluster.read("out-%s.txt" % name) == name + "\n"
    assert cluster.read("step-%s.txt" % name) == ""


def test_every_command_takes_it_for_the_number(cluster):
    first, second = cluster.sbatch("--hold", "--wrap", "sleep 60"), cluster.sbatch("--hold", "--wrap", "true")
    name = sluid(cluster, first)
    assert name < sluid(cluster, second)
    assert cluster.queue("-j", name, "-o", "%i") == [str(first)]
    assert cluster.ok("squeue", "-h", "-j", name.lower(), "-O", "sluid").out.split() == [name]
    assert "JobId=%d " % first in cluster.ok("scontrol", "-o", "show", "job", name).out
    cluster.ok("scontrol", "update", "JobId=" + name, "Comment=by_its_sluid")
    cluster.ok("scontrol", "release", name)
    cluster.wait_job(first, "RUNNING")
    assert cluster.queue("-j", str(first), "-o", "%k") == ["by_its_sluid"]
    until("the step of its script", lambda: cluster.ok("squeue", "-h", "-s", "-j", name, "-o", "%i").out == "%d.batch\n" % first)
    cluster.ok("scancel", name)
    cluster.wait_job(first, "CANCELLED")
    assert cluster.queue("-j", str(second), "-o", "%T") == ["PENDING"]


def test_a_run_that_is_over_is_not_the_next_one(cluster):
    job = cluster.sbatch("--requeue", "--wrap", "sleep 60")
    cluster.wait_job(job, "RUNNING")
    old = sluid(cluster, job)
    cluster.ok("scontrol", "requeuehold", str(job))
    until("a run of another name", lambda: sluid(cluster, job) != old)
    for command in (["scancel", old], ["scontrol", "release", old], ["scontrol", "update", "JobId=" + old, "Comment=x"]):
        refused = cluster.run(*command)
        assert refused.code and "Invalid job id specified" in refused.err, refused
    assert cluster.run("squeue", "-h", "-j", old, "-o", "%i").out == ""
    cluster.ok("scancel", sluid(cluster, job))
    cluster.wait_job(job, "CANCELLED")


def test_the_database_knows_it(make_cluster):
    cluster = make_cluster(start=False, nodes=1)
    database = Database(cluster).start()
    try:
        cluster.start()
        job, other = cluster.sbatch("--wrap", "true"), cluster.sbatch("--wrap", "true")
        for one in (job, other):
            cluster.wait_job(one)
            database.wait_state(one, "COMPLETED")
        name = sluid(cluster, job)
        shown = cluster.ok("sacct", "-nPX", "-j", name, "-o", "JobID,SLUID,OriginalSLUID").lines
        assert shown == ["%d|%s|%s" % (job, name, name)]

        again = cluster.sbatch("--requeue", "--wrap", "sleep 60")
        cluster.wait_job(again, "RUNNING")
        old = sluid(cluster, again)
        cluster.ok("scontrol", "requeuehold", str(again))
        database.wait_state(again, "PENDING", run=1)
        runs = lambda *names: cluster.ok("sacct", "-nPX", "-j", ",".join(names), "-o", "SLUID").lines
        assert runs(old) == [old]
        assert runs(old, str(job)) == [name, old], "beside the number of another job"
        assert runs(old, str(again)) == [old, sluid(cluster, again)]
        cluster.ok("sacctmgr", "-i", "modify", "job", "where", "jobid=" + old, "set", "AdminComment=once")
        assert cluster.ok("sacct", "-nPXD", "-j", str(again), "-o", "AdminComment").lines == ["once", ""]
        cluster.ok("scancel", str(again))
    finally:
        database.stop()
