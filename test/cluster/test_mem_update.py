"""sbatch --mem-update: a job that runs gives back the memory that it does not use. sbatch(1)."""
import os
import re

import pytest

from accounting import Database
from harness import until
from test_devices import cgroup_may, isolated, needs_root

pytestmark = pytest.mark.better_than_slurm      # SQLite, one machine, no enable_stepmgr

GATHER = "JobAcctGatherType=jobacct_gather/linux\nJobAcctGatherFrequency=1\n"

# Holds 150 MB, and 300 MB once there is a file "grow".
HOLDER = """\
import os, time
def hold(size):
    held = bytearray(size << 20)
    for i in range(0, len(held), 4096):
        held[i] = 1
    return held
first = hold(150)
open("holds", "w").close()
while not os.path.exists("go"):
    if os.path.exists("grow"):
        more = hold(150)
        os.rename("grow", "grown")
    time.sleep(0.05)
"""


@pytest.fixture
def measured(make_cluster):
    made = []

    def make(conf="", **kw):
        cluster = make_cluster(start=False, **{"nodes": 1, "memory": 1200, "conf": GATHER + conf, **kw})
        cluster.conf_lines.remove("JobAcctGatherType=jobacct_gather/none")
        cluster.database = Database(cluster)
        cluster.database.start()
        made.append(cluster.database)
        cluster.start()
        cluster.file("hold.py", HOLDER)
        return cluster
    yield make
    for database in made:
        database.stop()


def memory(cluster, job):
    """The memory that the job has on all of its nodes, in MB."""
    found = re.search(r"AllocTRES=\S*mem=(\d+)M", cluster.ok("scontrol", "show", "job", str(job)).out)
    return int(found.group(1)) if found else None


def reduced(cluster, job, most=300):
    """What the job has left. On a slow machine it may be measured before it holds all that it will: a tenth is the least."""
    until("job %d to have less memory" % job, lambda: memory(cluster, job) not in (None, 1000))
    assert 100 <= memory(cluster, job) <= most
    return memory(cluster, job)


def test_a_second_job_starts_in_the_memory_that_the_first_gave_back(measured):
    cluster = measured()
    first = cluster.sbatch("--mem=1000M", "--mem-update=20@0:05", "--wrap", "exec python3 hold.py")
    until("the job to hold its memory", lambda: os.path.exists(os.path.join(cluster.work, "holds")))
    second = cluster.sbatch("--mem=800M", "--wrap", "true")
    assert memory(cluster, first) == 1000
    cluster.wait_job(second, "COMPLETED")
    has = reduced(cluster, first)
    shown = cluster.ok("scontrol", "show", "job", str(first)).out
    assert "MinMemoryNode=1000M" in shown       # what was asked for
    assert "AllocMem=%d " % has in cluster.ok("scontrol", "show", "node", "n1").out
    cluster.database.wait_for("the new limit", lambda: "mem=%dM" % has in cluster.ok("sacct", "-nXP", "-j", str(first), "-o", "AllocTRES").out)
    # slurmctld is started again, and the limit stays.
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    assert memory(cluster, first) == has
    cluster.file("go", "")
    cluster.wait_job(first, "COMPLETED")


def test_a_controller_that_was_away_measures_when_it_is_back(measured):
    cluster = measured()
    job = cluster.sbatch("--mem=1000M", "--mem-update=20@0:03", "--wrap", "exec python3 hold.py")
    until("the job to hold its memory", lambda: os.path.exists(os.path.join(cluster.work, "holds")))
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    reduced(cluster, job)
    cluster.file("go", "")
    cluster.wait_job(job, "COMPLETED")


def test_what_steps_use_counts_and_later_steps_have_what_is_left(measured):
    cluster = measured()
    job = cluster.sbatch("--mem=1000M", "--mem-update=20@0:04", "--wrap", "srun python3 hold.py; srun echo later")
    has = reduced(cluster, job)
    steps = cluster.ok("scontrol", "show", "step", "%d.0" % job).out
    assert "mem=%dM" % has in steps
    cluster.file("go", "")
    cluster.wait_job(job, "COMPLETED")
    assert "later" in cluster.read("slurm-%d.out" % job)


def test_over_memory_kill_judges_by_the_new_limit(measured):
    cluster = measured("JobAcctGatherParams=OverMemoryKill\n")
    job = cluster.sbatch("--mem=1000M", "--mem-update=20@0:02", "--wrap", "exec python3 hold.py")
    reduced(cluster, job)
    cluster.file("grow", "")
    cluster.wait_job(job, "OUT_OF_MEMORY")
    assert "exceeded memory limit (" in cluster.read("slurm-%d.out" % job)


@needs_root
@pytest.mark.skipif(not cgroup_may("memory"), reason="no memory controller (cgroup v1) that may be written")
def test_the_control_groups_of_the_job_and_its_script_have_the_new_limit(make_cluster):
    cluster = isolated(make_cluster, "ConstrainRAMSpace=yes\n")
    cluster.conf_lines = [line for line in cluster.conf_lines if not line.startswith("JobAcctGather")] + GATHER.splitlines()
    cluster.write_lines()
    cluster.start()
    cluster.file("hold.py", HOLDER)
    job = cluster.sbatch("--mem=1000M", "--mem-update=20@0:02", "--wrap", "exec python3 hold.py")
    has = reduced(cluster, job)
    pid = cluster.ok("scontrol", "listpids", str(job)).lines[1].split()[0]
    with open("/proc/%s/cgroup" % pid) as f:
        group = "/sys/fs/cgroup/memory" + next(line for line in f if ":memory:" in line).strip().split(":")[2]

    def limits():
        folder, found = group, []
        while "/job_" in folder:
            with open(folder + "/memory.limit_in_bytes") as f:
                found.append(int(f.read()))
            folder = os.path.dirname(folder)
        return found
    until("the groups to have it", lambda: limits().count(has << 20) == 2 or None)      # of the job and of its script
    cluster.file("grow", "")
    cluster.wait_job(job, "OUT_OF_MEMORY")


def test_it_is_refused_with_the_rule(measured, make_cluster):
    cluster = measured()
    for value, rule in (("20", "has no @"), ("x@10", "the margin \"x\" is no whole number"), ("20@never", "the delay \"never\" is no time")):
        result = cluster.run("sbatch", "--mem-update=" + value, "--wrap", "true")
        assert result.code != 0 and "Invalid --mem-update specification" in result.err and rule in result.err, result
    plain = make_cluster(nodes=1)
    result = plain.run("sbatch", "--mem-update=20@10", "--wrap", "true")
    assert result.code != 0 and "--mem-update=20@10: JobAcctGatherType is not set" in result.err, result
