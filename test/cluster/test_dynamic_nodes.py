"""Nodes that slurm.conf does not have: slurmd -Z with --conf, slurmd -F for FUTURE nodes, scontrol delete. slurmd(8), guide dynamic_nodes."""
import os
import re

import pytest

from harness import HOST, end_process, free_ports, until

pytestmark = pytest.mark.better_than_slurm      # a released Slurm needs a port of its own for each slurmd of a host

ROOM = ("MaxNodeCount=20\nNodeSet=dynamic Feature=dyn\nPartitionName=late Nodes=dynamic MaxTime=INFINITE\n"
        "PartitionName=everything Nodes=ALL MaxTime=INFINITE")
MADE = "CPUs=8 RealMemory=1000 Feature=dyn"


class Site:
    """A cluster of n1 and of nodes that come later; each of their slurmds has a file of its own, for the port."""

    def __init__(self, make_cluster, conf=ROOM, **kw):
        self.cluster = make_cluster(nodes=1, gpus=0, conf=conf, **kw)

    def conf_of(self, name):
        path = os.path.join(self.cluster.folder, "etc", name + ".conf")
        if not os.path.exists(path):
            with open(path, "w") as f:
                f.write("\n".join(self.cluster.conf_lines + ["SlurmdPort=%d" % free_ports(1)[0]]) + "\n")
        return path

    def begin(self, name, *args):
        self.cluster.slurmds[name] = self.cluster.spawn("slurmd", "-D", "-N", name, "-f", self.conf_of(name), *args)

    def refused(self, name, *args):
        """What slurmd says that does not start."""
        result = self.cluster.run("slurmd", "-D", "-N", name, "-f", self.conf_of(name), *args)
        assert result.code == 1, result
        return result.err

    def comes(self, name, *args, state="idle"):
        self.begin(name, *args)
        self.cluster.wait_nodes(state, [name])

    def goes(self, name):
        assert end_process(self.cluster.slurmds.pop(name)) == 0

    def record(self, name):
        line = self.cluster.ok("scontrol", "-o", "show", "node", name).out
        return dict(re.findall(r"(\w+)=(\S*)", line))

    def restart_ctld(self):
        self.cluster.kill_ctld()
        self.cluster.start_ctld()
        self.cluster.wait_ctld()


@pytest.mark.row(88)
def test_a_node_that_registers_itself(make_cluster):
    site = Site(make_cluster)
    cluster = site.cluster
    site.comes("d1", "-Z", "--conf", MADE)
    record = site.record("d1")
    assert record["State"] == "IDLE+DYNAMIC_NORM" and record["CPUTot"] == "8" and record["RealMemory"] == "1000", record
    assert record["NodeAddr"] == "127.0.0.1" and record["NodeHostName"] == HOST and record["AvailableFeatures"] == "dyn", record
    assert sorted(record["Partitions"].split(",")) == ["everything", "late"], record
    assert cluster.ok("sinfo", "-h", "-o", "%N %P", "-p", "late").out.split() == ["d1", "late"]
    assert cluster.ok("srun", "-p", "late", "bash", "-c", "echo $SLURMD_NODENAME").out == "d1\n"
    # Steps over both kinds, with files on their way from node to node; n1's slurm.conf knows nothing of d1.
    job = cluster.sbatch("-p", "everything", "-N2", "-o", "out", cluster.file(
        "both.sh", "#!/bin/bash\nsrun bash -c 'echo $SLURMD_NODENAME' | sort\nsbcast -f $0 %s/sent && srun ls %s/sent | uniq -c\n"
        % (cluster.work, cluster.work)))
    cluster.wait_job(job)
    assert cluster.read("out").split() == ["d1", "n1", "2", cluster.work + "/sent"]


def test_it_outlives_slurmctld_and_slurmd(make_cluster):
    site = Site(make_cluster)
    cluster = site.cluster
    site.comes("d1", "-Z", "--conf", MADE)
    job = cluster.sbatch("-p", "late", "-o", "out", "--wrap", "sleep 2; echo done")
    cluster.wait_job(job, "RUNNING")
    cluster.kill_ctld()
    site.goes("d1")
    cluster.start_ctld()
    cluster.wait_ctld()
    site.begin("d1", "-Z", "--conf", MADE)
    cluster.wait_job(job)
    assert cluster.read("out") == "done\n"
    cluster.wait_nodes("idle", ["d1"])
    cluster.ok("scontrol", "reconfigure")
    cluster.wait_nodes("idle", ["d1"])
    assert "late" in site.record("d1")["Partitions"]


def test_deleted_it_stays_away(make_cluster):
    site = Site(make_cluster)
    cluster = site.cluster
    site.comes("d1", "-Z", "--conf", MADE)
    site.comes("d2", "-Z", "--conf", MADE)
    job = cluster.sbatch("-w", "d1", "-p", "late", "-o", "/dev/null", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", "create", "reservation=kept", "nodes=d2", "starttime=now+1hour", "duration=10", "users=root")
    for node, why in (("d1", "jobs run on node d1"), ("d2", "node d2 is in reservation kept"), ("n1", "node n1 is in slurm.conf")):
        kept = cluster.run("scontrol", "delete", "NodeName=" + node)
        assert kept.code == 1 and kept.err.startswith("delete_node NodeName=%s: Requested nodes are busy" % node) and why in kept.err, kept
    cluster.ok("scancel", str(job))
    cluster.wait_nodes("idle", ["d1"])
    cluster.ok("scontrol", "delete", "NodeName=d1")
    assert set(cluster.node_states()) == {"d2", "n1"}
    # Its slurmd lives on and is no node; a restart of slurmctld brings nothing back.
    site.restart_ctld()
    cluster.wait_nodes("idle", ["d2", "n1"])
    until("d1's slurmd to be refused", lambda: "registers as node 'd1'" in cluster.logs(20000))
    assert set(cluster.node_states()) == {"d2", "n1"}
    # Another takes its number and not its orders.
    site.comes("d3", "-Z", "--conf", MADE)
    assert cluster.ok("srun", "-p", "late", "-w", "d3", "bash", "-c", "echo $SLURMD_NODENAME").out == "d3\n"
    # Started again it is a node again, with what --conf says now.
    site.goes("d1")
    site.comes("d1", "-Z", "--conf", "CPUs=4 RealMemory=900")
    assert site.record("d1")["CPUTot"] == "4" and site.record("d1")["Partitions"] == "everything"
    cluster.must_run()


def test_gpus_of_conf_are_handed_out(make_cluster):
    site = Site(make_cluster)
    site.comes("d1", "-Z", "--conf", MADE + " Gres=gpu:h100:2")
    assert site.record("d1")["Gres"] == "gpu:h100:2"
    out = site.cluster.ok("srun", "-p", "late", "--gres=gpu:h100:1", "-n1", "bash", "-c", "echo gpu $CUDA_VISIBLE_DEVICES").out
    assert out == "gpu 0\n", out


def test_a_node_that_scontrol_created(make_cluster):
    site = Site(make_cluster)
    cluster = site.cluster
    cluster.ok("scontrol", "create", "NodeName=c1", "CPUs=8", "RealMemory=1000", "Feature=dyn", "State=CLOUD")
    assert site.record("c1")["State"] == "IDLE+CLOUD+DYNAMIC_NORM+POWERED_DOWN", site.record("c1")
    site.comes("c1", "-Z", "--conf", "CPUs=8 RealMemory=1000 Feature=other")
    assert site.record("c1")["AvailableFeatures"] == "dyn"
    until("slurmd's own word", lambda: "node c1 was created by scontrol" in cluster.logs(20000))
    assert cluster.ok("srun", "-p", "late", "bash", "-c", "echo $SLURMD_NODENAME").out == "c1\n"


@pytest.mark.parametrize("args, says", [
    (["-Z", "--conf", "PartitionName=everything"], "PartitionName"),
    (["-Z", "--conf", "CPUs=many"], "CPUs"),
    (["-Z", "--conf", "NodeName=d7"], "NodeName is not supported"),
    (["-Z", "--conf", "CPUs=1 State=CLOUD"], "State=CLOUD is of nodes that scontrol creates"),
    (["--conf", "CPUs=1"], "takes -Z"),
    (["-Z", "-F"], "either one kind"),
    (["-F"], "no FUTURE node is left for this machine"),
])
def test_what_cannot_be_is_said(make_cluster, args, says):
    site = Site(make_cluster)
    assert says in site.refused("d1", *args)
    assert set(site.cluster.node_states()) == {"n1"}
    site.cluster.must_run()


def test_room_and_names(make_cluster):
    site = Site(make_cluster, conf="")
    assert "MaxNodeCount" in site.refused("d1", "-Z", "--conf", MADE)
    assert "node n1 is in slurm.conf" in site.refused("n1", "-Z")
    assert set(site.cluster.node_states()) == {"n1"}


def test_it_waits_for_slurmctld(make_cluster):
    site = Site(make_cluster)
    cluster = site.cluster
    cluster.kill_ctld()
    site.begin("d1", "-Z", "--conf", MADE)
    until("slurmd to say so", lambda: "slurmctld has to say which node this is" in cluster.logs(20000))
    cluster.start_ctld()
    cluster.wait_ctld()
    cluster.wait_nodes("idle", ["d1", "n1"])


def test_future_nodes(make_cluster):
    site = Site(make_cluster)
    cluster = site.cluster
    shape = re.search(r"SocketsPerBoard=\d+ CoresPerSocket=\d+ ThreadsPerCore=\d+", cluster.ok("slurmd", "-C").out).group()
    ports = free_ports(2)
    for name, port, feature in (("f1", ports[0], "small"), ("f2", ports[1], "small,wide")):
        cluster.conf_lines.append("NodeName=%s %s RealMemory=1000 State=FUTURE Feature=%s Port=%d" % (name, shape, feature, port))
    cluster.write_lines()
    site.restart_ctld()
    assert set(cluster.node_states()) == {"n1"}
    cluster.slurmds["a"] = cluster.spawn("slurmd", "-D", "-Fwide", "-N", "a", "-f", cluster.conf_path)
    cluster.wait_nodes("idle", ["f2"])
    record = site.record("f2")
    assert record["State"] == "IDLE+DYNAMIC_FUTURE" and record["NodeAddr"] == "127.0.0.1" and record["NodeHostName"] == "a", record
    assert cluster.ok("srun", "-p", "everything", "-w", "f2", "bash", "-c", "echo $SLURMD_NODENAME").out == "f2\n"
    # Both daemons again: it is the same node.
    site.restart_ctld()
    assert end_process(cluster.slurmds.pop("a")) == 0
    cluster.slurmds["a"] = cluster.spawn("slurmd", "-D", "-F", "-N", "a", "-f", cluster.conf_path)
    cluster.wait_nodes("idle", ["f2"])
    # Given back, it is nobody's.
    assert end_process(cluster.slurmds.pop("a")) == 0
    cluster.ok("scontrol", "update", "NodeName=f2", "State=FUTURE")
    assert set(cluster.node_states()) == {"n1"}
    record = dict(re.findall(r"(\w+)=(\S*)", cluster.ok("scontrol", "-o", "-F", "show", "node", "f2").out))
    assert record["NodeAddr"] == record["NodeHostName"] == "f2" and record["State"] == "FUTURE", record


def test_steps_that_a_dynamic_node_manages(make_cluster):
    site = Site(make_cluster)
    cluster = site.cluster
    site.comes("d1", "-Z", "--conf", MADE)
    site.comes("d2", "-Z", "--conf", MADE)
    job = cluster.sbatch("--stepmgr", "-p", "late", "-N2", "-o", "out", "--wrap",
                         "for i in 1 2 3; do srun bash -c 'echo $SLURMD_NODENAME'; done | sort | uniq -c")
    cluster.wait_job(job)
    assert cluster.read("out").split() == ["3", "d1", "3", "d2"]
    cluster.wait_nodes("idle", ["d1", "d2"])
