"""Thousands of nodes (rows 101, 109a of checklist.txt): the sizes that the checklist names, as cloud nodes that come when they
are needed, so that one host can hold the cluster. How fast that is: bench/ and docs/performance.md."""
import os

import pytest

import accounting
from harness import until

pytestmark = pytest.mark.better_than_slurm

GIB = 1 << 30


@pytest.fixture
def make_cloud(make_cluster):
    """A controller and slurmdbd for nodes that are not there yet; what ResumeProgram was told."""
    databases = []

    def make(count):
        cluster = make_cluster(start=False, nodes=1, gpus=0)
        cluster.script("resume", "#!/bin/sh\necho $1 >>%s/resumed\n" % cluster.work)
        cluster.conf_lines = [line for line in cluster.conf_lines if not line.startswith(("NodeName", "PartitionName"))] + [
            "ResumeProgram={0}/resume\nSuspendProgram={0}/resume\nSuspendTime=INFINITE\nResumeTimeout=1800\nResumeRate=0".format(cluster.bin),
            "NodeName=gpu[0001-%04d] CPUs=128 RealMemory=2048000 Gres=gpu:h100:8 State=CLOUD" % count,
            "PartitionName=train Nodes=ALL Default=YES"]
        cluster.write_lines()
        with open(cluster.folder + "/etc/gres.conf", "w") as f:
            f.write("Name=gpu Type=h100 File=/dev/nvidia[0-7]\n")
        cluster.names = []
        databases.append(accounting.Database(cluster))
        cluster.database = databases[-1].start()
        cluster.start_ctld()
        cluster.wait_ctld(60)
        return cluster
    yield make
    for database in databases:
        database.stop()


def held_memory(process):
    with open("/proc/%d/status" % process.pid) as f:
        return next(int(line.split()[1]) * 1024 for line in f if line.startswith("VmRSS"))


def resumed(cluster):
    path = cluster.work + "/resumed"
    return open(path).read().split() if os.path.exists(path) else []


@pytest.mark.row(101, "109a")
def test_one_job_on_24000_gpus(make_cloud):
    cluster = make_cloud(3000)
    assert cluster.ok("sinfo", "-h", "-o", "%D %t %N %G").out == "3000 idle~ gpu[0001-3000] gpu:h100:8\n"
    job = cluster.sbatch("--nodes=3000", "--gres=gpu:8", "--exclusive", "--wrap", "true")
    record = cluster.wait_job(job, "CONFIGURING")
    assert record["NodeList"] == "gpu[0001-3000]" and "gres/gpu=24000," in record["AllocTRES"], record
    until("the order to bring them", lambda: resumed(cluster) == ["gpu[0001-3000]"])
    assert len(cluster.ok("scontrol", "show", "hostnames", record["NodeList"]).lines) == 3000
    assert cluster.queue("-o", "%D %R %b") == ["3000 gpu[0001-3000] gres/gpu:8"]
    # One GPU more than there is can never be.
    never = cluster.run("sbatch", "--nodes=3001", "--gres=gpu:8", "--wrap", "true")
    assert never.code == 1 and "3000" in never.err, never
    cluster.ok("scancel", str(job))


@pytest.mark.plain_build
@pytest.mark.row(101, "109a")
def test_7500_nodes_and_a_thousand_jobs_in_a_corner_of_the_controllers_host(make_cloud):
    """The checklist's host for slurmctld and slurmdbd has no GPU and 32 GB: both together leave most of it free."""
    cluster = make_cloud(7500)
    wide = cluster.sbatch("--nodes=7500", "--exclusive", "--hold", "--wrap", "true")
    assert cluster.job(wide)["NumNodes"].split("-")[0] == "7500"
    array = cluster.sbatch("--array=0-999", "--gres=gpu:8", "--nodes=4", "--exclusive", "-o", "/dev/null", "--wrap", "true")
    until("all tasks to have nodes", lambda: len(cluster.queue("-r", "-j", str(array), "-t", "CF")) == 1000, 120)
    nodes = [line for line in cluster.ok("sinfo", "-h", "-N", "-t", "allocated", "-o", "%N").lines]
    assert len(set(nodes)) == 4000
    assert sum(int(line.split()[0]) for line in cluster.ok("sinfo", "-h", "-o", "%D %t").lines) == 7500
    until("their records", lambda: len([1 for j, s in cluster.database.jobs().items() if j[0] != wide]) == 1000, 120)
    assert held_memory(cluster.ctld) + held_memory(cluster.database.process) < GIB
    cluster.ok("scancel", str(array), str(wide))
