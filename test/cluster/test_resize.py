"""A running job gives up nodes: scontrol(1) NumNodes=, NodeList=; guide faq, "Can I change my job's size …?"."""
import os
import re

import pytest

from harness import ORACLE, until

pytestmark = pytest.mark.skipif(ORACLE, reason="which nodes stay, and what is said, is ours")


@pytest.mark.parametrize("after", ["at once", "a restart of slurmctld"])
def test_the_example_of_the_faq(make_cluster, after):
    """A step on four nodes, fewer nodes, the script that scontrol wrote, a step on two."""
    cluster = make_cluster(nodes=4, gpus=0)
    script = cluster.file("shrink.sh", """#!/bin/bash
srun -N4 -n4 --ntasks-per-node=1 bash -c 'echo $SLURMD_NODENAME' | sort | tr '\\n' ' ' > before
scontrol update JobId=$SLURM_JOB_ID NumNodes=2 > said
. ./slurm_job_${SLURM_JOB_ID}_resize.sh
env | grep -E '^SLURM_(JOB_)?(N|CPUS)' | sort > variables
touch shrunk
while [ ! -e go ]; do sleep 0.05; done
srun -N2 -n2 bash -c 'echo $SLURMD_NODENAME' | sort | tr '\\n' ' ' > after
""")
    job = cluster.sbatch("-N4", "--exclusive", script)
    until(lambda: "the smaller job\n" + cluster.logs(), lambda: os.path.exists(os.path.join(cluster.work, "shrunk")))
    if after != "at once":
        cluster.kill_ctld()
        cluster.start_ctld()
        cluster.wait_ctld()
    cluster.wait_nodes("idle", ["n3", "n4"])
    record = cluster.job(job)
    assert record["NodeList"] == "n[1-2]" and record["NumNodes"] == "2" and record["JobState"] == "RUNNING", record
    other = cluster.sbatch("-N2", "--exclusive", "--wrap", "true")
    assert cluster.wait_job(other)["NodeList"] == "n[3-4]"
    assert re.match(r"\d{4}-", cluster.queue("-O", "ResizeTime", "-j", str(job))[0])
    open(os.path.join(cluster.work, "go"), "w").close()
    cluster.wait_job(job)
    assert cluster.read("before") == "n1 n2 n3 n4 " and cluster.read("after") == "n1 n2 "
    assert "slurm_job_%d_resize.sh" % job in cluster.read("said")
    variables = dict(line.split("=", 1) for line in cluster.read("variables").splitlines())
    expected = {"SLURM_JOB_CPUS_PER_NODE": "16(x2)", "SLURM_JOB_NODELIST": "n[1-2]", "SLURM_JOB_NUM_NODES": "2",
                "SLURM_NNODES": "2", "SLURM_NODELIST": "n[1-2]"}
    assert expected.items() <= variables.items() and "SLURM_NTASKS" not in variables, variables
    csh = cluster.read("slurm_job_%d_resize.csh" % job)
    assert 'setenv SLURM_JOB_NUM_NODES "2"' in csh and "unsetenv SLURM_NTASKS" in csh
    cluster.wait_nodes("idle")


def test_tasks_on_nodes_that_stay_go_on(make_cluster):
    cluster = make_cluster(nodes=3, gpus=0)
    script = cluster.file("steps.sh", """#!/bin/bash
srun --overlap -N2 -n2 -w n1,n2 bash -c 'touch up.$SLURM_PROCID; while [ ! -e go ]; do sleep 0.05; done; echo kept' > kept &
srun --overlap -N3 -n3 bash -c 'touch torn.$SLURM_PROCID; while [ ! -e go ]; do sleep 0.05; done; echo kept' > torn.out 2> torn.err; echo $? > torn.code
wait
""")
    job = cluster.sbatch("-N3", "--exclusive", script)
    until(lambda: "two steps\n" + cluster.logs(),
          lambda: all(os.path.exists(os.path.join(cluster.work, name)) for name in ("up.0", "up.1", "torn.0", "torn.1", "torn.2")))
    refused = cluster.run("scontrol", "update", "JobId=%d" % job, "NodeList=n[2-3]")
    assert refused.code == 1 and "n1 runs the job's script" in refused.err, refused
    cluster.ok("scontrol", "update", "JobId=%d" % job, "NodeList=n[1-2]")
    until("the third task's end", lambda: "n3: task 2: Killed" in cluster.read("torn.err") or "n3: task 2: Terminated" in cluster.read("torn.err"))
    cluster.wait_nodes("idle", ["n3"])
    assert cluster.job(job)["JobState"] == "RUNNING"
    assert cluster.queue("-s", "-j", str(job), "-o", "%i %N") and "n[1-2]" in " ".join(cluster.queue("-s", "-j", str(job), "-o", "%N"))
    open(os.path.join(cluster.work, "go"), "w").close()
    cluster.wait_job(job)
    assert cluster.read("kept").splitlines() == cluster.read("torn.out").splitlines() == ["kept", "kept"]
    assert cluster.read("torn.code").strip() not in ("", "0")
