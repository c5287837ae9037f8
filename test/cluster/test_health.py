"""HealthCheckProgram: at the start of slurmd, every HealthCheckInterval, by the state of the node; what it does about a sick one."""
import os
import time

import pytest

from harness import end_process, until

pytestmark = pytest.mark.better_than_slurm      # a second is enough for an interval; Slurm's slurmctld looks less often


def checked(make_cluster, conf, program, nodes=2):
    cluster = make_cluster(nodes=nodes, gpus=0, start=False)
    cluster.script("check", "#!/bin/bash\n" + program.replace("LOG", cluster.work + "/checks").replace("BIN", cluster.prefix + "/bin"))
    cluster.conf_lines.append("HealthCheckProgram=%s/check\n%s" % (cluster.bin, conf))
    cluster.write_lines()
    cluster.start()
    return cluster


def runs(cluster, node):
    path = cluster.work + "/checks"
    return [line.split()[1] for line in open(path)].count(node) if os.path.exists(path) else 0


def test_it_runs_before_the_node_registers_and_then_again_and_again(make_cluster):
    cluster = checked(make_cluster, "HealthCheckInterval=1", "echo $(date +%s.%N) $SLURMD_NODENAME >>LOG\n")
    until("a fourth check of each node", lambda: min(runs(cluster, "n1"), runs(cluster, "n2")) >= 4, seconds=30)
    # At the same moments on all nodes.
    times = {}
    for line in open(cluster.work + "/checks"):
        moment, node = line.split()
        times.setdefault(node, []).append(float(moment))
    apart = [min(abs(at - other) for other in times["n2"]) for at in times["n1"][1:3]]
    assert min(apart) < 0.5, times


def test_a_sick_node_is_drained_by_its_program_and_takes_no_job(make_cluster):
    cluster = checked(make_cluster, "HealthCheckInterval=1",
                      '[ -e LOG.sick.$SLURMD_NODENAME ] && BIN/scontrol update nodename=$SLURMD_NODENAME state=drain reason=sick; exit 0\n')
    cluster.file("checks.sick.n1", "")
    cluster.wait_nodes("drained", ["n1"], seconds=30)
    assert "Reason=sick" in cluster.ok("scontrol", "show", "node", "n1").out
    assert cluster.ok("srun", "-n1", "printenv", "SLURMD_NODENAME").out == "n2\n"


@pytest.mark.parametrize("states, idle_runs, busy_runs", [("IDLE", True, False), ("ALLOC,MIXED", False, True), ("NONDRAINED_IDLE", True, False)])
def test_only_nodes_in_these_states_are_looked_at(make_cluster, states, idle_runs, busy_runs):
    cluster = checked(make_cluster, "HealthCheckInterval=1\nHealthCheckNodeState=" + states, "echo x $SLURMD_NODENAME >>LOG\n")
    job = cluster.sbatch("-w", "n1", "-n1", "-o", "/dev/null", "--wrap", "sleep 1000")
    cluster.wait_job(job, "RUNNING")
    time.sleep(1.5)         # a check that was asked for before the job
    before = {node: runs(cluster, node) for node in ("n1", "n2")}
    grows = {"n1": busy_runs, "n2": idle_runs}
    until("checks where they are wanted", lambda: all(runs(cluster, n) > before[n] + 1 for n in grows if grows[n]), seconds=30)
    assert {n: runs(cluster, n) > before[n] for n in grows} == grows
    if states == "NONDRAINED_IDLE":
        cluster.ok("scontrol", "update", "nodename=n2", "state=drain", "reason=tried")
        cluster.wait_nodes("drained", ["n2"])
        time.sleep(1.5)
        still = runs(cluster, "n2")
        time.sleep(2.5)
        assert runs(cluster, "n2") == still


def test_one_that_hangs_is_killed_and_told(make_cluster):
    cluster = checked(make_cluster, "HealthCheckInterval=1\nHealthCheckTimeout=1\nHealthCheckNodeState=START_ONLY",
                      "echo x $SLURMD_NODENAME >>LOG\nsleep 1000\n", nodes=1)      # it registers all the same: start() has waited for that
    until("the log to say so", lambda: "HealthCheckProgram: " in open(cluster.folder + "/log/slurmd-n1.log").read())
    time.sleep(2.5)
    assert runs(cluster, "n1") == 1


def test_after_a_reboot_only(make_cluster):
    cluster = checked(make_cluster, "HealthCheckNodeState=REBOOT_ONLY", "echo x $SLURMD_NODENAME >>LOG\n", nodes=1)
    first = runs(cluster, "n1")     # the spool is new: this boot was not seen before
    assert first == 1
    assert end_process(cluster.slurmds.pop("n1")) == 0
    cluster.start_slurmd("n1")
    cluster.wait_nodes("idle")
    assert runs(cluster, "n1") == first
