"""What accounting has of a job that gives up nodes while it runs: a record of each part of the run. guide faq, "Can I change my job's size?";
sacct(1) --duplicates."""
import json
import os
import time

import pytest

from accounting import kind, on_both
from harness import until

pytestmark = pytest.mark.better_than_slurm      # SQLite; the hour that lasts is counted as far as it has come


@pytest.fixture
def site(request, make_cluster):
    cluster = make_cluster(start=False, nodes=3, gpus=0, cpus=4)
    cluster.database = kind(request)(cluster).start()
    cluster.start()
    until("slurmdbd to know the cluster", lambda: "test" in cluster.run("sacctmgr", "-n", "show", "cluster", "format=cluster").out)
    cluster.ok("sacctmgr", "-i", "add", "account", "one")
    cluster.ok("sacctmgr", "-i", "add", "user", cluster.user, "account=one")
    cluster.since = time.strftime("%Y-%m-%dT%H:00:00")
    yield cluster
    cluster.database.stop()


def sacct(site, job, *options, columns="submit,start,end,state,alloccpus,elapsedraw,nodelist"):
    answer = site.ok("sacct", "-nP", "-j", str(job), "-o", columns, *options)
    return [line.split("|") for line in answer.lines]


def report(site, *words):
    answer = site.ok("sreport", "--json", *words, "start=" + site.since, "end=now+2hours", cwd="/")
    return json.loads(answer.out)["reports"]


def touch(site, name):
    open(os.path.join(site.work, name), "w").close()


SHRINKS = """#!/bin/bash
sleep 2
srun -N3 -n3 true
scontrol update JobId=$SLURM_JOB_ID NumNodes=1
. ./slurm_job_${SLURM_JOB_ID}_resize.sh
touch shrunk
while [ ! -e go ]; do sleep 0.05; done
srun -N1 -n1 true
"""


@pytest.mark.parametrize("after", ["at once", "a crash of slurmctld"])
@on_both("site")
def test_each_part_is_a_record_and_they_add_up(site, after):
    job = site.sbatch("-A", "one", "-N3", "--exclusive", site.file("shrinks.sh", SHRINKS))
    until(lambda: "the smaller job\n" + site.logs(), lambda: os.path.exists(os.path.join(site.work, "shrunk")))
    until("the part's record", lambda: len(sacct(site, job, "-X", "-D")) == 2)
    if after != "at once":
        site.kill_ctld()
        site.start_ctld()
        site.wait_ctld()
    first, last = sacct(site, job, "-X", "-D")
    assert (first[3], first[4], first[6]) == ("RESIZING", "12", "n[1-3]") and int(first[5]) >= 2, first
    assert (last[3], last[4], last[6]) == ("RUNNING", "4", "n1") and last[2] == "Unknown", last
    assert first[2] == last[0] == last[1], "the job is resubmitted and restarted at its new size"
    time.sleep(2)       # so long it runs with one node
    touch(site, "go")
    site.wait_job(job, "COMPLETED")
    until("the end's record", lambda: sacct(site, job, "-X")[0][3] == "COMPLETED")

    assert len(sacct(site, job, "-X")) == 1, "the last part stands for the job"
    parts = sacct(site, job, "-X", "-D")
    assert [part[3] for part in parts] == ["RESIZING", "COMPLETED"], parts
    assert parts[0][:3] == first[:3], "what has ended stays as it is"
    used = sum(int(part[4]) * int(part[5]) for part in parts)
    utilization = [row for row in report(site, "cluster", "AccountUtilizationByUser") if row["account"] == "one"]
    assert {row["used_seconds"] for row in utilization} == {used}, (utilization, parts)

    sizes, = report(site, "job", "SizesByAccount", "FlatView", "grouping=5", "PrintJobCount")
    assert [size["jobs"] for size in sizes["sizes"]] == [1, 0], "it is one job, by the size that it had last"
    sizes, = report(site, "job", "SizesByAccount", "FlatView", "grouping=5")
    assert sizes["used_seconds"] == used

    steps = {row[0]: row[1] for row in sacct(site, job, "-D", columns="jobid,state") if "." in row[0]}
    assert steps == {"%d.%s" % (job, step): "COMPLETED" for step in ("batch", "0", "1")}


@on_both("site")
def test_the_parts_are_told_apart(site):
    job = site.sbatch("-A", "one", "-N3", "--exclusive", site.file("shrinks.sh", SHRINKS))
    until(lambda: "the smaller job\n" + site.logs(), lambda: os.path.exists(os.path.join(site.work, "shrunk")))
    until("the part's record", lambda: len(sacct(site, job, "-X", "-D")) == 2)
    shown = site.queue("-j", str(job), "-O", "SLUID")[0].strip()
    (own, first), (other, second) = sacct(site, job, "-X", "-D", columns="sluid,originalsluid")
    assert own == first == second == shown != other
    assert sacct(site, shown, "-X", "-D", columns="sluid") == [[own], [other]]
    assert sacct(site, other, "-X", "-D", columns="sluid") == [[other]]

    document = json.loads(site.ok("sacct", "--json", "-D", "-j", str(job)).out)
    assert [record["state"]["current"] for record in document["jobs"]] == [["RESIZING"], ["RUNNING"]]
    assert len(sacct(site, job, "-X", "-D", "-s", "RS")) == 1
    assert sacct(site, job, "-X", "-D", "-s", "CD", "-S", site.since, "-E", "now") == [], "no part has completed"
    assert "No runaway jobs" in site.ok("sacctmgr", "-i", "show", "runawayjobs").out
    touch(site, "go")
    site.wait_job(job, "COMPLETED")
