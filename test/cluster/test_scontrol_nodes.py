"""scontrol(1) on nodes: reboot, power, created nodes. Programs leave a mark instead of touching the machine."""
import os
import re

import pytest

from harness import end_process, until

pytestmark = pytest.mark.better_than_slurm      # 22.05 has no power verb, and its states take minutes


def with_programs(make_cluster, **kw):
    cluster = make_cluster(start=False, nodes=2, gpus=0, **kw)
    for name in ("Reboot", "Resume", "Suspend"):
        path = cluster.script(name.lower(), '#!/bin/sh\necho "$SLURMD_NODENAME$1" >> %s/did-%s\n' % (cluster.folder, name.lower()))
        cluster.conf_lines.append("%sProgram=%s" % (name, path))
    cluster.conf_lines += ["MaxNodeCount=4", "SuspendTimeout=1", "ResumeTimeout=120", "SuspendTime=INFINITE"]
    cluster.write_lines()
    return cluster.start()


def did(cluster, what):
    path = os.path.join(cluster.folder, "did-" + what)
    return open(path).read().split() if os.path.exists(path) else []


def state(cluster, node):
    return re.search(r" State=(\S+)", cluster.ok("scontrol", "-o", "show", "node", node).out).group(1).split("+")


def come_back(cluster, name):
    """The machine has booted: a new slurmd that says so."""
    end_process(cluster.slurmds[name])
    cluster.slurmds[name] = cluster.spawn("slurmd", "-D", "-b", "-N", name, "-f", cluster.conf_path)


def test_reboot_waits_for_the_job_and_resumes(make_cluster):
    cluster = with_programs(make_cluster)
    job = cluster.sbatch("-w", "n1", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", "reboot", "ASAP", "reason=firmware", "n1")
    assert {"DRAIN", "REBOOT_REQUESTED"} <= set(state(cluster, "n1"))
    assert "NextState=RESUME" in cluster.ok("scontrol", "show", "node", "n1").out
    assert did(cluster, "reboot") == []
    cluster.ok("scancel", str(job))
    until("the program", lambda: did(cluster, "reboot") == ["n1"])
    assert "REBOOT_ISSUED" in state(cluster, "n1")
    come_back(cluster, "n1")
    cluster.wait_nodes("idle")
    assert state(cluster, "n1") == ["IDLE"] and "Reason=" not in cluster.ok("scontrol", "show", "node", "n1").out


def test_cancel_reboot_and_next_state_down(make_cluster):
    cluster = with_programs(make_cluster)
    job = cluster.sbatch("-w", "n1", "--wrap", "sleep 600")
    cluster.wait_job(job, "RUNNING")
    cluster.ok("scontrol", "reboot", "ASAP", "n1")
    cluster.ok("scontrol", "cancel_reboot", "n1")
    assert state(cluster, "n1") == ["MIXED"]
    cluster.ok("scontrol", "reboot", "nextstate=DOWN", "n2")
    until("the program", lambda: did(cluster, "reboot") == ["n2"])
    come_back(cluster, "n2")
    until("n2 to be down", lambda: state(cluster, "n2") == ["DOWN"])
    assert "Reason=reboot requested : reboot complete" in cluster.ok("scontrol", "show", "node", "n2").out


def test_power_down_and_up(make_cluster):
    cluster = with_programs(make_cluster)
    cluster.ok("scontrol", "power", "down", "n2")
    until("the program", lambda: did(cluster, "suspend") == ["n2"])
    until("n2 to be down", lambda: "POWERED_DOWN" in state(cluster, "n2"))
    cluster.ok("scontrol", "power", "up", "n2")
    until("the program", lambda: did(cluster, "resume") == ["n2"])
    come_back(cluster, "n2")
    cluster.wait_nodes("idle")
    cluster.ok("scontrol", "power", "up", "n2")      # as Slurm: it is up
    assert did(cluster, "resume") == ["n2"]


def test_created_nodes(make_cluster):
    cluster = with_programs(make_cluster)
    cluster.ok("scontrol", "create", "NodeName=d[1-2]", "CPUs=8", "RealMemory=1000", "State=CLOUD", "Features=dyn")
    record = cluster.ok("scontrol", "-o", "show", "node", "d2").out
    assert "CPUTot=8" in record and "CLOUD" in record and "AvailableFeatures=dyn" in record
    cluster.ok("scontrol", "reconfigure")
    cluster.kill_ctld()
    cluster.start_ctld()
    cluster.wait_ctld()
    assert "NodeName=d1" in cluster.ok("scontrol", "-o", "show", "node", "d1").out
    cluster.ok("scontrol", "delete", "NodeName=d[1-2]")
    gone = cluster.run("scontrol", "show", "node", "d1")
    assert (gone.code, gone.out) == (1, "Node d1 not found\n"), gone
    kept = cluster.run("scontrol", "delete", "NodeName=n1")
    assert kept.code == 1 and kept.err.startswith("delete_node NodeName=n1: Requested nodes are busy"), kept
