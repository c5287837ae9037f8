"""What AWS ParallelCluster, Google's Cluster Toolkit and Azure CycleCloud do with a cluster, command by command (clouds.py): machines come for a job and
go, capacity fails, a machine is lost, and the kit's own daemon sets it right."""
import os
import re

import pytest

from clouds import CYCLE_CLOUD, GOOGLE, PARALLEL_CLUSTER, Fleet
from harness import until

pytestmark = [pytest.mark.better_than_slurm, pytest.mark.row(130)]      # Slurm looks every ten seconds

OFF = ("idle~", "idle%", "powered_down", "powering_down")


def parallel_cluster(make_cluster, conf="", **kw):
    names = ["queue1-dy-c5-%d" % i for i in (1, 2, 3)]
    return Fleet(make_cluster, PARALLEL_CLUSTER, """
        SlurmctldParameters=idle_on_node_suspend,power_save_min_interval=0,power_save_interval=1,cloud_dns
        SuspendTime=3
        ReconfigFlags=KeepPartState
        """ + conf, names=names, partitions=["PartitionName=queue1 Nodes=queue1-dy-c5-[1-3] Default=YES MaxTime=INFINITE State=UP"], **kw).start()


def test_parallel_cluster(make_cluster):
    f = parallel_cluster(make_cluster)
    c = f.cluster
    assert set(f.states().values()) == {"idle~"}, f.states()
    job = c.sbatch("-N2", "--ntasks-per-node=1", "-o", "out", "--wrap", "srun hostname >hosts; srun -l printenv SLURMD_NODENAME")
    f.until_done(job)
    assert sorted(c.read("out").splitlines()) == ["0: queue1-dy-c5-1", "1: queue1-dy-c5-2"]
    until("the kit to have said so", lambda: "resumed 2 of 2 for jobs %s" % job in f.said())
    until("its address", lambda: "NodeAddr=127.0.0.1 NodeHostName=ip-10-0-0-1" in c.ok("scontrol", "show", "node", "queue1-dy-c5-1").out)
    f.until_state(c.names, ("idle~",))      # and after SuspendTime they are gone
    assert f.machines() == {} and "suspended queue1-dy-c5-[1-2]" in f.said(), f.said()

    # Capacity fails for one node of three: the job waits, nothing of it starts, and when there is capacity it runs.
    f.lacks("queue1-dy-c5-3")
    job = c.sbatch("-N3", "-o", "out3", "--wrap", "echo $SLURM_JOB_NUM_NODES")
    until("the failure", lambda: "resumed 0 of 3 for jobs %s" % job in f.said())
    assert "(Code:InsufficientInstanceCapacity)Failure when resuming nodes" in c.ok("scontrol", "show", "node", "queue1-dy-c5-3").out
    until("the job to wait", lambda: c.job(job)["JobState"] == "PENDING")
    f.lacks()
    f.until_done(job)
    assert c.read("out3") == "3\n" and c.job(job)["Restarts"] != "0"

    # A machine is lost under its job: the kit puts its node back, the job runs again elsewhere.
    job = c.sbatch("-N1", "--requeue", "-o", "out4", "--wrap", "echo run $SLURM_RESTART_COUNT; [ -n \"$SLURM_RESTART_COUNT\" ] || sleep 60")
    until("the job to run", lambda: f.boot() or c.job(job)["JobState"] == "RUNNING")
    lost = c.job(job)["NodeList"]
    os.unlink(os.path.join(f.cloud, lost))
    f.until_done(job)
    assert "run 1" in c.read("out4"), c.read("out4")


def test_parallel_cluster_stops_and_starts_its_fleet(make_cluster):
    """pcluster update-compute-fleet: partitions INACTIVE, all nodes powered down and reset; then UP."""
    f = parallel_cluster(make_cluster)
    c = f.cluster
    job = c.sbatch("-N1", "--wrap", "true")
    f.until_done(job)
    nodes = ",".join(c.ok("sinfo", "-h", "-p", "queue1", "-o", "%N").lines)
    assert nodes == "queue1-dy-c5-[1-3]", nodes
    c.ok("scontrol", "update", "state=power_down_force", 'reason="stopping cluster"', "nodename=" + nodes, "nodeaddr=" + nodes, "nodehostname=" + nodes)
    c.ok("scontrol", "update", "partitionname=queue1", "state=INACTIVE")
    f.until_state(c.names, OFF)
    until("the machines to go", lambda: f.machines() == {})
    refused = c.run("sbatch", "-N1", "--wrap", "true")
    assert "Required partition not available (inactive or drain)" in refused.err, refused
    c.ok("scontrol", "reconfigure")     # KeepPartState
    assert c.ok("sinfo", "-h", "-o", "%a").lines == ["inact"]
    c.ok("scontrol", "update", "partitionname=queue1", "state=UP")
    f.until_done(c.sbatch("-N1", "--wrap", "true"))


def test_a_thousand_nodes_without_capacity(make_cluster):
    """The whole of a large queue is refused by the cloud: scontrol takes batches of a hundred names with an address each, and all come back."""
    names = ["big-dy-p5-%d" % i for i in range(1, 1201)]
    f = parallel_cluster(make_cluster, more_nodes=["NodeName=big-dy-p5-[1-1200] CPUs=96 RealMemory=1000 State=CLOUD",
                                                   "PartitionName=big Nodes=big-dy-p5-[1-1200] MaxTime=INFINITE State=UP"])
    c = f.cluster
    f.lacks(*names)
    job = c.sbatch("-p", "big", "-N1200", "--wrap", "true")
    until("the failure", lambda: "resumed 0 of 1200 for jobs %s" % job in f.said(), 60)
    until("the job to wait", lambda: c.job(job)["JobState"] == "PENDING")
    c.ok("scancel", str(job))
    f.until_state(names, ("idle~",), 60)
    assert "reset 1200" in f.said(), f.said()
    assert all("NodeAddr=%s NodeHostName=%s" % (n, n) in line for n, line in
               zip(names, c.ok("scontrol", "-o", "show", "node", "big-dy-p5-[1-1200]").lines))


def test_google(make_cluster):
    f = Fleet(make_cluster, GOOGLE, """
        SlurmctldParameters=cloud_reg_addrs,idle_on_node_suspend,power_save_interval=1
        SuspendTime=3
        SuspendExcParts=static
        LaunchParameters=use_interactive_step
        """, names=["hpc-n-0", "hpc-n-1", "hpc-n-2"], partitions=[
            "NodeSet=n Nodes=hpc-n-[0-2]",
            "PartitionName=compute Nodes=n State=UP SuspendTime=3 Oversubscribe=Exclusive ResumeTimeout=30 SuspendTimeout=4 Default=YES"]).start()
    c = f.cluster
    job = c.sbatch("-N2", "-o", "out", "--wrap", "srun -l printenv SLURMD_NODENAME")
    f.until_done(job)
    assert sorted(c.read("out").splitlines()) == ["0: hpc-n-0", "1: hpc-n-1"]
    assert "resumed hpc-n-[0-1], 0 lacking, jobs %s:compute:EXCLUSIVE" % job in f.said() or \
        "resumed hpc-n-[0-1], 0 lacking, jobs %s:compute:NO" % job in f.said(), f.said()
    node = c.ok("scontrol", "show", "node", "hpc-n-1").out
    assert "NodeAddr=127.0.0.1 " in node, re.findall(r"Node\S+", node)       # where its connection came from
    f.until_state(c.names, ("idle~",))

    # No capacity: the job is told on its own terminal's way, and in its AdminComment.
    f.lacks("hpc-n-0", "hpc-n-1", "hpc-n-2")
    job = c.sbatch("-N1", "-o", "out2", "--wrap", "echo ran")
    until("the failure", lambda: any("1 lacking" in line for line in f.said()))
    until("the comment", lambda: "ZONE_RESOURCE_POOL_EXHAUSTED" in c.ok("scontrol", "show", "job", str(job)).out)
    f.lacks()
    f.until_done(job)
    assert c.read("out2") == "ran\n"

    # A spot machine is preempted under its job, and started again by the kit.
    job = c.sbatch("-N1", "--requeue", "-o", "out3", "--wrap", "echo run $SLURM_RESTART_COUNT; [ -n \"$SLURM_RESTART_COUNT\" ] || sleep 60")
    until("the job to run", lambda: f.boot() or c.job(job)["JobState"] == "RUNNING")
    lost = c.job(job)["NodeList"]
    with open(os.path.join(f.cloud, lost), "w") as machine:
        machine.write("terminated")
    c.slurmds.pop(lost).kill()
    f.until_done(job)
    assert any(line.startswith("state=down reason='Preempted instance' " + lost) for line in f.said()), f.said()
    assert "run 1" in c.read("out3"), c.read("out3")


def test_cycle_cloud(make_cluster):
    f = Fleet(make_cluster, CYCLE_CLOUD, """
        SlurmctldParameters=idle_on_node_suspend,power_save_interval=1
        SuspendTime=3
        ReconfigFlags=KeepPowerSaveSettings
        """, names=["htc-1", "htc-2", "htc-3"], partitions=["PartitionName=htc Nodes=htc-[1-3] Default=YES State=UP OverSubscribe=NO"]).start()
    c = f.cluster
    job = c.sbatch("-N2", "-o", "out", "--wrap", "srun -l printenv SLURMD_NODENAME")
    f.until_done(job)
    assert sorted(c.read("out").splitlines()) == ["0: htc-1", "1: htc-2"]
    node = c.ok("scontrol", "show", "node", "htc-1").out
    assert "NodeAddr=127.0.0.1 " in node, re.findall(r"Node\S+", node)       # told by the kit, or learned when it registered

    # KeepAlive in the cloud's console is SuspendExcNodes+=, and -= lets the node go.
    c.file("keep_alive", "htc-1")
    f.until_state(["htc-1"], ("idle",))
    until("it to be kept", lambda: f.turn() or "keeps htc-1" in f.said())
    f.until_state(["htc-2", "htc-3"], ("idle~",))
    assert f.states()["htc-1"] == "idle" and list(f.machines()) == ["htc-1"]
    assert "SuspendExcNodes         = htc-1" in c.ok("scontrol", "show", "config").out
    c.ok("scontrol", "reconfigure")     # KeepPowerSaveSettings
    assert "SuspendExcNodes         = htc-1" in c.ok("scontrol", "show", "config").out
    c.file("keep_alive", "")
    f.until_state(["htc-1"], ("idle~",))

    # A machine that the cloud has and Slurm has powered down is a zombie until it is gone.
    with open(os.path.join(f.cloud, "htc-3"), "w") as machine:
        machine.write("stopped")
    until("the zombie", lambda: f.turn() or "htc-3 is a zombie" in f.said())
    assert f.states()["htc-3"].startswith("down") and "Reason=cyclecloud_zombie_node" in c.ok("scontrol", "show", "node", "htc-3").out
    os.unlink(os.path.join(f.cloud, "htc-3"))
    c.ok("scontrol", "update", "NodeName=htc-3", "State=power_down")
    f.until_state(["htc-3"], ("idle~",))
    until("its reason to go", lambda: f.turn() or "Reason=cyclecloud" not in c.ok("scontrol", "show", "node", "htc-3").out)

    # A machine that is gone under a job.
    job = c.sbatch("-N1", "--requeue", "-o", "out4", "--wrap", "echo run $SLURM_RESTART_COUNT; [ -n \"$SLURM_RESTART_COUNT\" ] || sleep 60")
    until("the job to run", lambda: f.turn() or c.job(job)["JobState"] == "RUNNING")
    lost = c.job(job)["NodeList"]
    os.unlink(os.path.join(f.cloud, lost))
    f.until_done(job)
    assert lost + " is missing" in f.said() and "run 1" in c.read("out4"), (f.said(), c.read("out4"))
