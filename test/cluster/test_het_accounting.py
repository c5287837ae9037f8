"""Heterogeneous jobs in sacct: rows of id+offset, and which components an id stands for (sacct(1) --whole-hetjob; guide heterogeneous_jobs)."""
import json

import pytest

from accounting import Database
from harness import until
from test_het_jobs import submit

pytestmark = pytest.mark.better_than_slurm      # SQLite


@pytest.fixture
def site(make_cluster):
    cluster = make_cluster(start=False, nodes=3, gpus=0, cpus=4)
    database = Database(cluster)
    database.start()
    cluster.start()
    yield cluster
    database.stop()


def names(cluster, *args, allocations=True):
    return [line.split("|")[0] for line in cluster.ok("sacct", "-nP", *(["-X"] if allocations else []), "-o", "jobid,state", *args).lines]


def test_rows_of_components(site):
    job = submit(site, "-n1", "-J", "first", ":", "-n2", "-J", "second", ":", "-n1", "-J", "third",
                 "--wrap", "srun --het-group=0,1 true; srun --het-group=2 true")
    whole = ["%d+%d" % (job, i) for i in range(3)]
    ended = ["%s|COMPLETED" % name for name in whole]
    until(lambda: "sacct to know their end: %s" % site.run("sacct", "-nPX", "-j", str(job)).out,
          lambda: site.ok("sacct", "-nPX", "-j", str(job), "-o", "jobid,state").lines == ended)
    # The leader's id stands for the whole, another component's for itself.
    assert names(site, "-j", str(job)) == whole
    assert names(site, "-j", str(job + 1)) == whole[1:2] == names(site, "-j", "%d+1" % job)
    assert names(site, "-j", "%d+0" % job) == whole[:1]
    for given in ("--whole-hetjob", "--whole-hetjob=yes"):
        for name in (str(job), str(job + 1), "%d+2" % job):
            assert names(site, given, "-j", name) == whole, (given, name)
    assert names(site, "--whole-hetjob=no", "-j", str(job)) == whole[:1]
    assert names(site, "--whole-hetjob=no", "-j", "%d,%d+2" % (job, job)) == [whole[0], whole[2]]
    wrong = site.run("sacct", "--whole-hetjob=maybe", "-j", str(job))
    assert wrong.code != 0 and "maybe" in wrong.err, wrong
    # Steps stand below their component; what the number inside is, jobidraw tells.
    rows = [line.split("|") for line in site.ok("sacct", "-nP", "-j", str(job), "-o", "jobid,jobidraw,jobname,ntasks").lines]
    found = {row[0]: row for row in rows}
    assert [row[0] for row in rows if "." not in row[0]] == whole
    assert [found[name][1:3] for name in whole] == [[str(job + i), word] for i, word in enumerate(("first", "second", "third"))]
    assert {whole[0] + ".0", whole[1] + ".0"} <= set(found), rows
    assert whole[0] + ".batch" in found and whole[1] + ".batch" not in found
    assert (found[whole[0] + ".0"][3], found[whole[1] + ".0"][3]) == ("1", "2")
    shown = json.loads(site.ok("sacct", "--json", "-j", str(job)).out)["jobs"]
    assert [(j["het"]["job_id"], j["het"]["job_offset"]["number"]) for j in shown] == [(job, i) for i in range(3)]
